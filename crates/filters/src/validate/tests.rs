//! Tests of `validate`.

use serde_json::{Value, json};

use super::*;
use crate::testing::{Trial, exchange, filter};

fn verdict(
    config: &Value,
    (method, target): (&str, &str),
    fields: &[(&str, &str)],
) -> &'static str {
    let filter: Validate = filter(config).unwrap();
    let mut trial = Trial::new(exchange(method, target, fields).unwrap());
    match trial.request(&filter).unwrap() {
        Ok(_) => "passes",
        Err(reject) => reject.code.name,
    }
}

// spec: SE-01
#[test]
fn escapes_stand_for_text() {
    for (target, expected) in [
        ("/a%20b?c=%C3%A9&d=+", "passes"),
        ("/?a=%F0%9F%98%80", "passes"),
        ("/%FF", "bad_encoding"),
        ("/?a=%zz", "bad_encoding"),
        ("/?a=%2", "bad_encoding"),
        ("/?a=%00", "bad_encoding"),
        ("/?a=%0d%0aSet-Cookie:x", "bad_encoding"),
        ("/?a=%7F", "bad_encoding"),
        ("/?a=%C3x%A9", "bad_encoding"),
        ("/?a=%C0%AF", "bad_encoding"),
        ("/?a=%C2%85", "bad_encoding"),
        ("/?a=%ED%A0%80", "bad_encoding"),
    ] {
        assert_eq!(
            verdict(&json!({}), ("GET", target), &[]),
            expected,
            "{target}"
        );
    }
    let lax = json!({"check_encoding": false});
    assert_eq!(verdict(&lax, ("GET", "/?a=%FF%zz"), &[]), "passes");
}

// spec: HT-07
#[test]
fn sizes_of_the_target_are_bounded() {
    let config = json!({"max_path_length": 8, "max_path_segments": 2, "max_query_parameters": 2});
    for (target, expected) in [
        ("/a/b?c&d=1", "passes"),
        ("/a/b/", "passes"),
        ("/abcdefg", "passes"),
        ("/abcdefgh", "path_too_long"),
        ("/a/b/c", "too_many_segments"),
        ("/?a&b&c", "too_many_parameters"),
        ("/?a&&b&", "passes"),
    ] {
        assert_eq!(verdict(&config, ("GET", target), &[]), expected, "{target}");
    }
}

// spec: PL-29
#[test]
fn a_known_method_is_refused_and_another_unknown() {
    let config = json!({"methods": ["GET", "X-OWN"]});

    for (method, expected) in [
        ("GET", "passes"),
        ("X-OWN", "passes"),
        ("POST", "method_refused"),
        ("PROPFIND", "method_refused"),
        ("get", "method_unknown"),
        ("FOO", "method_unknown"),
    ] {
        assert_eq!(verdict(&config, (method, "/"), &[]), expected, "{method}");
    }
    let filter: Validate = filter(&config).unwrap();
    let mut trial = Trial::new(exchange("PUT", "/", &[]).unwrap());
    let reject = trial.request(&filter).unwrap().unwrap_err();
    assert_eq!(reject.code.status, 405);
    assert_eq!(reject.fields, [("Allow", "GET, X-OWN".to_owned())]);
}

#[test]
fn only_the_listed_hosts_are_answered_for() {
    let config = json!({"hosts": ["a.test", "*.b.test", "[::1]"]});

    for (host, expected) in [
        ("a.test", "passes"),
        ("A.TEST:8080", "passes"),
        ("x.y.B.test", "passes"),
        ("[::1]:80", "passes"),
        ("b.test", "host_refused"),
        ("xb.test", "host_refused"),
        ("c.test", "host_refused"),
    ] {
        assert_eq!(
            verdict(&config, ("GET", "/"), &[("Host", host)]),
            expected,
            "{host}"
        );
    }
    assert_eq!(verdict(&config, ("GET", "/"), &[]), "host_missing");
}

// spec: SE-01
#[test]
fn forbidden_characters_stand_neither_raw_nor_escaped() {
    let config = json!({"forbidden_characters": "<>'"});

    for (target, expected) in [
        ("/a?b=c", "passes"),
        ("/%3Cscript%3E", "forbidden_character"),
        ("/?a='1", "forbidden_character"),
        ("/?a=%27", "forbidden_character"),
    ] {
        assert_eq!(verdict(&config, ("GET", target), &[]), expected, "{target}");
    }
    let strict = json!({"ascii_header_values": true});
    assert_eq!(
        verdict(&strict, ("GET", "/"), &[("X-A", "a\tb~")]),
        "passes"
    );
    assert_eq!(
        verdict(&strict, ("GET", "/"), &[("X-A", "ä")]),
        "bad_header_value"
    );
}

#[test]
fn a_body_has_an_accepted_type() {
    let config = json!({"content_types": ["application/json"], "bodiless_methods": ["GET"]});
    let json = ("Content-Type", "application/json; charset=utf-8");
    let length = ("Content-Length", "2");
    let chunked = ("Transfer-Encoding", "chunked");

    for (method, fields, expected) in [
        ("POST", vec![length, json], "passes"),
        ("POST", vec![("Content-Length", "0")], "passes"),
        ("POST", vec![], "passes"),
        ("POST", vec![length], "unsupported_media_type"),
        (
            "POST",
            vec![chunked, ("Content-Type", "text/xml")],
            "unsupported_media_type",
        ),
        ("POST", vec![length, json, json], "unsupported_media_type"),
        ("GET", vec![json], "passes"),
        ("GET", vec![length, json], "body_not_expected"),
        ("GET", vec![chunked, json], "body_not_expected"),
    ] {
        assert_eq!(
            verdict(&config, (method, "/"), &fields),
            expected,
            "{method} {fields:?}"
        );
    }
}

#[test]
fn a_list_that_lets_nothing_pass_is_refused() {
    for (config, says) in [
        (json!({"methods": []}), "/methods"),
        (json!({"methods": ["get"]}), "/methods/0"),
        (json!({"methods": ["G T"]}), "/methods/0"),
        (json!({"hosts": []}), "/hosts"),
        (json!({"hosts": ["a.test:80"]}), "/hosts/0"),
        (json!({"hosts": ["*"]}), "/hosts/0"),
        (json!({"content_types": ["json"]}), "/content_types/0"),
        (
            json!({"forbidden_characters": "/"}),
            "/forbidden_characters",
        ),
        (
            json!({"forbidden_characters": "\n"}),
            "/forbidden_characters",
        ),
        (json!({"max_path_length": 0}), "/max_path_length"),
        (json!({"max_path_lenght": 9}), "max_path_length"),
    ] {
        let mistake = filter::<Validate>(&config).err().unwrap();
        assert!(mistake.contains(says), "{mistake}");
    }
}
