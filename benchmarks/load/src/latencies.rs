//! How long answers took.

use std::time::Duration;

/// Every latency of a run, in microseconds: a few million at most, so nothing is rounded away.
#[derive(Debug, Default)]
pub struct Latencies(Vec<u64>);

impl Latencies {
    /// Notes one answer.
    pub fn note(&mut self, latency: Duration) {
        self.0
            .push(u64::try_from(latency.as_micros()).unwrap_or(u64::MAX));
    }

    /// The number of answers noted.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The latency that `percent` of the answers did not exceed, in microseconds; 0 if there are none.
    pub fn percentile(&mut self, percent: usize) -> u64 {
        self.0.sort_unstable();
        let rank = (self.0.len() * percent).div_ceil(100).saturating_sub(1);
        self.0.get(rank).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let mut latencies = Latencies::default();
        for millis in (1..=200).rev() {
            latencies.note(Duration::from_millis(millis));
        }

        assert_eq!(latencies.percentile(50), 100_000);
        assert_eq!(latencies.percentile(99), 198_000);
        assert_eq!(latencies.percentile(100), 200_000);
        assert_eq!(Latencies::default().percentile(99), 0);
    }
}
