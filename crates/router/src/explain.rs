//! Why each route near a request was or was not taken.

use std::cmp::Reverse;
use std::collections::HashSet;

use crate::host::HostPattern;
use crate::method::Asked;
use crate::prove::Decided;
use crate::route::Route;
use crate::subject::Subject;
use crate::template::{Segment, Template, split_segment};
use crate::why_not::{PathGap, WhyNot};

/// More would not be read: of the routes that match, and of those that do not.
const MOST: usize = 10;

/// One route that competed for a request, or came near.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Index of the route.
    pub route: usize,
    /// Whether all its conditions are met; the first such candidate is the one taken.
    pub matched: bool,
    /// Every condition that is not met.
    pub why_not: Vec<WhyNot>,
    /// For a route that matches and is not taken: the one that is, and what decides between them.
    pub lost: Option<(usize, Decided)>,
}

/// How near a route comes to a request, the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    Match,
    /// Host and path match, so many other conditions are not met.
    Conditions(usize),
    /// The path matches.
    OtherHost(usize),
    OtherSlash,
    OtherCase,
    /// The segment where the path parts from the template looks like a slip of the pen.
    Alike(Reverse<usize>),
    /// So many segments are the same, and so many of the template are left.
    SameStart(Reverse<usize>, usize),
}

/// A route under one of its hosts.
type Contender<'r> = (usize, &'r Route, &'r HostPattern);

