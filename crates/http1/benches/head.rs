//! What one head costs: parse, edit, write.
#![expect(missing_docs, reason = "criterion makes a public function")]
#![expect(clippy::unwrap_used, reason = "a bench may fail like a test")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use sluicegate_http1::{
    Framing, HeadLimits, Persistence, RequestHead, ResponseHead, parse_request, parse_response,
    request_framing, request_keep_alive, response_framing, response_keep_alive, strip_hop_by_hop,
    write_request, write_response,
};

const REQUEST: &[u8] = b"GET /api/v1/orders/4711?expand=lines HTTP/1.1\r\n\
Host: api.example.com\r\n\
User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n\
Accept: application/json\r\n\
Accept-Language: en-GB,en;q=0.5\r\n\
Accept-Encoding: gzip, deflate, br\r\n\
Cookie: session=0123456789abcdef0123456789abcdef\r\n\
Connection: keep-alive\r\n\
\r\n";

const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\n\
Date: Mon, 01 Jan 2024 00:00:00 GMT\r\n\
Server: example\r\n\
Content-Type: application/json\r\n\
Content-Length: 1024\r\n\
Cache-Control: no-store\r\n\
Connection: keep-alive\r\n\
\r\n";

fn request(criterion: &mut Criterion) {
    let limits = HeadLimits::default();
    let mut head = RequestHead::default();
    let mut out = Vec::with_capacity(4096);

    criterion.bench_function("request/parse", |bencher| {
        bencher.iter(|| parse_request(black_box(REQUEST), &limits, &mut head));
    });
    criterion.bench_function("request/get", |bencher| {
        bencher.iter(|| {
            black_box(&head)
                .fields
                .get(black_box("Authorization"))
                .is_some()
        });
    });
    criterion.bench_function("request/write", |bencher| {
        bencher.iter(|| {
            out.clear();
            write_request(black_box(&head), Framing::Empty, &mut out);
        });
    });
    criterion.bench_function("request/whole way", |bencher| {
        bencher.iter(|| {
            parse_request(black_box(REQUEST), &limits, &mut head).unwrap();
            let framing = request_framing(&head).unwrap();
            black_box(request_keep_alive(&head));
            strip_hop_by_hop(&mut head.fields);
            head.fields.remove("X-Real-IP");
            head.fields
                .set("X-Request-Id", b"0190f3a2-7c3e-7b10-8000-0123456789ab")
                .unwrap();
            head.fields.set("X-Forwarded-For", b"192.0.2.1").unwrap();
            head.fields.set("X-Forwarded-Proto", b"http").unwrap();
            out.clear();
            write_request(&head, framing, &mut out);
        });
    });
}

fn response(criterion: &mut Criterion) {
    let limits = HeadLimits::default();
    let mut head = ResponseHead::default();
    let mut out = Vec::with_capacity(4096);

    criterion.bench_function("response/parse", |bencher| {
        bencher.iter(|| parse_response(black_box(RESPONSE), &limits, &mut head));
    });
    criterion.bench_function("response/whole way", |bencher| {
        bencher.iter(|| {
            parse_response(black_box(RESPONSE), &limits, &mut head).unwrap();
            let framing = response_framing(&head, "GET").unwrap();
            black_box(response_keep_alive(&head));
            strip_hop_by_hop(&mut head.fields);
            head.fields.remove("Server");
            head.fields
                .set("X-Request-Id", b"0190f3a2-7c3e-7b10-8000-0123456789ab")
                .unwrap();
            out.clear();
            write_response(&head, framing, Persistence::KeepAlive, &mut out);
        });
    });
}

criterion_group!(benches, request, response);
criterion_main!(benches);
