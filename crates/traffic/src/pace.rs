//! How often something may happen on one connection: the generic cell rate algorithm with a burst of a second.

use std::time::Duration;

/// At most so many events a second, the allowance of one second at once. One number of state.
#[derive(Debug, Clone)]
pub struct Pace {
    gap: Duration,
    /// When the allowance would be whole again.
    whole_at: Duration,
}

impl Pace {
    /// `per_second` is at least 1.
    pub fn new(per_second: u32) -> Self {
        Self {
            gap: Duration::from_secs(1) / per_second.max(1),
            whole_at: Duration::ZERO,
        }
    }

    /// Takes one event at `now`; false when that is too soon.
    pub fn take(&mut self, now: Duration) -> bool {
        let next = self.whole_at.max(now) + self.gap;
        let fits = next.saturating_sub(now) <= Duration::from_secs(1);
        if fits {
            self.whole_at = next;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    #[test]
    fn a_second_at_once_and_then_one_by_one() {
        let mut pace = Pace::new(4);
        let now = Duration::from_secs(7);
        assert!((0..4).all(|_| pace.take(now)));
        assert!(!pace.take(now));
        assert!(pace.take(now + Duration::from_millis(250)));
        assert!(!pace.take(now + Duration::from_millis(250)));
    }

    proptest! {
        /// Whatever the arrival times: no more than the burst and the rate allow.
        #[test]
        fn never_more_than_it_promises(gaps in vec(0_u64..400, 1..300), rate in 1_u32..50) {
            let mut pace = Pace::new(rate);
            let mut now = Duration::ZERO;
            let mut taken = 0_u32;
            for gap in gaps {
                now += Duration::from_millis(gap);
                taken += u32::from(pace.take(now));
            }
            let most = f64::from(rate) * (now.as_secs_f64() + 1.0) + 1.0;
            prop_assert!(f64::from(taken) <= most);
        }
    }
}
