//! What the prover says of routes, one situation at a time.

use sluicegate_router::{Decided, Finding, Kind, Level, Limits, Report, RouteSpec, Router, Test};

use crate::support::{Conditions, equals, matches, route};

/// Routes with their upstreams; none is an answer of the gateway.
fn prove_to(routes: &[(RouteSpec, Option<&str>)]) -> Report {
    let specs: Vec<RouteSpec> = routes.iter().map(|(spec, _)| spec.clone()).collect();
    let upstreams: Vec<Option<&str>> = routes.iter().map(|(_, upstream)| *upstream).collect();
    let router = Router::build(specs).unwrap();
    router.prove(&upstreams, Limits::default())
}

fn prove(specs: &[RouteSpec]) -> Report {
    let routes: Vec<_> = specs
        .iter()
        .map(|spec| (spec.clone(), Some("one")))
        .collect();
    prove_to(&routes)
}

/// The only finding of a kind.
fn the(kind: Kind, report: &Report) -> Finding {
    let found: Vec<_> = report
        .findings
        .iter()
        .filter(|one| one.kind == kind)
        .collect();
    assert_eq!(found.len(), 1, "{kind:?}: {report:#?}");
    found[0].clone()
}

fn warnings(report: &Report) -> Vec<Kind> {
    let all = report.findings.iter();
    all.filter(|one| one.level == Level::Warning)
        .map(|one| one.kind)
        .collect()
}

// spec: RT-29
// spec: CF-22
#[test]
fn a_precise_route_within_a_broad_one_is_no_complaint() {
    let report = prove(&[route("/api/**"), route("/api/admin/**")]);

    let inside = the(Kind::Inside, &report);
    assert_eq!((inside.route, inside.others.as_slice()), (0, &[1][..]));
    assert_eq!(inside.decided, Some(Decided::Path));
    assert_eq!(inside.answered_by, Some(1));
    assert_eq!(inside.witness.unwrap().path, "/api/admin/1");
    assert!(warnings(&report).is_empty());
}

// spec: RT-29
// spec: CF-22
#[test]
fn a_broad_route_with_a_higher_priority_shadows_a_precise_one() {
    let report = prove(&[route("/api/**").priority(10), route("/api/admin/**")]);

    let shadowed = the(Kind::Shadowed, &report);
    assert_eq!((shadowed.route, shadowed.others.as_slice()), (1, &[0][..]));
    assert_eq!(shadowed.decided, Some(Decided::Priority));
    assert_eq!(shadowed.answered_by, Some(0));
    assert_eq!(shadowed.witness.unwrap().target(), "/api/admin/1");
}

// spec: RT-29
#[test]
fn a_broad_route_that_hides_a_part_of_a_precise_one_is_named() {
    let report = prove(&[
        route("/api/**").priority(10).methods(&["GET"]),
        route("/api/admin/**"),
    ]);

    let hidden = the(Kind::Hidden, &report);
    assert_eq!((hidden.route, hidden.others.as_slice()), (1, &[0][..]));
    assert_eq!(hidden.level, Level::Warning);
    assert_eq!(hidden.witness.unwrap().method, "GET");
}

#[test]
fn an_exception_made_on_purpose_is_not_a_broad_route_that_hides() {
    let report = prove(&[
        route("/**")
            .priority(100)
            .header("x-maintenance", equals("1")),
        route("/api/**"),
        route("/api/{id}").methods(&["GET"]),
    ]);

    assert!(warnings(&report).is_empty(), "{report:#?}");
    assert_eq!(report.totals, [(Kind::Partial, 2), (Kind::Inside, 1)]);
}

// spec: CF-22
#[test]
fn a_route_covered_by_several_others_together_is_unreachable() {
    let report = prove(&[
        route("/a/{id}")
            .id("rest")
            .priority(1)
            .header("x", Test::Present(false)),
        route("/a/{id}")
            .id("marked")
            .priority(1)
            .header("x", Test::Present(true)),
        route("/a/{id}").id("other").header("y", equals("1")),
        route("/a/b").id("unneeded").priority(1).methods(&["GET"]),
    ]);

    let shadowed = the(Kind::Shadowed, &report);
    assert_eq!(shadowed.route, 2);
    assert_eq!(shadowed.others, [0, 1]);
}

