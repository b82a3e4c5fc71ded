//! The table against a reader of the rules that has no index.

use std::cmp::Reverse;

use proptest::prelude::*;
use sluicegate_router::{Found, RouteSpec, Router, Scratch};

use crate::support::{Conditions, Request, equals, get, route};

/// Judges every route and sorts those that match, as the rules are written.
fn by_the_rules(specs: &[RouteSpec], request: &Request) -> Found {
    let host = request.host.clone().unwrap_or_default().to_lowercase();
    let mut matching = Vec::new();
    let mut but_for_method = false;
    for (place, spec) in specs.iter().enumerate() {
        let Some(host) = host_standing(spec, &host) else {
            continue;
        };
        let Some(path) = path_standing(&spec.path, &request.path) else {
            continue;
        };
        let wants = |name: &str, value: &str| {
            let mut fields = request.headers.iter();
            fields.any(|(field, text)| field == name && text == value)
        };
        if !spec.headers.iter().all(|header| wants(&header.name, "1")) {
            continue;
        }
        but_for_method = true;
        let named = |method: &str| spec.methods.iter().any(|name| name == method);
        let admitted = spec.methods.is_empty()
            || named(&request.method)
            || (request.method == "HEAD" && named("GET"));
        if admitted {
            let conditions = spec.headers.len() + usize::from(!spec.methods.is_empty());
            let is_for_head = named("HEAD") && !named("GET");
            matching.push((
                Reverse(spec.priority),
                Reverse(host),
                path,
                Reverse(conditions),
                !is_for_head,
                place,
            ));
        }
    }
    matching.sort();
    match matching.first() {
        Some(best) => Found::Route(best.5),
        None if but_for_method => Found::MethodNotAllowed,
        None => Found::NotFound,
    }
}

fn host_standing(spec: &RouteSpec, host: &str) -> Option<usize> {
    if spec.hosts.is_empty() {
        return Some(0);
    }
    let standing = |pattern: &String| match pattern.strip_prefix('*') {
        Some(suffix) => {
            (host.ends_with(suffix) && host.len() > suffix.len()).then_some(suffix.len())
        }
        None => (host == pattern).then_some(usize::MAX),
    };
    spec.hosts.iter().filter_map(standing).max()
}

/// One number for each segment, smaller is more precise; none when it does not match.
fn path_standing(template: &str, path: &str) -> Option<Vec<usize>> {
    let mut segments = path.split('/').skip(1);
    let mut standing = Vec::new();
    for part in template.split('/').skip(1) {
        if part == "**" {
            standing.push(1_000);
            return Some(standing);
        }
        let segment = segments.next()?;
        if part == "{p}" {
            standing.push((!segment.is_empty()).then_some(500)?);
        } else if let Some((before, after)) = part.split_once("{p}") {
            let long_enough = segment.len() > before.len() + after.len();
            let fits = segment.starts_with(before) && segment.ends_with(after) && long_enough;
            standing.push(fits.then_some(400 - 10 * (before.len() + after.len()) - before.len())?);
        } else {
            standing.push((part == segment).then_some(1)?);
        }
    }
    standing.push(0);
    segments.next().is_none().then_some(standing)
}

fn a_path() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec!["a", "b", "aa", "ab", "ba", "aba"]),
        0..5,
    )
    .prop_flat_map(|segments| {
        let path: String = segments.iter().flat_map(|segment| ["/", segment]).collect();
        prop::bool::ANY.prop_map(move |with_slash| match (with_slash, path.is_empty()) {
            (false, false) => path.clone(),
            (_, true) | (true, false) => format!("{path}/"),
        })
    })
}

fn a_template() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "a", "b", "ab", "{p}", "{p}", "a{p}", "{p}a", "a{p}a", "b{p}",
    ]);
    let end = prop::sample::select(vec!["", "", "/", "/**"]);
    (prop::collection::vec(part, 0..4), end).prop_map(|(parts, end)| {
        let mut path: String = parts
            .iter()
            .enumerate()
            .flat_map(|(index, part)| {
                [
                    "/".to_owned(),
                    part.replace("{p}", &format!("{{p{index}}}")),
                ]
            })
            .collect();
        path.push_str(end);
        if path.is_empty() {
            "/".to_owned()
        } else {
            path
        }
    })
}

fn a_route() -> impl Strategy<Value = RouteSpec> {
    let hosts = prop::sample::select(vec![
        vec![],
        vec![],
        vec!["a.test"],
        vec!["*.test"],
        vec!["*.a.test"],
        vec!["b.a.test", "*.test"],
    ]);
    let methods = prop::sample::select(vec![
        vec![],
        vec![],
        vec!["GET"],
        vec!["POST"],
        vec!["HEAD"],
        vec!["PUT", "BREW"],
    ]);
    (a_template(), hosts, methods, -1..2_i32, 0..3_u8).prop_map(
        |(path, hosts, methods, priority, headers)| {
            let mut spec = route(&path)
                .hosts(&hosts)
                .methods(&methods)
                .priority(priority);
            for header in ["x", "y"].iter().take(usize::from(headers)) {
                spec = spec.header(header, equals("1"));
            }
            spec
        },
    )
}

fn a_request() -> impl Strategy<Value = Request> {
    let host = prop::sample::select(vec![
        "a.test",
        "A.Test",
        "b.a.test",
        "c.b.a.test",
        "test",
        "other",
    ]);
    let method = prop::sample::select(vec!["GET", "HEAD", "POST", "PUT", "BREW", "OPTIONS"]);
    (a_path(), host, method, 0..3_u8).prop_map(|(path, host, method, headers)| {
        let mut request = get(&path).at(host).by(method);
        for header in ["x", "y"].iter().take(usize::from(headers)) {
            request = request.with(header, "1");
        }
        request
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    // spec: RT-22
    // spec: RT-23
    // spec: RT-29
    #[test]
    fn the_index_says_what_the_rules_say(
        specs in prop::collection::vec(a_route(), 1..40),
        requests in prop::collection::vec(a_request(), 1..20),
    ) {
        let mut specs = specs;
        for (index, spec) in specs.iter_mut().enumerate() {
            spec.id = index.to_string();
        }
        // Routes with the same conditions are refused; the others stay.
        if let Err(problems) = Router::build(specs.clone()) {
            let mut twins: Vec<usize> = problems.iter().map(|problem| problem.route).collect();
            twins.reverse();
            for twin in twins {
                specs.remove(twin);
            }
        }
        let router = Router::build(specs.clone()).expect("no twins are left");
        let scratch = &mut Scratch::default();

        for request in &requests {
            let simple: Vec<RouteSpec> = specs.iter().cloned().map(with_one_name).collect();
            let expected = by_the_rules(&simple, request);
            prop_assert_eq!(router.find(request, scratch), expected, "{:?}", request);

            let explained = router.explain(request);
            let first = explained.iter().find(|candidate| candidate.matched);
            let first = first.map(|candidate| Found::Route(candidate.route));
            prop_assert_eq!(first.is_some(), matches!(expected, Found::Route(_)));
            prop_assert_eq!(first.unwrap_or(expected), expected);
        }
    }
}

fn with_one_name(mut spec: RouteSpec) -> RouteSpec {
    for index in 0..5 {
        spec.path = spec.path.replace(&format!("{{p{index}}}"), "{p}");
    }
    spec
}
