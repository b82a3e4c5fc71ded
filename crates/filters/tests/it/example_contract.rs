//! The example filter in a chain: effect, permit, reload, and the look that changes nothing.

use serde_json::json;
use sluicegate_core::{DryEffects, Intent, Outcome, Problem, Response, Stage};
use sluicegate_filters::{
    Chain, FilterSpec, States, Table,
    testing::{Trial, exchange},
};

use crate::example;

// One row makes a table: what `lib.rs` does for the built-in filters.
sluicegate_filters::filters! {
    example::Greeting,
}

fn chain(at_once: u32, states: &States) -> Chain<AnyFilter> {
    let spec = FilterSpec::new("greeting", json!({"at_once": at_once}));
    let built: Result<_, Vec<Problem>> =
        Chain::build(Stage::Route, &[spec], "route:orders", states);
    built.unwrap()
}

fn trial() -> Trial {
    let mut trial = Trial::new(exchange("GET", "/", &[]).unwrap());
    trial.effects = DryEffects::new().answering("greeting", "good morning");
    trial
}

/// Lets one request in; what it carries is alive until it is dropped.
fn enter(trial: &mut Trial, chain: &Chain<AnyFilter>) -> Result<AnyCarry, &'static str> {
    let filter = &chain.inbound()[0].filter;
    let mut carry = filter.carry();
    let verdict = trial.through(filter, &mut carry).unwrap();
    verdict.map(|_| carry).map_err(|reject| reject.code.name)
}

#[test]
fn it_waits_for_an_effect_and_uses_the_answer_on_the_way_back() {
    let chain = chain(1, &States::default());
    let mut trial = trial();
    let mut carry = enter(&mut trial, &chain).unwrap();
    let mut answer = Response::new(200);

    let filter = &chain.links()[0].filter;
    trial
        .back(filter, &mut carry, &mut answer)
        .unwrap()
        .unwrap();

    let greeting = answer.head.fields.get_str("X-Greeting");
    assert_eq!(greeting, Some("good morning"));
}

#[test]
fn it_holds_its_permit_until_the_body_has_ended() {
    let chain = chain(1, &States::default());
    let mut trial = trial();
    let mut carry = enter(&mut trial, &chain).unwrap();
    let filter = &chain.links()[0].filter;
    let mut answer = Response::new(200);
    trial
        .back(filter, &mut carry, &mut answer)
        .unwrap()
        .unwrap();

    // The head has gone, the body has not.
    assert_eq!(enter(&mut trial, &chain).err(), Some("too_many_greetings"));

    filter.on_done(&trial.exchange, carry, Outcome::Complete);
    assert!(enter(&mut trial, &chain).is_ok());
}

#[test]
fn a_client_that_leaves_gives_the_permit_back() {
    let chain = chain(1, &States::default());
    let mut trial = trial();

    let carry = enter(&mut trial, &chain).unwrap();
    drop(carry);

    assert!(enter(&mut trial, &chain).is_ok());
}

#[test]
fn its_state_survives_a_reload_and_a_changed_configuration() {
    let states = States::default();
    let old = chain(1, &states);
    let mut trial = trial();
    let inside = enter(&mut trial, &old).unwrap();

    let new = chain(2, &states);
    states.retire(std::time::Duration::from_hours(1));

    // One place of two is still taken by the exchange that entered the old chain.
    let second = enter(&mut trial, &new).unwrap();
    assert_eq!(enter(&mut trial, &new).err(), Some("too_many_greetings"));
    drop((inside, second));
    assert!(enter(&mut trial, &new).is_ok());
}

#[test]
fn a_look_leaves_its_state_alone_and_sees_the_truth() {
    let states = States::default();
    let chain = chain(1, &states);
    let mut trial = trial();
    let before = format!("{states:?}");

    trial.intent = Intent::Peek;
    let mut carry = enter(&mut trial, &chain).unwrap();
    let filter = &chain.links()[0].filter;
    let mut answer = Response::new(200);
    trial
        .back(filter, &mut carry, &mut answer)
        .unwrap()
        .unwrap();
    filter.on_done(&trial.exchange, carry, Outcome::Complete);
    assert_eq!(format!("{states:?}"), before);

    trial.intent = Intent::Commit;
    let _inside = enter(&mut trial, &chain).unwrap();
    let taken = format!("{states:?}");
    assert_ne!(taken, before);
    trial.intent = Intent::Peek;
    assert_eq!(enter(&mut trial, &chain).err(), Some("too_many_greetings"));
    assert_eq!(format!("{states:?}"), taken);
}

#[test]
fn its_row_follows_from_its_file() {
    let [row] = AnyFilter::rows().try_into().unwrap();

    assert_eq!(row.name, "greeting");
    assert_eq!(row.rejects[0].name, "too_many_greetings");
    assert_eq!(row.schema["properties"]["at_once"]["minimum"], json!(1));
    assert_eq!(row.phase, None, "`at_once` is required");
    assert!(row.docs.starts_with("Greets so many exchanges"));
}