#[test]
fn a_route_that_differs_in_priority_and_names_only_is_equal() {
    let report = prove(&[
        route("/a/{id}").hosts(&["a.example"]),
        route("/a/{number}").hosts(&["A.example"]).priority(1),
    ]);

    let equal = the(Kind::Equal, &report);
    assert_eq!((equal.route, equal.others.as_slice()), (0, &[1][..]));
    assert_eq!(equal.witness.unwrap().host, "a.example");
}

#[test]
fn conditions_that_exclude_each_other_are_found() {
    let report = prove(&[route("/a")
        .header("x", Test::Present(false))
        .header("X", equals("1"))]);

    assert_eq!(the(Kind::Impossible, &report).route, 0);
}

#[test]
fn two_values_of_one_header_are_told_from_an_overlap() {
    let report = prove(&[
        route("/a").id("one").header("x", equals("1")),
        route("/a").id("two").header("x", equals("2")),
    ]);

    assert_eq!(report.pairs_by_repetition, 1);
    assert!(report.findings.is_empty());
}

#[test]
fn patterns_meet_with_a_witness_if_one_is_found() {
    let report = prove(&[
        route("/a").id("digit").header("x", matches("v[0-9]+")),
        route("/a").id("word").header("x", matches("[a-z]1")),
    ]);

    let partial = the(Kind::Partial, &report);
    let witness = partial.witness.unwrap();
    assert_eq!(witness.headers, [("x".to_owned(), "v1".to_owned())]);
    assert_eq!(partial.answered_by, Some(0));
    assert_eq!(partial.decided, Some(Decided::Place));
}

#[test]
fn a_witness_carries_query_cookies_and_headers() {
    let report = prove(&[
        route("/{page}")
            .query("tag", equals("a b&c"))
            .cookie("c", equals("1")),
        route("/a")
            .header("x", Test::Present(true))
            .cookie("d", equals("2")),
    ]);

    let witness = the(Kind::Partial, &report).witness.unwrap();
    assert_eq!(witness.target(), "/a?tag=a%20b%26c");
    let cookies = ("cookie".to_owned(), "c=1; d=2".to_owned());
    assert!(witness.headers.contains(&cookies), "{witness:?}");
}

// spec: RT-37
#[test]
fn a_prefix_typed_without_its_rest_stands_out_among_its_neighbours() {
    let report = prove_to(&[
        (route("/api/user/**"), Some("user")),
        (route("/api/exam/**"), Some("exam")),
        (route("/api/course"), Some("course")),
    ]);

    let slip = the(Kind::NoRest, &report);
    assert_eq!((slip.route, slip.level), (2, Level::Warning));
    assert_eq!(slip.expected.as_deref(), Some("/api/course/**"));
    assert_eq!(slip.witness.unwrap().path, "/api/course/1");
    assert_eq!(slip.answered_by, None);
}

// spec: RT-37
#[test]
fn an_endpoint_on_its_own_is_a_note_at_most() {
    let alone = prove(&[route("/health").hosts(&["a.example"])]);
    let with_method = prove(&[route("/health").methods(&["GET"])]);
    let with_rest = prove(&[route("/a"), route("/a/{*rest}")]);

    assert_eq!(the(Kind::NoRest, &alone).level, Level::Note);
    assert!(with_method.findings.is_empty());
    assert!(
        with_rest
            .findings
            .iter()
            .all(|one| one.kind == Kind::Inside)
    );
}

// spec: RT-37
#[test]
fn a_template_that_ends_with_a_slash_takes_less_than_it_looks() {
    let only = prove(&[route("/api/course/")]);
    let both = prove(&[
        route("/api/course/"),
        route("/api/course").methods(&["GET"]),
    ]);
    let apart = prove_to(&[
        (route("/api/course"), Some("old")),
        (route("/api/course/"), Some("new")),
    ]);
    let redirected = prove_to(&[
        (route("/api/course").methods(&["GET"]), None),
        (route("/api/course/**"), Some("new")),
        (route("/api/course/").methods(&["GET"]), Some("new")),
    ]);

    let slip = the(Kind::SlashOnly, &only);
    assert_eq!(slip.expected.as_deref(), Some("/api/course/**"));
    assert!(warnings(&both).is_empty(), "{both:#?}");
    let twin = the(Kind::SlashTwin, &apart);
    assert_eq!((twin.route, twin.others.as_slice()), (1, &[0][..]));
    assert!(warnings(&redirected).is_empty());
}

