//! Tests of `cors`.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::testing::{Trial, exchange, filter};
use crate::{Chain, FilterSpec, States};

type Lines = Vec<(String, String)>;

const PREFLIGHT: (&str, &str) = ("Access-Control-Request-Method", "PUT");

/// The fields of the answer, and whether the filter gave it.
fn answered(config: &Value, method: &str, fields: &[(&str, &str)]) -> (bool, Lines) {
    answered_with(config, method, fields, &[])
}

fn answered_with(
    config: &Value,
    method: &str,
    fields: &[(&str, &str)],
    upstream: &[(&str, &str)],
) -> (bool, Lines) {
    let filter: Cors = filter(config).unwrap();
    let mut trial = Trial::new(exchange(method, "/", fields).unwrap());
    let mut carry = Judged::default();
    let step = crate::testing::finish(filter.on_request(trial.cx(), &mut carry));
    let (own, mut answer) = match step.unwrap().unwrap() {
        Flow::Answer(answer) => (true, answer),
        Flow::Next | Flow::Body => (false, Response::new(200)),
    };
    for (name, value) in upstream {
        answer.head.fields.append(name, value.as_bytes()).unwrap();
    }
    let step = filter.on_response(trial.cx(), &mut carry, &mut answer);
    crate::testing::finish(step).unwrap().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let fields = answer.head.fields.iter();
    (
        own,
        fields
            .map(|(name, value)| (text(name), text(value)))
            .collect(),
    )
}

fn origin_of(lines: &Lines) -> Option<&str> {
    let mut found = lines
        .iter()
        .filter(|(name, _)| name == "Access-Control-Allow-Origin");
    let first = found.next().map(|(_, value)| value.as_str());
    assert_eq!(found.next(), None);
    first
}

fn pairs(expected: &[(&str, &str)]) -> Lines {
    let own = |text: &&str| (*text).to_owned();
    expected
        .iter()
        .map(|(name, value)| (own(name), own(value)))
        .collect()
}

fn allows(origins: &Value, origin: &str) -> bool {
    let config = json!({"origins": origins});
    let (_, lines) = answered(&config, "GET", &[("Origin", origin)]);
    origin_of(&lines) == Some(origin)
}

#[test]
fn a_preflight_is_answered_with_all_it_needs() {
    let config = json!({
        "origins": ["https://a.test"], "methods": ["GET", "PUT"], "headers": ["X-A", "Content-Type"],
        "credentials": true, "max_age": "10m", "expose": ["X-B"], "private_network": true,
    });
    let asked = [
        ("Origin", "https://a.test"),
        PREFLIGHT,
        ("Access-Control-Request-Private-Network", "true"),
    ];

    let (own, lines) = answered(&config, "OPTIONS", &asked);

    assert!(own);
    let expected = pairs(&[
        ("Access-Control-Allow-Methods", "GET, PUT"),
        ("Access-Control-Allow-Headers", "X-A, Content-Type"),
        ("Access-Control-Max-Age", "600"),
        ("Access-Control-Allow-Private-Network", "true"),
        ("Vary", "Origin"),
        ("Access-Control-Allow-Origin", "https://a.test"),
        ("Access-Control-Allow-Credentials", "true"),
    ]);
    assert_eq!(lines, expected);
}

#[test]
fn what_is_not_limited_is_told_as_asked() {
    let config = json!({"origins": ["https://a.test"], "headers": "*"});
    let asked = |names| {
        let asked = [
            ("Origin", "https://a.test"),
            PREFLIGHT,
            ("Access-Control-Request-Headers", names),
        ];
        let (_, lines) = answered(&config, "OPTIONS", &asked);
        let value = |name: &str| {
            lines
                .iter()
                .find(|(n, _)| n == name)
                .map(|(_, v)| v.clone())
        };
        (
            value("Access-Control-Allow-Methods"),
            value("Access-Control-Allow-Headers"),
        )
    };

    assert_eq!(
        asked("x-a,x-b"),
        (Some("PUT".into()), Some("x-a,x-b".into()))
    );
    assert_eq!(asked("x-a: 1").1, None);
}

