//! The default entry chain on a typical request, in and back. The goal is 0.4 µs: what
//! `heads and chain` takes more than `heads`, which fills the same buffers again and again as
//! the engine does.
#![allow(
    missing_docs,
    reason = "criterion's macros write undocumented functions"
)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::json;
use sluicegate_core::{Flow, Response, Stage, Step};
use sluicegate_filters::{
    Chain, FilterSpec, States, Table,
    testing::{Trial, exchange},
};
use sluicegate_http1::{HeadLimits, RequestHead, ResponseHead, parse_request, parse_response};

const REQUEST: &[u8] = b"GET /api/v1/orders/4711?page=2 HTTP/1.1\r\n\
    Host: api.example.com\r\n\
    User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n\
    Accept: application/json\r\n\
    Accept-Language: en-GB,en;q=0.5\r\n\
    Accept-Encoding: gzip, deflate, br\r\n\
    Authorization: Bearer eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiI0NzExIn0.c2lnbmF0dXJl\r\n\
    Cookie: session=0123456789abcdef; theme=dark\r\n\
    X-Forwarded-For: 192.0.2.7\r\n\
    X-Requested-With: XMLHttpRequest\r\n\r\n";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\n\
    Server: nginx\r\n\
    Date: Mon, 06 Jan 2025 00:00:00 GMT\r\n\
    Content-Type: application/json\r\n\
    Content-Length: 1024\r\n\
    Cache-Control: no-store\r\n\r\n";
const LIMITS: HeadLimits = HeadLimits {
    bytes: 16_384,
    fields: 100,
    target: 8_192,
};

fn read(request: &mut RequestHead, answer: &mut ResponseHead) {
    let complete = parse_request(REQUEST, &LIMITS, request).is_ok()
        && parse_response(ANSWER, &LIMITS, answer).is_ok();
    assert!(complete, "the examples are valid");
}

fn travel(chain: &Chain, trial: &mut Trial, answer: &mut Response) {
    let mut carries = [const { None }; 3];
    for (link, carry) in chain.inbound().iter().zip(&mut carries) {
        let carry = carry.insert(link.filter.carry());
        let step = link.filter.on_request(trial.cx(), carry);
        black_box(matches!(step, Step::Done(Ok(Flow::Next))));
    }
    for (link, carry) in chain.inbound().iter().zip(&mut carries).rev() {
        if let Some(carry) = carry.as_mut().filter(|_| link.sees_response) {
            let step = link.filter.on_response(trial.cx(), carry, answer);
            black_box(matches!(step, Step::Done(Ok(Flow::Next))));
        }
    }
}

fn default_chain(c: &mut Criterion) {
    let specs = ["request_id", "trace_context", "header_hygiene"]
        .map(|name| FilterSpec::new(name, json!({})));
    let states = States::default();
    let Ok(chain) = <Chain>::build(Stage::Entry, &specs, "entry:http", &states) else {
        return;
    };
    let Ok(exchange) = exchange("GET", "/", &[]) else {
        return;
    };
    let mut trial = Trial::new(exchange);
    let mut answer = Response::new(200);

    c.bench_function("heads", |b| {
        b.iter(|| read(&mut trial.exchange.request, &mut answer.head));
    });
    c.bench_function("heads and chain", |b| {
        b.iter(|| {
            read(&mut trial.exchange.request, &mut answer.head);
            travel(&chain, &mut trial, &mut answer);
        });
    });
}

criterion_group!(benches, default_chain);
criterion_main!(benches);
