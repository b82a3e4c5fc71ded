//! One exchange is one line that says what happened.

use std::{net::Ipv4Addr, rc::Rc, time::Duration};

use proptest::prelude::*;
use serde_json::json;
use sluicegate_core::{Exchange, Outcome, Principal, codes};
use sluicegate_http1::{HeadLimits, RequestHead, parse_request};
use sluicegate_record::{ConnectionText, Entry, FIELDS, FieldType, RouteText};

use crate::support::{entry, forwarded, full_exchange, line, peer};

/// Keys that a record has only when its route, a filter or the caller wants more than usual.
const ON_REQUEST: [&str; 12] = [
    "route_version",
    "foreign_trace_id",
    "target",
    "headers",
    "phases_ms",
    "request_sha256",
    "request_body",
    "request_body_omitted",
    "response_sha256",
    "response_body",
    "response_body_omitted",
    "request_body_partial",
];

// spec: OB-01, OB-02, OB-03, OB-04, OB-05
#[test]
fn a_record_has_every_key_of_the_table_in_its_order() {
    let exchange = full_exchange();

    let (text, value) = line(&Entry {
        status: 504,
        ..entry(&exchange)
    });

    let mut from = 0;
    for field in FIELDS
        .iter()
        .filter(|field| !ON_REQUEST.contains(&field.name))
    {
        let at = text[from..]
            .find(&format!("\"{}\":", field.name))
            .expect(field.name);
        from += at;
        let found = &value[field.name];
        let fits = match field.kind {
            FieldType::Text => found.is_string(),
            FieldType::Integer => found.is_u64(),
            FieldType::Decimal => found.is_f64(),
            FieldType::Flag => found == true,
            FieldType::Object => found.is_object(),
        };
        assert!(fits, "{}: {found}", field.name);
    }
    assert_eq!(
        value.as_object().unwrap().len(),
        FIELDS.len() - ON_REQUEST.len()
    );
    assert_eq!(
        value,
        json!({
            "timestamp": "2024-06-15T14:30:22.123Z",
            "level": "error",
            "request_id": "00000000000000010000000000000002",
            "trace_id": "00000000000000030000000000000005",
            "client_ip": "203.0.113.7",
            "peer": "203.0.113.7:50123",
            "user_agent": "curl/8.5.0",
            "user_id": "u-1",
            "app_id": "app-1",
            "method": "GET",
            "host": "api.example.com",
            "path": "/api/v1/orders/7?page=2&token=***",
            "path_template": "/api/v1/orders/{id}",
            "route_id": "orders",
            "listener": "http",
            "upstream": "orders",
            "upstream_instance": "10.0.0.5:9000",
            "attempts": 1,
            "status": 504,
            "code": "upstream_timeout",
            "reason": "timeout",
            "cause": "no head within 3s",
            "duration_ms": 45.205,
            "upstream_ms": 44.005,
            "gateway_ms": 1.2,
            "answer_ms": 1.0,
            "request_bytes": 0,
            "response_bytes": 1024,
            "outcome": "complete",
            "snapshot_version": 12,
        })
    );
}

// spec: OB-03
#[test]
fn what_is_not_known_is_left_out() {
    let limits = HeadLimits::default();
    let mut head = RequestHead::default();
    let malformed = parse_request(b"GET /a b c HTTP/1.1\r\n\r\n", &limits, &mut head).unwrap_err();
    let mut exchange = Exchange::new(
        head,
        peer("[2001:db8::1]:9"),
        Rc::from("http"),
        Duration::ZERO,
    );
    exchange.malformed = Some(malformed);
    exchange.reject = Some(&codes::BAD_REQUEST);

    let (_, value) = line(&Entry {
        status: 400,
        ..entry(&exchange)
    });

    assert_eq!(value["route_id"], "none");
    assert_eq!(value["client_ip"], "2001:db8::1");
    assert_eq!(value["peer"], "[2001:db8::1]:9");
    assert_eq!(value["code"], "bad_request");
    assert_eq!(value["level"], "warn");
    assert!(value["cause"].is_string());
    for field in FIELDS {
        assert!(
            !field.always || value.get(field.name).is_some(),
            "{}",
            field.name
        );
        assert!(value.get(field.name).is_none_or(|value| !value.is_null()));
    }
    for absent in [
        "request_id",
        "upstream",
        "upstream_instance",
        "upstream_ms",
        "user_id",
    ] {
        assert!(value.get(absent).is_none(), "{absent}");
    }
}

