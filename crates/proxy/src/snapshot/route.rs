//! One route of the document, ready to serve.

use std::{collections::HashMap, sync::Arc};

use sluicegate_core::{Problem, Stage, closest};
use sluicegate_filters::Chains;

use super::{
    HostRule, Route, Terminal, Timeouts,
    compile::{Ground, chain},
    document, own_answer, path_params,
    websocket::WebSocket,
};
use crate::upstream::shared::Shared;

/// The upstreams of the document by id.
pub(super) type Known<'a> = HashMap<&'a str, (&'a Arc<Shared>, &'a document::Upstream)>;

/// Builds a route; what is wrong with it goes to `problems`.
pub(super) fn build(
    route: &document::Route,
    at: &str,
    known: &Known<'_>,
    (ground, chains): (&Ground<'_>, &mut Chains<'_>),
    problems: &mut Vec<Problem>,
) -> Option<Route> {
    let scope = format!("route:{}", route.id);
    let chain = chain(
        Stage::Route,
        &route.filters,
        (&scope, &format!("{at}/filters")),
        chains,
        problems,
    );
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
        timeouts = Timeouts {
            response: route
                .timeouts
                .response
                .unwrap_or(config.timeouts.response)
                .0,
            idle: route.timeouts.idle.unwrap_or(config.timeouts.idle).0,
            total: route
                .timeouts
                .total
                .or(config.timeouts.total)
                .map(|span| span.0),
        };
        host = match config.host.as_str() {
            "keep" => HostRule::Keep,
            "endpoint" => HostRule::Endpoint,
            fixed => HostRule::Fixed(fixed.into()),
        };
        Terminal::Upstream((*shared).clone())
    } else {
        Terminal::Answer(Arc::new(own_answer::build(route, at, problems)?))
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
    path_params::check(
        &route.matches.path,
        (&route.filters, &chain),
        &format!("{at}/filters"),
        problems,
    );
    let own_params = matches!(&terminal, Terminal::Answer(own) if own.wants_params());
    let wants_params = own_params || chain.path_params().next().is_some();
    Some(Route {
        id: route.id.as_str().into(),
        template: route.matches.path.as_str().into(),
        terminal,
        wants_params,
        chain,
        body_limit: route.limits.body.map(|size| size.0),
        encoded_slash: route.encoded_slash,
        timeouts,
        host,
        websocket,
        series: ground.registry.route(&route.id),
    })
}
