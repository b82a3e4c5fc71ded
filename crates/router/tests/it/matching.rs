//! Which route takes a request: host, path, priority, precision.

use sluicegate_router::{Found, RouteSpec, Router, Scratch};

use crate::support::{Conditions, get, route, taken};

fn routes(paths: &[&str]) -> Vec<RouteSpec> {
    paths.iter().map(|path| route(path)).collect()
}

// spec: RT-05
// spec: RT-31
#[test]
fn templates_match_whole_segments() {
    for (template, path, is_match) in [
        ("/a", "/a", true),
        ("/a", "/a/", false),
        ("/a/", "/a/", true),
        ("/a/", "/a", false),
        ("/a", "/ab", false),
        ("/", "/", true),
        ("/", "/a", false),
        ("/a/{id}", "/a/1", true),
        ("/a/{id}", "/a/", false),
        ("/a/{id}", "/a", false),
        ("/a/{id}", "/a/1/", false),
        ("/a/{id}/", "/a/1/", true),
        ("/a/{id}", "/a/b%2Fc", true),
        ("/a/{id}/b", "/a/1/b", true),
        ("/{a}", "/", false),
        ("/api/**", "/api", true),
        ("/api/**", "/api/", true),
        ("/api/**", "/api/x/y", true),
        ("/api/**", "/apix", false),
        ("/api/{*rest}", "/api/x/y", true),
        ("/**", "/", true),
        ("/**", "/x/y/", true),
        ("/{a}/**", "/x", true),
        ("/{a}/**", "/", false),
        ("/v{n}.json", "/v12.json", true),
        ("/v{n}.json", "/v.json", false),
        ("/v{n}.json", "/v1.jso", false),
        ("/a{x}a", "/a", false),
        ("/a{x}F", "/a%2F", false),
        ("/a{x}F", "/a%2FF", true),
    ] {
        let expected = if is_match { template } else { "404" };
        assert_eq!(
            taken(&routes(&[template]), &get(path)),
            expected,
            "{template} {path}"
        );
    }
}

// spec: RT-29
// spec: RT-32
// spec: RT-33
// spec: RT-34
// spec: RT-35
#[test]
fn the_precise_route_wins_in_whatever_order_they_are_written() {
    let mut table = routes(&[
        "/api/**",
        "/api/admin/**",
        "/api/assets/{id}",
        "/openapi/v1/**",
        "/api/assets/latest",
        "/api/assets/{id}.json",
        "/api/assets/a{id}",
        "/api/assets/{id}/**",
    ]);
    for _ in 0..2 {
        for (path, expected) in [
            ("/api/admin/users", "/api/admin/**"),
            ("/api/admin", "/api/admin/**"),
            ("/api/assets/100", "/api/assets/{id}"),
            ("/api/assets/latest", "/api/assets/latest"),
            ("/api/assets/a.json", "/api/assets/{id}.json"),
            ("/api/assets/a1", "/api/assets/a{id}"),
            ("/api/assets/1/x", "/api/assets/{id}/**"),
            ("/api/other", "/api/**"),
            ("/openapi/v1/orders", "/openapi/v1/**"),
            ("/actuator/health", "404"),
        ] {
            assert_eq!(taken(&table, &get(path)), expected, "{path}");
        }
        table.reverse();
    }
}

// spec: RT-23
#[test]
fn a_dead_end_falls_back_to_the_next_template() {
    let table = routes(&["/a/b/c", "/a/{x}/d", "/{y}/b/e", "/{y}/{z}/**"]);

    for (path, expected) in [
        ("/a/b/c", "/a/b/c"),
        ("/a/b/d", "/a/{x}/d"),
        ("/a/b/e", "/{y}/b/e"),
        ("/a/b/f", "/{y}/{z}/**"),
        ("/a/b", "/{y}/{z}/**"),
    ] {
        assert_eq!(taken(&table, &get(path)), expected, "{path}");
    }
}

// spec: RT-03
#[test]
fn priority_beats_host_and_path() {
    let table = [
        route("/a/b").hosts(&["api.example.com"]),
        route("/**").priority(1),
    ];

    assert_eq!(taken(&table, &get("/a/b")), "/**");
}

