//! Smooth weighted round robin: each endpoint in proportion to its weight, well spread.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Longer cycles are not laid out: weights are rounded until the cycle is shorter.
const LONGEST_CYCLE: u64 = 1 << 20;

/// A cycle of turns, laid out once and shared by all threads.
///
/// In every run of as many turns as the weights add up to, each endpoint has exactly its weight of
/// them; and of its `w` turns one falls into each `w`-th part of the cycle, so no endpoint waits
/// long or is met in a burst. A turn costs one atomic addition, whatever the number of endpoints.
#[derive(Debug)]
pub struct SmoothWeighted {
    cycle: Box<[u32]>,
    endpoints: usize,
    next: AtomicUsize,
}

impl SmoothWeighted {
    /// Lays out the cycle for endpoints with these weights, in their order; 0 is no turn at all.
    pub fn new(weights: &[u32]) -> Self {
        Self {
            cycle: lay_out(&shorten(weights)),
            endpoints: weights.len(),
            next: AtomicUsize::new(0),
        }
    }

    /// The index of the endpoint whose turn it is, or `None` when no endpoint is usable.
    ///
    /// The turns of an endpoint that is not usable pass to the others in proportion to their
    /// weights. Asks about an endpoint a few times at most, and scans when most are not usable.
    pub fn pick(&self, is_usable: impl Fn(usize) -> bool) -> Option<usize> {
        for _ in 0..self.endpoints.saturating_mul(2) {
            let index = self.turn()?;
            if is_usable(index) {
                return Some(index);
            }
        }
        // Few are usable, or light ones among heavy: they share equally. A pick that came here has
        // taken one turn more than a multiple of the endpoints, so the next begins one further on.
        let start = self
            .next
            .fetch_add(1, Ordering::Relaxed)
            .checked_rem(self.endpoints)?;
        (start..self.endpoints)
            .chain(0..start)
            .find(|index| is_usable(*index))
    }

    fn turn(&self) -> Option<usize> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let place = turn.checked_rem(self.cycle.len())?;
        self.cycle.get(place).map(|index| *index as usize)
    }
}

