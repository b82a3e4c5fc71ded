//! What all routes have in common, and how one route says otherwise.

use std::{collections::BTreeMap, collections::HashSet};

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{Phase, Problem};
use sluicegate_filters::FilterSpec;

use super::document::{Route, RouteLimits, RouteTimeouts};

/// `route_defaults` of the document.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RouteDefaults {
    /// Before the route's own.
    pub(crate) filters: Vec<FilterSpec>,
    /// Where the route says none.
    pub(crate) limits: RouteLimits,
    /// Where the route says none; before the upstream's.
    pub(crate) timeouts: RouteTimeouts,
    pub(crate) labels: BTreeMap<String, String>,
}

/// A filter of a route, or the wish to do without a default one.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    name: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    phase: Option<Phase>,
    #[serde(default = "nothing")]
    config: serde_json::Value,
    /// The default filter of this id does not run.
    #[serde(default)]
    off: bool,
}

fn nothing() -> serde_json::Value {
    serde_json::Value::Object(serde_json::Map::new())
}

impl Step {
    fn id(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.name)
    }

    fn spec(&self) -> FilterSpec {
        FilterSpec {
            name: self.name.clone(),
            id: self.id.clone(),
            phase: self.phase,
            config: self.config.clone(),
        }
    }
}

/// The filters of one route and where each of them is written.
pub(crate) struct Effective {
    pub(crate) specs: Vec<FilterSpec>,
    places: Vec<Place>,
}

#[derive(Clone, Copy)]
enum Place {
    Default(usize),
    Own(usize),
}

impl Effective {
    /// The filter's place in the document.
    pub(crate) fn pointer(&self, at: &str, index: usize) -> String {
        match self.places.get(index) {
            Some(Place::Default(index)) => format!("/route_defaults/filters/{index}"),
            Some(Place::Own(index)) => format!("{at}/filters/{index}"),
            None => format!("{at}/filters"),
        }
    }

    /// A problem of the chain, with the pointer into the document instead of the chain.
    pub(crate) fn located(&self, at: &str, mut problem: Problem) -> Problem {
        let rest = problem.pointer.strip_prefix('/').unwrap_or_default();
        let (index, below) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if let Ok(index) = index.parse() {
            problem.pointer = self.pointer(at, index) + below;
        }
        problem
    }
}

impl RouteDefaults {
    /// The filters that run for a route: the defaults in their order, then its own.
    ///
    /// A filter of the route with a default's id stands in the default's place; one that is `off`
    /// takes it away.
    pub(crate) fn filters(
        &self,
        route: &Route,
        at: &str,
        problems: &mut Vec<Problem>,
    ) -> Effective {
        let defaults: &[FilterSpec] = if route.defaults { &self.filters } else { &[] };
        self.check_wishes(route, at, problems);

        let own = |index: usize, step: &Step| (step.spec(), Place::Own(index));
        let mut taken = HashSet::new();
        let mut effective = Vec::with_capacity(defaults.len() + route.filters.len());
        for (index, default) in defaults.iter().enumerate() {
            match (route.filters.iter().enumerate()).find(|(_, step)| step.id() == default.id()) {
                None => effective.push((default.clone(), Place::Default(index))),
                Some((own_index, step)) => {
                    taken.insert(own_index);
                    if !step.off {
                        effective.push(own(own_index, step));
                    }
                }
            }
        }
        let rest = (route.filters.iter().enumerate())
            .filter(|(index, step)| !step.off && !taken.contains(index))
            .map(|(index, step)| own(index, step));
        effective.extend(rest);
        let (specs, places) = effective.into_iter().unzip();
        Effective { specs, places }
    }

    /// What is switched off has to be there, and has nothing to be configured.
    fn check_wishes(&self, route: &Route, at: &str, problems: &mut Vec<Problem>) {
        for (index, step) in route
            .filters
            .iter()
            .enumerate()
            .filter(|(_, step)| step.off)
        {
            let at = format!("{at}/filters/{index}");
            let default = self.filters.iter().find(|spec| spec.id() == step.id());
            let is_known = default.is_some_and(|spec| spec.name == step.name);
            if !(is_known && route.defaults) {
                let message = format!(
                    "there is no default filter `{}` that could be off{}",
                    step.id(),
                    if route.defaults {
                        ""
                    } else {
                        ": the route takes none"
                    },
                );
                let mut problem =
                    Problem::new(format!("{at}/off"), "nothing_to_switch_off", message);
                let ids: Vec<&str> = self.filters.iter().map(FilterSpec::id).collect();
                if !ids.is_empty() && route.defaults {
                    problem = problem.expecting(format!("one of: {}", ids.join(", ")));
                }
                problems.push(problem);
            }
            if step.config != nothing() || step.phase.is_some() {
                let message = format!("`{}` is off, so nothing of it can be configured", step.id());
                let field = if step.phase.is_some() {
                    "phase"
                } else {
                    "config"
                };
                problems.push(Problem::new(
                    format!("{at}/{field}"),
                    "contradiction",
                    message,
                ));
            }
        }
    }

    /// The cap on request bodies of a route, when the listener's does not stand.
    pub(crate) fn body_limit(&self, route: &Route) -> Option<u64> {
        route.limits.body.or(self.limits.body).map(|size| size.0)
    }

    /// The waits of a route, each its own or else everybody's.
    pub(crate) fn timeouts(&self, route: &Route) -> RouteTimeouts {
        let (own, common) = (&route.timeouts, &self.timeouts);
        RouteTimeouts {
            connect: own.connect.or(common.connect),
            response: own.response.or(common.response),
            idle: own.idle.or(common.idle),
            total: own.total.or(common.total),
        }
    }
}
