//! Tests of `path_rewrite`.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::testing::{Trial, exchange, filter};

fn rewritten(config: &Value, target: &str) -> String {
    let filter: PathRewrite = filter(config).unwrap();
    let mut trial = Trial::new(exchange("GET", target, &[]).unwrap());
    trial.exchange.params = [("id", "a%2Fb"), ("rest", "c/d/")].into_iter().collect();
    trial.request(&filter).unwrap().unwrap();
    let request = &trial.exchange.request;
    let query = request.query().map(|query| format!("?{query}"));
    format!("{}{}", request.path(), query.unwrap_or_default())
}

fn refused(config: &Value, target: &str) -> &'static str {
    let filter: PathRewrite = filter(config).unwrap();
    let mut trial = Trial::new(exchange("GET", target, &[]).unwrap());
    trial.request(&filter).unwrap().unwrap_err().code.name
}

fn mistake(config: &Value) -> String {
    filter::<PathRewrite>(config).err().unwrap()
}

#[test]
fn stripping_segments_keeps_the_trailing_slash() {
    let strip = |count: usize, target| rewritten(&json!({"strip_segments": count}), target);

    assert_eq!(strip(1, "/svc/list/"), "/list/");
    assert_eq!(strip(1, "/svc/list"), "/list");
    assert_eq!(strip(1, "/svc/"), "/");
    assert_eq!(strip(1, "/svc"), "/");
    assert_eq!(strip(2, "/a/b/c?x=/y/z"), "/c?x=/y/z");
    assert_eq!(strip(9, "/a/b/c/"), "/");
}

#[test]
fn a_prefix_is_stripped_where_a_segment_ends() {
    let strip = |target| rewritten(&json!({"strip_prefix": "/svc/"}), target);

    assert_eq!(strip("/svc/list/"), "/list/");
    assert_eq!(strip("/svc"), "/");
    assert_eq!(strip("/svc/"), "/");
    assert_eq!(strip("/svcx/list"), "/svcx/list");
    assert_eq!(strip("/other"), "/other");
}

#[test]
fn a_prefix_is_put_before_the_path() {
    assert_eq!(rewritten(&json!({"prefix": "/v2"}), "/a/"), "/v2/a/");
    assert_eq!(rewritten(&json!({"prefix": "/v2/"}), "/"), "/v2/");
}

#[test]
fn a_pattern_is_replaced_with_its_groups() {
    let replace = |pattern: &str, with: &str, target| {
        rewritten(
            &json!({"replace": {"pattern": pattern, "with": with}}),
            target,
        )
    };

    assert_eq!(
        replace("^/api/v1/(.*)$", "/$1", "/api/v1/orders/7"),
        "/orders/7"
    );
    assert_eq!(
        replace("^/(?P<a>[^/]+)/(?P<b>[^/]+)", "/${b}/${a}", "/x/y/z?q"),
        "/y/x/z?q"
    );
    assert_eq!(replace("^/api", "", "/api/x"), "/x");
    assert_eq!(
        replace("^/api/", "", "/api/x"),
        "/x",
        "one slash is put back"
    );
    assert_eq!(replace("/b", "", "/a/b/b/c/"), "/a/c/");
}

#[test]
fn a_template_takes_the_parameters_of_the_route() {
    assert_eq!(
        rewritten(&json!({"template": "/b/{id}"}), "/t/a%2Fb?q=1"),
        "/b/a%2Fb?q=1"
    );
    assert_eq!(
        rewritten(&json!({"template": "/n/{*rest}"}), "/t/c/d/"),
        "/n/c/d/"
    );
    let filter: PathRewrite = filter(&json!({"template": "/{a}/x/{b}"})).unwrap();
    assert_eq!(filter.path_params(), [Box::from("a"), Box::from("b")]);
}

#[test]
fn escapes_are_forwarded_as_they_came() {
    for segment in [
        "a%2Fb",
        "a%252Fb",
        "(x,y)",
        "%28x,y%29",
        "a%20b",
        "a+b",
        "%C3%A9",
    ] {
        let target = format!("/t/{segment}");
        assert_eq!(
            rewritten(&json!({"strip_segments": 1}), &target),
            format!("/{segment}")
        );
    }
}

#[test]
fn a_path_that_is_no_normal_form_is_answered_with_400() {
    let replace =
        |pattern: &str, with: &str| json!({"replace": {"pattern": pattern, "with": with}});

    assert_eq!(refused(&replace("x", "."), "/a/x/b"), "bad_path");
    assert_eq!(refused(&replace("x", ".."), "/a/x"), "bad_path");
    assert_eq!(refused(&replace("F", "e"), "/a/%2Fb"), "bad_path");
    assert_eq!(refused(&replace("Fb", ""), "/a/%2Fb"), "bad_path");
    assert_eq!(refused(&replace("x", "a?b"), "/x"), "bad_path");
}

#[test]
fn exactly_one_way_is_needed() {
    assert!(
        mistake(&json!({})).contains("strip_segments"),
        "{}",
        mistake(&json!({}))
    );
    let two = json!({"strip_segments": 1, "prefix": "/a"});
    assert!(
        mistake(&two).contains("strip_segments"),
        "{}",
        mistake(&two)
    );
}

#[test]
fn what_cannot_work_is_refused_with_its_place() {
    let at = |config: Value| mistake(&config).split(": ").next().unwrap().to_owned();

    assert_eq!(at(json!({"strip_segments": 0})), "/strip_segments");
    assert_eq!(at(json!({"strip_prefix": "svc"})), "/strip_prefix");
    assert_eq!(at(json!({"strip_prefix": "/"})), "/strip_prefix");
    assert_eq!(at(json!({"prefix": "/a/../b"})), "/prefix");
    assert_eq!(at(json!({"prefix": "/a?b"})), "/prefix");
    assert_eq!(at(json!({"template": "/b/{id"})), "/template");
    assert_eq!(at(json!({"template": "b/{id}"})), "/template");
    assert_eq!(
        at(json!({"replace": {"pattern": "(", "with": ""}})),
        "/replace/pattern"
    );
    assert_eq!(
        at(json!({"replace": {"pattern": "(a)", "with": "/$2"}})),
        "/replace/with"
    );
    assert_eq!(
        at(json!({"replace": {"pattern": "(a)", "with": "/$1x"}})),
        "/replace/with"
    );
    assert_eq!(at(json!({"replace": {"pattern": "(a)"}})), "/replace");
    assert_eq!(
        at(json!({"replace": {"pattern": "a", "with": "b", "al": 1}})),
        "/replace/al"
    );
}

proptest! {
    /// Whatever the path: stripping gives a path in normal form that ends as it did.
    #[test]
    fn stripping_keeps_the_normal_form(
        segments in prop::collection::vec("[a-c]{1,3}|%2F|%20x", 0..5),
        slash in any::<bool>(),
        count in 1_usize..7,
    ) {
        let mut path = format!("/{}", segments.join("/"));
        if slash && !segments.is_empty() {
            path.push('/');
        }

        let stripped = without_segments(&path, count);

        let normal = restored(stripped);
        prop_assert_eq!(normal.as_deref(), Some(stripped));
        prop_assert!(path.ends_with(stripped) || stripped == "/");
        prop_assert_eq!(stripped.ends_with('/'), path.ends_with('/') || stripped == "/");
    }
}