/// Judges contenders that come in the order of competition.
pub(crate) fn candidates<'r, S: Subject + ?Sized>(
    contenders: impl Iterator<Item = Contender<'r>>,
    host: Option<&str>,
    request: &S,
) -> Vec<Candidate> {
    let mut near: Vec<(Nearness, Contender<'r>)> = contenders
        .filter_map(|contender| Some((nearness(contender, host, request)?, contender)))
        .collect();
    near.sort_by_key(|(nearness, _)| *nearness);

    // A route with several hosts contends once for each.
    let mut seen = HashSet::new();
    near.retain(|(_, (index, _, _))| seen.insert(*index));
    let matching = near.partition_point(|(nearness, _)| *nearness == Nearness::Match);
    let best = near.first().map(|(_, contender)| *contender);
    let others = near.iter().skip(matching).take(MOST);
    near.iter()
        .take(matching.min(MOST))
        .chain(others)
        .map(|(nearness, (index, route, pattern))| {
            let matched = *nearness == Nearness::Match;
            let winner = best.filter(|(winner, _, _)| matched && winner != index);
            Candidate {
                route: *index,
                matched,
                why_not: why_not((*index, route, pattern), host, request),
                lost: winner.map(|(winner, other, host)| {
                    let standing = route.standing(*index, pattern);
                    let decided = other.standing(winner, host).decided_before(&standing);
                    (winner, decided)
                }),
            }
        })
        .collect()
}

fn nearness<S: Subject + ?Sized>(
    (_, route, pattern): Contender<'_>,
    host: Option<&str>,
    request: &S,
) -> Option<Nearness> {
    let is_host_taken = pattern.takes(host);
    let Some(gap) = gap(&route.template, request.path()) else {
        let method = !route.methods.admits(Asked::new(request.method()));
        let unmet = route.predicates.unmet(request).len() + usize::from(method);
        return Some(match (is_host_taken, unmet) {
            (true, 0) => Nearness::Match,
            (true, unmet) => Nearness::Conditions(unmet),
            (false, unmet) => Nearness::OtherHost(unmet),
        });
    };
    if !is_host_taken {
        return None;
    }
    let same = gap.same;
    match gap.gap {
        PathGap::Slash(_) => Some(Nearness::OtherSlash),
        PathGap::Case { .. } => Some(Nearness::OtherCase),
        PathGap::Segment { wanted, has, .. } if are_alike(&wanted, &has) => {
            Some(Nearness::Alike(Reverse(same)))
        }
        PathGap::Segment { .. } | PathGap::Ends(_) | PathGap::GoesOn(_) => {
            let has_name = gap.names > 0;
            has_name.then_some(Nearness::SameStart(Reverse(same), gap.left))
        }
    }
}

fn why_not<S: Subject + ?Sized>(
    (_, route, pattern): Contender<'_>,
    host: Option<&str>,
    request: &S,
) -> Vec<WhyNot> {
    let mut found = Vec::new();
    if !pattern.takes(host) {
        let hosts = route.hosts.iter().map(ToString::to_string);
        found.push(WhyNot::Host(hosts.collect()));
    }
    if let Some(gap) = gap(&route.template, request.path()) {
        found.push(WhyNot::Path(gap.gap));
    }
    if !route.methods.admits(Asked::new(request.method())) {
        let names = route.methods.names().map(ToOwned::to_owned);
        found.push(WhyNot::Method(names.collect()));
    }
    found.extend(route.predicates.unmet(request));
    found
}

/// Where a path parts from a template.
struct Parting {
    gap: PathGap,
    /// Segments that are the same up to there, and literal ones among them.
    same: usize,
    names: usize,
    /// Segments of the template that are left.
    left: usize,
}

/// `None` when the template takes the path.
fn gap(template: &Template, path: &str) -> Option<Parting> {
    if template.rest_of(path).is_some() {
        return None;
    }
    let segments = template.segments();
    let mut parting = Parting {
        gap: PathGap::Ends(template.text().to_owned()),
        same: 0,
        names: 0,
        left: segments.len(),
    };
    if let Some(is_missing) = other_slash(template, path) {
        parting.gap = PathGap::Slash(is_missing);
        return Some(parting);
    }
    let mut tail = path.strip_prefix('/');
    for (place, segment) in segments.iter().enumerate() {
        let Some(rest) = tail else {
            parting.gap = PathGap::Ends(template.text_from(place).to_owned());
            return Some(parting);
        };
        let (text, next) = split_segment(rest);
        if !segment.takes(text) {
            parting.gap = segment_gap(template, place, text, path);
            return Some(parting);
        }
        parting.same += 1;
        parting.left -= 1;
        parting.names += usize::from(matches!(segment, Segment::Literal(_)));
        tail = next;
    }
    parting.gap = PathGap::GoesOn(format!("/{}", tail.unwrap_or_default()));
    Some(parting)
}

/// Whether the path would be taken with (`true`) or without a slash at its end.
fn other_slash(template: &Template, path: &str) -> Option<bool> {
    let is_taken = |path: &str| template.rest_of(path).is_some();
    match path.strip_suffix('/') {
        Some(without) => is_taken(without).then_some(false),
        None => is_taken(&format!("{path}/")).then_some(true),
    }
}

fn segment_gap(template: &Template, place: usize, has: &str, path: &str) -> PathGap {
    let wanted = template.text_of(place).to_owned();
    let (segment, has) = (place + 1, has.to_owned());
    if has.eq_ignore_ascii_case(&wanted) && template.takes_in_lower_case(path) {
        return PathGap::Case {
            segment,
            wanted,
            has,
        };
    }
    if has.is_empty() {
        return PathGap::Ends(template.text_from(place).to_owned());
    }
    PathGap::Segment {
        segment,
        wanted,
        has,
    }
}

/// Whether one could be typed for the other: at most two letters differ, and not most of them.
fn are_alike(one: &str, other: &str) -> bool {
    const FEW: usize = 2;
    if one.contains('{') || one.len().abs_diff(other.len()) > FEW || one.len() > 64 {
        return false;
    }
    let distance = distance(one.as_bytes(), other.as_bytes());
    distance <= FEW && distance * 3 <= one.len().max(other.len())
}

/// Letters to insert, delete or replace.
fn distance(one: &[u8], other: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (place, letter) in one.iter().enumerate() {
        let mut diagonal = place;
        let mut left = place + 1;
        for (cell, against) in row.iter_mut().skip(1).zip(other) {
            let replaced = diagonal + usize::from(letter != against);
            diagonal = *cell;
            left = replaced.min(*cell + 1).min(left + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = place + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}
