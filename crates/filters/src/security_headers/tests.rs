//! Tests of `security_headers`.

use serde_json::{Value, json};

use super::*;
use crate::testing::{Trial, exchange, filter};

fn dressed(config: &Value, scheme: Scheme, there: &[(&str, &str)]) -> Vec<String> {
    let filter: SecurityHeaders = filter(config).unwrap();
    let mut trial = Trial::new(exchange("GET", "/", &[]).unwrap());
    trial.exchange.scheme = scheme;
    let mut answer = Response::new(200);
    for (name, value) in there {
        answer.head.fields.append(name, value.as_bytes()).unwrap();
    }
    trial.response(&filter, &mut answer).unwrap().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let fields = answer.head.fields.iter();
    fields
        .map(|(name, value)| format!("{}: {}", text(name), text(value)))
        .collect()
}

fn mistake(config: &Value) -> String {
    filter::<SecurityHeaders>(config).err().unwrap()
}

// spec: SE-10
#[test]
fn transport_security_is_for_clients_over_tls() {
    let config = json!({"hsts": {}});

    assert!(dressed(&config, Scheme::Http, &[]).is_empty());
    assert_eq!(
        dressed(&config, Scheme::Https, &[]),
        ["Strict-Transport-Security: max-age=31536000; includeSubDomains"]
    );
    let short = json!({"hsts": {"max_age": "5m", "include_subdomains": false}});
    assert_eq!(
        dressed(&short, Scheme::Https, &[]),
        ["Strict-Transport-Security: max-age=300"]
    );
    let preload = json!({"hsts": {"preload": true}});
    assert_eq!(
        dressed(&preload, Scheme::Https, &[]),
        ["Strict-Transport-Security: max-age=31536000; includeSubDomains; preload"]
    );
}

// spec: SE-10
#[test]
fn preload_asks_for_what_the_list_asks_for() {
    for hsts in [
        json!({"preload": true, "max_age": "24h"}),
        json!({"preload": true, "include_subdomains": false}),
        json!({"max_age": "1500ms"}),
    ] {
        assert!(mistake(&json!({"hsts": hsts})).contains("/hsts/"), "{hsts}");
    }
}

#[test]
fn what_is_there_is_replaced_or_stays() {
    let there = [
        ("X-Frame-Options", "ALLOWALL"),
        ("X-Content-Type-Options", "none"),
    ];
    let config = json!({"nosniff": true, "frame_options": "DENY"});
    let keeping = json!({"nosniff": true, "frame_options": "DENY", "mode": "if_absent"});

    assert_eq!(
        dressed(&config, Scheme::Http, &there),
        [
            "X-Frame-Options: DENY",
            "X-Content-Type-Options: nosniff",
            "Content-Security-Policy: frame-ancestors 'none'"
        ]
    );
    assert_eq!(
        dressed(&keeping, Scheme::Http, &there),
        ["X-Frame-Options: ALLOWALL", "X-Content-Type-Options: none"]
    );
}

// spec: SE-12
#[test]
fn frame_options_and_the_policy_say_the_same() {
    let policy =
        |policy: &str| json!({"frame_options": "SAMEORIGIN", "content_security_policy": policy});

    assert_eq!(
        dressed(&policy("default-src 'self';"), Scheme::Http, &[])
            .last()
            .unwrap(),
        "Content-Security-Policy: default-src 'self'; frame-ancestors 'self'"
    );
    assert_eq!(
        dressed(&policy("frame-ancestors 'self'"), Scheme::Http, &[])
            .last()
            .unwrap(),
        "Content-Security-Policy: frame-ancestors 'self'"
    );
    assert!(mistake(&policy("frame-ancestors https://a.test")).contains("contradicts"));
    // The upstream's own policy stays: browsers obey both.
    let upstream = [("Content-Security-Policy", "script-src 'self'")];
    assert_eq!(
        dressed(&json!({"frame_options": "DENY"}), Scheme::Http, &upstream),
        [
            "Content-Security-Policy: script-src 'self'",
            "X-Frame-Options: DENY",
            "Content-Security-Policy: frame-ancestors 'none'",
        ]
    );
}

// spec: SE-13
#[test]
fn policies_are_sent_as_configured() {
    let config = json!({
        "content_security_policy": "default-src 'none'; img-src https:",
        "referrer_policy": "strict-origin-when-cross-origin",
        "permissions_policy": "geolocation=(), camera=(self)",
        "xss_protection": 0,
    });

    assert_eq!(
        dressed(&config, Scheme::Http, &[]),
        [
            "Content-Security-Policy: default-src 'none'; img-src https:",
            "Referrer-Policy: strict-origin-when-cross-origin",
            "Permissions-Policy: geolocation=(), camera=(self)",
            "X-XSS-Protection: 0",
        ]
    );
}

#[test]
fn what_a_browser_would_ignore_is_refused() {
    for (config, says) in [
        (json!({}), "no header"),
        (json!({"nosniff": false}), "no header"),
        (json!({"content_security_policy": ""}), "cannot stand"),
        (json!({"content_security_policy": "a\r\nb"}), "cannot stand"),
        (json!({"content_security_policy": ";"}), "no directive"),
        (
            json!({"content_security_policy": "frame-ancestor 'none'"}),
            "frame-ancestor",
        ),
        (
            json!({"content_security_policy": "img-src a; IMG-SRC b"}),
            "twice",
        ),
        (
            json!({"content_security_policy": "default-src self"}),
            "'self'",
        ),
        (
            json!({"permissions_policy": "geolocation 'none'"}),
            "geolocation=()",
        ),
        (json!({"xss_protection": 1}), "/xss_protection"),
        (json!({"frame_options": "ALLOW"}), "DENY"),
        (json!({"referrer_policy": "none"}), "no-referrer"),
    ] {
        assert!(mistake(&config).contains(says), "{}", mistake(&config));
    }
}
