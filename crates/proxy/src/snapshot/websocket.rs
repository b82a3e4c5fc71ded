//! What a route allows WebSocket connections.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use schemars::JsonSchema;
use serde::Deserialize;
use sluicegate_core::{ByteSize, Problem, Span};

use super::document;
use crate::core::lock;

/// As it is written in the document (HT-46 … HT-48).
#[derive(Debug, Clone, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Document {
    pub(crate) connections: u32,
    pub(crate) idle: Span,
    pub(crate) life: Option<Span>,
    pub(crate) ping: Option<Span>,
    pub(crate) max_frame: ByteSize,
    pub(crate) messages_per_second: Option<u32>,
}

impl Default for Document {
    fn default() -> Self {
        Self {
            connections: 10_000,
            idle: Span(Duration::from_mins(5)),
            life: None,
            ping: None,
            max_frame: ByteSize(1 << 20),
            messages_per_second: None,
        }
    }
}

/// A handshake is one of HTTP/1.1's; an upstream that speaks HTTP/2 alone has none.
pub(super) fn check(
    route: &document::Route,
    at: &str,
    upstreams: &[document::Upstream],
    problems: &mut Vec<Problem>,
) {
    let speaks_http2 = |upstream: &&document::Upstream| {
        upstream.protocol == document::Protocol::Http2
            && Some(&upstream.id) == route.upstream.as_ref()
    };
    if route.websocket.is_some() && upstreams.iter().any(|upstream| speaks_http2(&upstream)) {
        let message = "the upstream of this route speaks HTTP/2, which has no WebSocket handshake";
        let problem = Problem::new(format!("{at}/websocket"), "contradiction", message);
        problems.push(problem.expecting("an upstream with `protocol: http1`"));
    }
}

/// As the engine obeys it.
#[derive(Debug)]
pub(crate) struct WebSocket {
    /// Without a byte in either direction.
    pub(crate) idle: Duration,
    pub(crate) life: Option<Duration>,
    /// A silent client is asked whether it is still there.
    pub(crate) ping: Option<Duration>,
    pub(crate) max_frame: u64,
    pub(crate) messages_per_second: Option<u32>,
    max: u32,
    open: Arc<AtomicU32>,
}

/// One of the connections a route may have; leaving is dropping it.
#[derive(Debug)]
pub(crate) struct Place(Arc<AtomicU32>);

impl WebSocket {
    pub(crate) fn build(
        config: &Document,
        (route, at): (&str, &str),
        counts: &OpenCounts,
        problems: &mut Vec<Problem>,
    ) -> Self {
        for (field, wrong) in [
            ("connections", config.connections == 0),
            ("messages_per_second", config.messages_per_second == Some(0)),
        ] {
            if wrong {
                let problem = Problem::new(
                    format!("{at}/websocket/{field}"),
                    "bad_limit",
                    "nothing could pass",
                );
                problems.push(problem.expecting("1 or more"));
            }
        }
        Self {
            idle: config.idle.0,
            life: config.life.map(|life| life.0),
            ping: config.ping.map(|ping| ping.0),
            max_frame: config.max_frame.0,
            messages_per_second: config.messages_per_second,
            max: config.connections,
            open: counts.of(route),
        }
    }

    /// Takes a place, if there is one.
    pub(crate) fn enter(&self) -> Option<Place> {
        let entered = self
            .open
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, |open| {
                (open < self.max).then_some(open + 1)
            });
        entered.ok().map(|_| Place(self.open.clone()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// How many connections each route has open; goes on counting when a snapshot changes.
#[derive(Debug, Default)]
pub(crate) struct OpenCounts(Mutex<HashMap<Box<str>, Arc<AtomicU32>>>);

impl OpenCounts {
    fn of(&self, route: &str) -> Arc<AtomicU32> {
        let mut counts = lock(&self.0);
        // What nobody holds has no connection open and no route: it can begin anew.
        counts.retain(|_, open| Arc::strong_count(open) > 1);
        counts.entry(route.into()).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_across_snapshots() {
        let counts = OpenCounts::default();
        let build = |max: u32| {
            let config = Document {
                connections: max,
                ..Document::default()
            };
            WebSocket::build(&config, ("chat", "/routes/0"), &counts, &mut Vec::new())
        };
        let before = build(2);
        let first = before.enter();
        let after = build(2);
        let second = after.enter();

        assert!(first.is_some() && second.is_some() && after.enter().is_none());
        drop((before, first));
        assert!(after.enter().is_some());
    }
}
