//! What is remembered of a request: a line of the access log, and the metrics.
//!
//! No sockets and no runtime: engine threads format and count, a writer thread writes, and
//! whoever serves `/metrics` asks the registry for its text.
#![allow(unused_variables, clippy::todo, missing_docs, reason = "signatures first")]

use std::{path::PathBuf, sync::Arc, time::Duration};

use sluicegate_core::{Code, Exchange, Outcome};

/// What the record of one exchange is made of.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    pub exchange: &'a Exchange,
    pub outcome: Outcome,
    /// As sent to the client; 0 when no head went out (then a client that left is logged as 499).
    pub status: u16,
    /// Body bytes.
    pub request_bytes: u64,
    pub response_bytes: u64,
    /// Monotonic, as in `exchange.times`.
    pub finished: Duration,
    /// Wall clock at the end.
    pub unix: Duration,
    /// The snapshot in force.
    pub snapshot: u64,
}

/// Names of parameters whose values are never logged.
#[derive(Debug, Clone, Default)]
pub struct Masking {}
impl Masking {
    /// The default names and these.
    pub fn with_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        todo!()
    }
}

#[derive(Debug, Clone, Default)]
pub struct LogFormat {}
impl LogFormat {
    pub fn new(masking: Masking) -> Self {
        todo!()
    }
    pub fn write(&self, entry: &Entry<'_>, line: &mut Vec<u8>) {
        todo!()
    }
}

/// Lines of one engine thread on their way to the queue.
#[derive(Debug)]
pub struct LogBuffer {}
impl LogBuffer {
    pub fn new(format: Arc<LogFormat>) -> Self {
        todo!()
    }
    pub fn set_format(&mut self, format: Arc<LogFormat>) {
        todo!()
    }
    pub fn push(&mut self, entry: &Entry<'_>) {
        todo!()
    }
    /// 32 KB are there, or the oldest line is 100 ms old.
    pub fn due(&self, now: Duration) -> bool {
        todo!()
    }
    /// Offers what is there to the queue and takes a recycled buffer for what follows.
    pub fn hand_over(&mut self, queue: &LogQueue) {
        todo!()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLimits {
    pub bytes: usize,
    pub records: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogCounts {
    pub written: u64,
    pub dropped: u64,
    pub bytes: u64,
    pub failures: u64,
}

#[derive(Debug)]
pub struct LogQueue {}
impl LogQueue {
    pub fn new(limits: QueueLimits) -> Self {
        todo!()
    }
    /// A new snapshot has other limits.
    pub fn set_limits(&self, limits: QueueLimits) {
        todo!()
    }
    /// Takes whole lines, or drops and counts them when the queue is full.
    pub fn offer(&self, lines: Vec<u8>, records: usize) -> bool {
        todo!()
    }
    /// The writer opens its file again before the next batch (SIGHUP, logrotate).
    pub fn reopen(&self) {
        todo!()
    }
    /// The writer goes on with another output (a new snapshot).
    pub fn redirect(&self, output: Output) {
        todo!()
    }
    pub fn counts(&self) -> LogCounts {
        todo!()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    Stdout,
    File { path: PathBuf, rotation: Option<Rotation> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    pub size: u64,
    pub keep: u32,
}

#[derive(Debug)]
pub struct LogWriter {}
impl LogWriter {
    pub fn new(queue: Arc<LogQueue>, output: Output) -> Self {
        todo!()
    }
    /// A thread of its own: standard output may block for as long as its reader likes.
    pub fn spawn(self) -> std::io::Result<WriterThread> {
        todo!()
    }
}

#[derive(Debug)]
pub struct WriterThread {}
impl WriterThread {
    /// Writes what is queued; what is not written `within` is counted as dropped. True when all went out.
    pub fn stop(self, within: Duration) -> bool {
        todo!()
    }
}

#[derive(Debug)]
pub struct Registry {}
impl Registry {
    /// `threads` engine threads with the indexes `0..threads`; any other index counts in a shared cell.
    pub fn new(threads: usize, prefix: &str) -> Self {
        todo!()
    }
    pub fn route(&self, id: &str) -> Arc<RouteSeries> {
        todo!()
    }
    /// The series of route `none`.
    pub fn unmatched(&self) -> Arc<RouteSeries> {
        todo!()
    }
    pub fn upstream(&self, id: &str) -> Arc<UpstreamSeries> {
        todo!()
    }
    /// After each snapshot: series of others disappear `grace` later.
    pub fn retain(&self, routes: &[&str], upstreams: &[&str], now: Duration, grace: Duration) {
        todo!()
    }
    pub fn counter(&self, name: &'static str, help: &'static str, labels: &[(&'static str, &str)]) -> Counter {
        todo!()
    }
    pub fn gauge(&self, name: &'static str, help: &'static str, labels: &[(&'static str, &str)]) -> Gauge {
        todo!()
    }
    pub fn histogram(&self, name: &'static str, help: &'static str, labels: &[(&'static str, &str)]) -> Histogram {
        todo!()
    }
    /// `sluicegate_connections{listener}`
    pub fn connections(&self, listener: &str) -> Gauge {
        todo!()
    }
    /// `sluicegate_loop_delay_seconds{thread}`: how late the sweep came; the largest of the last half minute is shown.
    pub fn loop_delay(&self, thread: usize, delay: Duration, now: Duration) {
        todo!()
    }
    pub fn snapshot_applied(&self, version: u64, now: Duration) {
        todo!()
    }
    pub fn config_rejected(&self) {
        todo!()
    }
    /// The queue whose counts are shown.
    pub fn watch_log(&self, queue: Arc<LogQueue>) {
        todo!()
    }
    pub fn expose(&self, now: Duration, out: &mut String) {
        todo!()
    }
}

#[derive(Debug, Clone)]
pub struct Counter {}
impl Counter {
    pub fn add(&self, thread: usize, amount: u64) {
        todo!()
    }
}
#[derive(Debug, Clone)]
pub struct Gauge {}
impl Gauge {
    pub fn add(&self, thread: usize, change: i64) {
        todo!()
    }
    /// This thread's share of the sum.
    pub fn set(&self, thread: usize, value: i64) {
        todo!()
    }
}
#[derive(Debug, Clone)]
pub struct Histogram {}
impl Histogram {
    pub fn record(&self, thread: usize, took: Duration) {
        todo!()
    }
}

#[derive(Debug)]
pub struct RouteSeries {}
impl RouteSeries {
    /// One request; `status` as in [`Entry`].
    pub fn record(
        &self,
        thread: usize,
        method: &str,
        status: u16,
        took: Duration,
        code: Option<&'static Code>,
        outcome: Outcome,
    ) {
        todo!()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    Active,
    Idle,
    Waiting,
}

#[derive(Debug)]
pub struct UpstreamSeries {}
impl UpstreamSeries {
    /// An attempt began: in flight; `retry` when it is not the first, `reused` when the connection had served before.
    pub fn begun(&self, thread: usize, retry: bool, reused: bool) {
        todo!()
    }
    /// The attempt ended; `answered` is the time to the head, when one came.
    pub fn ended(&self, thread: usize, answered: Option<Duration>) {
        todo!()
    }
    /// A connect ended after `took`.
    pub fn connected(&self, thread: usize, ok: bool, took: Duration) {
        todo!()
    }
    /// Something waited `took` for a connection.
    pub fn acquired(&self, thread: usize, took: Duration) {
        todo!()
    }
    /// Connections of this thread in `state` change by `change`.
    pub fn connections(&self, thread: usize, state: ConnectionState, change: i64) {
        todo!()
    }
}