#[test]
fn routes_that_differ_by_capitals_are_mixed_up() {
    let apart = prove_to(&[
        (route("/Users/{id}").methods(&["GET"]), Some("old")),
        (route("/users/{name}").methods(&["GET"]), Some("new")),
    ]);
    let alias = prove(&[
        route("/Users").methods(&["GET"]),
        route("/users").methods(&["GET"]),
    ]);
    let other_host = prove_to(&[
        (
            route("/Users").hosts(&["a.x"]).methods(&["GET"]),
            Some("old"),
        ),
        (
            route("/users").hosts(&["b.x"]).methods(&["GET"]),
            Some("new"),
        ),
    ]);

    assert_eq!(the(Kind::CaseTwin, &apart).level, Level::Warning);
    assert_eq!(the(Kind::CaseTwin, &alias).level, Level::Note);
    assert!(other_host.findings.is_empty());
}

#[test]
fn parameters_in_another_notation_are_recognised() {
    for (written, meant) in [
        ("/users/:id", "/users/{id}"),
        ("/users/<int:id>/x", "/users/{id}/x"),
        ("/users/${id}", "/users/{id}"),
        ("/users/%7Bid%7D/**", "/users/{id}/**"),
        ("/users/[0-9]+", "/users/{p2}"),
        ("/users/(a|b)", "/users/{p2}"),
    ] {
        let report = prove(&[route(written)]);

        let found = the(Kind::LooksLikeParameter, &report);
        assert_eq!(found.expected.as_deref(), Some(meant), "{written}");
    }
    for right in ["/v1/items:batch", "/a/{id}", "/price$", "/a(b)", "/:1"] {
        let report = prove(&[route(right).methods(&["GET"])]);

        assert!(report.findings.is_empty(), "{right}");
    }
}

// spec: CF-22
#[test]
fn ten_thousand_routes_are_all_examined() {
    let mut specs: Vec<RouteSpec> = (0..10_000)
        .map(|index| match index % 4 {
            0 => route(&format!("/api/v1/svc{index}/items/{{id}}")).methods(&["GET"]),
            1 => route(&format!("/api/v2/svc{index}/**")),
            2 => route(&format!("/shop/{{tenant}}/svc{index}/orders/{{order}}")),
            _ => route(&format!("/static/{index}/{{name}}")).hosts(&["a.example"]),
        })
        .collect();
    specs.push(route("/**"));
    specs.push(route("/api/**"));
    specs.push(route("/api/v2/svc5/below").priority(-1));

    let report = prove(&specs);

    assert_eq!(the(Kind::Shadowed, &report).route, 10_002);
    assert!(report.undecided.is_empty());
    assert_eq!(report.cut_short, 0);
    assert_eq!(report.pairs, 15_001);
}

// spec: CF-22
#[test]
fn routes_that_are_all_in_each_others_way_end_with_an_honest_answer() {
    let patterns: Vec<RouteSpec> = (0..1_000)
        .map(|index| {
            let pattern = matches(&format!("{index}[a-z]*"));
            let spec = route("/api/{id}").id(&index.to_string());
            spec.header("x", pattern)
        })
        .collect();
    let mixtures: Vec<RouteSpec> = (0..1_000)
        .map(|index| {
            let parts = (0..10).map(|bit| match index >> bit & 1 {
                0 => format!("/{{p{bit}}}"),
                _ => "/a".to_owned(),
            });
            route(&parts.collect::<String>())
        })
        .collect();
    let limits = Limits {
        findings: 7,
        work: 200_000,
        pairs: 10_000,
    };

    for (specs, is_decided) in [(patterns, false), (mixtures, true)] {
        let upstreams = vec![Some("one"); specs.len()];
        let report = Router::build(specs).unwrap().prove(&upstreams, limits);

        assert!(report.pairs <= 10_000, "{}", report.pairs);
        assert!(report.cut_short > 0);
        assert_eq!(report.undecided.is_empty(), is_decided);
        assert!(report.findings.len() <= 3 * 7);
        let listed: usize = report.totals.iter().map(|(_, count)| count).sum();
        assert!(listed > report.findings.len());
    }
}
