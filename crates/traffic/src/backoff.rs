//! Exponential waits with full jitter.

use std::time::Duration;

/// How long to wait before trying again.
///
/// Full jitter (any wait up to the bound) keeps those who failed together from coming back
/// together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The bound of the first wait; it doubles with every failure.
    pub base: Duration,
    /// What no bound exceeds.
    pub cap: Duration,
}

impl Backoff {
    /// The bound of the wait after this many failures in a row, counted from 1.
    pub fn bound(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1);
        let factor = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
        self.base.saturating_mul(factor).min(self.cap)
    }

    /// A wait below the bound; `random` is uniform over all its values.
    pub fn wait(&self, failures: u32, random: u64) -> Duration {
        let bound = u64::try_from(self.bound(failures).as_nanos()).unwrap_or(u64::MAX);
        let wait = (u128::from(bound) * u128::from(random)) >> u64::BITS;
        Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BACKOFF: Backoff = Backoff {
        base: Duration::from_millis(25),
        cap: Duration::from_secs(1),
    };

    #[test]
    fn the_bound_doubles_up_to_the_cap() {
        let bounds =
            [0, 1, 2, 3, 6, 7, 33, u32::MAX].map(|failures| BACKOFF.bound(failures).as_millis());

        assert_eq!(bounds, [25, 25, 50, 100, 800, 1000, 1000, 1000]);
    }

    #[test]
    fn random_numbers_spread_waits_over_the_whole_bound() {
        assert_eq!(BACKOFF.wait(3, 0), Duration::ZERO);
        assert_eq!(BACKOFF.wait(3, 1 << 63), Duration::from_millis(50));
        assert!(BACKOFF.wait(3, u64::MAX) > Duration::from_millis(99));
    }

    proptest! {
        #[test]
        fn no_wait_reaches_the_cap(
            failures: u32,
            random: u64,
            base in 0_u64..u64::MAX,
            cap in 1_u64..u64::MAX,
        ) {
            let backoff = Backoff { base: Duration::from_millis(base), cap: Duration::from_nanos(cap) };

            prop_assert!(backoff.wait(failures, random) < backoff.cap);
        }
    }
}
