//! Why each route near a request was or was not taken.

use std::collections::HashSet;
use std::fmt;

use crate::host::HostPattern;
use crate::method::Asked;
use crate::predicate::Unmet;
use crate::route::Route;
use crate::subject::Subject;
use crate::template::{Segment, split_segment};

/// More would not be read.
const MOST_CANDIDATES: usize = 100;

/// One route that competed for a request, or came near.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Index of the route.
    pub route: usize,
    /// Whether all its conditions are met; the first such candidate is the one taken.
    pub matched: bool,
    /// The first condition that is not met.
    pub why_not: Option<WhyNot>,
}

/// The condition that kept a route from matching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyNot {
    /// Another host.
    Host,
    /// Another path.
    Path,
    /// The path differs by its trailing slash only.
    TrailingSlash,
    /// The method is not admitted.
    Method,
    /// The condition on this header.
    Header(String),
    /// The condition on this query parameter.
    Query(String),
    /// The condition on this cookie.
    Cookie(String),
}

impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("host"),
            Self::Path => f.write_str("path"),
            Self::TrailingSlash => f.write_str("path (only the trailing slash differs)"),
            Self::Method => f.write_str("method"),
            Self::Header(name) => write!(f, "header {name}"),
            Self::Query(name) => write!(f, "query {name}"),
            Self::Cookie(name) => write!(f, "cookie {name}"),
        }
    }
}

/// How near a route comes to a request by host and path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    Match,
    OtherHost,
    OtherSlash,
    SameStart,
}

/// Judges contenders that come in the order of competition.
pub(crate) fn candidates<'r, S: Subject + ?Sized>(
    contenders: impl Iterator<Item = (usize, &'r Route, &'r HostPattern)>,
    host: Option<&str>,
    request: &S,
) -> Vec<Candidate> {
    let mut near: Vec<_> = contenders
        .filter_map(|(index, route, pattern)| {
            let nearness = nearness(route, pattern.takes(host), request.path())?;
            Some((nearness, index, route))
        })
        .collect();
    near.sort_by_key(|(nearness, _, _)| *nearness);

    // A route with several hosts contends once for each.
    let mut seen = HashSet::new();
    near.into_iter()
        .filter(|(_, index, _)| seen.insert(*index))
        .take(MOST_CANDIDATES)
        .map(|(nearness, index, route)| {
            let why_not = why_not(nearness, route, request);
            Candidate {
                route: index,
                matched: why_not.is_none(),
                why_not,
            }
        })
        .collect()
}

fn nearness(route: &Route, is_host_taken: bool, path: &str) -> Option<Nearness> {
    let is_path_taken = |path: &str| route.template.rest_of(path).is_some();
    if is_path_taken(path) {
        return Some(if is_host_taken {
            Nearness::Match
        } else {
            Nearness::OtherHost
        });
    }
    if !is_host_taken {
        return None;
    }
    let with_other_slash = match path.strip_suffix('/') {
        Some(without) => is_path_taken(without),
        None => is_path_taken(&format!("{path}/")),
    };
    if with_other_slash {
        return Some(Nearness::OtherSlash);
    }
    let (first, _) = split_segment(path.strip_prefix('/')?);
    match route.template.segments().first()? {
        Segment::Literal(literal) if **literal == *first => Some(Nearness::SameStart),
        Segment::Literal(_) | Segment::Parameter { .. } => None,
    }
}

fn why_not<S: Subject + ?Sized>(nearness: Nearness, route: &Route, request: &S) -> Option<WhyNot> {
    match nearness {
        Nearness::Match => {}
        Nearness::OtherHost => return Some(WhyNot::Host),
        Nearness::OtherSlash => return Some(WhyNot::TrailingSlash),
        Nearness::SameStart => return Some(WhyNot::Path),
    }
    if !route.methods.admits(Asked::new(request.method())) {
        return Some(WhyNot::Method);
    }
    let unmet = route.predicates.first_unmet(request, &mut Vec::new())?;
    Some(match unmet {
        Unmet::Header(name) => WhyNot::Header(name.to_owned()),
        Unmet::Query(name) => WhyNot::Query(name.to_owned()),
        Unmet::Cookie(name) => WhyNot::Cookie(name.to_owned()),
    })
}
