//! B3 and `sw8`: the examples of their specifications, and what becomes of headers that are none.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::{PARENT, forwarded, sent_in};
use crate::testing::Trial;

// openzipkin/b3-propagation, “Single Header”.
const B3_TRACE: &str = "80f198ee56343ba864fe8b2a57d3eff7";
const B3_SPAN: &str = "e457b5a2e4d86bd1";
const B3_PARENT: &str = "05e3ac9a4f6e3b90";
// A header as the Java agent 8 writes it for a call of `/onemore-a/get` to 192.168.1.102:80.
const SW8: &str = "1-YTRlYzZmYzhjY2FiNGJiNGI2ODIwNjQ2OThjYzk3ZTYuNzQuMTYyMTgzODExMDQ1NTAwMDk=\
    -YTRlYzZmYzhjY2FiNGJiNGI2ODIwNjQ2OThjYzk3ZTYuNzQuMTYyMTgzODExMDQ1NTAwMDg=-2\
    -b25lbW9yZS1h-ZTFkMmZiYjYzYmJhNDMwNDk5YWY4OTVjMDQwZTMyZmVAMTkyLjE2OC4xLjEwMQ==\
    -L29uZW1vcmUtYS9nZXQ=-MTkyLjE2OC4xLjEwMjo4MA==";
const SW8_TRACE: &str = "a4ec6fc8ccab4bb4b682064698cc97e6.74.16218381104550009";

fn trace_id(trial: &Trial) -> String {
    trial.exchange.trace.unwrap().trace_id().to_owned()
}

fn span_id(trial: &Trial) -> String {
    trial.exchange.trace.unwrap().span_id().to_owned()
}

/// The fields of the `sw8` that goes on, strings decoded.
fn sw8(trial: &Trial) -> Vec<String> {
    let values = forwarded(trial, "sw8");
    assert_eq!(values.len(), 1);
    let decoded = values[0].split('-').enumerate().map(|(place, field)| {
        if matches!(place, 0 | 3) {
            return field.to_owned();
        }
        String::from_utf8(STANDARD.decode(field).unwrap()).unwrap()
    });
    decoded.collect()
}

// spec: PX-22
#[test]
fn b3_in_one_header_goes_on_with_a_span_of_our_own() {
    for (state, flags, goes_on) in [("1", 1, "1"), ("0", 0, "0"), ("d", 1, "d")] {
        for parent in ["", &format!("-{B3_PARENT}")] {
            let header = format!("{B3_TRACE}-{B3_SPAN}-{state}{parent}");
            let trial = sent_in(&["b3"], &[("b3", &header)]);

            assert_eq!(trace_id(&trial), B3_TRACE);
            assert_ne!(span_id(&trial), B3_SPAN);
            assert_eq!(trial.exchange.trace.unwrap().flags, flags);
            let expected = format!("{B3_TRACE}-{}-{goes_on}-{B3_SPAN}", span_id(&trial));
            assert_eq!(forwarded(&trial, "b3"), [expected]);
        }
    }
}

// spec: OB-44, PX-22
#[test]
fn b3_in_many_headers_goes_on_with_a_span_of_our_own() {
    let trial = sent_in(
        &["b3_multi"],
        &[
            ("X-B3-TraceId", B3_TRACE),
            ("x-b3-spanid", B3_SPAN),
            ("X-B3-ParentSpanId", B3_PARENT),
            ("X-B3-Sampled", "1"),
        ],
    );

    assert_eq!(forwarded(&trial, "x-b3-traceid"), [B3_TRACE]);
    assert_eq!(forwarded(&trial, "x-b3-spanid"), [span_id(&trial)]);
    assert_eq!(forwarded(&trial, "x-b3-parentspanid"), [B3_SPAN]);
    assert_eq!(forwarded(&trial, "x-b3-sampled"), ["1"]);
    assert!(forwarded(&trial, "x-b3-flags").is_empty());
}

#[test]
fn debug_goes_on_as_a_flag_without_a_state() {
    let header = format!("{B3_TRACE}-{B3_SPAN}-d");
    for fields in [
        &[("b3", &*header)][..],
        &[
            ("X-B3-TraceId", B3_TRACE),
            ("X-B3-SpanId", B3_SPAN),
            ("X-B3-Flags", "1"),
        ],
    ] {
        let trial = sent_in(&["b3", "b3_multi"], fields);

        assert_eq!(forwarded(&trial, "x-b3-flags"), ["1"]);
        assert!(forwarded(&trial, "x-b3-sampled").is_empty());
        assert!(forwarded(&trial, "b3")[0].contains("-d-"));
        assert_eq!(trial.exchange.trace.unwrap().flags, 1);
    }
}

