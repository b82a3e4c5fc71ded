//! One route of the document, ready to serve.

use std::{collections::HashMap, sync::Arc};

use sluicegate_core::{Body, Problem, Response, Stage, closest};
use sluicegate_filters::Chains;

use super::{
    HostRule, Route, Terminal, Timeouts,
    compile::Ground,
    defaults::{Effective, RouteDefaults},
    document, path_params,
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
    } else if let Some(respond) = &route.respond {
        Terminal::Answer(Box::new(respond_with(respond, at, problems)?))
    } else if let Some(redirect) = &route.redirect {
        Terminal::Answer(Box::new(redirect_to(redirect, at, problems)?))
    } else {
        return None;
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
        Box::new(WebSocket::build(
            config,
            at,
            ground.open_websockets,
            problems,
        ))
    });
    let chain = chain?;
    path_params::check((route, path), (filters, &chain), at, problems);
    let wants_params = chain.path_params().next().is_some();
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

fn respond_with(
    respond: &document::Respond,
    at: &str,
    problems: &mut Vec<Problem>,
) -> Option<Response> {
    let before = problems.len();
    if !(200..600).contains(&respond.status) {
        let message = format!("{} is not a final status", respond.status);
        problems.push(
            Problem::new(format!("{at}/respond/status"), "bad_status", message)
                .expecting("200 to 599"),
        );
    }
    let mut response = Response::new(respond.status);
    for (name, value) in &respond.headers {
        let framing = ["content-length", "transfer-encoding", "connection"]
            .iter()
            .any(|own| name.eq_ignore_ascii_case(own));
        if framing || response.head.fields.append(name, value.as_bytes()).is_err() {
            let message = if framing {
                "the gateway writes this field itself"
            } else {
                "this cannot stand in a header"
            };
            let name = name.replace('~', "~0").replace('/', "~1");
            problems.push(Problem::new(
                format!("{at}/respond/headers/{name}"),
                "bad_header",
                message,
            ));
        }
    }
    response.body = if respond.body.is_empty() {
        Body::Empty
    } else {
        Body::Bytes(respond.body.clone().into_bytes())
    };
    (problems.len() == before).then_some(response)
}

fn redirect_to(
    redirect: &document::Redirect,
    at: &str,
    problems: &mut Vec<Problem>,
) -> Option<Response> {
    let before = problems.len();
    if !matches!(redirect.status, 301 | 302 | 303 | 307 | 308) {
        let message = format!("{} does not redirect", redirect.status);
        let problem = Problem::new(format!("{at}/redirect/status"), "bad_status", message);
        problems.push(problem.expecting("301, 302, 303, 307 or 308"));
    }
    let mut response = Response::new(redirect.status);
    let readable = redirect
        .location
        .bytes()
        .all(|byte| byte.is_ascii_graphic())
        && !redirect.location.is_empty();
    if !readable
        || response
            .head
            .fields
            .append("Location", redirect.location.as_bytes())
            .is_err()
    {
        let problem = Problem::new(
            format!("{at}/redirect/location"),
            "bad_location",
            "this is not an address",
        );
        problems
            .push(problem.expecting("a URL or a path, with spaces and other characters escaped"));
    }
    (problems.len() == before).then_some(response)
}
