//! Samples of a host and of a method that keep their sides. Both are exact: the candidates stand
//! for every class of hosts and methods that the tests tell apart.

use crate::host::HostPattern;
use crate::method::{Asked, KNOWN, MethodSet};

use super::sides::Sides;

/// Methods by how natural they look in an example.
const BY_HABIT: [&str; 4] = ["GET", "POST", "PUT", "DELETE"];
const LABELS: [&str; 3] = ["www", "api", "host"];

/// A host as a client sends it; `None` when there is none.
pub(super) fn host(sides: &Sides<&HostPattern>) -> Option<String> {
    let narrowest = sides
        .held
        .iter()
        .copied()
        .min_by_key(|pattern| match pattern {
            HostPattern::Exact(_) => (0, 0),
            HostPattern::Under(suffix) => (1, usize::MAX - suffix.len()),
            HostPattern::Any => (2, 0),
        });
    // A broken exact name takes one candidate away at most; a broken wildcard all of them or none.
    let labels = LABELS
        .into_iter()
        .map(ToOwned::to_owned)
        .chain((1..=sides.broken.len()).map(|number| format!("x{number}")));
    let keeps = |name: &String| sides.keeps(|pattern: &HostPattern| pattern.takes(Some(name)));
    match narrowest {
        Some(HostPattern::Exact(name)) => Some(name.to_string()).filter(keeps),
        Some(HostPattern::Under(suffix)) => {
            labels.map(|label| format!("{label}.{suffix}")).find(keeps)
        }
        Some(HostPattern::Any) | None => std::iter::once("any.example".to_owned())
            .chain(labels)
            .find(keeps),
    }
}

/// A method; `None` when there is none.
pub(super) fn method(sides: &Sides<&MethodSet>) -> Option<String> {
    let named = sides.held.iter().chain(&sides.broken);
    let mut candidates: Vec<&str> = BY_HABIT.into_iter().chain(KNOWN).collect();
    candidates.extend(named.flat_map(|set| set.names()));
    let keeps = |name: &str| sides.keeps(|set: &MethodSet| set.admits(Asked::new(name)));
    if let Some(found) = candidates.iter().find(|name| keeps(name)) {
        return Some((*found).to_owned());
    }
    // All the methods that nobody names are alike.
    let unnamed = (0..=candidates.len())
        .map(|number| format!("METHOD{number}"))
        .find(|name| !candidates.contains(&name.as_str()));
    unnamed.filter(|name| keeps(name))
}