#[test]
fn a_preflight_of_a_stranger_learns_nothing() {
    let config = json!({"origins": ["https://a.test"], "headers": "*", "max_age": "1h"});

    let (own, lines) = answered(
        &config,
        "OPTIONS",
        &[("Origin", "https://evil.test"), PREFLIGHT],
    );

    assert!(own);
    assert_eq!(lines, pairs(&[("Vary", "Origin")]));
}

#[test]
fn other_options_are_ordinary_requests() {
    let config = json!({"origins": ["https://a.test"]});

    for fields in [&[("Origin", "https://a.test")][..], &[PREFLIGHT], &[]] {
        assert!(!answered(&config, "OPTIONS", fields).0, "{fields:?}");
    }
}

#[test]
fn what_the_upstream_says_about_origins_goes() {
    let config = json!({"origins": ["https://a.test"], "expose": ["X-B"]});
    let upstream = [
        ("access-control-allow-origin", "*"),
        ("Access-Control-Allow-Credentials", "true"),
        ("Access-Control-Expose-Headers", "X-Secret"),
        ("Vary", "Accept, origin"),
    ];
    let answer = |origin| answered_with(&config, "GET", &[("Origin", origin)], &upstream).1;

    assert_eq!(
        answer("https://a.test"),
        pairs(&[
            ("Vary", "Accept, origin"),
            ("Access-Control-Allow-Origin", "https://a.test"),
            ("Access-Control-Expose-Headers", "X-B"),
        ])
    );
    assert_eq!(
        answer("https://evil.test"),
        pairs(&[("Vary", "Accept, origin")])
    );
}

#[test]
fn everybody_gets_the_same_answer() {
    let config = json!({"origins": ["*"]});

    for fields in [
        &[][..],
        &[("Origin", "https://a.test")],
        &[("Origin", "null")],
    ] {
        let (_, lines) = answered(&config, "GET", fields);
        assert_eq!(lines, pairs(&[("Access-Control-Allow-Origin", "*")]));
    }
}

#[test]
fn only_origins_that_are_meant_are_reflected() {
    let exact = json!(["https://a.test", "http://localhost:3000"]);
    let below = json!(["https://*.a.test"]);
    let pattern = json!([{"regex": r"https://(a|b)\.test"}]);
    let port = json!(["https://*.a.test:8443"]);
    for (origins, origin, expected) in [
        (&exact, "https://a.test", true),
        (&exact, "http://localhost:3000", true),
        (&exact, "http://localhost:3001", false),
        (&exact, "http://a.test", false),
        (&exact, "https://a.test.evil.test", false),
        (&exact, "https://x,https://a.test", false),
        (&exact, "https://a.test, https://a.test", false),
        (&exact, "null", false),
        (&below, "https://x.a.test", true),
        (&below, "https://x.y.a.test", true),
        (&below, "https://a.test", false),
        (&below, "https://.a.test", false),
        (&below, "https://evil-a.test", false),
        (&below, "https://evil.test/.a.test", false),
        (&below, "https://evil.test:80.a.test", false),
        (&below, "https://u@x.a.test", false),
        (&below, "https://x.a.test:8443", false),
        (&port, "https://x.a.test:8443", true),
        (&pattern, "https://b.test", true),
        (&pattern, "https://b.test.evil.test", false),
        (&pattern, "xhttps://b.test", false),
        (&pattern, "https://bxtest", false),
    ] {
        assert_eq!(allows(origins, origin), expected, "{origins} {origin}");
    }
    let twice = [("Origin", "https://a.test"), ("Origin", "https://a.test")];
    assert_eq!(
        origin_of(&answered(&json!({"origins": exact}), "GET", &twice).1),
        None
    );
}

