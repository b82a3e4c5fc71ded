//! Tests of `trace_context`; the cases follow the test suite of the W3C.

mod formats;

use serde_json::json;

use super::*;
use crate::testing::{Trial, exchange, filter};

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn sent(sample: f64, fields: &[(&str, &str)]) -> Trial {
    let filter: TraceContextFilter = filter(&json!({"sample": sample})).unwrap();
    let mut trial = Trial::new(exchange("GET", "/", fields).unwrap());
    trial.request(&filter).unwrap().unwrap();
    trial
}

fn sent_in(formats: &[&str], fields: &[(&str, &str)]) -> Trial {
    let config = json!({"propagators": formats, "service": "edge", "instance": "edge-1"});
    let filter: TraceContextFilter = filter(&config).unwrap();
    let mut trial = Trial::new(exchange("GET", "/", fields).unwrap());
    trial.request(&filter).unwrap().unwrap();
    trial
}

fn forwarded<'a>(trial: &'a Trial, name: &'a str) -> Vec<&'a str> {
    let values = trial.exchange.request.fields.get_all(name);
    values
        .map(|value| std::str::from_utf8(value).unwrap())
        .collect()
}

// spec: PL-28
// spec: OB-40
#[test]
fn a_request_without_a_trace_begins_one() {
    let trial = sent(1.0, &[("tracestate", "a=1")]);

    let trace = trial.exchange.trace.unwrap();
    let header = String::from_utf8(trace.to_header().to_vec()).unwrap();
    assert_eq!(forwarded(&trial, "traceparent"), [header]);
    assert_eq!(trace.flags, 1);
    assert!(forwarded(&trial, "tracestate").is_empty());
}

// spec: PL-28
#[test]
fn a_valid_trace_goes_on_with_a_span_of_our_own() {
    let trial = sent(0.0, &[("Traceparent", PARENT), ("tracestate", "a=1,b=2")]);

    let trace = trial.exchange.trace.unwrap();
    assert_eq!(trace.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_ne!(trace.span_id(), "00f067aa0ba902b7");
    assert_eq!(trace.flags, 1, "the client's mark is kept");
    assert_eq!(forwarded(&trial, "traceparent").len(), 1);
    assert_eq!(forwarded(&trial, "tracestate"), ["a=1,b=2"]);
}

#[test]
fn flags_that_nobody_knows_are_not_passed_on() {
    let parent = PARENT.replace("-01", "-ff");
    let trial = sent(0.0, &[("traceparent", &parent)]);

    assert_eq!(trial.exchange.trace.unwrap().flags, 3);
}

#[test]
fn an_invalid_trace_is_replaced_and_its_state_dropped() {
    for bad in [
        &[("traceparent", "00-0-0-00")][..],
        &[(
            "traceparent",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        )],
        &[("traceparent", PARENT), ("traceparent", PARENT)],
    ] {
        let mut fields = bad.to_vec();
        fields.push(("tracestate", "a=1"));

        let trial = sent(1.0, &fields);

        let trace = trial.exchange.trace.unwrap();
        assert_ne!(
            trace.trace_id(),
            "4bf92f3577b34da6a3ce929d0e0e4736",
            "{bad:?}"
        );
        assert_eq!(forwarded(&trial, "traceparent").len(), 1, "{bad:?}");
        assert!(forwarded(&trial, "tracestate").is_empty(), "{bad:?}");
    }
}

#[test]
fn states_on_several_lines_become_one() {
    let fields = [
        ("traceparent", PARENT),
        ("tracestate", "a=1"),
        ("tracestate", "b=2"),
    ];
    let trial = sent(1.0, &fields);

    assert_eq!(forwarded(&trial, "tracestate"), ["a=1,b=2"]);
}

#[test]
fn a_state_with_too_many_or_invalid_members_is_dropped() {
    let members = |count: usize| {
        let members: Vec<_> = (0..count).map(|index| format!("k{index}=1")).collect();
        members.join(",")
    };
    let state = |text: &str| {
        let trial = sent(1.0, &[("traceparent", PARENT), ("tracestate", text)]);
        forwarded(&trial, "tracestate").join("|")
    };

    assert_eq!(state(&members(32)), members(32));
    assert_eq!(state(&members(33)), "");
    for bad in ["a", "A=1", "a=", "=1", "a=b=c", "a=1;b=\u{e9}"] {
        assert_eq!(state(bad), "", "{bad}");
    }
}

#[test]
fn a_state_that_is_too_long_loses_long_members_first_and_then_the_oldest() {
    let long = format!("long={}", "x".repeat(200));
    let short = |name: &str| format!("{name}={}", "y".repeat(100));
    let state = [
        short("a"),
        long,
        short("b"),
        short("c"),
        short("d"),
        short("e"),
    ]
    .join(",");

    let trial = sent(1.0, &[("traceparent", PARENT), ("tracestate", &state)]);

    let kept = forwarded(&trial, "tracestate").join("");
    let names: Vec<_> = kept
        .split(',')
        .filter_map(|member| member.split('=').next())
        .collect();
    assert_eq!(names, ["a", "b", "c", "d"]);
    assert!(kept.len() <= 512);
}

#[test]
fn the_share_of_sampled_traces_is_the_one_asked_for() {
    let filter: TraceContextFilter = filter(&json!({"sample": 0.25})).unwrap();
    let mut trial = Trial::new(exchange("GET", "/", &[]).unwrap());

    let sampled = (0..4000).filter(|_| {
        trial.exchange.request.fields.remove("traceparent");
        trial.request(&filter).unwrap().unwrap();
        trial.exchange.trace.unwrap().flags == 1
    });

    let sampled = sampled.count();
    assert!((900..1100).contains(&sampled), "{sampled} of 4000");
}

#[test]
fn a_share_beyond_one_is_refused() {
    let mistake = crate::testing::filter::<TraceContextFilter>(&json!({"sample": 1.5}));

    assert_eq!(
        mistake.err().unwrap(),
        "/sample: `1.5` is out of range (at most 1.0)"
    );
}

#[test]
fn a_format_named_twice_is_refused() {
    let config = json!({"propagators": ["w3c", "b3", "w3c"]});
    let mistake = crate::testing::filter::<TraceContextFilter>(&config);

    assert_eq!(
        mistake.err().unwrap(),
        "/propagators/2: this format is named twice"
    );
}
