//! What many lines have in common, written once: of a connection, and of a route.

use std::cell::RefCell;

use sluicegate_core::{Peer, RouteFacts};

use crate::format;

/// The part of a line that is the same for all requests of one connection.
#[derive(Debug)]
pub struct ConnectionText {
    /// `client_ip` and `peer`, as long as the peer is the client.
    pub(crate) addresses: Box<[u8]>,
    pub(crate) listener: Box<[u8]>,
    /// Most clients call themselves the same in every request.
    pub(crate) agent: RefCell<Agent>,
}

/// What a client called itself last.
#[derive(Debug, Default)]
pub(crate) struct Agent {
    /// As it came.
    pub(crate) name: Vec<u8>,
    /// Key and value as they were written.
    pub(crate) text: Vec<u8>,
    /// Under which version of the configuration: another may mask other names.
    pub(crate) snapshot: u64,
}

impl ConnectionText {
    /// The text of a connection between `peer` and a listener.
    pub fn new(peer: &Peer, listener: &str) -> Self {
        let mut addresses = Vec::new();
        format::addresses(peer.remote.ip(), peer.remote, &mut addresses);
        let mut text = Vec::new();
        format::text(format::LISTENER, listener.as_bytes(), &mut text);
        Self {
            addresses: addresses.into(),
            listener: text.into(),
            agent: RefCell::default(),
        }
    }
}

/// The part of a line that is the same for all requests of one route.
#[derive(Debug)]
pub struct RouteText {
    /// `path_template` and `route_id`.
    pub(crate) route: Box<[u8]>,
    pub(crate) upstream: Box<[u8]>,
}

impl RouteText {
    /// The text of a route.
    pub fn new(facts: &RouteFacts) -> Self {
        let mut route = Vec::new();
        format::route(facts, &mut route);
        let mut upstream = Vec::new();
        format::upstream(facts, &mut upstream);
        Self {
            route: route.into(),
            upstream: upstream.into(),
        }
    }
}
