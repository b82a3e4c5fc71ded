//! A compiled configuration: immutable, numbered, shared by all threads.

mod bounds;
mod compile;
mod conditions;
mod defaults;
pub(crate) mod document;
pub(crate) mod exposure;
mod http2;
mod own_answer;
mod path_params;
mod proxy_protocol;
mod record;
mod route;
mod routes;
mod status;
mod tables;
pub(crate) mod websocket;

use std::{collections::HashSet, num::NonZeroU64, sync::Arc, time::Duration};

use sluicegate_filters::Chain;
use sluicegate_http1::HeadLimits;
use sluicegate_record::{LogFormat, Policy, RouteSeries};

pub(crate) use self::{
    compile::{Compiled, Ground, compile, read, split_address},
    own_answer::OwnAnswer,
    routes::alone,
    tables::{Condition, RouteTable, Tables},
};
use self::{http2::Http2, proxy_protocol::ProxyProtocol, websocket::WebSocket};
use crate::{answers::Answers, snapshot::document::EncodedSlash, upstream::shared::Shared};

/// What the data plane obeys.
pub(crate) struct Snapshot {
    pub(crate) version: u64,
    /// What each listener sees.
    pub(crate) tables: Tables,
    /// In the order of the document, once for each path, those not served among them.
    pub(crate) routes: Vec<Arc<Route>>,
    pub(crate) entry: Arc<Chain>,
    pub(crate) answers: Arc<Answers>,
    pub(crate) listeners: Vec<Arc<ListenerSettings>>,
    pub(crate) upstreams: Vec<Arc<Shared>>,
    pub(crate) log_format: Arc<LogFormat>,
    /// How much is recorded of requests that meet no route.
    pub(crate) record: Arc<Policy>,
    /// Records are written at all.
    pub(crate) logs: bool,
}

/// One route, ready to serve. Threads have copies: what is large in it is shared.
#[derive(Clone)]
pub(crate) struct Route {
    pub(crate) id: Box<str>,
    /// Counted by whoever writes the document (RT-17).
    pub(crate) version: Option<NonZeroU64>,
    pub(crate) is_served: bool,
    pub(crate) template: Box<str>,
    pub(crate) terminal: Terminal,
    pub(crate) chain: Arc<Chain>,
    /// Its own cap on request bodies.
    pub(crate) body_limit: Option<u64>,
    pub(crate) encoded_slash: EncodedSlash,
    pub(crate) timeouts: Timeouts,
    pub(crate) host: HostRule,
    /// A filter of it reads path parameters.
    pub(crate) wants_params: bool,
    /// It speaks WebSocket too.
    pub(crate) websocket: Option<Arc<WebSocket>>,
    pub(crate) series: Arc<RouteSeries>,
    /// How much is recorded of its exchanges.
    pub(crate) record: Arc<Policy>,
}

/// What a route ends in.
#[derive(Clone)]
pub(crate) enum Terminal {
    /// Requests go on.
    Upstream(Arc<Shared>),
    /// The gateway answers (`respond`, `redirect`); apart, so that the other routes stay small.
    Answer(Arc<OwnAnswer>),
}

/// Which `Host` the upstream sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HostRule {
    /// The client's.
    Keep,
    /// The endpoint's address as configured.
    Endpoint,
    /// This one.
    Fixed(Box<str>),
}

/// How long the upstream may take on this route.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Timeouts {
    /// TCP and TLS handshake; the upstream's when the route says none (HT-19).
    pub(crate) connect: Option<Duration>,
    /// From the last byte of the request to the head of the answer (HT-21).
    pub(crate) response: Duration,
    /// Between two pieces of a body.
    pub(crate) idle: Duration,
    /// The whole exchange; none by default, streams are endless.
    pub(crate) total: Option<Duration>,
}

/// What a listener allows its clients.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ListenerSettings {
    pub(crate) id: Box<str>,
    pub(crate) address: Box<str>,
    pub(crate) head: HeadLimits,
    pub(crate) body_limit: u64,
    pub(crate) connections: u32,
    pub(crate) requests_per_connection: u64,
    pub(crate) header: Duration,
    pub(crate) body: Duration,
    pub(crate) idle: Duration,
    pub(crate) write: Duration,
    /// A balancer says first whose the connection is.
    pub(crate) proxy_protocol: Option<ProxyProtocol>,
    pub(crate) http2: Http2,
}

impl Snapshot {
    /// What is in force before the first document: no listener, no route.
    pub(crate) fn empty() -> Self {
        Self {
            version: 0,
            tables: Tables::default(),
            routes: Vec::new(),
            entry: Arc::default(),
            answers: Arc::new(Answers::default()),
            listeners: Vec::new(),
            upstreams: Vec::new(),
            log_format: Arc::new(LogFormat::default()),
            record: Arc::default(),
            logs: false,
        }
    }

    /// How many routes take requests, whatever the number of their paths.
    pub(crate) fn served(&self) -> usize {
        let served = self.routes.iter().filter(|route| route.is_served);
        served.map(|route| &*route.id).collect::<HashSet<_>>().len()
    }

    /// Tells the series of routes what other name sets call them. A route with several paths is
    /// counted as one, and goes by its first.
    pub(crate) fn name_series(&self) {
        for route in self.routes.iter().rev() {
            let upstream = match &route.terminal {
                Terminal::Upstream(shared) => &*shared.id,
                Terminal::Answer(_) => "",
            };
            route.series.call(&route.template, upstream);
        }
    }

    /// Ids of the routes that are only checked.
    pub(crate) fn not_served(&self) -> Vec<&str> {
        let idle = self.routes.iter().filter(|route| !route.is_served);
        let mut ids: Vec<&str> = idle.map(|route| &*route.id).collect();
        ids.dedup();
        ids
    }

    pub(crate) fn listener(&self, id: &str) -> Option<Arc<ListenerSettings>> {
        self.listeners
            .iter()
            .find(|listener| &*listener.id == id)
            .cloned()
    }
}
