//! Tests of templates.

use proptest::prelude::*;
use sluicegate_core::{RequestId, Scheme};

use super::*;
use crate::testing::exchange;

fn asked(target: &str) -> Exchange {
    let fields = [("Host", "a.test:8080"), ("X-Tenant", "a b\"<")];
    let mut exchange = exchange("GET", target, &fields).unwrap();
    exchange.request_id = RequestId::parse(b"abc");
    exchange.params = [("id", "a%2Fb"), ("rest", "x/y")].into_iter().collect();
    exchange
}

fn filled(text: &str) -> String {
    let template = Template::parse(text).unwrap();
    let mut buffer = Vec::new();
    let filled = template.fill(&asked("/o/1?q=2"), Escape::Nothing, &mut buffer);
    String::from_utf8(filled.to_vec()).unwrap()
}

fn leads(text: &str, target: &str) -> String {
    let location = Location::parse(&Template::parse(text).unwrap(), false).unwrap();
    let mut buffer = Vec::new();
    let led = location.of(&asked(target), &mut buffer).unwrap();
    String::from_utf8(led.to_vec()).unwrap()
}

#[test]
fn placeholders_are_filled_in() {
    for (text, expected) in [
        ("{request_id}/{client_ip}", "abc/192.0.2.1"),
        (
            "{route}: {method} {scheme}://{host}",
            "orders: GET http://a.test",
        ),
        ("{path}?{query}", "/o/1?q=2"),
        ("{param.id} {param.rest}", "a%2Fb x/y"),
        ("{header.x-tenant}|{header.X-Missing}|", "a b\"<||"),
        ("{{route}} is {route}", "{route} is orders"),
        (r#"{"a":{},"id":"{request_id}"}"#, r#"{"a":{},"id":"abc"}"#),
        ("{", "{"),
        ("}{", "}{"),
        ("", ""),
    ] {
        assert_eq!(filled(text), expected, "{text}");
    }
}

#[test]
fn the_host_is_the_one_the_client_asked_for() {
    let mut exchange = asked("/");
    exchange.host = Some("Outside.test:443".into());
    exchange.scheme = Scheme::Https;
    let template = Template::parse("{scheme}://{host}").unwrap();

    let mut buffer = Vec::new();
    let filled = template.fill(&exchange, Escape::Nothing, &mut buffer);

    assert_eq!(filled, b"https://Outside.test");
}

#[test]
fn a_text_without_placeholders_needs_no_buffer() {
    let mut buffer = Vec::new();

    let template = Template::parse("plain {{path}}").unwrap();
    template.fill(&asked("/"), Escape::Json, &mut buffer);
    let location = Location::parse(&Template::parse("https://b.test/x").unwrap(), false).unwrap();
    location.of(&asked("/?a=1"), &mut buffer).unwrap();

    assert_eq!(template.literal(), Some("plain {path}"));
    assert_eq!(buffer.capacity(), 0);
}

#[test]
fn what_nobody_knows_is_refused_with_what_was_meant() {
    for (text, meant) in [
        ("{rout}", Some("{route}")),
        ("{reqest_id}", Some("{request_id}")),
        ("{params.id}", Some("{param.id}")),
        ("{param}", Some("{param.NAME}")),
        ("{headers.Host}", Some("{header.Host}")),
        ("{something_else}", None),
    ] {
        let mistake = Template::parse(text).unwrap_err();

        assert_eq!(mistake.suggestion.as_deref(), meant, "{text}");
        let sentence = mistake.into_sentence();
        assert!(sentence.contains("{client_ip}"), "{sentence}");
    }
}

#[test]
fn a_body_escapes_by_its_type() {
    for (kind, expected) in [
        ("text/plain; charset=utf-8", "a b\"<"),
        ("text/html", "a b&quot;&lt;"),
        ("application/xhtml+xml", "a b&quot;&lt;"),
        ("application/problem+json", r#"a b\"\u003c"#),
        ("application/x-www-form-urlencoded", "a%20b%22%3C"),
    ] {
        let body = BodyText::parse("{header.X-Tenant}", kind).unwrap();
        assert_eq!(body.of(&asked("/")), expected.as_bytes(), "{kind}");
    }
    assert!(BodyText::parse("let a = '{path}'", "text/javascript").is_err());
    assert!(BodyText::parse("let a = {};", "text/javascript").is_ok());
}

#[test]
fn a_location_is_filled_in_as_its_part_of_the_url_needs_it() {
    for (text, target, expected) in [
        (
            "https://{host}{path}?{query}",
            "/o/1?q=a%20b",
            "https://a.test/o/1?q=a%20b",
        ),
        ("https://{host}{path}?{query}", "/o/1", "https://a.test/o/1"),
        ("https://b.test/x?a=1&{query}", "/", "https://b.test/x?a=1"),
        ("{path}/?was={query}", "/a?b=c&d", "/a/?was=b%3Dc%26d"),
        ("/new/{param.id}/of/{param.rest}", "/", "/new/a%2Fb/of/x/y"),
        (
            "/login?to={path}&by={header.X-Tenant}",
            "/a%20b",
            "/login?to=%2Fa%2520b&by=a%20b%22%3C",
        ),
        (
            "{scheme}://www.{host}/{method}",
            "/",
            "http://www.a.test/GET",
        ),
        (
            "https://b.test?x={param.id}",
            "/",
            "https://b.test?x=a%252Fb",
        ),
    ] {
        assert_eq!(leads(text, target), expected, "{text}");
    }
}

#[test]
fn no_client_decides_which_host_is_asked() {
    for text in [
        "{param.rest}",
        "{header.X-To}",
        "{query}",
        "{host}/x",
        "//{host}/x",
        "x{path}",
        "javascript:{path}",
        "https://{param.id}/",
        "https://b.test{param.id}",
        "https://b.test:{header.Port}/",
        "{scheme}{path}",
        "{scheme}",
        "/{path}",
        "/a/{path}",
        "/a/{query}",
        "/a/{header.X-To}",
        "https://b.test/a b/{param.id}",
    ] {
        let template = Template::parse(text).unwrap();
        assert!(Location::parse(&template, false).is_err(), "{text}");
    }
    for text in ["", "/a b", "{path", "/a\\b", "/{{path}}"] {
        let template = Template::parse(text).unwrap();
        assert!(Location::parse(&template, false).is_err(), "{text}");
    }
}

#[test]
fn the_query_is_kept_when_it_is_asked_for() {
    for (text, target, expected) in [
        ("/x", "/?a=1&b", "/x?a=1&b"),
        ("/x?y", "/?a=1", "/x?y&a=1"),
        ("/x#end", "/?a=1", "/x?a=1#end"),
        ("/x", "/", "/x"),
        ("/x", "/?", "/x"),
        ("{path}", "/o/1?a", "/o/1?a"),
    ] {
        let location = Location::parse(&Template::parse(text).unwrap(), true).unwrap();
        let mut buffer = Vec::new();
        let led = location.of(&asked(target), &mut buffer).unwrap();
        assert_eq!(led, expected.as_bytes(), "{text} {target}");
    }
}

#[test]
fn a_front_takes_the_rest_of_the_path() {
    let location = Location::with_path_after(&Template::parse("/new").unwrap(), 1, true).unwrap();
    for (target, expected) in [
        ("/old", "/new"),
        ("/old/", "/new/"),
        ("/old/a%2Fb/?x", "/new/a%2Fb/?x"),
    ] {
        let mut buffer = Vec::new();
        let led = location.of(&asked(target), &mut buffer).unwrap();
        assert_eq!(led, expected.as_bytes(), "{target}");
    }
    let root = Location::with_path_after(&Template::parse("").unwrap(), 1, false).unwrap();
    let mut buffer = Vec::new();
    assert_eq!(root.of(&asked("/old"), &mut buffer).unwrap(), b"/");
}

#[test]
fn a_redirect_that_needs_a_host_refuses_requests_without_one() {
    let location = Location::parse(&Template::parse("https://{host}/").unwrap(), false).unwrap();
    let exchange = exchange("GET", "/", &[]).unwrap();

    assert!(location.of(&exchange, &mut Vec::new()).is_err());
}

proptest! {
    /// Whatever stands in a parameter: a relative location stays on this host, on one line.
    #[test]
    fn a_relative_location_never_leaves_the_host(value in "[!-~]{0,12}") {
        prop_assume!(!value.contains(['?', '#']));
        let mut exchange = asked("/");
        exchange.params = [("id", value.as_str())].into_iter().collect();
        let location = Location::parse(&Template::parse("/{param.id}").unwrap(), false).unwrap();

        let mut buffer = Vec::new();
        let led = location.of(&exchange, &mut buffer).unwrap();

        prop_assert_eq!(led.first(), Some(&b'/'));
        prop_assert!(!matches!(led.get(1), Some(b'/' | b'\\')));
    }
}
