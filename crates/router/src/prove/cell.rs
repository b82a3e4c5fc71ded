//! A set of requests, described by what holds and what does not, from which a sample can be taken.

use std::collections::BTreeMap;

use crate::host::HostPattern;
use crate::method::{Asked, MethodSet};
use crate::predicate::Test;
use crate::route::{Route, Standing};
use crate::subject::Subject;
use crate::template::{Segment, Tail};

use super::condition::{self, Kind};
use super::part;
use super::report::Decided;
use super::segment;
use super::sides::{Sample, Sides};
use super::witness::Witness;

/// A route under one of its hosts: what the table ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standpoint<'r> {
    pub(super) index: usize,
    pub(super) route: &'r Route,
    pub(super) host: &'r HostPattern,
}

impl Standpoint<'_> {
    /// Whether it is the same place in the ranking.
    pub(super) fn is(&self, other: Standpoint<'_>) -> bool {
        self.index == other.index && self.host == other.host
    }

    /// What decides for this one, which has the better rank.
    pub(super) fn wins_by(&self, loser: Standpoint<'_>) -> Decided {
        self.standing().decided_before(&loser.standing())
    }

    /// Whether it would have the better rank if both had one priority.
    pub(super) fn would_win_without_priority(&self, other: Standpoint<'_>) -> bool {
        self.standing().with_priority(0) < other.standing().with_priority(0)
    }

    fn standing(&self) -> Standing {
        self.route.standing(self.index, self.host)
    }

    /// Whether it takes a request, whoever else does.
    pub(super) fn takes(&self, request: &Witness) -> bool {
        self.host.takes(request.host())
            && self.route.template.rest_of(request.path()).is_some()
            && self.route.methods.admits(Asked::new(request.method()))
            && self.route.predicates.are_met(request, &mut Vec::new())
    }
}

/// The requests that some standpoints take and others, for one reason or another, do not.
#[derive(Clone, Debug)]
pub(super) struct Cell<'r> {
    hosts: Sides<&'r HostPattern>,
    methods: Sides<&'r MethodSet>,
    /// Number of segments; every place that has a test is below the least number.
    least: usize,
    most: usize,
    segments: Vec<Sides<&'r Segment>>,
    conditions: BTreeMap<(Kind, &'r str), Sides<&'r Test>>,
}

impl<'r> Cell<'r> {
    /// All that one standpoint takes.
    pub(super) fn of(standpoint: Standpoint<'r>) -> Self {
        let all = Self {
            hosts: Sides::default(),
            methods: Sides::default(),
            least: 1,
            most: usize::MAX,
            segments: Vec::new(),
            conditions: BTreeMap::new(),
        };
        all.and(standpoint)
    }

    /// What another standpoint takes too.
    pub(super) fn and(mut self, standpoint: Standpoint<'r>) -> Self {
        let Standpoint { route, host, .. } = standpoint;
        self.hosts.hold(host);
        self.methods.hold(&route.methods);
        let (least, most) = lengths(route);
        self.least = self.least.max(least);
        self.most = self.most.min(most);
        for (place, segment) in route.template.segments().iter().enumerate() {
            self.at(place, |sides| sides.hold(segment));
        }
        for (kind, name, test) in conditions(route) {
            self.conditions.entry((kind, name)).or_default().hold(test);
        }
        self
    }

