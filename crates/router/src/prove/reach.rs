//! Which routes a request can reach at all.

use super::cell::{Cell, Standpoint};
use super::report::{Finding, Kind, Level};
use super::search::{Answer, Found, Patience, search};
use super::sides::Sample;
use super::witness::Witness;
use super::{Prover, cover, share};

/// More winners together are not made fewer.
const MOST_TO_THIN_OUT: usize = 12;

/// What becomes of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Reached,
    Never,
    Unknown,
}

/// The routes of which nothing is known.
pub(super) fn undecided(fates: &[Fate]) -> Vec<usize> {
    let routes = fates.iter().enumerate();
    routes
        .filter(|(_, fate)| **fate == Fate::Unknown)
        .map(|(route, _)| route)
        .collect()
}

impl<'r> Prover<'r> {
    /// The fate of every route, by index.
    pub(super) fn reach_all(&mut self) -> Vec<Fate> {
        let count = self.router.routes.len();
        let mut ranks: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (index, rank) in self.router.ranks.iter().zip(0_u32..) {
            if let Some(ranks) = ranks.get_mut(*index as usize) {
                ranks.push(rank);
            }
        }
        let mut left = self.limits.work;
        let mut fates = Vec::with_capacity(count);
        for (index, ranks) in ranks.into_iter().enumerate() {
            let allowance = share(left, count - index);
            let patience = Patience::new(allowance);
            fates.push(self.reach(index, &ranks, &patience));
            left -= allowance - patience.left();
        }
        fates
    }

    fn reach(&mut self, index: usize, ranks: &[u32], patience: &Patience) -> Fate {
        let mut winners: Vec<Standpoint<'r>> = Vec::new();
        for rank in ranks {
            let Some(own) = self.standpoint(*rank) else {
                continue;
            };
            let found = search(Cell::of(own), patience, |witness| {
                match self.answer(witness, patience) {
                    Ok(Some(best)) if best <= *rank && own.takes(witness) => {
                        match self.standpoint(best) {
                            Some(best) if best.index == index => Answer::Right,
                            Some(best) => Answer::Other(best),
                            None => Answer::Unclear,
                        }
                    }
                    Ok(_) | Err(()) => Answer::Unclear,
                }
            });
            match found {
                Found::Witness(_) => return Fate::Reached,
                Found::Unknown => return Fate::Unknown,
                Found::Never(others) => winners.extend(thinned_out(own, others, patience)),
            }
        }
        self.note_unreached(index, ranks, &winners, patience);
        Fate::Never
    }

    fn note_unreached(
        &mut self,
        index: usize,
        ranks: &[u32],
        winners: &[Standpoint<'r>],
        patience: &Patience,
    ) {
        let own = ranks.first().and_then(|rank| self.standpoint(*rank));
        let Some(own) = own else {
            return;
        };
        let mut others: Vec<usize> = Vec::new();
        for winner in winners {
            if !others.contains(&winner.index) {
                others.push(winner.index);
            }
        }
        let kind = match winners {
            [] => Kind::Impossible,
            [winner, ..] if others.len() == 1 && cover::covers(own.route, winner.route) => {
                Kind::Equal
            }
            [..] => Kind::Shadowed,
        };
        self.note(kind, |prover| {
            let (witness, answered_by) = prover.lost(own, &others, patience);
            let first = winners.first();
            Finding {
                kind,
                level: Level::Warning,
                route: index,
                decided: first.map(|winner| winner.wins_by(own)),
                others,
                witness,
                answered_by,
                expected: None,
            }
        });
    }
}

impl<'r> Prover<'r> {
    /// A request of a route that others answer, one of these if that can be.
    fn lost(
        &mut self,
        own: Standpoint<'r>,
        others: &[usize],
        patience: &Patience,
    ) -> (Option<Witness>, Option<usize>) {
        let mut answerer = |witness: &Witness| {
            let answer = self.answer(witness, patience).ok().flatten();
            answer.and_then(|rank| self.standpoint(rank))
        };
        let found = search(Cell::of(own), patience, |witness| match answerer(witness) {
            Some(answer) if others.contains(&answer.index) => Answer::Right,
            Some(answer) => Answer::Other(answer),
            None => Answer::Unclear,
        });
        let witness = match (found, Cell::of(own).sample()) {
            (Found::Witness(witness), _) | (_, Sample::One(witness)) => witness,
            (Found::Never(_) | Found::Unknown, Sample::None | Sample::Unknown) => {
                return (None, None);
            }
        };
        match answerer(&witness) {
            Some(answer) => (Some(witness), Some(answer.index)),
            None => (None, None),
        }
    }
}

/// One winner that takes everything, if there is one; else those that are all needed.
fn thinned_out<'r>(
    own: Standpoint<'r>,
    mut winners: Vec<Standpoint<'r>>,
    patience: &Patience,
) -> Vec<Standpoint<'r>> {
    let takes_all = |winners: &[Standpoint<'r>]| {
        let found = search(Cell::of(own), patience, |witness| {
            let winner = winners.iter().find(|winner| winner.takes(witness));
            winner.map_or(Answer::Right, |winner| Answer::Other(*winner))
        });
        matches!(found, Found::Never(_))
    };
    if let Some(alone) = winners.iter().find(|winner| takes_all(&[**winner])) {
        return vec![*alone];
    }
    if winners.len() > MOST_TO_THIN_OUT {
        return winners;
    }
    let mut place = 0;
    while place < winners.len() {
        let mut fewer = winners.clone();
        fewer.remove(place);
        if takes_all(&fewer) {
            winners = fewer;
        } else {
            place += 1;
        }
    }
    winners
}
