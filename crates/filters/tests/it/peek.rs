//! For every filter of the table: who only asks what would happen changes nothing.

use serde_json::{Value, json};
use sluicegate_core::{DryEffects, Exchange, Intent, Outcome, Response, Stage, codes};
use sluicegate_filters::{
    AnyFilter, Chain, FilterSpec, States, Table,
    testing::{Trial, exchange},
};

/// A configuration that makes the filter do something on both ways.
fn config(name: &str) -> Value {
    match name {
        "header_rewrite" => json!({
            "request": {"set": {"X-A": "{request_id}"}},
            "response": {"remove": ["Via"]},
        }),
        "path_rewrite" => json!({"strip_segments": 1}),
        "address_list" => json!({"deny": ["10.0.0.0/8"]}),
        "debug_headers" => json!({"networks": ["192.0.2.0/24"]}),
        "query_rewrite" => json!({"set": {"v": "2"}}),
        "host_rewrite" => json!({"host": "orders.internal"}),
        "validate" => json!({"methods": ["GET"]}),
        "cors" => json!({"origins": ["https://a.test"]}),
        "security_headers" => json!({"nosniff": true}),
        _ => json!({}),
    }
}

fn request() -> Exchange {
    exchange(
        "GET",
        "/svc/list/",
        &[("X-User-Id", "1"), ("Accept", "*/*")],
    )
    .unwrap()
}

/// The chain of one filter in the stage that takes it.
fn chain_of(name: &str, states: &States) -> Chain {
    let specs = [FilterSpec::new(name, config(name))];
    [Stage::Entry, Stage::Route]
        .into_iter()
        .find_map(|stage| Chain::build(stage, &specs, "test", states).ok())
        .unwrap_or_else(|| panic!("`{name}` needs a configuration in `config`"))
}

fn travel(trial: &mut Trial, chain: &Chain) {
    for link in chain.links() {
        let mut carry = link.filter.carry();
        // A verdict of any kind will do: it is the state that counts.
        let _ = trial.through(&link.filter, &mut carry);
        let mut answer = Response::new(200);
        let _ = trial.back(&link.filter, &mut carry, &mut answer);
        link.filter
            .on_done(&trial.exchange, carry, Outcome::Complete);
    }
}

#[test]
fn a_look_leaves_the_state_of_every_filter_alone_and_sends_nothing() {
    for row in AnyFilter::rows() {
        let states = States::default();
        let chain = chain_of(row.name, &states);
        // What real traffic has left behind must be left alone, too.
        travel(&mut Trial::new(request()), &chain);
        let before = format!("{states:?}");

        let mut look = Trial::new(request());
        look.intent = Intent::Peek;
        look.exchange.notes = Some(Vec::new());
        travel(&mut look, &chain);

        assert_eq!(format!("{states:?}"), before, "{}", row.name);
        assert_eq!(look.effects.take_events(), [], "{}", row.name);
    }
}

#[test]
fn the_same_look_has_the_same_answer() {
    for row in AnyFilter::rows() {
        let states = States::default();
        let chain = chain_of(row.name, &states);
        let seen = || {
            let mut look = Trial::new(request());
            look.effects = DryEffects::new();
            look.intent = Intent::Peek;
            look.exchange.notes = Some(Vec::new());
            travel(&mut look, &chain);
            let fields = look.exchange.request.fields.iter();
            let fields: Vec<_> = fields
                .map(|(name, value)| (name.to_vec(), value.to_vec()))
                .collect();
            (
                look.exchange.notes,
                look.exchange.request.path().to_owned(),
                fields,
            )
        };

        assert_eq!(seen(), seen(), "{}", row.name);
    }
}

// spec: ER-04
#[test]
fn every_reject_of_every_filter_is_one_row_of_the_reference() {
    let rows = AnyFilter::rows();
    let of_filters = rows.iter().flat_map(|row| row.rejects.iter().copied());
    let mut all: Vec<_> = codes::ALL.iter().copied().chain(of_filters).collect();
    all.sort_by_key(|code| code.name);
    // The same row may be given by several filters; another row of the same name may not.
    all.dedup_by(|one, other| std::ptr::eq(*one, *other));
    let mut names: Vec<_> = all.iter().map(|code| code.name).collect();
    names.dedup();

    assert_eq!(names.len(), all.len());
}
