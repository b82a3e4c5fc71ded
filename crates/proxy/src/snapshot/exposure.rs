//! Who may see a listener, a route or an upstream: everybody, or only the own network.

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::Problem;

use super::document;

/// Public is for everybody, internal for the own network (CF-21, SE-24).
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Exposure {
    /// For everybody.
    #[default]
    Public,
    /// For the own network: an internal route is on internal listeners only.
    Internal,
}

impl Exposure {
    /// Whether something of this exposure may be seen through `listener`.
    pub(crate) fn is_seen_through(self, listener: Self) -> bool {
        match (self, listener) {
            (Self::Public, _) | (Self::Internal, Self::Internal) => true,
            (Self::Internal, Self::Public) => false,
        }
    }
}

/// A public route to an internal upstream is refused, and both places are named.
pub(super) fn check(
    route: &document::Route,
    at: &str,
    upstreams: &[document::Upstream],
    problems: &mut Vec<Problem>,
) {
    let Some(name) = &route.upstream else { return };
    let Some((index, upstream)) = upstreams
        .iter()
        .enumerate()
        .find(|(_, upstream)| upstream.id == *name)
    else {
        return;
    };
    if upstream.exposure.is_seen_through(route.exposure) {
        return;
    }
    let message = format!(
        "the route `{}` is public, but the upstream `{name}` (upstreams[{index}].exposure) is internal",
        route.id
    );
    let problem = Problem::new(format!("{at}/upstream"), "exposed_upstream", message);
    problems.push(
        problem.expecting("`exposure: internal` for the route, or an upstream that is public"),
    );
}

#[cfg(test)]
mod tests {
    use super::Exposure::{Internal, Public};

    // spec: CF-21
    #[test]
    fn only_what_is_internal_is_hidden_and_only_from_the_public() {
        for (what, through, seen) in [
            (Public, Public, true),
            (Public, Internal, true),
            (Internal, Internal, true),
            (Internal, Public, false),
        ] {
            assert_eq!(what.is_seen_through(through), seen, "{what:?} {through:?}");
        }
    }
}
