//! Which routes a request can find, by the listener it came in through.

use std::{collections::HashMap, sync::Arc};

use sluicegate_core::{Problem, closest};
use sluicegate_router::{RouteSpec, Router};

use super::{conditions, document, exposure::Exposure};

/// The routes that are seen through some listeners.
#[derive(Default)]
pub(crate) struct RouteTable {
    pub(crate) router: Router,
    /// From the router's index to that of the snapshot.
    served: Vec<usize>,
}

impl RouteTable {
    /// The snapshot's index of the route that the router knows as `index`.
    pub(crate) fn served(&self, index: usize) -> Option<usize> {
        self.served.get(index).copied()
    }
}

/// The tables of a snapshot; listeners that see the same routes share one.
#[derive(Default)]
pub(crate) struct Tables {
    by_listener: Vec<(Box<str>, Arc<RouteTable>)>,
    /// What a listener sees that has just gone: nothing that is internal.
    elsewhere: Arc<RouteTable>,
}

impl Tables {
    /// What is seen through a listener.
    pub(crate) fn of(&self, listener: &str) -> &Arc<RouteTable> {
        self.by_listener
            .iter()
            .find(|(id, _)| **id == *listener)
            .map_or(&self.elsewhere, |(_, table)| table)
    }
}

impl Tables {
    /// Each table once, with the listeners that share it.
    pub(crate) fn distinct(&self) -> Vec<(Vec<&str>, &RouteTable)> {
        let mut distinct: Vec<(Vec<&str>, &Arc<RouteTable>)> = Vec::new();
        for (id, table) in &self.by_listener {
            match distinct
                .iter_mut()
                .find(|(_, known)| Arc::ptr_eq(known, table))
            {
                Some((listeners, _)) => listeners.push(id),
                None => distinct.push((vec![id], table)),
            }
        }
        distinct
            .into_iter()
            .map(|(listeners, table)| (listeners, &**table))
            .collect()
    }
}

/// One path of one route: what the router looks at, and whose it is.
pub(crate) struct Condition {
    pub(super) spec: RouteSpec,
    /// Index of the route in the document.
    pub(crate) route: usize,
    /// Index of the path in the route.
    pub(crate) path: usize,
}

/// Builds the tables; what is wrong with any route, served or not, goes to `problems`.
pub(super) fn build(
    listeners: &[document::Listener],
    routes: &[document::Route],
    conditions: &[Condition],
    problems: &mut Vec<Problem>,
) -> Tables {
    check_listeners(listeners, routes, problems);
    let seen_through = |id: &str, exposure: Exposure| -> Vec<usize> {
        let is_seen = |condition: &Condition| {
            routes.get(condition.route).is_some_and(|route| {
                let named = &route.matches.listeners;
                route.status.is_served()
                    && route.exposure.is_seen_through(exposure)
                    && (named.is_empty() || named.iter().any(|name| name == id))
            })
        };
        (0..conditions.len())
            .filter(|index| conditions.get(*index).is_some_and(is_seen))
            .collect()
    };

    let mut known: HashMap<Vec<usize>, Arc<RouteTable>> = HashMap::new();
    let mut table = |served: Vec<usize>, problems: &mut Vec<Problem>| {
        if let Some(known) = known.get(&served) {
            return known.clone();
        }
        let router = router(&served, routes, conditions, problems).unwrap_or_default();
        let table = Arc::new(RouteTable {
            router,
            served: served.clone(),
        });
        known.insert(served, table.clone());
        table
    };
    let by_listener: Vec<_> = listeners
        .iter()
        .map(|listener| {
            let served = seen_through(&listener.id, listener.exposure);
            (listener.id.as_str().into(), table(served, problems))
        })
        .collect();
    let elsewhere = table(seen_through("", Exposure::Public), problems);

    let mut is_served = vec![false; conditions.len()];
    for index in known.keys().flatten() {
        if let Some(is_served) = is_served.get_mut(*index) {
            *is_served = true;
        }
    }
    // A draft is checked like any route, but it may have the conditions of the one it will replace.
    for (index, _) in is_served.iter().enumerate().filter(|(_, served)| !**served) {
        router(&[index], routes, conditions, problems);
    }
    Tables {
        by_listener,
        elsewhere,
    }
}

fn router(
    served: &[usize],
    routes: &[document::Route],
    conditions: &[Condition],
    problems: &mut Vec<Problem>,
) -> Option<Router> {
    let chosen: Vec<&Condition> = served
        .iter()
        .filter_map(|index| conditions.get(*index))
        .collect();
    let specs = chosen
        .iter()
        .map(|condition| condition.spec.clone())
        .collect();
    let found = match Router::build(specs) {
        Ok(router) => return Some(router),
        Err(found) => found,
    };
    for problem in found {
        let Some(condition) = chosen.get(problem.route) else {
            continue;
        };
        let Some(route) = routes.get(condition.route) else {
            continue;
        };
        let at = format!("/routes/{}", condition.route);
        // Ids are compared in the whole document, also those of routes that are not served.
        if problem.field == "/id" {
            continue;
        }
        let at = conditions::pointer(route, &at, condition.path, &problem.field);
        let mut said = Problem::new(at, "bad_match", problem.message);
        said.expected = problem.expected;
        problems.push(said);
    }
    None
}

fn check_listeners(
    listeners: &[document::Listener],
    routes: &[document::Route],
    problems: &mut Vec<Problem>,
) {
    let ids = || listeners.iter().map(|listener| listener.id.as_str());
    for (index, route) in routes.iter().enumerate() {
        for (place, name) in route.matches.listeners.iter().enumerate() {
            let at = format!("/routes/{index}/match/listeners/{place}");
            let Some(listener) = listeners.iter().find(|listener| listener.id == *name) else {
                let message = format!("there is no listener `{name}`");
                let known: Vec<&str> = ids().collect();
                problems.push(
                    Problem::new(at, "unknown_listener", message)
                        .expecting(format!("one of: {}", known.join(", ")))
                        .suggesting(closest(name, ids())),
                );
                continue;
            };
            if !route.exposure.is_seen_through(listener.exposure) {
                let message = format!(
                    "the route `{}` is internal, but the listener `{name}` is public",
                    route.id
                );
                problems.push(
                    Problem::new(at, "exposed_route", message)
                        .expecting("an internal listener, or a route that is public"),
                );
            }
        }
    }
}
