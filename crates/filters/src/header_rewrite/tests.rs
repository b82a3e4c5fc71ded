//! Tests of `header_rewrite`.

use serde_json::{Value, json};
use sluicegate_core::Stage;

use super::*;
use crate::testing::{Trial, exchange, filter};
use crate::{Chain, FilterSpec, States};

fn passing(config: &Value, fields: &[(&str, &str)]) -> Vec<(String, String)> {
    let filter: HeaderRewrite = filter(config).unwrap();
    let mut trial = Trial::new(exchange("GET", "/", fields).unwrap());
    trial.request(&filter).unwrap().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let fields = trial.exchange.request.fields.iter();
    let mut fields: Vec<_> = fields
        .map(|(name, value)| (text(name), text(value)))
        .collect();
    fields.sort();
    fields
}

fn mistake(config: &Value) -> String {
    filter::<HeaderRewrite>(config).err().unwrap()
}

fn pair(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

#[test]
fn operations_run_in_the_documented_order() {
    let config = json!({"request": {
        "set": {"X-A": "new"},
        "append": {"X-B": "two", "X-A": "more"},
        "remove": ["x-gone"],
        "set_if_absent": {"X-B": "no", "X-C": "yes", "X-Gone": "back"},
    }});
    let fields = [("X-A", "old"), ("X-B", "one"), ("X-Gone", "1")];

    let expected = [
        pair("X-A", "more"),
        pair("X-A", "new"),
        pair("X-B", "one"),
        pair("X-B", "two"),
        pair("X-C", "yes"),
        pair("X-Gone", "back"),
    ];
    assert_eq!(passing(&config, &fields), expected);
}

#[test]
fn values_may_name_the_exchange() {
    let config = json!({"request": {"set": {"X-Route": "{route}", "X-Real": "{client_ip}"}}});

    let expected = [pair("X-Real", "192.0.2.1"), pair("X-Route", "orders")];
    assert_eq!(passing(&config, &[]), expected);
}

#[test]
fn an_answer_is_changed_on_its_way_back() {
    let filter: HeaderRewrite =
        filter(&json!({"response": {"set": {"X-Frame-Options": "DENY"}, "remove": ["Via"]}}))
            .unwrap();
    let mut trial = Trial::new(exchange("GET", "/", &[]).unwrap());
    let mut answer = Response::new(200);
    answer.head.fields.append("via", b"1.1 x").unwrap();

    trial.response(&filter, &mut answer).unwrap().unwrap();

    assert_eq!(answer.head.fields.get_str("X-Frame-Options"), Some("DENY"));
    assert!(!answer.head.fields.contains("Via"));
}

#[test]
fn framing_host_and_contradictions_are_refused() {
    let at = |config: &Value| mistake(config).split(": ").next().unwrap().to_owned();

    let set = |name: &str| json!({"request": {"set": {name: "x"}}});
    assert_eq!(at(&set("Content-Length")), "/request/set/Content-Length");
    assert_eq!(
        at(&set("transfer-encoding")),
        "/request/set/transfer-encoding"
    );
    assert!(mistake(&set("Host")).contains("the setting `host` of the upstream"));
    assert_eq!(
        at(&json!({"response": {"remove": ["Connection"]}})),
        "/response/remove/0"
    );
    let both = json!({"request": {"set": {"X-A": "1"}, "remove": ["x-a"]}});
    assert_eq!(at(&both), "/request/remove/0");
    assert!(mistake(&json!({})).contains("nothing is to be changed"));
}

#[test]
fn all_invalid_names_and_values_are_found_at_once() {
    let config = json!({"request": {
        "set": {"X Y": "1", "X-Ok": "a\r\nX-Forged: 1"},
        "remove": ["", "X-Ok2"],
        "sett": {},
    }});

    let found = mistake(&config);

    let pointers: Vec<_> = found
        .lines()
        .filter_map(|line| line.split(": ").next())
        .collect();
    for expected in [
        "/request/set/X Y",
        "/request/set/X-Ok",
        "/request/remove/0",
        "/request/sett",
    ] {
        assert!(pointers.contains(&expected), "{expected} in {found}");
    }
    assert_eq!(pointers.len(), 4, "{found}");
}

#[test]
fn an_unknown_placeholder_is_refused_at_its_place() {
    let found = mistake(&json!({"request": {"set": {"X-User": "{user}"}}}));

    assert!(
        found.starts_with("/request/set/X-User: there is no placeholder `{user}`"),
        "{found}"
    );
}

#[test]
fn the_phase_follows_what_is_changed() {
    let states = States::default();
    let phase = |config: Value, phase: Option<Phase>, stage| {
        let spec = FilterSpec {
            phase,
            ..FilterSpec::new("header_rewrite", config)
        };
        let chain = <Chain>::build(stage, &[spec], "test", &states);
        chain
            .map(|chain| chain.links()[0].phase)
            .map_err(|problems| problems[0].pointer.clone())
    };
    let request = || json!({"request": {"remove": ["X-A"]}});
    let response = || json!({"response": {"remove": ["X-A"]}});

    assert_eq!(phase(request(), None, Stage::Route), Ok(Phase::Rewrite));
    assert_eq!(phase(response(), None, Stage::Route), Ok(Phase::Respond));
    assert_eq!(phase(response(), None, Stage::Entry), Ok(Phase::Respond));
    assert_eq!(
        phase(request(), Some(Phase::Sanitize), Stage::Entry),
        Ok(Phase::Sanitize)
    );
    assert_eq!(phase(request(), None, Stage::Entry), Ok(Phase::Sanitize));
    assert_eq!(
        phase(request(), Some(Phase::Respond), Stage::Route),
        Err("/0/phase".to_owned())
    );
}