// spec: PX-22
#[test]
fn an_id_of_64_bits_is_filled_up_with_zeros() {
    let short = &B3_TRACE[16..];
    let header = format!("{short}-{B3_SPAN}-1");

    let trial = sent_in(&["b3", "w3c"], &[("b3", &header)]);

    assert_eq!(trace_id(&trial), format!("0000000000000000{short}"));
    assert!(forwarded(&trial, "traceparent")[0].contains(&trace_id(&trial)));
}

#[test]
fn a_decision_about_sampling_may_come_without_a_trace() {
    for (fields, flags) in [
        (&[("b3", "0")][..], 0),
        (&[("b3", "1")], 1),
        (&[("b3", "d")], 1),
        (&[("X-B3-Sampled", "0")], 0),
        (&[("X-B3-Sampled", "true")], 1),
        (&[("X-B3-Flags", "1"), ("X-B3-Sampled", "0")], 1),
    ] {
        let trial = sent_in(&["b3", "b3_multi"], fields);

        assert_eq!(trial.exchange.trace.unwrap().flags, flags, "{fields:?}");
        let single = forwarded(&trial, "b3");
        assert_eq!(single.len(), 1);
        assert_eq!(single[0].split('-').count(), 3, "no parent: {single:?}");
    }
}

// spec: PX-22
#[test]
fn what_is_no_b3_is_ignored_and_replaced() {
    let upper = B3_TRACE.to_uppercase();
    let zero = "0".repeat(32);
    for header in [
        "",
        "x",
        "-",
        "2",
        B3_TRACE,
        &format!("{B3_TRACE}-{B3_SPAN}-x"),
        &format!("{B3_TRACE}-{B3_SPAN}-1-short"),
        &format!("{B3_TRACE}-{B3_SPAN}-1-{B3_PARENT}-more"),
        &format!("{B3_TRACE}-0000000000000000-1"),
        &format!("{upper}-{B3_SPAN}-1"),
        &format!("{zero}-{B3_SPAN}-1"),
        &format!("{}-{B3_SPAN}-1", &B3_TRACE[1..]),
    ] {
        let trial = sent_in(&["b3"], &[("b3", header)]);

        let single = forwarded(&trial, "b3");
        assert_eq!(single.len(), 1, "{header}");
        assert!(single[0].starts_with(&trace_id(&trial)), "{header}");
        assert_ne!(trace_id(&trial), B3_TRACE, "{header}");
    }
    for fields in [
        &[("X-B3-TraceId", B3_TRACE)][..],
        &[("X-B3-SpanId", B3_SPAN)],
        &[
            ("X-B3-TraceId", B3_TRACE),
            ("X-B3-TraceId", B3_TRACE),
            ("X-B3-SpanId", B3_SPAN),
        ],
        &[
            ("X-B3-TraceId", B3_TRACE),
            ("X-B3-SpanId", B3_SPAN),
            ("X-B3-Sampled", "maybe"),
        ],
    ] {
        let trial = sent_in(&["b3_multi"], fields);

        assert_ne!(trace_id(&trial), B3_TRACE, "{fields:?}");
        assert_eq!(forwarded(&trial, "x-b3-traceid"), [trace_id(&trial)]);
        assert!(forwarded(&trial, "x-b3-parentspanid").is_empty());
    }
}

#[test]
fn the_spelling_of_b3_that_is_not_written_goes_with_the_old_trace() {
    let trial = sent_in(
        &["b3"],
        &[("X-B3-TraceId", B3_TRACE), ("X-B3-SpanId", B3_SPAN)],
    );

    assert!(forwarded(&trial, "x-b3-traceid").is_empty());
    assert!(forwarded(&trial, "x-b3-spanid").is_empty());
}

