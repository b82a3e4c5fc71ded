//! What a table refuses, and how it says so.

use sluicegate_router::{Problem, RouteSpec, Router, Test};

use crate::support::{Conditions, equals, route};

fn problems(specs: Vec<RouteSpec>) -> Vec<Problem> {
    Router::build(specs).expect_err("the table should be refused")
}

// spec: RT-05
#[test]
fn a_template_that_cannot_match_is_refused_with_the_right_one() {
    for (path, expected) in [
        ("a/b", Some("/a/b")),
        ("/a//b", Some("/a/b")),
        ("/a//**", Some("/a/**")),
        ("//{*rest}", Some("/{*rest}")),
        ("/a/../b/{id}", Some("/b/{id}")),
        ("/é/{id}/**", Some("/%C3%A9/{id}/**")),
        ("/%7ea", Some("/~a")),
        ("/a/./{*rest}", Some("/a/{*rest}")),
        ("/a/%zz", None),
        ("/a b", None),
        ("/a/**/b", Some("`/**` as the end only")),
        ("/{*rest}/b", Some("it as the whole last segment")),
        (
            "/a/*",
            Some("`{name}` for one segment, a trailing `/**` for any number"),
        ),
        ("/a/{x", None),
        ("/a/x}", None),
        ("/{a}{b}", Some("one `{name}` in a segment")),
        ("/{}", Some("a letter, then letters, digits, `_` or `-`")),
        ("/{1a}", Some("a letter, then letters, digits, `_` or `-`")),
        ("/{a}/{a}", None),
        ("/{a}/{*a}", None),
        ("", Some("/")),
    ] {
        let found = problems(vec![route(path)]);

        assert_eq!(found.len(), 1, "{path}");
        assert_eq!(found[0].field, "/match/path", "{path}");
        assert_eq!(found[0].expected.as_deref(), expected, "{path}");
    }
}

// spec: RT-02
// spec: RT-04
// spec: RT-06
#[test]
fn all_mistakes_come_at_once() {
    let specs = vec![
        route("/a")
            .id("same")
            .hosts(&["ok.example", "a..b", "*.*.x"]),
        route("nope").id("same").methods(&["GET", "post", "G T"]),
        route("/b")
            .header("x y", equals("1"))
            .header("x", equals(" 1"))
            .cookie("", Test::Present(true))
            .query("", Test::Present(true)),
    ];

    let found: Vec<_> = problems(specs)
        .into_iter()
        .map(|problem| (problem.route, problem.field))
        .collect();

    let expected = [
        (0, "/match/host/1"),
        (0, "/match/host/2"),
        (1, "/id"),
        (1, "/match/methods/1"),
        (1, "/match/methods/2"),
        (1, "/match/path"),
        (2, "/match/headers/0/name"),
        (2, "/match/headers/1/value"),
        (2, "/match/query/0/name"),
        (2, "/match/cookies/0/name"),
    ]
    .map(|(route, field)| (route, field.to_owned()));
    assert_eq!(found, expected);
}

// spec: RT-02
#[test]
fn a_route_that_can_never_be_reached_names_the_one_before_it() {
    let first = route("/a/{id}/**")
        .id("first")
        .hosts(&["a.example", "b.example"])
        .methods(&["GET", "POST"]);
    let second = route("/a/{number}/{*rest}")
        .id("second")
        .hosts(&["B.example.", "a.example"])
        .methods(&["POST", "GET"]);

    let found = problems(vec![first.clone(), second.clone()]);

    assert_eq!(found.len(), 1);
    assert_eq!((found[0].route, found[0].field.as_str()), (1, "/match"));
    assert!(found[0].message.contains("`first`"), "{}", found[0].message);
    assert!(Router::build(vec![first.clone(), second.clone().priority(1)]).is_ok());
    assert!(Router::build(vec![first, second.header("x", equals("1"))]).is_ok());
}