/// The smallest weights with the same proportions, rounded when the cycle would be too long.
fn shorten(weights: &[u32]) -> Vec<u64> {
    let divisor = weights.iter().copied().fold(0, greatest_common_divisor);
    let reduced = weights
        .iter()
        .map(|weight| u64::from(weight.checked_div(divisor).unwrap_or(0)));
    let reduced: Vec<u64> = reduced.collect();
    let total: u64 = reduced.iter().sum();
    if total <= LONGEST_CYCLE {
        return reduced;
    }
    let scale = total.div_ceil(LONGEST_CYCLE);
    let round = |weight: u64| {
        if weight == 0 {
            0
        } else {
            (weight / scale).max(1)
        }
    };
    reduced.into_iter().map(round).collect()
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Earliest deadline first: the `k`-th of `w` turns becomes due at `k / w` of the cycle and must
/// come before `(k + 1) / w`. Turns add up to the cycle, so every deadline can be kept.
fn lay_out(weights: &[u64]) -> Box<[u32]> {
    let total: u64 = weights.iter().sum();
    let due = |turn: u64, weight: u64| turn * total / weight;
    let deadline = |turn: u64, weight: u64| ((turn + 1) * total).div_ceil(weight);
    let mut waiting: BinaryHeap<_> = weights
        .iter()
        .zip(0_u32..)
        .filter(|(weight, _)| **weight > 0)
        .map(|(weight, index)| Reverse((0, index, 0, *weight)))
        .collect();
    let mut ready = BinaryHeap::new();

    let mut cycle = Vec::new();
    for now in 0..total {
        while let Some(Reverse((due_at, index, turn, weight))) = waiting.peek().copied()
            && due_at <= now
        {
            waiting.pop();
            ready.push(Reverse((deadline(turn, weight), index, turn, weight)));
        }
        let Some(Reverse((_, index, turn, weight))) = ready.pop() else {
            debug_assert!(false, "a slot without a turn");
            continue;
        };
        cycle.push(index);
        if turn + 1 < weight {
            waiting.push(Reverse((due(turn + 1, weight), index, turn + 1, weight)));
        }
    }
    cycle.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn picks(weights: &[u32], count: usize) -> Vec<usize> {
        let balance = SmoothWeighted::new(weights);
        (0..count)
            .map(|_| balance.pick(|_| true).unwrap())
            .collect()
    }

    fn shares(picks: &[usize], endpoints: usize) -> Vec<usize> {
        let share = |endpoint| picks.iter().filter(|pick| **pick == endpoint).count();
        (0..endpoints).map(share).collect()
    }

    // spec: LB-02
    #[test]
    fn equal_endpoints_take_turns_in_order() {
        assert_eq!(picks(&[7, 7, 7], 7), [0, 1, 2, 0, 1, 2, 0]);
    }

    // spec: LB-02
    #[test]
    fn a_heavy_endpoint_is_spread_among_light_ones() {
        assert_eq!(picks(&[5, 1, 1], 7), [0, 0, 0, 1, 0, 0, 2]);
        assert_eq!(picks(&[1, 3, 0], 4), [1, 1, 0, 1]);
    }

    #[test]
    fn nobody_is_picked_from_nobody() {
        for weights in [&[][..], &[0, 0]] {
            assert_eq!(SmoothWeighted::new(weights).pick(|_| true), None);
        }
        assert_eq!(SmoothWeighted::new(&[1, 2]).pick(|_| false), None);
    }

    #[test]
    fn light_endpoints_left_among_heavy_ones_share_equally() {
        let balance = SmoothWeighted::new(&[1000, 1000, 1, 1]);
        let picks: Vec<usize> = (0..400)
            .map(|_| balance.pick(|index| index >= 2).unwrap())
            .collect();

        let shares = shares(&picks, 4);
        assert!(shares[2].min(shares[3]) >= 90, "{shares:?}");
    }

    #[test]
    fn the_turns_of_an_unusable_endpoint_pass_to_all_others_by_weight() {
        let balance = SmoothWeighted::new(&[2, 2, 1, 1]);
        let picks: Vec<usize> = (0..400)
            .map(|_| balance.pick(|index| index != 0).unwrap())
            .collect();

        assert_eq!(shares(&picks, 4), [0, 200, 100, 100]);
    }

    #[test]
    fn enormous_weights_give_a_bounded_cycle_with_their_proportions() {
        let balance = SmoothWeighted::new(&[u32::MAX, u32::MAX / 3, 1]);

        let shares = shares(
            &balance
                .cycle
                .iter()
                .map(|index| *index as usize)
                .collect::<Vec<_>>(),
            3,
        );

        assert!(balance.cycle.len() <= 2 * usize::try_from(LONGEST_CYCLE).unwrap());
        assert!(shares[0].abs_diff(3 * shares[1]) < 10, "{shares:?}");
        assert_eq!(shares[2], 1);
    }

    #[test]
    fn threads_together_keep_the_shares() {
        let weights = [5, 3, 2];
        let balance = SmoothWeighted::new(&weights);
        let all: Vec<usize> = std::thread::scope(|scope| {
            let one_thread = || {
                (0..250)
                    .map(|_| balance.pick(|_| true).unwrap())
                    .collect::<Vec<_>>()
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(one_thread)).collect();
            threads
                .into_iter()
                .flat_map(|thread| thread.join().unwrap())
                .collect()
        });

        assert_eq!(shares(&all, 3), [500, 300, 200]);
    }

    proptest! {
        // spec: LB-02
        /// Wherever it begins, a run as long as the sum of the weights gives each its weight.
        #[test]
        fn every_window_gives_each_endpoint_its_weight(
            weights in prop::collection::vec(0_u32..50, 1..12),
            start in 0_usize..500,
        ) {
            let total = weights.iter().sum::<u32>() as usize;
            prop_assume!(total > 0);

            let window = picks(&weights, start + total).split_off(start);

            let expected: Vec<usize> = weights.iter().map(|weight| *weight as usize).collect();
            prop_assert_eq!(shares(&window, weights.len()), expected);
        }

        // spec: LB-02
        /// The k-th of w turns lies in the k-th of w parts of the cycle.
        #[test]
        fn turns_are_spread_over_the_cycle(weights in prop::collection::vec(1_u64..50, 1..12)) {
            let cycle = lay_out(&weights);
            let total = weights.iter().sum::<u64>();

            for (endpoint, weight) in weights.iter().enumerate() {
                let places = cycle.iter().zip(0_u64..).filter(|(index, _)| **index as usize == endpoint);
                for ((_, place), turn) in places.zip(0_u64..) {
                    prop_assert!(turn * total / weight <= place);
                    prop_assert!(place < ((turn + 1) * total).div_ceil(*weight));
                }
            }
        }
    }
}
