//! Which pairs of routes meet, and who wins where they do.

use std::collections::HashSet;

use super::cell::{Cell, Standpoint};
use super::reach::Fate;
use super::report::{Decided, Finding, Kind, Level};
use super::search::{Answer, Found, Patience, search};
use super::shelf::Shelf;
use super::sides::Sample;
use super::{Prover, cover, share};

/// What one example may cost.
const PATIENCE_FOR_A_WITNESS: u64 = 200_000;

impl<'r> Prover<'r> {
    /// Compares every pair; the number of pairs, and of routes whose turn was cut short.
    pub(super) fn compare_pairs(&mut self, fates: &[Fate]) -> (usize, usize) {
        let is_reached = |index: usize| fates.get(index) != Some(&Fate::Never);
        let count = self.router.ranks.len();
        let mut shelf = Shelf::new();
        let mut seen: HashSet<(usize, usize)> = HashSet::new();
        let mut left = self.limits.pairs;
        let mut pairs = 0;
        let mut cut_short = HashSet::new();
        // Whoever is on the shelf already wins over whoever comes.
        for (rank, place) in (0_u32..).zip(0..count) {
            let Some(loser) = self.standpoint(rank) else {
                continue;
            };
            if !is_reached(loser.index) {
                continue;
            }
            let allowance = share(left, count - place);
            let patience = Patience::new(allowance);
            let mut met: Vec<Standpoint<'r>> = Vec::new();
            let is_whole = shelf.meeting(loser.host, &loser.route.template, &mut |rank| {
                if let Some(winner) = rank.and_then(|rank| self.standpoint(rank)) {
                    met.push(winner);
                }
                patience.spend(1)
            });
            left -= allowance - patience.left();
            if !is_whole {
                cut_short.insert(loser.index);
            }
            for winner in met {
                if winner.index == loser.index {
                    continue;
                }
                let has_several = winner.route.hosts.len() + loser.route.hosts.len() > 2;
                let pair = (winner.index.min(loser.index), winner.index.max(loser.index));
                if has_several && !seen.insert(pair) {
                    continue;
                }
                pairs += 1;
                self.compare(winner, loser);
            }
            shelf.insert(loser.host, &loser.route.template, rank);
        }
        (pairs, cut_short.len())
    }

    fn compare(&mut self, winner: Standpoint<'r>, loser: Standpoint<'r>) {
        let Some(in_one_value) = cover::meet(winner.route, loser.route) else {
            return;
        };
        let kind = if cover::covers(loser.route, winner.route) {
            Kind::Inside
        } else if is_hidden(winner, loser) {
            Kind::Hidden
        } else if in_one_value {
            Kind::Partial
        } else {
            self.pairs_by_repetition += 1;
            return;
        };
        let level = if kind == Kind::Hidden {
            Level::Warning
        } else {
            Level::Note
        };
        self.note(kind, |prover| {
            let (witness, answered_by) = prover.meeting(winner, loser);
            Finding {
                kind,
                level,
                route: loser.index,
                others: vec![winner.index],
                decided: Some(winner.wins_by(loser)),
                witness,
                answered_by,
                expected: None,
            }
        });
    }

    /// A request that both take, the winner's if that can be, and who answers it.
    fn meeting(
        &mut self,
        winner: Standpoint<'r>,
        loser: Standpoint<'r>,
    ) -> (Option<super::Witness>, Option<usize>) {
        let patience = Patience::new(PATIENCE_FOR_A_WITNESS);
        let cell = Cell::of(winner).and(loser);
        let are_both = |witness: &super::Witness| winner.takes(witness) && loser.takes(witness);
        let found = search(cell.clone(), &patience, |witness| {
            let answer = self.answer(witness, &patience).ok().flatten();
            match answer.and_then(|rank| self.standpoint(rank)) {
                Some(answer) if !are_both(witness) || answer.index == loser.index => {
                    Answer::Unclear
                }
                Some(answer) if answer.index == winner.index => Answer::Right,
                Some(answer) => Answer::Other(answer),
                None => Answer::Unclear,
            }
        });
        if let Found::Witness(witness) = found {
            return (Some(witness), Some(winner.index));
        }
        // A third route has it, everywhere or where it was looked.
        let Sample::One(witness) = cell.sample() else {
            return (None, None);
        };
        let answer = self.answer(&witness, &patience).ok().flatten();
        let answer = answer.and_then(|rank| self.standpoint(rank));
        match answer {
            Some(answer) if are_both(&witness) => (Some(witness), Some(answer.index)),
            Some(_) | None => (None, None),
        }
    }
}

/// Whether a broader route takes requests of a more precise one by its priority alone.
///
/// A route with conditions of its own is an exception that somebody made on purpose.
fn is_hidden(winner: Standpoint<'_>, loser: Standpoint<'_>) -> bool {
    winner.route.priority > loser.route.priority
        && cover::covers_but_for_method(winner.route, loser.route)
        && !cover::covers_path(loser.route, winner.route)
        && winner.wins_by(loser) == Decided::Priority
        && loser.would_win_without_priority(winner)
}
