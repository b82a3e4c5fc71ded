//! Exchanges as they are when they end.

use std::{net::SocketAddr, rc::Rc, time::Duration};

use serde_json::Value;
use sluicegate_core::{
    Attempt, Exchange, Outcome, Peer, Principal, RequestId, RouteFacts, TraceContext, codes,
};
use sluicegate_http1::{RequestHead, Version};
use sluicegate_record::{Entry, LogFormat, Policy};

/// An exchange that has everything a record can tell.
pub(crate) fn full_exchange() -> Exchange {
    let mut exchange = forwarded("GET", "/api/v1/orders/7?page=2&token=abc");
    exchange.principal = Some(Principal {
        user: Some("u-1".into()),
        app: Some("app-1".into()),
    });
    exchange.reject = Some(&codes::UPSTREAM_TIMEOUT);
    exchange.cause = Some("no head within 3s".into());
    exchange
}

/// An exchange that went to an upstream and back.
pub(crate) fn forwarded(method: &str, target: &str) -> Exchange {
    let mut request = RequestHead::build(method, target, Version::Http11).unwrap();
    request.fields.set("host", b"api.example.com").unwrap();
    request.fields.set("user-agent", b"curl/8.5.0").unwrap();
    let mut exchange = Exchange::new(
        request,
        peer("203.0.113.7:50123"),
        Rc::from("http"),
        Duration::from_secs(1),
    );
    exchange.request_id = Some(RequestId::from_random(1, 2));
    exchange.trace = Some(TraceContext::from_random(3, 4, 5, 1));
    exchange.route = Some(Rc::new(RouteFacts {
        id: "orders".into(),
        template: "/api/v1/orders/{id}".into(),
        upstream: "orders".into(),
        snapshot: 12,
        version: None,
    }));
    exchange.attempt = Attempt {
        count: 1,
        endpoint: Some("10.0.0.5:9000".parse().unwrap()),
        reused: true,
    };
    exchange.times.sent = Duration::from_micros(1_000_200);
    exchange.times.answered = Duration::from_micros(1_044_205);
    exchange
}

pub(crate) fn peer(remote: &str) -> Peer {
    let remote: SocketAddr = remote.parse().unwrap();
    Peer {
        remote,
        ..Peer::default()
    }
}

pub(crate) fn entry(exchange: &Exchange) -> Entry<'_> {
    Entry {
        exchange,
        outcome: Outcome::Complete,
        status: 200,
        request_bytes: 0,
        response_bytes: 1024,
        finished: Duration::from_micros(1_045_205),
        unix: Duration::from_millis(1_718_461_822_123),
        snapshot: 12,
        connection: None,
        route: None,
        policy: &Policy::SIZES,
        bodies: None,
        request_whole: true,
    }
}

/// The one line of an entry, as text and parsed.
pub(crate) fn line(entry: &Entry<'_>) -> (String, Value) {
    line_of(&LogFormat::default(), entry)
}

/// The same in another format.
pub(crate) fn line_of(format: &LogFormat, entry: &Entry<'_>) -> (String, Value) {
    let mut line = Vec::new();
    format.write(entry, &mut line);
    let line = String::from_utf8(line).unwrap();
    let value = serde_json::from_str(&line).unwrap();
    (line, value)
}
