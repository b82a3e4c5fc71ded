//! Slips of the pen: what is possible and hardly meant, judged by a route and its neighbours.

use std::collections::HashMap;

use super::cell::{Cell, Standpoint};
use super::reach::Fate;
use super::report::{Finding, Kind, Level};
use super::search::Patience;
use super::sides::Sample;
use super::witness::Witness;
use super::{Prover, cover, notation};
use crate::route::Route;
use crate::template::Segment;

/// So many neighbours that take what is below make one that does not look like a slip.
const A_HABIT: usize = 2;
/// What all questions after neighbours may cost.
const PATIENCE: u64 = 20_000_000;

/// What a template ends with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// A name, and then nothing.
    Name,
    /// A slash after something, and then nothing.
    Slash,
    /// Anything below.
    Open,
    /// A parameter, or it is the root.
    Other,
}

/// Neighbours: the routes whose templates differ in their last name only.
#[derive(Default)]
struct Neighbours {
    open: usize,
    closed: usize,
}

impl<'r> Prover<'r> {
    pub(super) fn find_slips(&mut self, fates: &[Fate]) {
        self.find_slash_twins();
        self.find_case_twins();
        self.find_closed_prefixes(fates);
        self.find_foreign_notations();
    }

    fn find_slash_twins(&mut self) {
        let mut by_shape: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, route) in self.router.routes.iter().enumerate() {
            by_shape
                .entry(route.template.shape())
                .or_default()
                .push(index);
        }
        for (index, route) in self.router.routes.iter().enumerate() {
            if ending(route) != Ending::Slash {
                continue;
            }
            let shape = route.template.shape();
            let bare = by_shape.get(shape.trim_end_matches('/'));
            let twin = bare.into_iter().flatten().find(|other| {
                let goes_elsewhere = match (self.upstream(index), self.upstream(**other)) {
                    (Some(one), Some(other)) => one != other,
                    // To redirect one spelling to the other is what one does.
                    (None, _) | (_, None) => false,
                };
                goes_elsewhere && self.could_be_mixed_up(index, **other)
            });
            if let Some(twin) = twin {
                let both = [*twin, index];
                let expected = "one upstream for both, or a redirect from one to the other";
                self.note_slip((Kind::SlashTwin, Level::Warning), both, expected.to_owned());
            }
        }
    }

    fn find_case_twins(&mut self) {
        let mut by_shape: HashMap<String, (String, usize)> = HashMap::new();
        for (index, route) in self.router.routes.iter().enumerate() {
            let shape = route.template.shape();
            let lower = shape.to_ascii_lowercase();
            let (first_shape, first) = by_shape
                .entry(lower)
                .or_insert_with(|| (shape.clone(), index));
            let first = *first;
            if *first_shape == shape || !self.could_be_mixed_up(index, first) {
                continue;
            }
            let level = if self.upstream(index) == self.upstream(first) {
                Level::Note
            } else {
                Level::Warning
            };
            let expected = "one spelling: paths are case-sensitive".to_owned();
            self.note_slip((Kind::CaseTwin, level), [first, index], expected);
        }
    }

    fn find_closed_prefixes(&mut self, fates: &[Fate]) {
        let mut by_parent: HashMap<String, Neighbours> = HashMap::new();
        for (index, route) in self.router.routes.iter().enumerate() {
            let neighbours = by_parent.entry(parent(route)).or_default();
            match ending(route) {
                _ if self.upstream(index).is_none() || !route.methods.is_any() => {}
                Ending::Open => neighbours.open += 1,
                Ending::Name | Ending::Slash => neighbours.closed += 1,
                Ending::Other => {}
            }
        }
        let patience = Patience::new(PATIENCE);
        for (index, route) in self.router.routes.iter().enumerate() {
            // Whoever names methods or conditions has thought of single requests.
            let is_prefix = self.upstream(index).is_some()
                && route.methods.is_any()
                && route.predicates.len() == 0;
            if !is_prefix || fates.get(index) == Some(&Fate::Never) {
                continue;
            }
            let ending = ending(route);
            if !matches!(ending, Ending::Name | Ending::Slash) {
                continue;
            }
            let Some(below) = self.request_below(index) else {
                continue;
            };
            if self.goes_to_the_same(index, &below, &patience) {
                continue;
            }
            let (kind, level) = if ending == Ending::Slash {
                let bare = Witness {
                    path: below.path.trim_end_matches("/1").to_owned(),
                    ..below.clone()
                };
                if self.goes_to_the_same(index, &bare, &patience) {
                    continue;
                }
                (Kind::SlashOnly, Level::Warning)
            } else {
                let neighbours = by_parent.get(&parent(route));
                let is_habit =
                    neighbours.is_some_and(|all| all.open >= A_HABIT && all.open > all.closed);
                let level = if is_habit {
                    Level::Warning
                } else {
                    Level::Note
                };
                (Kind::NoRest, level)
            };
            self.note(kind, |prover| Finding {
                kind,
                level,
                route: index,
                others: Vec::new(),
                decided: None,
                answered_by: prover.who(&below),
                witness: Some(below),
                expected: Some(format!(
                    "{}/**",
                    route.template.text().trim_end_matches('/')
                )),
            });
        }
    }

    fn find_foreign_notations(&mut self) {
        for (index, route) in self.router.routes.iter().enumerate() {
            let Some(expected) = notation::corrected(&route.template) else {
                continue;
            };
            let kind = Kind::LooksLikeParameter;
            self.note(kind, |prover| {
                let witness = prover.request_of(index);
                Finding {
                    kind,
                    level: Level::Warning,
                    route: index,
                    others: Vec::new(),
                    decided: None,
                    answered_by: witness.as_ref().and_then(|one| prover.who(one)),
                    witness,
                    expected: Some(expected),
                }
            });
        }
    }

    fn note_slip(
        &mut self,
        (kind, level): (Kind, Level),
        [first, index]: [usize; 2],
        right: String,
    ) {
        self.note(kind, |prover| {
            let witness = prover.request_of(index);
            Finding {
                kind,
                level,
                route: index,
                others: vec![first],
                decided: None,
                answered_by: witness.as_ref().and_then(|one| prover.who(one)),
                witness,
                expected: Some(right),
            }
        });
    }

    fn upstream(&self, index: usize) -> Option<&'r str> {
        self.upstreams.get(index).copied().flatten()
    }

    /// Whether one client could send both by mistake: but for their paths they take the same.
    fn could_be_mixed_up(&self, one: usize, other: usize) -> bool {
        let routes = &self.router.routes;
        let (Some(one), Some(other)) = (routes.get(one), routes.get(other)) else {
            return false;
        };
        cover::hosts_meet(one, other) && cover::meet(one, other).is_some()
    }

    fn request_of(&self, index: usize) -> Option<Witness> {
        let route = self.router.routes.get(index)?;
        let host = route.hosts.first()?;
        match Cell::of(Standpoint { index, route, host }).sample() {
            Sample::One(witness) => Some(witness),
            Sample::None | Sample::Unknown => None,
        }
    }

    /// A request for something directly below the path of a route.
    fn request_below(&self, index: usize) -> Option<Witness> {
        let mut request = self.request_of(index)?;
        if !request.path.ends_with('/') {
            request.path.push('/');
        }
        request.path.push('1');
        Some(request)
    }

    /// Whether a route to the same upstream takes host and path of a request.
    fn goes_to_the_same(&mut self, index: usize, request: &Witness, patience: &Patience) -> bool {
        let (upstreams, wanted) = (self.upstreams, self.upstream(index));
        let mut is_same = false;
        self.router.at_path(request, &mut self.scratch, |route| {
            is_same |= upstreams.get(route).copied().flatten() == wanted;
            // Out of patience, nothing is said of the route.
            is_same |= !patience.spend(1);
            is_same
        });
        is_same
    }

    fn who(&mut self, request: &Witness) -> Option<usize> {
        let rank = self.router.best(request, &mut self.scratch, |_| true)?;
        self.standpoint(rank).map(|answer| answer.index)
    }
}

fn ending(route: &Route) -> Ending {
    let segments = route.template.segments();
    match segments.last() {
        Some(Segment::Literal(_)) if route.template.is_open() => Ending::Open,
        Some(Segment::Literal(text)) if !text.is_empty() => Ending::Name,
        Some(Segment::Literal(_)) if segments.len() > 1 => Ending::Slash,
        Some(Segment::Literal(_) | Segment::Parameter { .. }) | None => Ending::Other,
    }
}

/// Hosts and template up to the last name; the same for all neighbours.
fn parent(route: &Route) -> String {
    let shape = route.template.shape();
    let name = shape.trim_end_matches("/**").trim_end_matches('/');
    let before = name.rsplit_once('/').map_or("", |(before, _)| before);
    format!("{:?} {before}", route.hosts)
}
