//! What a filter may ask of the world.

use std::{fmt, future::Future, pin::Pin, time::Duration};

/// A future that stays on its thread.
pub type Wait<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// The effects of one thread. Filters are shared by all threads and therefore never store them.
///
/// `explain` runs the same filters with dry effects: their futures are ready at once and they
/// change nothing.
pub trait Effects {
    /// Time since the engine started; never goes back.
    fn now(&self) -> Duration;

    /// Wall-clock time since the Unix epoch.
    fn unix_time(&self) -> Duration;

    /// 64 random bits, unpredictable to a client but not for keys.
    fn random(&self) -> u64;

    /// Waits at least this long; the resolution is that of the engine's sweep (tens of milliseconds).
    fn sleep(&self, span: Duration) -> Wait<'_, ()>;

    /// Puts a question to the Python side and waits for its answer.
    ///
    /// # Errors
    /// [`Unavailable`] when nobody answers `kind`, the queue is full, or `within` has passed.
    fn ask<'a>(
        &'a self,
        kind: &'static str,
        payload: Vec<u8>,
        within: Duration,
    ) -> Wait<'a, Result<Vec<u8>, Unavailable>>;

    /// Sends a one-way event (audit, statistics) through a bounded queue; a full queue drops and counts it.
    fn emit(&self, event: Event);
}

/// A one-way message to the Python side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What kind of event; a stable word.
    pub kind: &'static str,
    /// JSON.
    pub payload: String,
}

/// Something outside did not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    /// What was asked: for the log, never for the client.
    pub what: &'static str,
    /// How long it was waited for.
    pub after: Duration,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} did not answer within {:?}", self.what, self.after)
    }
}

impl std::error::Error for Unavailable {}
