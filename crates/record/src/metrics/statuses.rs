//! Requests of a route by the exact status, for name sets that want it.

use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

use super::cells::Cells;

/// How many different statuses one route can count; what comes after them shares one more place.
const PLACES: usize = 31;

/// Which status has which place: the first come, the first placed.
#[derive(Debug)]
pub(crate) struct Statuses {
    cells: Cells,
    known: [AtomicU16; PLACES],
}

impl Statuses {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            cells: Cells::new(threads, PLACES + 1),
            known: [const { AtomicU16::new(0) }; PLACES],
        }
    }

    /// Counts one answer; 0 is one that never had a status.
    pub(crate) fn count(&self, thread: usize, status: u16) {
        if status > 0 {
            self.cells.add(thread, self.place(status), 1);
        }
    }

    /// Every status and how often it was sent; 0 stands for all others together.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (u16, u64)> {
        let known = self.known.iter().map(|known| known.load(Relaxed));
        let known = known.take_while(|status| *status > 0).enumerate();
        let all = known.chain([(PLACES, 0)]);
        all.map(|(place, status)| (status, self.cells.sum(place)))
            .filter(|(_, count)| *count > 0)
    }

    fn place(&self, status: u16) -> usize {
        let is_mine = |known: &AtomicU16| match known.load(Relaxed) {
            0 => match known.compare_exchange(0, status, Relaxed, Relaxed) {
                Ok(_) => true,
                Err(other) => other == status,
            },
            known => known == status,
        };
        self.known.iter().position(is_mine).unwrap_or(PLACES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: OB-32
    #[test]
    fn an_upstream_that_invents_statuses_makes_no_series_of_them() {
        let statuses = Statuses::new(1);

        for status in [200, 0, 404, 200].into_iter().chain(600..999) {
            statuses.count(0, status);
        }

        let counts: Vec<_> = statuses.counts().collect();
        assert_eq!(counts.len(), PLACES + 1);
        assert_eq!(counts[..2], [(200, 2), (404, 1)]);
        assert_eq!(counts.last(), Some(&(0, 399 - 29)));
    }
}
