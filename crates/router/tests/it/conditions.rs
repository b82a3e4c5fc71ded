//! Conditions on headers, query parameters and cookies.

use sluicegate_router::Test;

use crate::support::{Conditions, equals, get, matches, route, taken};

// spec: RT-19
#[test]
fn a_header_condition_asks_every_line_of_the_field() {
    for (test, values, is_met) in [
        (equals("gray"), vec!["gray"], true),
        (equals("gray"), vec!["blue", "gray"], true),
        (equals("gray"), vec![" gray "], true),
        (equals("gray"), vec!["Gray"], false),
        (equals("gray"), vec![], false),
        (matches("v[0-9]+"), vec!["v12"], true),
        (matches("v[0-9]+"), vec!["xv12"], false),
        (matches("a|ab"), vec!["ab"], true),
        (matches("(?i)gray"), vec!["GRAY"], true),
        (Test::Present(true), vec![""], true),
        (Test::Present(true), vec![], false),
        (Test::Present(false), vec![], true),
        (Test::Present(false), vec!["x"], false),
    ] {
        let name = format!("{test:?} {values:?}");
        let table = [route("/a").header("X-Env", test)];
        let mut request = get("/a");
        for value in values {
            request = request.with("x-env", value);
        }
        assert_eq!(taken(&table, &request) == "/a", is_met, "{name}");
    }
}

// spec: RT-19
#[test]
fn a_query_condition_reads_the_decoded_values() {
    for (test, target, is_met) in [
        (equals("2"), "/a?v=2", true),
        (equals("2"), "/a?v=1&v=2", true),
        (equals("2"), "/a?w=2", false),
        (equals("2"), "/a", false),
        (equals("a b"), "/a?%76=a+b", true),
        (equals("a b"), "/a?v=a%20b", true),
        (equals(""), "/a?v", true),
        (matches("é"), "/a?v=%C3%A9", true),
        (matches("."), "/a?v=%FF", false),
        (Test::Present(true), "/a?v", true),
        (Test::Present(true), "/a?", false),
        (Test::Present(false), "/a?w=1", true),
    ] {
        let name = format!("{test:?} {target}");
        let table = [route("/a").query("v", test)];
        assert_eq!(taken(&table, &get(target)) == "/a", is_met, "{name}");
    }
}

// spec: RT-19
#[test]
fn a_cookie_condition_reads_every_cookie_line() {
    for (test, lines, is_met) in [
        (equals("1"), vec!["c=1"], true),
        (equals("1"), vec!["b=2; c=1;d=3"], true),
        (equals("1"), vec!["b=2", "c=1"], true),
        (equals("1"), vec!["xc=1"], false),
        (equals("1"), vec!["C=1"], false),
        (equals("x=y"), vec!["c=x=y"], true),
        (Test::Present(true), vec!["c"], false),
        (Test::Present(false), vec!["b=1"], true),
    ] {
        let name = format!("{test:?} {lines:?}");
        let table = [route("/a").cookie("c", test)];
        let mut request = get("/a");
        for line in lines {
            request = request.with("Cookie", line);
        }
        assert_eq!(taken(&table, &request) == "/a", is_met, "{name}");
    }
}

// spec: RT-19
// spec: RT-31
#[test]
fn a_route_whose_conditions_fail_leaves_the_request_to_the_next() {
    let table = [
        route("/a/b").header("x", equals("1")).methods(&["POST"]),
        route("/a/{id}"),
    ];

    assert_eq!(taken(&table, &get("/a/b")), "/a/{id}");
    assert_eq!(
        taken(&table, &get("/a/b").by("POST").with("x", "1")),
        "/a/b"
    );
    assert_eq!(taken(&table[..1], &get("/a/b").with("x", "1")), "405");
    assert_eq!(taken(&table[..1], &get("/a/b")), "404");
}
