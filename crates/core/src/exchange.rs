//! One request and its response.

use std::{
    borrow::Cow,
    fmt,
    net::{IpAddr, SocketAddr},
    num::NonZeroU64,
    rc::Rc,
    time::Duration,
};

use sluicegate_http1::{Malformed, RequestHead};

use crate::{Code, Params, Peer, RequestId, TraceContext};

/// What the gateway knows of one request while it travels. It holds no socket.
#[derive(std::fmt::Debug)]
pub struct Exchange {
    /// The request as it will be sent on; filters edit it.
    pub request: RequestHead,
    /// Why the head could not be understood; such an exchange is refused first and recorded all the same.
    pub malformed: Option<Malformed>,
    /// The ends of the client's connection.
    pub peer: Peer,
    /// The real client, as far as trusted hops vouch for it (SE-14); the peer when nobody does.
    pub client: IpAddr,
    /// The previous hop is a proxy whose word on the client counts (SE-15); nobody's does by default.
    pub peer_trusted: bool,
    /// How the client came, as far as trusted hops vouch for it.
    pub scheme: Scheme,
    /// The host the client asked for, when a trusted hop says that it has changed `Host`.
    pub host: Option<Box<str>>,
    /// The listener's id.
    pub listener: Rc<str>,
    /// The name the request is known by.
    pub request_id: Option<RequestId>,
    /// Its place in a trace.
    pub trace: Option<TraceContext>,
    /// The trace's name at the caller, when that is no W3C trace id.
    pub foreign_trace: Option<Box<str>>,
    /// Who is calling, once that is proven.
    pub principal: Option<Principal>,
    /// The route it met.
    pub route: Option<Rc<RouteFacts>>,
    /// The path parameters, when a filter of the route reads them.
    pub params: Params,
    /// The code of the reject, when the gateway answers with an error itself.
    pub reject: Option<&'static Code>,
    /// Why, for the log only.
    pub cause: Option<Cow<'static, str>>,
    /// The `Host` the upstream is to see, when a filter chose it; it goes before the upstream's setting.
    pub upstream_host: Option<Box<str>>,
    /// The attempts at the upstream so far: how many, and what is known of the last.
    pub attempt: Attempt,
    /// When it reached which stage.
    pub times: Times,
    /// What filters say to whoever asks `explain`; `None` on live traffic, so that nothing is formatted.
    pub notes: Option<Vec<String>>,
    /// Where the time goes, once a filter has asked for it; `None` on usual traffic, so that nothing is timed.
    pub debug: Option<Box<Debug>>,
}

/// How the client speaks to the gateway, or to the trusted hop in front of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scheme {
    /// Plain text.
    #[default]
    Http,
    /// Over TLS.
    Https,
}

impl Scheme {
    /// As it stands in a URL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// What only callers on a list may see of one exchange.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Debug {
    /// The time spent in each phase from the filter that asked on, waiting included; the engine adds to it.
    pub spans: Vec<(&'static str, Duration)>,
    /// The version of the snapshot that the exchange obeys.
    pub snapshot: u64,
}

impl Debug {
    /// Adds time to a phase.
    pub fn spend(&mut self, phase: &'static str, span: Duration) {
        match self.spans.iter_mut().find(|(known, _)| *known == phase) {
            Some((_, sum)) => *sum += span,
            None => self.spans.push((phase, span)),
        }
    }
}

/// A route as logs, metrics and filters see it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RouteFacts {
    /// The route's id.
    pub id: Box<str>,
    /// The path template; metrics and logs carry it instead of the path (OB-32).
    pub template: Box<str>,
    /// The upstream's id; empty when the route answers by itself.
    pub upstream: Box<str>,
    /// The version of the snapshot it came from.
    pub snapshot: u64,
    /// The route's own version (RT-17), when its document says one.
    pub version: Option<NonZeroU64>,
}

/// Who calls: a user (a person, by token) or an app (a program, by key or signature).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Principal {
    /// The user's id.
    pub user: Option<Box<str>>,
    /// The app's id.
    pub app: Option<Box<str>>,
}

/// The upstream side of an exchange.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Attempt {
    /// How often a request was begun at an endpoint.
    pub count: u32,
    /// The endpoint of the last attempt.
    pub endpoint: Option<SocketAddr>,
    /// The last attempt used a connection that had served before.
    pub reused: bool,
}

/// Points in time of one exchange, as spans since the engine started; zero when not reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// The head was complete.
    pub begun: Duration,
    /// The last attempt began.
    pub sent: Duration,
    /// The upstream's head was complete.
    pub answered: Duration,
}

impl Exchange {
    /// An exchange that begins now.
    pub fn new(request: RequestHead, peer: Peer, listener: Rc<str>, begun: Duration) -> Self {
        Self {
            request,
            malformed: None,
            peer,
            client: peer.remote.ip(),
            peer_trusted: false,
            scheme: Scheme::default(),
            host: None,
            listener,
            request_id: None,
            trace: None,
            foreign_trace: None,
            principal: None,
            route: None,
            params: Params::default(),
            reject: None,
            cause: None,
            upstream_host: None,
            attempt: Attempt::default(),
            times: Times {
                begun,
                ..Times::default()
            },
            notes: None,
            debug: None,
        }
    }

    /// The next exchange of the same connection, whose request has just been read into `request`.
    pub fn renew(&mut self, begun: Duration) {
        let request = std::mem::take(&mut self.request);
        *self = Self::new(request, self.peer, Rc::clone(&self.listener), begun);
    }

    /// Says something to whoever asks `explain`; costs nothing on live traffic.
    pub fn note<T: fmt::Display>(&mut self, text: impl FnOnce() -> T) {
        if let Some(notes) = &mut self.notes {
            notes.push(text().to_string());
        }
    }
}
