//! What one request costs: its line and its metrics.
#![expect(
    missing_docs,
    reason = "criterion's macro writes an undocumented function"
)]

use std::{hint::black_box, net::SocketAddr, rc::Rc, sync::Arc, time::Duration};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use sluicegate_core::{Attempt, Exchange, Outcome, Peer, RequestId, RouteFacts, TraceContext};
use sluicegate_http1::{HeadLimits, RequestHead, parse_request};
use sluicegate_record::{Entry, LogBuffer, LogFormat, LogQueue, Policy, QueueLimits, Registry};

/// A request of a browser: 25 fields of the record have a value.
fn exchange(agent: &str, target: &str) -> Exchange {
    let head = format!(
        "GET {target} HTTP/1.1\r\nHost: api.example.com\r\nAccept: application/json\r\n\
         Accept-Encoding: gzip, deflate, br\r\nAccept-Language: zh-CN,zh;q=0.9\r\n\
         Connection: keep-alive\r\nReferer: https://www.example.com/orders\r\n\
         User-Agent: {agent}\r\nAuthorization: Bearer abcdef\r\n\r\n"
    );
    let mut request = RequestHead::default();
    let parsed = parse_request(head.as_bytes(), &HeadLimits::default(), &mut request);
    assert!(matches!(parsed, Ok(Some(_))));
    let remote = SocketAddr::from(([203, 0, 113, 7], 50_123));
    let peer = Peer {
        remote,
        ..Peer::default()
    };
    let mut exchange = Exchange::new(request, peer, Rc::from("http"), Duration::from_secs(1));
    exchange.request_id = Some(RequestId::from_random(7, 8));
    exchange.trace = Some(TraceContext::from_random(7, 8, 9, 1));
    exchange.route = Some(Rc::new(RouteFacts {
        id: "order-detail".into(),
        template: "/api/v1/orders/{id}".into(),
        upstream: "orders".into(),
        snapshot: 12,
        version: None,
    }));
    exchange.attempt = Attempt {
        count: 1,
        endpoint: Some(SocketAddr::from(([10, 0, 0, 5], 9000))),
        reused: true,
    };
    exchange.times.sent = Duration::from_micros(1_000_050);
    exchange.times.answered = Duration::from_micros(1_003_210);
    exchange
}

fn entry(exchange: &Exchange) -> Entry<'_> {
    Entry {
        exchange,
        outcome: Outcome::Complete,
        status: 200,
        request_bytes: 0,
        response_bytes: 1024,
        finished: Duration::from_micros(1_003_290),
        unix: Duration::from_millis(1_718_461_822_123),
        snapshot: 12,
        connection: None,
        route: None,
        policy: &Policy::SIZES,
        bodies: None,
        request_whole: true,
    }
}

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36";

fn record(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("record");
    let format = LogFormat::default();
    for (name, exchange) in [
        ("line/short", exchange("curl/8.5.0", "/hello")),
        (
            "line/browser",
            exchange(BROWSER, "/api/v1/orders/10042?page=2&size=50"),
        ),
        (
            "line/secrets",
            exchange(
                BROWSER,
                "/api/v1/u/13812345678?page=2&access_token=abcdefgh",
            ),
        ),
    ] {
        let mut lines = Vec::with_capacity(64 * 1024);
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                lines.clear();
                format.write(black_box(&entry(&exchange)), &mut lines);
                lines.len()
            });
        });
    }

    let registry = Registry::new(2, "sluicegate");
    let route = registry.route("order-detail");
    group.bench_function("metrics", |bencher| {
        bencher.iter(|| {
            let took = black_box(Duration::from_micros(3290));
            route.record(
                0,
                black_box("GET"),
                black_box(200),
                took,
                None,
                Outcome::Complete,
            );
        });
    });

    let exchange = exchange(BROWSER, "/api/v1/orders/10042?page=2&size=50");
    let limits = QueueLimits {
        bytes: 1 << 20,
        records: 10_000,
    };
    let queue = LogQueue::new(limits);
    let mut buffer = LogBuffer::new(Arc::new(format));
    group.bench_function("whole", |bencher| {
        bencher.iter(|| {
            let entry = black_box(entry(&exchange));
            buffer.push(&entry);
            if buffer.due(entry.finished) {
                buffer.hand_over(&queue);
            }
            let took = entry.finished.saturating_sub(exchange.times.begun);
            route.record(
                0,
                exchange.request.method(),
                entry.status,
                took,
                None,
                entry.outcome,
            );
        });
    });
    group.finish();
}

fn scrape(criterion: &mut Criterion) {
    let registry = Registry::new(4, "sluicegate");
    for number in 0..1000 {
        let route = registry.route(&format!("route-{number:04}"));
        route.record(
            0,
            "GET",
            200,
            Duration::from_millis(number),
            None,
            Outcome::Complete,
        );
    }
    criterion.bench_function("scrape/1000", |bencher| {
        bencher.iter_batched_ref(
            String::new,
            |out| registry.expose(Duration::ZERO, out),
            BatchSize::LargeInput,
        );
    });
}

criterion_group!(benches, record, scrape);
criterion_main!(benches);
