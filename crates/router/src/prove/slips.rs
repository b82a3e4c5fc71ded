//! Slips of the pen: what is possible and hardly meant, judged by a route and its neighbours.

use super::Prover;
use super::reach::Fate;

impl Prover<'_> {
    pub(super) fn find_slips(&mut self, _fates: &[Fate]) {}
}
