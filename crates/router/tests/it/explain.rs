//! Why a route was or was not taken.

use sluicegate_router::Router;

use crate::support::{Conditions, equals, get, route};

// spec: RT-36
#[test]
fn every_near_route_says_what_kept_it() {
    let specs = vec![
        route("/**").id("all"),
        route("/a/b").id("header").header("x", equals("1")),
        route("/a/b").id("method").methods(&["POST"]),
        route("/a/b").id("host").hosts(&["other.example"]),
        route("/a/b/").id("slash"),
        route("/a/c").id("path"),
        route("/z").id("far"),
        route("/a/{x}")
            .id("query")
            .query("v", equals("1"))
            .priority(3),
        route("/a/{x}").id("cookie").cookie("c", equals("1")),
        route("/a/{x}")
            .id("taken")
            .hosts(&["api.example.com", "*.example.com"]),
    ];
    let router = Router::build(specs.clone()).unwrap();

    let said: Vec<_> = router
        .explain(&get("/a/b"))
        .into_iter()
        .map(|candidate| {
            assert_eq!(candidate.matched, candidate.why_not.is_none());
            let why = candidate.why_not.map(|why| why.to_string());
            (specs[candidate.route].id.as_str(), why.unwrap_or_default())
        })
        .collect();

    let expected = [
        ("query", "query v"),
        ("taken", ""),
        ("header", "header x"),
        ("method", "method"),
        ("cookie", "cookie c"),
        ("all", ""),
        ("host", "host"),
        ("slash", "path (only the trailing slash differs)"),
        ("path", "path"),
    ]
    .map(|(id, why)| (id, why.to_owned()));
    assert_eq!(said, expected);
}

#[test]
fn an_explanation_stays_short() {
    let specs = (0..500)
        .map(|index| route(&format!("/a/{index}")))
        .collect();
    let router = Router::build(specs).unwrap();

    assert_eq!(router.explain(&get("/a/x")).len(), 100);
}