// spec: RT-04
// spec: RT-22
#[test]
fn the_nearer_host_wins_and_others_are_the_fallback() {
    let table = [
        route("/x").id("any"),
        route("/x").id("wide").hosts(&["*.example.com"]),
        route("/x").id("narrow").hosts(&["*.a.example.com"]),
        route("/x")
            .id("exact")
            .hosts(&["b.a.example.com", "Example.COM"]),
        route("/any-only").id("any-only"),
        route("/wide-only")
            .id("wide-only")
            .hosts(&["*.example.com"]),
    ];
    for (host, path, expected) in [
        ("b.a.example.com", "/x", "exact"),
        ("B.A.example.com.:8080", "/x", "exact"),
        ("example.com", "/x", "exact"),
        ("c.a.example.com", "/x", "narrow"),
        ("c.b.a.example.com", "/x", "narrow"),
        ("a.example.com", "/x", "wide"),
        ("example.org", "/x", "any"),
        ("", "/x", "any"),
        ("b.a.example.com", "/any-only", "any-only"),
        ("b.a.example.com", "/wide-only", "wide-only"),
        ("example.org", "/wide-only", "404"),
    ] {
        assert_eq!(
            taken(&table, &get(path).at(host)),
            expected,
            "{host} {path}"
        );
    }
}

// spec: RT-29
#[test]
fn more_conditions_win_then_the_place_in_the_document() {
    let table = [
        route("/a")
            .id("first")
            .hosts(&["api.example.com", "x.example.com"]),
        route("/a").id("second").hosts(&["api.example.com"]),
        route("/a")
            .id("post")
            .methods(&["POST"])
            .hosts(&["api.example.com"]),
    ];

    assert_eq!(taken(&table, &get("/a")), "first");
    assert_eq!(taken(&table, &get("/a").by("POST")), "post");
}

// spec: RT-06
// spec: RT-31
#[test]
fn another_method_is_405_with_every_method_that_would_do() {
    let table = [
        route("/a").id("get").methods(&["GET"]),
        route("/a").id("put").methods(&["PUT", "PURGE"]),
        route("/b").id("head").methods(&["HEAD"]),
        route("/b").id("get-b").methods(&["GET"]),
        route("/{x}").id("post").methods(&["POST"]),
    ];
    let router = Router::build(table.to_vec()).unwrap();
    let scratch = &mut Scratch::default();
    let mut allow = String::new();
    let delete = get("/a").by("DELETE");

    assert_eq!(router.find(&delete, scratch), Found::MethodNotAllowed);
    router.allow(&delete, scratch, &mut allow);

    assert_eq!(allow, "GET, HEAD, POST, PURGE, PUT");
    assert_eq!(taken(&table, &get("/a").by("HEAD")), "get");
    assert_eq!(taken(&table, &get("/b").by("HEAD")), "head");
    assert_eq!(taken(&table, &get("/a").by("PURGE")), "put");
    assert_eq!(taken(&table, &get("/a").by("OPTIONS")), "405");
    assert_eq!(taken(&table, &get("/a").by("POST")), "post");
    assert_eq!(taken(&table, &get("/a/b").by("DELETE")), "404");
}

// spec: RT-37
#[test]
fn a_prefix_means_the_same_with_and_without_a_final_slash() {
    let table = routes(&["/api/course/**"]);

    for path in ["/api/course", "/api/course/", "/api/course/v1/list"] {
        assert_eq!(taken(&table, &get(path)), "/api/course/**", "{path}");
    }
    assert_eq!(taken(&table, &get("/api/courses")), "404");
}

// spec: RT-05
#[test]
fn parameters_have_their_values_and_the_rest_is_what_remains() {
    let router = Router::build(routes(&["/a/{x}/v{n}/{*rest}", "/b/**", "/c"])).unwrap();

    let params: Vec<_> = router.params(0, "/a/1%2F2/v3/y/z").collect();

    assert_eq!(params, [("x", "1%2F2"), ("n", "3"), ("rest", "y/z")]);
    assert_eq!(router.rest(0, "/a/1/v3"), Some(""));
    assert_eq!(router.rest(1, "/b/x/"), Some("x/"));
    assert_eq!(router.rest(2, "/c"), None);
    assert_eq!(router.template(1), Some("/b/**"));
    assert_eq!(router.len(), 3);
}

// spec: RT-23
// spec: RT-26
#[test]
fn the_worst_path_costs_no_more_than_the_table_is_large() {
    // Every mixture of literal and parameter to depth 12: each way through ends in a dead end.
    let table: Vec<_> = (0_u32..1 << 12)
        .map(|mixture| {
            let names = (0..12).map(|depth| match mixture >> depth & 1 {
                0 => "/a".to_owned(),
                _ => format!("/{{p{depth}}}"),
            });
            route(&(names.collect::<String>() + "/end"))
        })
        .collect();
    let router = Router::build(table).unwrap();
    let scratch = &mut Scratch::default();

    let dead_end = get(&("/a".repeat(12) + "/x"));
    assert_eq!(router.find(&dead_end, scratch), Found::NotFound);
    let endless = get(&"/a".repeat(4_000));
    assert_eq!(router.find(&endless, scratch), Found::NotFound);
    let first = get(&("/a".repeat(12) + "/end"));
    assert_eq!(router.find(&first, scratch), Found::Route(0));
}
