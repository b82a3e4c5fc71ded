//! Exponential waits with full jitter.

use std::time::Duration;

/// How long to wait before trying again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The upper bound of the first wait.
    pub base: Duration,
    /// The upper bound of every wait.
    pub cap: Duration,
}

impl Backoff {
    /// The upper bound of the wait before the attempt after `failures` failures (1 = after the first).
    pub fn ceiling(&self, failures: u32) -> Duration {
        let factor = 1_u32
            .checked_shl(failures.saturating_sub(1))
            .unwrap_or(u32::MAX);
        self.base.saturating_mul(factor).min(self.cap)
    }

    /// A wait between nothing and the ceiling; `random` is uniform in 0..1.
    pub fn wait(&self, failures: u32, random: f64) -> Duration {
        self.ceiling(failures).mul_f64(random.clamp(0.0, 1.0))
    }
}
