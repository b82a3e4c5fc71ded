//! Whether one route takes everything that another takes, judged by their conditions one by one.
//!
//! Exact but for patterns: of two different patterns neither is known to cover the other.

use crate::host::HostPattern;
use crate::method::{Asked, MethodSet};
use crate::route::Route;

use super::cell::{conditions, lengths};
use super::{condition, segment};

/// Whether `broad` takes every request that `narrow` takes.
pub(super) fn covers(broad: &Route, narrow: &Route) -> bool {
    covers_but_for_method(broad, narrow) && covers_methods(&broad.methods, &narrow.methods)
}

/// Whether it does so for the methods that it takes.
pub(super) fn covers_but_for_method(broad: &Route, narrow: &Route) -> bool {
    covers_path(broad, narrow) && covers_hosts(broad, narrow) && covers_conditions(broad, narrow)
}

/// Whether it takes every path.
pub(super) fn covers_path(broad: &Route, narrow: &Route) -> bool {
    let (least, most) = lengths(broad);
    let (narrow_least, narrow_most) = lengths(narrow);
    let segments = broad.template.segments();
    least <= narrow_least
        && narrow_most <= most
        && segments.len() <= narrow.template.segments().len()
        && segments
            .iter()
            .zip(narrow.template.segments())
            .all(|(broad, narrow)| segment::covers(broad, narrow))
}

/// Whether some request could meet the methods and conditions of both: `Some(false)` when only
/// one that says a thing twice.
pub(super) fn meet(one: &Route, other: &Route) -> Option<bool> {
    if !methods_meet(&one.methods, &other.methods) {
        return None;
    }
    let mut in_one_value = true;
    for (kind, name, test) in conditions(one) {
        for (other_kind, other_name, other_test) in conditions(other) {
            if kind == other_kind && name == other_name {
                in_one_value &= condition::meet(test, other_test)?;
            }
        }
    }
    Some(in_one_value)
}

/// Whether a host is taken by both.
pub(super) fn hosts_meet(one: &Route, other: &Route) -> bool {
    let meets =
        |one: &HostPattern, other: &HostPattern| covers_host(one, other) || covers_host(other, one);
    let mut hosts = one.hosts.iter();
    hosts.any(|one| other.hosts.iter().any(|other| meets(one, other)))
}

fn covers_hosts(broad: &Route, narrow: &Route) -> bool {
    let is_covered = |host: &HostPattern| broad.hosts.iter().any(|one| covers_host(one, host));
    narrow.hosts.iter().all(is_covered)
}

fn covers_host(broad: &HostPattern, narrow: &HostPattern) -> bool {
    match narrow {
        HostPattern::Any => *broad == HostPattern::Any,
        HostPattern::Exact(name) => broad.takes(Some(name)),
        HostPattern::Under(suffix) => broad == narrow || broad.takes(Some(&format!("x.{suffix}"))),
    }
}

fn covers_methods(broad: &MethodSet, narrow: &MethodSet) -> bool {
    broad.is_any()
        || (!narrow.is_any() && narrow.names().all(|name| broad.admits(Asked::new(name))))
}

fn methods_meet(one: &MethodSet, other: &MethodSet) -> bool {
    one.is_any() || other.is_any() || one.names().any(|name| other.admits(Asked::new(name)))
}

fn covers_conditions(broad: &Route, narrow: &Route) -> bool {
    conditions(broad).all(|(kind, name, test)| {
        conditions(narrow).any(|(other_kind, other_name, other)| {
            kind == other_kind && name == other_name && condition::implies(other, test)
        })
    })
}