#[test]
fn what_was_written_before_makes_the_same_line() {
    let mut exchange = full_exchange();
    let connection = ConnectionText::new(&exchange.peer, &exchange.listener);
    let route = RouteText::new(exchange.route.as_ref().unwrap());

    for agent in ["curl/8.5.0", "curl/8.5.0", "x token=secret"] {
        let fields = &mut exchange.request.fields;
        fields.set("user-agent", agent.as_bytes()).unwrap();
        for client in [exchange.peer.remote.ip(), Ipv4Addr::LOCALHOST.into()] {
            exchange.client = client;
            let plain = entry(&exchange);
            let shared = Entry {
                connection: Some(&connection),
                route: Some(&route),
                ..plain
            };

            assert_eq!(line(&shared), line(&plain));
        }
    }
}

// spec: OB-03
#[test]
fn a_client_that_left_is_recorded() {
    let mut exchange = forwarded("POST", "/api/v1/orders");
    exchange.times.answered = Duration::ZERO;
    let gone = Entry {
        outcome: Outcome::Gone,
        status: 0,
        ..entry(&exchange)
    };

    let (_, before) = line(&gone);
    let (_, after) = line(&Entry {
        status: 200,
        ..gone
    });

    assert_eq!(before["status"], 499);
    assert_eq!(before["code"], "client_gone");
    assert_eq!(before["outcome"], "client_gone");
    assert_eq!(before["upstream_ms"], 45.005);
    assert_eq!(after["status"], 200);
    assert_eq!(after["outcome"], "client_gone");
    assert!(after.get("code").is_none());
    assert_eq!(after["level"], "warn");
}

// case: LG-01
#[test]
fn nothing_a_client_sends_forges_a_record() {
    for target in ["/%0d%0aFAKE%20line", "/%00%1b[2J", "/a?x=%e2%80%a8"] {
        let (text, value) = line(&entry(&forwarded("GET", target)));
        assert_eq!(text.lines().count(), 1);
        assert_eq!(value["path"], target);
    }
    for (agent, shown) in [
        (&b"x\" 200 \"y"[..], "x\" 200 \"y"),
        (b"\xff\xfe", "\\xff\\xfe"),
        ("\u{2028}".as_bytes(), "\u{2028}"),
    ] {
        let mut exchange = forwarded("GET", "/");
        exchange.request.fields.set("user-agent", agent).unwrap();
        let (text, value) = line(&entry(&exchange));
        assert_eq!(value["user_agent"], shown);
        assert_eq!(text.lines().count(), 1);
        assert!(!text.contains('\u{2028}'));
    }
    let mut exchange = forwarded("GET", "/");
    exchange.cause = Some("panic:\n\tat \u{1b}[31mDubbo\u{9b}".into());
    let (text, value) = line(&entry(&exchange));
    assert_eq!(value["cause"], "panic:\n\tat \u{1b}[31mDubbo\u{9b}");
    assert!(!text.contains('\u{1b}') && !text.contains('\u{9b}'));
}

// case: LG-01
#[test]
fn a_line_is_bounded_whatever_was_sent() {
    let long = "\u{1}".repeat(10_000);
    let mut exchange = full_exchange();
    exchange.cause = Some(long.clone().into());
    exchange.principal = Some(Principal {
        user: Some(long.clone().into()),
        app: Some(long.into()),
    });

    let (text, value) = line(&entry(&exchange));

    assert!(text.len() < 25_000, "{}", text.len());
    assert!(value["cause"].as_str().unwrap().ends_with("…+8976"));
}

proptest! {
    /// Whatever bytes stand in the places that others fill: one line, valid JSON, nothing that a
    /// terminal or a line reader obeys.
    // case: LG-01
    #[test]
    fn every_line_parses_and_holds_no_control_character(
        agent in proptest::collection::vec(prop_oneof![Just(b'\t'), 0x20_u8..0x7f, 0x80_u8..], 1..1500),
        user in ".{0,1500}",
        cause in "[\\PC\\pC]{0,600}",
        status in 0_u16..700,
        sent in any::<u32>(),
    ) {
        let mut exchange = full_exchange();
        prop_assume!(exchange.request.fields.set("user-agent", &agent).is_ok());
        exchange.cause = Some(cause.into());
        exchange.principal = Some(Principal { user: Some(user.clone().into()), app: None });
        exchange.times.sent = Duration::from_micros(sent.into());

        let (text, value) = line(&Entry { status, ..entry(&exchange) });

        prop_assert_eq!(text.lines().count(), 1);
        prop_assert!(text.ends_with('\n'));
        let inside = text.trim_end_matches('\n');
        let forbidden = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202e}');
        prop_assert!(!inside.contains(forbidden));
        if user.len() <= 1024 {
            prop_assert_eq!(&value["user_id"], &user);
        }
    }
}
