//! One route of the document, ready to serve.

use std::{collections::HashMap, sync::Arc};

use sluicegate_core::{Problem, Stage, closest};
use sluicegate_filters::Chains;
use sluicegate_record::Policy;

use super::{
    HostRule, Route, Terminal, Timeouts,
    compile::Ground,
    defaults::{Effective, RouteDefaults},
    document, own_answer, path_params,
    websocket::WebSocket,
};
use crate::upstream::shared::Shared;

/// The upstreams of the document by id.
pub(super) type Known<'a> = HashMap<&'a str, (&'a Arc<Shared>, &'a document::Upstream)>;

/// A route under one of its paths, as the document has it.
pub(super) struct Written<'a> {
    pub(super) route: &'a document::Route,
    pub(super) path: &'a str,
    pub(super) at: &'a str,
    pub(super) filters: &'a Effective,
    pub(super) defaults: &'a RouteDefaults,
    pub(super) record: &'a Arc<Policy>,
}

/// Builds a route; what is wrong with it goes to `problems`.
pub(super) fn build(
    written: &Written<'_>,
    known: &Known<'_>,
    (ground, chains): (&Ground<'_>, &mut Chains<'_>),
    problems: &mut Vec<Problem>,
) -> Option<Route> {
    let Written {
        route,
        path,
        at,
        filters,
        defaults,
        record,
    } = *written;
    let scope = format!("route:{}", route.id);
    let chain = match chains.chain(Stage::Route, &filters.specs, &scope) {
        Ok(chain) => Some(chain),
        Err(found) => {
            let located = found
                .into_iter()
                .map(|problem| filters.located(at, problem));
            problems.extend(located);
            None
        }
    };
    let ends = [
        route.upstream.is_some(),
        route.respond.is_some(),
        route.redirect.is_some(),
    ];
    if ends.into_iter().filter(|given| *given).count() != 1 {
        let problem = Problem::new(
            at,
            "one_end",
            "a route has exactly one of `upstream`, `respond` and `redirect`",
        );
        problems.push(problem);
        return None;
    }
    let mut timeouts = Timeouts::default();
    let mut host = HostRule::Keep;
    let terminal = if let Some(name) = &route.upstream {
        let Some((shared, config)) = known.get(name.as_str()) else {
            let names: Vec<&str> = known.keys().copied().collect();
            let mut problem = Problem::new(
                format!("{at}/upstream"),
                "unknown_upstream",
                format!("there is no upstream `{name}`"),
            );
            problem.suggestion = closest(name, names.iter().copied()).map(ToOwned::to_owned);
            problems.push(problem);
            return None;
        };
        timeouts = waits(&defaults.timeouts(route), &config.timeouts);
        host = match config.host.as_str() {
            "keep" => HostRule::Keep,
            "endpoint" => HostRule::Endpoint,
            fixed => HostRule::Fixed(fixed.into()),
        };
        Terminal::Upstream((*shared).clone())
    } else {
        Terminal::Answer(Arc::new(own_answer::build((route, path), at, problems)?))
    };
    let websocket = route.websocket.as_ref().map(|config| {
        if route.upstream.is_none() {
            let problem = Problem::new(
                format!("{at}/websocket"),
                "contradiction",
                "a route without an upstream has no WebSocket connections",
            );
            problems.push(problem);
        }
        let at = (route.id.as_str(), at);
        Arc::new(WebSocket::build(
            config,
            at,
            ground.open_websockets,
            problems,
        ))
    });
    let chain = chain?;
    path_params::check((route, path), (filters, &chain), at, problems);
    let own_params = matches!(&terminal, Terminal::Answer(own) if own.wants_params());
    let wants_params = own_params || chain.path_params().next().is_some();
    Some(Route {
        id: route.id.as_str().into(),
        version: route.version,
        is_served: route.status.is_served(),
        template: path.into(),
        terminal,
        wants_params,
        chain,
        body_limit: defaults.body_limit(route),
        encoded_slash: route.encoded_slash,
        timeouts,
        host,
        websocket,
        series: ground.registry.route(&route.id),
        record: record.clone(),
    })
}

/// The route's waits, and the upstream's where it says none.
fn waits(own: &document::RouteTimeouts, upstream: &document::UpstreamTimeouts) -> Timeouts {
    Timeouts {
        connect: own.connect.map(|span| span.0),
        response: own.response.unwrap_or(upstream.response).0,
        idle: own.idle.unwrap_or(upstream.idle).0,
        total: own.total.or(upstream.total).map(|span| span.0),
    }
}
