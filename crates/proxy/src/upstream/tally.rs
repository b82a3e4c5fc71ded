//! A connection in the gauges of its upstream: active, idle or waited for.

use std::sync::Arc;

use sluicegate_record::{ConnectionState, UpstreamSeries};

/// Counted in one state as long as it lives.
pub(crate) struct Tally {
    series: Arc<UpstreamSeries>,
    thread: usize,
    state: ConnectionState,
}

impl Tally {
    pub(crate) fn working(series: &Arc<UpstreamSeries>, thread: usize) -> Self {
        Self::begin(series, thread, ConnectionState::Active)
    }

    pub(crate) fn waiting(series: &Arc<UpstreamSeries>, thread: usize) -> Self {
        Self::begin(series, thread, ConnectionState::Waiting)
    }

    pub(crate) fn works(&mut self) {
        self.become_state(ConnectionState::Active);
    }

    pub(crate) fn rests(&mut self) {
        self.become_state(ConnectionState::Idle);
    }

    fn begin(series: &Arc<UpstreamSeries>, thread: usize, state: ConnectionState) -> Self {
        series.connections(thread, state, 1);
        Self {
            series: series.clone(),
            thread,
            state,
        }
    }

    fn become_state(&mut self, state: ConnectionState) {
        self.series.connections(self.thread, self.state, -1);
        self.series.connections(self.thread, state, 1);
        self.state = state;
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        self.series.connections(self.thread, self.state, -1);
    }
}
