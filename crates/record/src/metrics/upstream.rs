//! What is counted for one upstream.

use std::time::Duration;

use super::{
    cells::{Cells, nanos},
    histogram::Buckets,
    table,
    text::Text,
};

const DURATION: Buckets = Buckets(0);
const IN_FLIGHT: usize = Buckets::WIDTH;
const ACTIVE: usize = IN_FLIGHT + 1;
const IDLE: usize = IN_FLIGHT + 2;
const WAITING: usize = IN_FLIGHT + 3;
const ATTEMPTS: usize = IN_FLIGHT + 4;
const RETRIES: usize = IN_FLIGHT + 5;
const REUSED: usize = IN_FLIGHT + 6;
const CONNECTED: usize = IN_FLIGHT + 7;
const FAILED: usize = IN_FLIGHT + 8;
const CONNECT_TIME: usize = IN_FLIGHT + 9;
const ACQUIRED: usize = IN_FLIGHT + 10;
const ACQUIRE_TIME: usize = IN_FLIGHT + 11;
const REFUSED: usize = IN_FLIGHT + 12;
const WIDTH: usize = IN_FLIGHT + 13;

/// What a connection to an upstream, or a request without one, is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    /// A connection that serves a request.
    Active,
    /// A connection that could.
    Idle,
    /// A request that waits for a connection.
    Waiting,
}

/// How an attempt begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptKind {
    /// It is not the first of its request.
    pub retry: bool,
    /// Its connection had served before.
    pub reused: bool,
}

/// How a connect ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectResult {
    /// The connection can be used.
    Ok,
    /// It cannot.
    Failed,
}

/// The counts of one upstream. They outlive snapshots as long as the upstream's id stays.
///
/// A gauge may go up on one thread and down on another: only the sum over all threads is shown.
#[derive(Debug)]
pub struct UpstreamSeries {
    cells: Cells,
}

impl UpstreamSeries {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            cells: Cells::new(threads, WIDTH),
        }
    }

    /// An attempt has begun; [`UpstreamSeries::ended`] must follow.
    pub fn begun(&self, thread: usize, kind: AttemptKind) {
        self.cells.add(thread, IN_FLIGHT, 1);
        self.cells.add(thread, ATTEMPTS, 1);
        if kind.retry {
            self.cells.add(thread, RETRIES, 1);
        }
        if kind.reused {
            self.cells.add(thread, REUSED, 1);
        }
    }

    /// The head of an attempt's answer was complete after `took`.
    pub fn answered(&self, thread: usize, took: Duration) {
        DURATION.record(&self.cells, thread, took);
    }

    /// An attempt has ended, its body included, whether or not it was answered.
    pub fn ended(&self, thread: usize) {
        self.cells.add(thread, IN_FLIGHT, 1_u64.wrapping_neg());
    }

    /// A connect has ended after `took`.
    pub fn connected(&self, thread: usize, result: ConnectResult, took: Duration) {
        let cell = match result {
            ConnectResult::Ok => CONNECTED,
            ConnectResult::Failed => FAILED,
        };
        self.cells.add(thread, cell, 1);
        self.cells.add(thread, CONNECT_TIME, nanos(took));
    }

    /// A request has waited for a connection, whether or not it got one.
    pub fn waited(&self, thread: usize, took: Duration) {
        self.cells.add(thread, ACQUIRED, 1);
        self.cells.add(thread, ACQUIRE_TIME, nanos(took));
    }

    /// So many addresses of its names are not allowed.
    pub fn refused(&self, thread: usize, count: u64) {
        self.cells.add(thread, REFUSED, count);
    }

    /// There are `change` more in this state.
    pub fn connections(&self, thread: usize, state: ConnectionState, change: i64) {
        let cell = match state {
            ConnectionState::Active => ACTIVE,
            ConnectionState::Idle => IDLE,
            ConnectionState::Waiting => WAITING,
        };
        self.cells.add(thread, cell, change.cast_unsigned());
    }

    pub(crate) fn expose_duration(&self, id: &str, text: &mut Text<'_>) {
        if DURATION.count(&self.cells) > 0 {
            let labels = [("upstream", id)];
            DURATION.expose(&self.cells, text, table::UPSTREAM_DURATION.name, &labels);
        }
    }

    pub(crate) fn expose_in_flight(&self, id: &str, text: &mut Text<'_>) {
        text.sample(table::IN_FLIGHT.name, "", &[("upstream", id)], None);
        text.number(self.cells.sum(IN_FLIGHT).cast_signed());
    }

    pub(crate) fn expose_connections(&self, id: &str, text: &mut Text<'_>) {
        for (cell, state) in [(ACTIVE, "active"), (IDLE, "idle"), (WAITING, "waiting")] {
            let labels = [("upstream", id), ("state", state)];
            text.sample(table::UPSTREAM_CONNECTIONS.name, "", &labels, None);
            text.number(self.cells.sum(cell).cast_signed());
        }
    }

    pub(crate) fn expose_connects(&self, id: &str, text: &mut Text<'_>) {
        for (cell, result) in [(CONNECTED, "ok"), (FAILED, "failed")] {
            let labels = [("upstream", id), ("result", result)];
            text.sample(table::CONNECTS.name, "", &labels, None);
            text.number(self.cells.sum(cell));
        }
    }

    pub(crate) fn expose_connect_time(&self, id: &str, text: &mut Text<'_>) {
        let count = self
            .cells
            .sum(CONNECTED)
            .wrapping_add(self.cells.sum(FAILED));
        self.summary(table::CONNECT_TIME.name, id, (CONNECT_TIME, count), text);
    }

    pub(crate) fn expose_acquire_time(&self, id: &str, text: &mut Text<'_>) {
        let count = self.cells.sum(ACQUIRED);
        self.summary(table::ACQUIRE_TIME.name, id, (ACQUIRE_TIME, count), text);
    }

    pub(crate) fn expose_attempts(&self, id: &str, text: &mut Text<'_>) {
        self.count(table::ATTEMPTS.name, id, ATTEMPTS, text);
    }

    pub(crate) fn expose_retries(&self, id: &str, text: &mut Text<'_>) {
        self.count(table::RETRIES.name, id, RETRIES, text);
    }

    pub(crate) fn expose_reused(&self, id: &str, text: &mut Text<'_>) {
        self.count(table::REUSED.name, id, REUSED, text);
    }

    pub(crate) fn expose_refused(&self, id: &str, text: &mut Text<'_>) {
        self.count(table::ADDRESSES_REFUSED.name, id, REFUSED, text);
    }

    fn count(&self, name: &str, id: &str, cell: usize, text: &mut Text<'_>) {
        text.sample(name, "", &[("upstream", id)], None);
        text.number(self.cells.sum(cell));
    }

    fn summary(&self, name: &str, id: &str, (sum, count): (usize, u64), text: &mut Text<'_>) {
        text.sample(name, "_sum", &[("upstream", id)], None);
        text.seconds(self.cells.sum(sum));
        text.sample(name, "_count", &[("upstream", id)], None);
        text.number(count);
    }
}