// spec: OB-45, PX-22
#[test]
fn a_trace_of_sky_walking_goes_on_under_its_name() {
    let trial = sent_in(&["sw8", "w3c"], &[("sw8", SW8)]);

    assert_eq!(trial.exchange.foreign_trace.as_deref(), Some(SW8_TRACE));
    let id = trace_id(&trial);
    let segment = format!("{id}.{}", span_id(&trial));
    assert_eq!(
        sw8(&trial),
        [
            "1",
            SW8_TRACE,
            &segment,
            "0",
            "edge",
            "edge-1",
            "/orders/{id}",
            "http"
        ]
    );
    assert!(forwarded(&trial, "traceparent")[0].contains(&id));
    let again = sent_in(&["sw8"], &[("sw8", SW8)]);
    assert_eq!(trace_id(&again), id, "the number follows from the name");
}

// spec: OB-45
#[test]
fn a_new_trace_begins_in_every_format_with_one_id() {
    let all = ["w3c", "b3", "b3_multi", "sw8"];
    let trial = sent_in(&all, &[("Host", "api.example.com")]);

    let id = trace_id(&trial);
    assert_eq!(sw8(&trial)[1], id);
    assert_eq!(sw8(&trial)[7], "api.example.com");
    assert_eq!(forwarded(&trial, "x-b3-traceid"), [&*id]);
    assert!(forwarded(&trial, "b3")[0].starts_with(&id));
    assert!(forwarded(&trial, "traceparent")[0].contains(&id));
    assert_eq!(trial.exchange.foreign_trace, None);
}

#[test]
fn a_name_of_sky_walking_that_is_a_number_stays_one() {
    for name in [B3_TRACE, "80f198ee-5634-3ba8-64fe-8b2a57d3eff7"] {
        let mut parts: Vec<_> = SW8.split('-').map(ToOwned::to_owned).collect();
        parts[1] = STANDARD.encode(name);
        let trial = sent_in(&["sw8"], &[("sw8", &parts.join("-"))]);

        assert_eq!(trace_id(&trial), B3_TRACE);
        assert_eq!(sw8(&trial)[1], name);
    }
}

// spec: PX-22
#[test]
fn what_is_no_sw8_is_ignored_and_replaced() {
    let change = |place: usize, field: &str| {
        let mut parts: Vec<_> = SW8.split('-').collect();
        parts[place] = field;
        parts.join("-")
    };
    let control = STANDARD.encode("a\r\nb");
    for header in [
        "",
        "1",
        &change(0, "2"),
        &change(1, ""),
        &change(1, "%%%"),
        &change(1, &control),
        &change(1, &STANDARD.encode("x".repeat(257))),
        &change(2, ""),
        &change(3, "-1"),
        &change(3, "x"),
        &change(4, ""),
        &change(7, ""),
        &format!("{SW8}-more"),
        &SW8[..SW8.rfind('-').unwrap()],
        &change(6, &STANDARD.encode("x".repeat(2000))),
    ] {
        let trial = sent_in(&["sw8"], &[("sw8", header)]);

        assert_eq!(trial.exchange.foreign_trace, None, "{header}");
        assert_eq!(sw8(&trial)[1], trace_id(&trial), "{header}");
    }
}

// spec: PX-22
#[test]
fn the_first_format_that_is_there_is_the_trace() {
    let header = format!("{B3_TRACE}-{B3_SPAN}-1");
    let fields = [
        ("traceparent", PARENT),
        ("tracestate", "a=1"),
        ("b3", &*header),
        ("sw8", SW8),
    ];
    let w3c = "4bf92f3577b34da6a3ce929d0e0e4736";

    let first = sent_in(&["w3c", "b3", "sw8"], &fields);
    let second = sent_in(&["b3", "w3c", "sw8"], &fields);
    let broken = sent_in(&["b3", "w3c"], &[("b3", "x"), fields[0], fields[1]]);

    assert_eq!(trace_id(&first), w3c);
    assert_eq!(forwarded(&first, "tracestate"), ["a=1"]);
    assert_eq!(trace_id(&second), B3_TRACE);
    assert!(
        forwarded(&second, "tracestate").is_empty(),
        "it belongs to another trace"
    );
    assert_eq!(trace_id(&broken), w3c);
    assert_eq!(forwarded(&broken, "tracestate"), ["a=1"]);
}

#[test]
fn formats_that_are_not_named_pass_as_they_came() {
    let trial = sent_in(&["w3c"], &[("b3", "x"), ("sw8", SW8)]);

    assert_eq!(forwarded(&trial, "b3"), ["x"]);
    assert_eq!(forwarded(&trial, "sw8"), [SW8]);
}
