//! Proves what a table does with all requests, not with some: which routes are never reached,
//! which are equal, which meet and who wins, each with a request that shows it.
//!
//! That a route is reached is shown by a request which the table itself gives to it. That it is
//! not is proven by taking away from its requests what the winners take until nothing is left.
//! Only routes that get in each other's way are ever compared.

mod cell;
mod condition;
mod cover;
mod notation;
mod pairs;
mod part;
mod pattern;
mod reach;
mod report;
mod search;
mod segment;
mod shelf;
mod sides;
mod slips;
mod witness;

use std::collections::BTreeMap;

pub use report::{Decided, Finding, Kind, Level, Report};
pub use witness::Witness;

use crate::router::{Router, Scratch};
use cell::Standpoint;
use search::Patience;

/// How much is looked at and said.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Findings of each kind.
    pub findings: usize,
    /// Routes judged in search of proofs, one with patterns or other conditions counted many
    /// times; a million takes some milliseconds.
    pub work: u64,
    /// Pairs of routes compared.
    pub pairs: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            findings: 100,
            work: 50_000_000,
            pairs: 1_000_000,
        }
    }
}

/// A judgement of a route with conditions costs so many times that of a plain one.
const PRICE_OF_CONDITIONS: u64 = 16;

/// The table under examination.
struct Prover<'r> {
    router: &'r Router,
    /// The upstream of each route; none for one that the gateway answers itself.
    upstreams: &'r [Option<&'r str>],
    limits: Limits,
    scratch: Scratch,
    found: Vec<Finding>,
    totals: BTreeMap<Kind, usize>,
    pairs_by_repetition: usize,
}

impl Router {
    /// Examines the table: every route and every pair that meets. `upstreams` says for each route
    /// where it goes, none for an answer of the gateway. Takes seconds: not for traffic.
    pub fn prove(&self, upstreams: &[Option<&str>], limits: Limits) -> Report {
        let mut prover = Prover {
            router: self,
            upstreams,
            limits,
            scratch: Scratch::default(),
            found: Vec::new(),
            totals: BTreeMap::new(),
            pairs_by_repetition: 0,
        };
        let fates = prover.reach_all();
        let (pairs, cut_short) = prover.compare_pairs(&fates);
        prover.find_slips(&fates);

        let mut findings = prover.found;
        findings.sort_by_key(|finding| (finding.kind, finding.route));
        Report {
            routes: self.len(),
            pairs,
            pairs_by_repetition: prover.pairs_by_repetition,
            findings,
            totals: prover.totals.into_iter().collect(),
            undecided: reach::undecided(&fates),
            cut_short,
        }
    }
}

impl<'r> Prover<'r> {
    fn standpoint(&self, rank: u32) -> Option<Standpoint<'r>> {
        let router = self.router;
        let index = *router.ranks.get(rank as usize)? as usize;
        Some(Standpoint {
            index,
            route: router.routes.get(index)?,
            host: router.rank_hosts.get(rank as usize)?,
        })
    }

    /// Rank of the standpoint that answers; `Err` when patience ends before that is known.
    fn answer(&mut self, request: &Witness, patience: &Patience) -> Result<Option<u32>, ()> {
        let mut has_patience = true;
        let best = self.router.best(request, &mut self.scratch, |is_plain| {
            let price = if is_plain { 1 } else { PRICE_OF_CONDITIONS };
            has_patience &= patience.spend(price);
            has_patience
        });
        has_patience.then_some(best).ok_or(())
    }

    /// Counts a finding, and makes it if there is room for another of its kind.
    fn note(&mut self, kind: Kind, make: impl FnOnce(&mut Self) -> Finding) {
        let total = self.totals.entry(kind).or_default();
        *total += 1;
        if *total <= self.limits.findings {
            let finding = make(self);
            self.found.push(finding);
        }
    }
}

/// The share of one among those that wait, so that nobody uses up what all have.
fn share(left: u64, waiting: usize) -> u64 {
    const GENEROSITY: u64 = 4;
    let waiting = u64::try_from(waiting).unwrap_or(u64::MAX).max(1);
    (left / waiting).saturating_mul(GENEROSITY).min(left)
}
