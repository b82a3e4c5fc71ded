//! Time of a proof of ten thousand routes: usual ones, and ones that are all in each other's way.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that cannot begin has nothing better to do"
)]

use std::hint::black_box;

use criterion::Criterion;
use regex::Regex;
use sluicegate_router::{Limits, Predicate, RouteSpec, Router, Test};

const SIZE: usize = 10_000;

fn route(index: usize, path: String) -> RouteSpec {
    RouteSpec {
        id: format!("r{index}"),
        path,
        ..RouteSpec::default()
    }
}

/// Several shapes, some hosts, and a fallback below everything.
fn usual() -> Vec<RouteSpec> {
    let fallback = route(SIZE, "/**".to_owned());
    let specs = (0..SIZE).map(|i| {
        let path = match i % 4 {
            0 => format!("/api/v1/svc{i}/items/{{id}}"),
            1 => format!("/api/v2/svc{i}/**"),
            2 => format!("/shop/{{tenant}}/svc{i}/orders/{{oid}}/lines"),
            _ => format!("/static/svc{i}/list"),
        };
        let mut spec = route(i, path);
        if i % 3 == 0 {
            spec.hosts = vec![format!("host{}.example.com", i % 100)];
        }
        spec
    });
    specs.chain([fallback]).collect()
}

/// One template, and a pattern each.
fn patterns() -> Vec<RouteSpec> {
    let specs = (0..SIZE).map(|i| {
        let pattern = Regex::new(&format!("{i}[a-z]*")).expect("the pattern is right");
        let mut spec = route(i, "/api/{id}".to_owned());
        spec.headers.push(Predicate {
            name: "x".to_owned(),
            test: Test::Matches(pattern),
        });
        spec
    });
    specs.collect()
}

/// Every mixture of two kinds of segment.
fn mixtures() -> Vec<RouteSpec> {
    let specs = (0..SIZE).map(|i| {
        let parts = (0..14).map(|bit| match i >> bit & 1 {
            0 => format!("/{{p{bit}}}"),
            _ => "/a".to_owned(),
        });
        route(i, parts.collect())
    });
    specs.collect()
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("prove");
    group.sample_size(10);
    let tables = [
        ("usual", usual()),
        ("patterns", patterns()),
        ("mixtures", mixtures()),
    ];
    for (name, specs) in tables {
        let upstreams = vec![Some("one"); specs.len()];
        let router = Router::build(specs).expect("the table of the benchmark is right");
        group.bench_function(format!("{name}/{SIZE}"), |b| {
            b.iter(|| black_box(router.prove(&upstreams, Limits::default())));
        });
    }
    group.finish();
    criterion.final_summary();
}
