//! All routes of the document: built whether they are served or not, found by the listener.

use std::{collections::HashSet, sync::Arc};

use sluicegate_core::Problem;
use sluicegate_filters::Chains;

use super::{
    Route,
    compile::{Ground, check_id},
    conditions, document, exposure,
    record::Recording,
    route::{self, Known},
    tables::{self, Condition, Tables},
    websocket,
};

/// Builds every route, once for each of its paths; what is wrong goes to `problems`.
///
/// A route that is not served is built like the others, so that it has no mistakes when it is
/// published, and then left out of the tables.
pub(super) fn build(
    document: &document::Document,
    known: &Known<'_>,
    (ground, chains): (&Ground<'_>, &mut Chains<'_>),
    recording: &Recording,
    problems: &mut Vec<Problem>,
) -> (Vec<Arc<Route>>, Tables) {
    let mut ids = HashSet::new();
    let mut conditions = Vec::new();
    let mut routes = Vec::new();
    for (index, config) in document.routes.iter().enumerate() {
        let at = format!("/routes/{index}");
        check_id(&config.id, &at, &mut ids, "route", problems);
        exposure::check(config, &at, &document.upstreams, problems);
        websocket::check(config, &at, &document.upstreams, problems);
        let record = recording.of(config, &at, problems);
        let defaults = &document.route_defaults;
        let filters = defaults.filters(config, &at, problems);
        for (path, spec) in conditions::specs(config, &at, problems)
            .into_iter()
            .enumerate()
        {
            let written = route::Written {
                route: config,
                path: &spec.path,
                at: &at,
                filters: &filters,
                defaults,
                record: &record,
            };
            if let Some(built) = route::build(&written, known, (ground, chains), problems) {
                routes.push(Arc::new(built));
            }
            conditions.push(Condition {
                spec,
                route: index,
                path,
            });
        }
    }
    let tables = tables::build(&document.listeners, &document.routes, &conditions, problems);
    (routes, tables)
}

/// The tables of the routes alone, without what they do; what is wrong goes to `problems`.
pub(crate) fn alone(
    document: &document::Document,
    problems: &mut Vec<Problem>,
) -> (Vec<Condition>, Tables) {
    let mut conditions = Vec::new();
    for (index, config) in document.routes.iter().enumerate() {
        let at = format!("/routes/{index}");
        let specs = conditions::specs(config, &at, problems);
        conditions.extend(specs.into_iter().enumerate().map(|(path, spec)| Condition {
            spec,
            route: index,
            path,
        }));
    }
    let tables = tables::build(&document.listeners, &document.routes, &conditions, problems);
    (conditions, tables)
}
