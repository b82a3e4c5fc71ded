//! What many lines have in common, written once: of a connection, and of a route.

use std::cell::RefCell;

use sluicegate_core::{Peer, RouteFacts};

use crate::{format, line};

/// The part of a line that is the same for all requests of one connection.
#[derive(Debug, Clone)]
pub struct ConnectionText {
    /// `client_ip` and `peer`, as long as the peer is the client.
    pub(crate) addresses: Box<[u8]>,
    pub(crate) listener: Box<[u8]>,
    /// Most clients call themselves the same in every request.
    pub(crate) agent: RefCell<Agent>,
}

/// What a client called itself last.
#[derive(Debug, Clone, Default)]
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
        line::text(format::LISTENER, listener.as_bytes(), &mut text);
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
    /// In one block: with many routes it is found outside the cache.
    text: Box<[u8]>,
    upstream_at: usize,
}

impl RouteText {
    /// The text of a route.
    pub fn new(facts: &RouteFacts) -> Self {
        let mut text = Vec::new();
        format::route(facts, &mut text);
        let upstream_at = text.len();
        format::upstream(facts, &mut text);
        Self {
            text: text.into(),
            upstream_at,
        }
    }

    /// `path_template` and `route_id`.
    pub(crate) fn route(&self) -> &[u8] {
        self.text.get(..self.upstream_at).unwrap_or_default()
    }

    pub(crate) fn upstream(&self) -> &[u8] {
        self.text.get(self.upstream_at..).unwrap_or_default()
    }
}
