//! What a record tells besides, where the route wants it; and the name set `campus`.

use std::time::Duration;

use serde_json::json;
use sluicegate_core::{Debug, Principal};
use sluicegate_http1::Fields;
use sluicegate_record::{
    Bodies, BodyPolicy, CAMPUS_FIELDS, Entry, Headers, LogFormat, Masking, NameSet, Policy, Tap,
};

use crate::support::{entry, forwarded, full_exchange, line, line_of};

fn campus() -> LogFormat {
    LogFormat::new(Masking::default(), NameSet::Campus)
}

fn seen(policy: BodyPolicy, body: &[u8]) -> Option<Tap> {
    let mut tap = Tap::new(policy, 4096, &Fields::default())?;
    tap.see(body);
    Some(tap)
}

// spec: OB-06
#[test]
fn a_record_tells_the_target_sent_and_the_time_of_each_stage() {
    let mut exchange = forwarded("GET", "/api/v1/orders/7?token=abc");
    exchange.request.set_path("/orders/7").unwrap();
    exchange.debug = Some(Box::new(Debug {
        spans: vec![
            ("identify", Duration::from_micros(12)),
            ("admit", Duration::from_micros(1_500)),
        ],
        snapshot: 12,
    }));

    let (_, value) = line(&entry(&exchange));

    assert_eq!(value["path"], "/api/v1/orders/7?token=***");
    assert_eq!(value["target"], "/orders/7?token=***");
    assert_eq!(value["upstream_instance"], "10.0.0.5:9000");
    assert_eq!(value["attempts"], 1);
    assert_eq!(value["phases_ms"], json!({"identify": 0.012, "admit": 1.5}));
    assert_eq!(
        (
            &value["upstream_ms"],
            &value["gateway_ms"],
            &value["answer_ms"]
        ),
        (&json!(44.005), &json!(1.2), &json!(1.0))
    );
}

#[test]
fn a_target_that_went_nowhere_is_not_told() {
    let mut exchange = forwarded("GET", "/a/../b");
    exchange.request.set_path("/b").unwrap();
    exchange.attempt.count = 0;

    let (_, value) = line(&entry(&exchange));

    assert!(value.get("target").is_none());
}

// spec: OB-11
#[test]
fn headers_are_told_as_the_policy_says_and_never_secrets() {
    let mut exchange = forwarded("GET", "/");
    for (name, content) in [
        ("X-Tenant", "t-1"),
        ("X-Note", "call 13800138000"),
        ("Cookie", "sid=1"),
        ("Authorization", "Bearer abc"),
        ("X-Api-Key", "k"),
        ("X-", "odd\tname"),
    ] {
        exchange
            .request
            .fields
            .append(name, content.as_bytes())
            .unwrap();
    }
    let told = |headers: Headers| {
        let policy = Policy {
            headers,
            ..Policy::SIZES
        };
        let (_, value) = line(&Entry {
            policy: &policy,
            ..entry(&exchange)
        });
        value["headers"].clone()
    };

    let only = Headers::Only(["x-tenant".into(), "x-note".into(), "cookie".into()].into());
    assert_eq!(told(only), json!({"x-tenant": "t-1", "x-note": "call ***"}));
    assert_eq!(
        told(Headers::Harmless),
        json!({
            "host": "api.example.com",
            "user-agent": "curl/8.5.0",
            "x-tenant": "t-1",
            "x-note": "call ***",
            "x-": "odd\tname",
        })
    );
    assert!(told(Headers::Nothing).is_null());
}

// spec: OB-15, PX-36
#[test]
fn bodies_are_told_by_digest_or_by_masked_text() {
    let exchange = forwarded("POST", "/");
    let policy = Policy {
        request_body: BodyPolicy::Masked,
        response_body: BodyPolicy::Digest,
        query: false,
        ..Policy::SIZES
    };
    let bodies = Bodies {
        request: seen(policy.request_body, br#"{"idCard":"x","n":1}"#),
        response: seen(policy.response_body, b"abc"),
    };
    let looked = Entry {
        policy: &policy,
        bodies: Some(&bodies),
        request_whole: false,
        ..entry(&exchange)
    };

    let (_, ours) = line(&looked);
    let (_, campus) = line_of(&campus(), &looked);

    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(ours["request_body"], r#"{"idCard":"***","n":1}"#);
    assert_eq!(ours["response_sha256"], digest);
    assert_eq!(ours["request_body_partial"], true);
    assert_eq!(campus["requestBody"], ours["request_body"]);
    assert_eq!(campus["responseSha256"], digest);
    assert_eq!(campus["requestBodyPartial"], true);
}

#[test]
fn a_policy_may_leave_the_query_out() {
    let exchange = full_exchange();
    let policy = Policy {
        query: false,
        ..Policy::SIZES
    };
    let without = Entry {
        policy: &policy,
        ..entry(&exchange)
    };

    let (_, ours) = line(&without);
    let (_, theirs) = line_of(&campus(), &without);

    assert_eq!(ours["path"], "/api/v1/orders/7");
    assert_eq!(theirs["path"], "/api/v1/orders/7");
    assert!(theirs.get("query").is_none());
}

// spec: OB-12
#[test]
fn the_campus_set_has_the_names_and_formats_of_its_source() {
    let mut exchange = forwarded("GET", "/api/v1/courses/7?page=2&token=abc");
    exchange.principal = Some(Principal {
        user: Some("1001".into()),
        app: None,
    });

    let (text, value) = line_of(&campus(), &entry(&exchange));

    assert_eq!(
        value,
        json!({
            "timestamp": "2024-06-15T14:30:22.123Z",
            "level": "INFO",
            "requestId": "00000000000000010000000000000002",
            "traceId": "00000000000000030000000000000005",
            "userId": "1001",
            "method": "GET",
            "path": "/api/v1/courses/7",
            "query": "page=2&token=***",
            "status": 200,
            "durationMs": 45.205,
            "serviceId": "orders",
            "instanceId": "10.0.0.5:9000",
            "routeId": "orders",
            "clientIp": "203.0.113.7",
            "requestBytes": 0,
            "responseBytes": 1024,
        })
    );
    let mut from = 0;
    for field in CAMPUS_FIELDS {
        if let Some(at) = text[from..].find(&format!("\"{}\":", field.name)) {
            from += at;
        } else {
            assert!(!field.always, "{}", field.name);
        }
    }
    let names = CAMPUS_FIELDS.iter().map(|field| field.name);
    let known: Vec<_> = names.collect();
    for name in value.as_object().unwrap().keys() {
        assert!(known.contains(&&**name), "{name} stands in no reference");
    }
}

// case: LG-01
#[test]
fn the_campus_set_cannot_be_forged_either() {
    let mut exchange = full_exchange();
    let user = "x\",\"status\":200\r\nFAKE\u{2028}\u{1b}[2J";
    exchange.principal = Some(Principal {
        user: Some(user.into()),
        app: None,
    });

    let (text, value) = line_of(&campus(), &entry(&exchange));

    assert_eq!(text.lines().count(), 1);
    assert_eq!(value["userId"], user);
    assert!(!text.trim_end().contains(char::is_control));
    assert!(!text.contains('\u{2028}'));
}
