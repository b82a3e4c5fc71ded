//! The search for a request in a cell that is answered as wanted.
//!
//! It takes a sample and asks who answers. When that is somebody unwanted, it takes away all that
//! this one takes and goes on with what is left, until a sample is right or nothing is left. Each
//! step takes one standpoint away for good, so only those are looked at that get in the way.

use super::cell::{Cell, Standpoint};
use super::sides::Sample;
use super::witness::Witness;

/// A part costs about as much as it takes to judge so many plain routes.
const PRICE_OF_A_PART: u64 = 100;

/// How much work may still be done; without a clock, so that the same table gives the same report.
#[derive(Debug)]
pub(super) struct Patience(std::cell::Cell<u64>);

impl Patience {
    pub(super) fn new(work: u64) -> Self {
        Self(std::cell::Cell::new(work))
    }

    pub(super) fn left(&self) -> u64 {
        self.0.get()
    }

    /// Whether there was so much left.
    pub(super) fn spend(&self, work: u64) -> bool {
        let left = self.0.get().checked_sub(work);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// Who answers a sample.
pub(super) enum Answer<'r> {
    /// The one that is looked for.
    Right,
    /// Another one, which does so for all that it takes.
    Other(Standpoint<'r>),
    /// Not as the cell has it, or it would take too long to know.
    Unclear,
}

/// What a search has found.
#[derive(Debug)]
pub(super) enum Found<'r> {
    /// A request that is answered as wanted.
    Witness(Witness),
    /// Proven: there is none, because these answer.
    Never(Vec<Standpoint<'r>>),
    /// None was found, and that there is none is not proven.
    Unknown,
}

/// Searches a cell.
pub(super) fn search<'r>(
    cell: Cell<'r>,
    patience: &Patience,
    mut who: impl FnMut(&Witness) -> Answer<'r>,
) -> Found<'r> {
    let mut parts = vec![cell];
    let mut others: Vec<Standpoint<'r>> = Vec::new();
    let mut is_known = true;
    while patience.spend(PRICE_OF_A_PART) {
        let Some(part) = parts.pop() else {
            return if is_known {
                Found::Never(others)
            } else {
                Found::Unknown
            };
        };
        let witness = match part.sample() {
            Sample::One(witness) => witness,
            Sample::None => continue,
            Sample::Unknown => {
                is_known = false;
                continue;
            }
        };
        match who(&witness) {
            Answer::Right => return Found::Witness(witness),
            Answer::Unclear => is_known = false,
            Answer::Other(standpoint) => {
                parts.extend(part.without(standpoint));
                let is_new = |one: &Standpoint<'_>| !one.is(standpoint);
                if others.iter().all(is_new) {
                    others.push(standpoint);
                }
            }
        }
    }
    Found::Unknown
}
