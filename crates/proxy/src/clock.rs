//! The engine's clock: monotonic time since it started, which tests can put forward.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// One clock for all threads.
#[derive(Debug)]
pub(crate) struct Clock {
    started: Instant,
    /// Wall-clock time at the start; wall-clock time afterwards is this plus the monotonic time,
    /// so that one reading serves both.
    started_unix: Duration,
    /// What tests have added, in nanoseconds.
    added: AtomicU64,
}

impl Clock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that everybody else is given"
    )]
    pub(crate) fn start() -> Self {
        Self {
            started: Instant::now(),
            started_unix: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default(),
            added: AtomicU64::new(0),
        }
    }

    pub(crate) fn now(&self) -> Duration {
        self.started.elapsed() + Duration::from_nanos(self.added.load(Ordering::Relaxed))
    }

    /// Wall-clock time at the moment `now`.
    pub(crate) fn unix_at(&self, now: Duration) -> Duration {
        self.started_unix + now
    }

    /// Puts the clock forward; deadlines fire at the next sweep.
    pub(crate) fn advance(&self, span: Duration) {
        let nanos = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        self.added.fetch_add(nanos, Ordering::Relaxed);
    }
}
