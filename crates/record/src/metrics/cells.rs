//! Counts that one thread writes and everybody may read.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// As many counts as lie on two cache lines, which processors fetch together and threads should
/// not fight over.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Line([AtomicU64; PER_LINE]);

const PER_LINE: usize = 16;

/// The same row of counts for every engine thread.
///
/// A thread adds to its own row by a plain load and store: nobody else writes there. Indexes beyond
/// the engine's threads (housekeeping, tests) share one more row, and add atomically.
#[derive(Debug)]
pub(crate) struct Cells {
    /// The rows behind each other, the shared one last: no row is a trip to memory of its own.
    lines: Box<[Line]>,
    threads: usize,
    /// How many lines a row takes.
    lines_per_row: usize,
}

impl Cells {
    /// Rows of at least `width` counts for `threads` threads.
    pub(crate) fn new(threads: usize, width: usize) -> Self {
        let lines_per_row = width.div_ceil(PER_LINE);
        let lines = (threads + 1) * lines_per_row;
        Self {
            lines: (0..lines).map(|_| Line::default()).collect(),
            threads,
            lines_per_row,
        }
    }

    /// Adds; two's complement, so that gauges can go down.
    pub(crate) fn add(&self, thread: usize, index: usize, amount: u64) {
        let Some(cell) = self.cell(thread, index) else {
            return;
        };
        if thread < self.threads {
            cell.store(cell.load(Relaxed).wrapping_add(amount), Relaxed);
        } else {
            cell.fetch_add(amount, Relaxed);
        }
    }

    /// Replaces the count of this thread.
    pub(crate) fn set(&self, thread: usize, index: usize, value: u64) {
        if let Some(cell) = self.cell(thread, index) {
            cell.store(value, Relaxed);
        }
    }

    /// The count of this thread.
    pub(crate) fn get(&self, thread: usize, index: usize) -> u64 {
        self.cell(thread, index)
            .map_or(0, |cell| cell.load(Relaxed))
    }

    /// The count of all threads together.
    pub(crate) fn sum(&self, index: usize) -> u64 {
        (0..=self.threads)
            .filter_map(|thread| self.cell(thread, index))
            .fold(0, |sum, cell| sum.wrapping_add(cell.load(Relaxed)))
    }

    /// How many threads have a row of their own.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    fn cell(&self, thread: usize, index: usize) -> Option<&AtomicU64> {
        let start = thread.min(self.threads) * self.lines_per_row;
        let row = self.lines.get(start..start + self.lines_per_row)?;
        row.get(index / PER_LINE)?.0.get(index % PER_LINE)
    }
}

/// A span as whole nanoseconds; 584 years at most.
pub(crate) fn nanos(span: Duration) -> u64 {
    span.as_secs()
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::from(span.subsec_nanos()))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn nothing_is_lost_when_every_thread_counts_at_once() {
        let cells = Cells::new(2, 20);

        thread::scope(|scope| {
            for index in [0, 1, 2, usize::MAX] {
                let cells = &cells;
                scope.spawn(move || (0..10_000).for_each(|_| cells.add(index, 19, 1)));
            }
        });

        assert_eq!(cells.sum(19), 40_000);
        assert_eq!(cells.sum(18), 0);
        assert_eq!(cells.get(0, 19), 10_000);
    }

    #[test]
    fn a_count_may_go_down_on_another_thread() {
        let cells = Cells::new(2, 1);

        cells.add(0, 0, 5);
        cells.add(1, 0, (-3_i64).cast_unsigned());

        assert_eq!(cells.sum(0), 2);
    }
}
