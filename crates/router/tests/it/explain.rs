//! Why a route was or was not taken.

use sluicegate_router::{Decided, Router, Test};

use crate::support::{Conditions, equals, get, matches, route};

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
        .explain(&get("/a/b").with("X", "2").with("X", "3"))
        .into_iter()
        .map(|candidate| {
            assert_eq!(candidate.matched, candidate.why_not.is_empty());
            let why: Vec<String> = candidate.why_not.iter().map(ToString::to_string).collect();
            (specs[candidate.route].id.as_str(), why.join("; "))
        })
        .collect();

    let expected = [
        ("taken", ""),
        ("all", ""),
        ("query", "query v: `1` is wanted, there is none"),
        ("header", "header x: `1` is wanted, there is `2`, `3`"),
        ("method", "method: it takes POST"),
        ("cookie", "cookie c: `1` is wanted, there is none"),
        ("host", "host: it is for other.example"),
        ("slash", "path: only the trailing slash is missing"),
        ("path", "path: segment 2 is `b`, not `c`"),
    ]
    .map(|(id, why)| (id, why.to_owned()));
    assert_eq!(said, expected);
}

// spec: RT-36
// spec: RT-37
#[test]
fn the_place_where_a_path_parts_is_named() {
    for (template, path, why) in [
        (
            "/a/course",
            "/a/course/1",
            "it goes on with `/1`, which only `/**` at the end would take",
        ),
        ("/a/b/{id}", "/a/b", "it ends where `/{id}` has to follow"),
        ("/a/b/{id}", "/a/b/", "it ends where `/{id}` has to follow"),
        ("/a/b/", "/a/b", "only the trailing slash is missing"),
        ("/a/b", "/a/b/", "only the trailing slash is too many"),
        (
            "/a/Users/{id}",
            "/a/users/7",
            "segment 2 is `users`, not `Users`: capitals count",
        ),
        (
            "/orders/{id}",
            "/oders/7",
            "segment 1 is `oders`, not `orders`",
        ),
        (
            "/a/{id}.json",
            "/a/b.xml",
            "segment 2 is `b.xml`, not `{id}.json`",
        ),
    ] {
        let router = Router::build(vec![route(template)]).unwrap();

        let found = router.explain(&get(path));

        assert_eq!(found.len(), 1, "{template} {path}");
        assert_eq!(found[0].why_not[0].to_string(), format!("path: {why}"));
    }
    let far = Router::build(vec![route("/health"), route("/{any}/x")]).unwrap();
    assert!(far.explain(&get("/orders/7")).is_empty());
}

// spec: RT-36
#[test]
fn a_route_that_lost_says_to_whom_and_by_what() {
    let router = Router::build(vec![
        route("/a/**").id("first").priority(1),
        route("/a/b").id("precise"),
        route("/a/{x}").id("host").hosts(&["api.example.com"]),
    ])
    .unwrap();

    let lost: Vec<_> = router
        .explain(&get("/a/b"))
        .into_iter()
        .map(|candidate| (candidate.route, candidate.lost))
        .collect();

    let priority = Some((0, Decided::Priority));
    assert_eq!(lost, [(0, None), (2, priority), (1, priority)]);
}

#[test]
fn all_that_is_not_met_is_said_and_the_nearest_come_first() {
    let router = Router::build(vec![
        route("/a")
            .id("two")
            .methods(&["PUT"])
            .header("x", matches("[0-9]+")),
        route("/a").id("one").header("y", Test::Present(false)),
    ])
    .unwrap();

    let found = router.explain(&get("/a").with("y", "1"));

    let said = |place: usize| -> Vec<String> {
        found[place]
            .why_not
            .iter()
            .map(ToString::to_string)
            .collect()
    };
    assert_eq!(said(0), ["header y: it must not be there"]);
    assert_eq!(
        said(1),
        [
            "method: it takes PUT",
            "header x: a match of `[0-9]+` is wanted, there is none"
        ]
    );
}

#[test]
fn an_explanation_stays_short() {
    let specs = (0..500)
        .map(|index| route(&format!("/a/{index}")))
        .chain((0..50).map(|index| route("/a/{x}").id(&format!("m{index}")).priority(index)))
        .collect();
    let router = Router::build(specs).unwrap();

    let found = router.explain(&get("/a/x"));

    assert_eq!(found.iter().filter(|one| one.matched).count(), 10);
    assert_eq!(found.iter().filter(|one| !one.matched).count(), 10);
}