// spec: SE-03
#[test]
fn a_list_that_does_not_protect_is_refused() {
    for (config, says) in [
        (
            json!({"origins": ["*"], "credentials": true}),
            "credentials",
        ),
        (
            json!({"origins": [{"regex": ".*"}], "credentials": true}),
            "every origin",
        ),
        (json!({"origins": ["*", "https://a.test"]}), "pointless"),
        (json!({"origins": ["null"]}), "null"),
        (json!({"origins": []}), "/origins"),
        (json!({"origins": ["a.test"]}), "not an origin"),
        (json!({"origins": ["https://a.test/"]}), "`https://a.test`"),
        (json!({"origins": ["https://A.test"]}), "`https://a.test`"),
        (
            json!({"origins": ["https://a.test:443"]}),
            "`https://a.test`",
        ),
        (json!({"origins": ["https://*.test"]}), "every site"),
        (json!({"origins": ["https://*"]}), "not an origin"),
        (
            json!({"origins": [{"regex": "https://a.test"}]}),
            "any character",
        ),
        (json!({"origins": [{"regex": "(["}]}), "no pattern"),
        (
            json!({"origins": ["https://a.test"], "methods": ["*"]}),
            "/methods/0",
        ),
        (
            json!({"origins": ["https://a.test"], "methods": ["get"]}),
            "/methods/0",
        ),
        (
            json!({"origins": ["https://a.test"], "headers": ["*"]}),
            "/headers/0",
        ),
        (
            json!({"origins": ["https://a.test"], "headers": "all"}),
            "/headers",
        ),
        (
            json!({"origins": ["https://a.test"], "credentials": true, "expose": ["*"]}),
            "/expose/0",
        ),
        (
            json!({"origins": ["https://a.test"], "max_age": "1500ms"}),
            "/max_age",
        ),
    ] {
        let mistake = filter::<Cors>(&config)
            .err()
            .unwrap_or_else(|| panic!("{config}"));
        assert!(mistake.contains(says), "{config}: {mistake}");
    }
}

#[test]
fn on_the_entry_chain_it_dresses_what_no_route_answers() {
    let spec = FilterSpec::new("cors", json!({"origins": ["https://a.test"]}));
    let states = States::default();
    let chain: Chain = Chain::build(Stage::Entry, &[spec], "listener", &states)
        .ok()
        .unwrap();
    let link = &chain.respond()[0];
    assert!(!link.answers_preflight);

    for (has_route, expected) in [(false, Some("https://a.test")), (true, None)] {
        let mut trial = Trial::new(exchange("GET", "/", &[("Origin", "https://a.test")]).unwrap());
        if !has_route {
            trial.exchange.route = None;
        }
        let mut answer = Response::new(404);
        let mut carry = crate::Table::carry(&link.filter);
        trial
            .back(&link.filter, &mut carry, &mut answer)
            .unwrap()
            .unwrap();
        let shown = answer.head.fields.get_str("Access-Control-Allow-Origin");
        assert_eq!(shown, expected);
    }
}

#[test]
fn on_a_route_it_has_to_see_the_request() {
    let mut spec = FilterSpec::new("cors", json!({"origins": ["https://a.test"]}));
    spec.phase = Some(Phase::Respond);
    let states = States::default();

    assert!(<Chain>::build(Stage::Route, &[spec], "route:a", &states).is_err());
}

proptest! {
    /// Whatever a client calls its origin: only the listed host and hosts below it are reflected.
    #[test]
    fn nothing_else_is_reflected(origin in "(https?://)?[a.test:/@,]{0,12}(a\\.test)?[./:a]{0,2}") {
        let meant = origin == "https://a.test"
            || origin.strip_prefix("https://").and_then(|rest| rest.strip_suffix(".a.test"))
                .is_some_and(|labels| !labels.is_empty()
                    && labels.split('.').all(|label| !label.is_empty())
                    && labels.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.'));
        let origins = json!(["https://a.test", "https://*.a.test"]);

        prop_assert_eq!(allows(&origins, &origin), meant);
    }
}
