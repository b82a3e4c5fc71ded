//! How long things take, in buckets.

use std::{sync::Arc, time::Duration};

use super::{
    cells::{Cells, nanos},
    text::Text,
};

/// Upper bounds in nanoseconds and as the label `le` shows them.
///
/// Eight, because a scrape of a thousand routes has to stay below a megabyte (ME-01); about three
/// apart, which is what interpolation between them can bear.
const BOUNDS: [(u64, &str); 8] = [
    (1_000_000, "0.001"),
    (3_000_000, "0.003"),
    (10_000_000, "0.01"),
    (30_000_000, "0.03"),
    (100_000_000, "0.1"),
    (300_000_000, "0.3"),
    (1_000_000_000, "1"),
    (3_000_000_000, "3"),
];

/// Where the buckets of one histogram lie in a row of cells: the sum, the bounds, everything above.
/// The sum is first, so that it shares its cache line with the buckets that most observations meet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Buckets(pub(crate) usize);

impl Buckets {
    /// How many cells a histogram takes.
    pub(crate) const WIDTH: usize = BOUNDS.len() + 2;
    const SUM: usize = 0;
    const FIRST: usize = 1;

    /// Counts one observation.
    pub(crate) fn record(self, cells: &Cells, thread: usize, took: Duration) {
        let took = nanos(took);
        let bucket = BOUNDS.iter().take_while(|(bound, _)| took > *bound).count();
        cells.add(thread, self.0 + Self::FIRST + bucket, 1);
        cells.add(thread, self.0 + Self::SUM, took);
    }

    /// How many observations there were.
    pub(crate) fn count(self, cells: &Cells) -> u64 {
        (0..=BOUNDS.len()).fold(0_u64, |count, bucket| {
            count.wrapping_add(cells.sum(self.0 + Self::FIRST + bucket))
        })
    }

    /// Writes the series of one histogram. The buckets are read once, so they and the count agree
    /// even while other threads go on counting.
    pub(crate) fn expose(
        self,
        cells: &Cells,
        text: &mut Text<'_>,
        name: &str,
        labels: &[(&str, &str)],
    ) {
        let mut below = 0_u64;
        for (index, (_, bound)) in BOUNDS.iter().enumerate() {
            below = below.wrapping_add(cells.sum(self.0 + Self::FIRST + index));
            text.sample(name, "_bucket", labels, Some(("le", bound)));
            text.number(below);
        }
        below = below.wrapping_add(cells.sum(self.0 + Self::FIRST + BOUNDS.len()));
        text.sample(name, "_bucket", labels, Some(("le", "+Inf")));
        text.number(below);
        text.sample(name, "_sum", labels, None);
        text.seconds(cells.sum(self.0 + Self::SUM));
        text.sample(name, "_count", labels, None);
        text.number(below);
    }
}

/// A histogram of spans, in seconds.
#[derive(Debug, Clone)]
pub struct Histogram(pub(crate) Arc<Cells>);

impl Histogram {
    /// Counts one observation on the thread that made it.
    pub fn record(&self, thread: usize, took: Duration) {
        Buckets(0).record(&self.0, thread, took);
    }
}
