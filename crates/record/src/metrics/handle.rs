//! Counters and gauges that whoever needs one asks the registry for.

use std::sync::Arc;

use super::cells::Cells;

/// A number that only grows.
#[derive(Debug, Clone)]
pub struct Counter(pub(crate) Arc<Cells>);

impl Counter {
    /// Adds on the thread that counts.
    pub fn add(&self, thread: usize, amount: u64) {
        self.0.add(thread, 0, amount);
    }
}

/// A number that goes up and down: the sum of what each thread says.
#[derive(Debug, Clone)]
pub struct Gauge(pub(crate) Arc<Cells>);

impl Gauge {
    /// Changes this thread's share; one thread may take away what another has added.
    pub fn add(&self, thread: usize, change: i64) {
        self.0.add(thread, 0, change.cast_unsigned());
    }

    /// Replaces this thread's share.
    pub fn set(&self, thread: usize, value: i64) {
        self.0.set(thread, 0, value.cast_unsigned());
    }
}