    /// What a standpoint does not take, as cells of which each breaks one of its conditions.
    pub(super) fn without(&self, standpoint: Standpoint<'r>) -> Vec<Self> {
        let Standpoint { route, host, .. } = standpoint;
        let mut parts = Vec::new();
        if *host != HostPattern::Any {
            parts.push(Self {
                hosts: self.hosts.clone().breaking(host),
                ..self.clone()
            });
        }
        if !route.methods.is_any() {
            parts.push(Self {
                methods: self.methods.clone().breaking(&route.methods),
                ..self.clone()
            });
        }
        let (least, most) = lengths(route);
        if self.least < least {
            parts.push(Self {
                most: self.most.min(least - 1),
                ..self.clone()
            });
        }
        if most < self.most {
            parts.push(Self {
                least: self.least.max(most + 1),
                ..self.clone()
            });
        }
        for (place, segment) in route.template.segments().iter().enumerate() {
            let mut part = self.clone();
            part.least = part.least.max(place + 1);
            if part.least <= part.most {
                part.at(place, |sides| sides.broken.push(segment));
                parts.push(part);
            }
        }
        for (kind, name, test) in conditions(route) {
            let mut part = self.clone();
            let sides = part.conditions.entry((kind, name)).or_default();
            sides.broken.push(test);
            parts.push(part);
        }
        parts
    }

    /// A request in the cell.
    pub(super) fn sample(&self) -> Sample<Witness> {
        let (Some(host), Some(method)) = (part::host(&self.hosts), part::method(&self.methods))
        else {
            return Sample::None;
        };
        let path = match self.path() {
            Sample::One(path) => Some(path),
            Sample::None => return Sample::None,
            Sample::Unknown => None,
        };
        // What is not known yet may still turn out to be nothing.
        let mut is_known = path.is_some();
        let mut witness = Witness::new(method, host, path.unwrap_or_default());
        for ((kind, name), sides) in &self.conditions {
            match condition::sample(*kind, sides) {
                Sample::One(values) => witness.add(*kind, name, values),
                Sample::None => return Sample::None,
                Sample::Unknown => is_known = false,
            }
        }
        if is_known {
            Sample::One(witness)
        } else {
            Sample::Unknown
        }
    }

    /// A path of the fewest segments, or of one more: longer ones are no different.
    fn path(&self) -> Sample<String> {
        if self.least > self.most {
            return Sample::None;
        }
        let longer = (self.most > self.least).then_some(self.least + 1);
        let mut is_known = true;
        // A child is a better example of `/**` than the prefix itself.
        for count in longer.into_iter().chain([self.least]) {
            match self.path_of(count) {
                Sample::One(path) => return Sample::One(path),
                Sample::None => {}
                Sample::Unknown => is_known = false,
            }
        }
        if is_known {
            Sample::None
        } else {
            Sample::Unknown
        }
    }

    fn path_of(&self, count: usize) -> Sample<String> {
        let free = Sides::default();
        let mut path = String::new();
        let mut is_known = true;
        for place in 0..count {
            let sides = self.segments.get(place).unwrap_or(&free);
            match segment::sample(sides, place + 1 == count) {
                Sample::One(text) => {
                    path.push('/');
                    path.push_str(&text);
                }
                Sample::None => return Sample::None,
                Sample::Unknown => is_known = false,
            }
        }
        if is_known {
            Sample::One(path)
        } else {
            Sample::Unknown
        }
    }

    /// Changes what is asked of the segment at a place.
    fn at(&mut self, place: usize, change: impl FnOnce(&mut Sides<&'r Segment>)) {
        if self.segments.len() <= place {
            self.segments.resize_with(place + 1, Sides::default);
        }
        self.segments.get_mut(place).map(change);
    }
}

/// The least and the greatest number of segments of a path that the template takes.
pub(super) fn lengths(route: &Route) -> (usize, usize) {
    let count = route.template.segments().len();
    match route.template.tail() {
        Tail::End => (count, count),
        // Every path has a segment, be it empty.
        Tail::Rest(_) => (count.max(1), usize::MAX),
    }
}

/// The conditions of a route beside host, path and method.
pub(super) fn conditions(route: &Route) -> impl Iterator<Item = (Kind, &str, &Test)> {
    let predicates = &route.predicates;
    [
        (Kind::Header, predicates.headers()),
        (Kind::Query, predicates.query()),
        (Kind::Cookie, predicates.cookies()),
    ]
    .into_iter()
    .flat_map(|(kind, list)| {
        list.iter()
            .map(move |one| (kind, one.name.as_str(), &one.test))
    })
}
