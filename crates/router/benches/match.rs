//! Time of one match, host lookup and path normalisation included, by the size of the table.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that cannot begin has nothing better to do"
)]

use std::hint::black_box;
use std::iter::Cycle;
use std::slice::Iter;

use criterion::Criterion;
use sluicegate_router::{Found, Normal, RouteSpec, Router, Scratch, Subject, normalize};

const SIZES: [usize; 3] = [10, 1_000, 10_000];

struct Request {
    host: String,
    path: String,
}

struct Normalized<'a> {
    host: &'a str,
    path: &'a str,
}

impl Subject for Normalized<'_> {
    fn host(&self) -> Option<&str> {
        Some(self.host)
    }

    fn path(&self) -> &str {
        self.path
    }

    fn method(&self) -> &'static str {
        "GET"
    }

    fn query(&self) -> Option<&str> {
        None
    }

    fn header_values(&self, _name: &str, _each: &mut dyn FnMut(&[u8])) {}
}

/// Several shapes of templates in turn, under one host or a hundred.
fn table(size: usize, hosts: usize) -> Router {
    let specs = (0..size).map(|i| {
        let path = match i % 4 {
            0 => format!("/api/v1/svc{i}/items/{{id}}"),
            1 => format!("/api/v2/svc{i}/**"),
            2 => format!("/shop/{{tenant}}/svc{i}/orders/{{oid}}/lines"),
            _ => format!("/static/svc{i}/list"),
        };
        RouteSpec {
            id: format!("r{i}"),
            hosts: vec![host(i, hosts)],
            path,
            methods: if i % 2 == 0 {
                vec!["GET".to_owned()]
            } else {
                Vec::new()
            },
            ..RouteSpec::default()
        }
    });
    Router::build(specs.collect()).expect("the table of the benchmark is right")
}

fn host(i: usize, hosts: usize) -> String {
    format!("host{}.example.com", i % hosts)
}

fn request(i: usize, hosts: usize) -> Request {
    let path = match i % 4 {
        0 => format!("/api/v1/svc{i}/items/{}", i * 7919),
        1 => format!("/api/v2/svc{i}/some/thing/below"),
        2 => format!("/shop/tenant{}/svc{i}/orders/{}/lines", i % 97, i * 31),
        _ => format!("/static/svc{i}/list"),
    };
    Request {
        host: host(i, hosts),
        path,
    }
}

/// Every route once, in an order without locality.
fn shuffled(size: usize, hosts: usize) -> Vec<Request> {
    let mut order: Vec<usize> = (0..size).collect();
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    for place in (1..size).rev() {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let other = usize::try_from(seed >> 33).unwrap_or(0) % (place + 1);
        order.swap(place, other);
    }
    order.into_iter().map(|i| request(i, hosts)).collect()
}

fn find(router: &Router, request: &Request, path: &mut String, scratch: &mut Scratch) -> Found {
    let path = match normalize(&request.path, path) {
        Ok(Normal::Unchanged) => request.path.as_str(),
        Ok(Normal::Changed) => path.as_str(),
        Err(_) => return Found::NotFound,
    };
    router.find(
        &Normalized {
            host: &request.host,
            path,
        },
        scratch,
    )
}

fn matching(c: &mut Criterion) {
    for hosts in [1, 100] {
        for size in SIZES {
            let router = table(size, hosts);
            let (path, scratch) = (&mut String::new(), &mut Scratch::default());
            let all = shuffled(size, hosts);
            for request in &all {
                let found = find(&router, request, path, scratch);
                assert!(
                    matches!(found, Found::Route(_)),
                    "{} is not found",
                    request.path
                );
            }

            let mut requests: Cycle<Iter<'_, Request>> = all.iter().cycle();
            c.bench_function(&format!("random/{size}-routes/{hosts}-hosts"), |b| {
                b.iter(|| {
                    requests
                        .next()
                        .map(|request| find(&router, black_box(request), path, scratch))
                });
            });
            let hot = request(2, hosts);
            c.bench_function(&format!("hot/{size}-routes/{hosts}-hosts"), |b| {
                b.iter(|| find(&router, black_box(&hot), path, scratch));
            });
            let nobody = Request {
                host: host(1, hosts),
                path: "/shop/x/nobody/orders/1".to_owned(),
            };
            c.bench_function(&format!("not-found/{size}-routes/{hosts}-hosts"), |b| {
                b.iter(|| find(&router, black_box(&nobody), path, scratch));
            });
        }
    }
}

fn normal_form(c: &mut Criterion) {
    let scratch = &mut String::new();
    for (name, path) in [
        ("unchanged", "/shop/tenant42/svc4711/orders/31337/lines"),
        ("changed", "/shop/./tenant42/svc4711/orders/%7e31337/lines"),
    ] {
        c.bench_function(&format!("normalize/{name}"), |b| {
            b.iter(|| normalize(black_box(path), scratch));
        });
    }
}

fn main() {
    let mut criterion = Criterion::default().sample_size(50).configure_from_args();
    matching(&mut criterion);
    normal_form(&mut criterion);
    criterion.final_summary();
}
