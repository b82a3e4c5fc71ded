//! Smooth weighted round robin: each endpoint in proportion to its weight, well spread.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A cycle of endpoints, shared by all threads.
#[derive(Debug)]
pub struct SmoothWeighted {
    cycle: Box<[u32]>,
    next: AtomicUsize,
}

impl SmoothWeighted {
    /// Lays out the cycle for endpoints with these weights, in their order.
    pub fn new(weights: &[u32]) -> Self {
        Self {
            cycle: (0_u32..).take(weights.len()).collect(),
            next: AtomicUsize::new(0),
        }
    }

    /// The index of the next usable endpoint, or none when no endpoint is usable.
    pub fn pick(&self, is_usable: impl Fn(usize) -> bool) -> Option<usize> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let index = *self.cycle.get(turn.checked_rem(self.cycle.len())?)? as usize;
        is_usable(index).then_some(index)
    }
}
