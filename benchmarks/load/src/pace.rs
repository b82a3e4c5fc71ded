//! When the next request is due.

use std::time::{Duration, Instant};

/// Either every connection asks again at once, or requests come at a fixed rate whatever the answers do.
#[derive(Debug)]
pub enum Pace {
    /// A request on every connection, always.
    Closed,
    /// Evenly spaced requests; a latency counts from when its request was due, not from when a
    /// connection was free for it, else a stall would hide itself.
    Fixed {
        /// The time between two requests.
        gap: Duration,
        /// When the next one is due.
        due: Instant,
    },
}

impl Pace {
    /// Starts the pace; `rate` is in requests per second.
    pub fn begin(rate: Option<u32>, now: Instant) -> Self {
        match rate.and_then(|rate| Duration::from_secs(1).checked_div(rate)) {
            Some(gap) => Self::Fixed { gap, due: now },
            None => Self::Closed,
        }
    }

    /// The time from which the latency of a request sent now counts; `None` if none is due.
    pub fn take(&mut self, now: Instant) -> Option<Instant> {
        match self {
            Self::Closed => Some(now),
            Self::Fixed { gap, due } if *due <= now => {
                let taken = *due;
                *due += *gap;
                Some(taken)
            }
            Self::Fixed { .. } => None,
        }
    }

    /// When to look again although no answer came.
    pub fn wake(&self) -> Option<Instant> {
        match self {
            Self::Closed => None,
            Self::Fixed { due, .. } => Some(*due),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_rate_catches_up_after_a_stall() {
        let start = Instant::now();
        let mut pace = Pace::begin(Some(1_000), start);
        let later = start + Duration::from_micros(3_500);

        let due: Vec<_> = std::iter::from_fn(|| pace.take(later))
            .map(|due| due - start)
            .collect();

        assert_eq!(due, [0, 1, 2, 3].map(Duration::from_millis));
        assert_eq!(pace.wake(), Some(start + Duration::from_millis(4)));
    }
}
