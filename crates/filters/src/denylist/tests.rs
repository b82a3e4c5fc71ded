//! Who is on the list, for how long, and what a change may not do.

use serde_json::json;
use sluicegate_core::{Principal, Stage};

use super::*;
use crate::{
    Chain, FilterSpec, States, Table,
    testing::{Trial, exchange, filter},
};

const NOW: Duration = Duration::from_secs(1_000);

fn denylist(config: &Value, event: &Value) -> Denylist {
    let filter: Denylist = filter(config).unwrap();
    Denylist::told(&filter.denied, event, NOW).unwrap();
    filter
}

fn trial(client: &str, fields: &[(&str, &str)]) -> Trial {
    let mut trial = Trial::new(exchange("GET", "/", fields).unwrap());
    trial.exchange.client = client.parse().unwrap();
    trial.effects = sluicegate_core::DryEffects::new().at(NOW);
    trial
}

fn passes(filter: &Denylist, client: &str) -> bool {
    trial(client, &[]).request(filter).unwrap().is_ok()
}

// spec: SE-26
#[test]
fn addresses_and_networks_of_the_list_stay_out() {
    let event = json!({"set": [
        {"address": "192.0.2.7"}, {"address": "10.0.0.0/8"}, {"address": "10.1.0.0/16"},
        {"address": "2001:db8::7"}, {"address": "2001:db8:1::/48"},
    ]});
    let filter = denylist(&json!({}), &event);

    for (client, is_in) in [
        ("192.0.2.7", false),
        ("192.0.2.8", true),
        ("10.1.2.3", false),
        ("10.200.2.3", false),
        ("::ffff:10.1.2.3", false),
        ("2001:db8::ffff", false),
        ("2001:db8:0:1::7", true),
        ("2001:db8:1:ffff::1", false),
        ("::a01:203", true),
    ] {
        assert_eq!(passes(&filter, client), is_in, "{client}");
    }
}

// spec: SE-26
#[test]
fn devices_users_and_apps_of_the_list_stay_out() {
    let config = json!({"by": ["device", "user", "app"]});
    let event = json!({"set": [{"device": "d-1"}, {"user": "u-1"}, {"app": "a-1"}]});
    let filter = denylist(&config, &event);
    let is_let_in = |device: &[(&str, &str)], user: Option<&str>, app: Option<&str>| {
        let mut trial = trial("192.0.2.1", device);
        trial.exchange.principal = Some(Principal {
            user: user.map(Into::into),
            app: app.map(Into::into),
        });
        trial.request(&filter).unwrap().is_ok()
    };

    assert!(is_let_in(&[], None, None));
    assert!(is_let_in(
        &[("X-Device-Id", "d-2")],
        Some("a-1"),
        Some("u-1")
    ));
    assert!(!is_let_in(&[("x-device-id", "d-1")], None, None));
    assert!(!is_let_in(
        &[("X-Device-Id", "d-2"), ("X-Device-Id", "d-1")],
        None,
        None
    ));
    assert!(!is_let_in(&[], Some("u-1"), None));
    assert!(!is_let_in(&[], None, Some("a-1")));
    assert!(
        passes(&filter, "192.0.2.1"),
        "nobody has been authenticated"
    );
}

// spec: SE-26
#[test]
fn an_entry_counts_until_its_end() {
    let event = json!({"set": [
        {"address": "192.0.2.1", "until": 1010}, {"address": "192.0.2.2", "until": 999.5},
        {"address": "192.0.2.3"},
    ]});
    let filter = denylist(&json!({}), &event);

    let mut first = trial("192.0.2.1", &[]);
    assert!(first.request(&filter).unwrap().is_err());
    first.effects.advance(Duration::from_secs(10));
    assert!(first.request(&filter).unwrap().is_ok());
    assert!(passes(&filter, "192.0.2.2"), "it had ended before");
    assert!(!passes(&filter, "192.0.2.3"));
}

#[test]
fn entries_come_and_go_one_by_one() {
    let filter = denylist(&json!({}), &json!({"add": [{"address": "192.0.2.1"}]}));
    let tell = |event: Value| Denylist::told(&filter.denied, &event, NOW).unwrap();

    tell(json!({"add": [{"address": "192.0.2.2"}]}));
    assert!(!passes(&filter, "192.0.2.1") && !passes(&filter, "192.0.2.2"));
    tell(json!({"remove": [{"address": "192.0.2.1/32"}]}));
    assert!(passes(&filter, "192.0.2.1") && !passes(&filter, "192.0.2.2"));
    tell(json!({"set": [{"address": "192.0.2.3"}]}));
    assert!(passes(&filter, "192.0.2.2") && !passes(&filter, "192.0.2.3"));
    tell(json!({"set": []}));
    assert!(passes(&filter, "192.0.2.3"));
}

#[test]
fn the_later_end_of_an_entry_counts() {
    let event = json!({"set": [
        {"address": "192.0.2.1"}, {"address": "192.0.2.1", "until": 1010},
    ]});
    let filter = denylist(&json!({}), &event);

    let mut later = trial("192.0.2.1", &[]);
    later.effects.advance(Duration::from_secs(1_000_000));

    assert!(later.request(&filter).unwrap().is_err());
}

// spec: SE-26
#[test]
fn a_change_with_a_mistake_changes_nothing_and_says_where() {
    let filter = denylist(&json!({}), &json!({"set": [{"address": "192.0.2.1"}]}));
    for (event, pointer, why) in [
        (
            json!({"set": [{"address": "192.0.2.9"}, {"address": "10.0.0.1/8"}, {"user": ""}]}),
            "/set/1",
            "10.0.0.0/8 (1 more",
        ),
        (
            json!({"add": [{"address": "example.com"}]}),
            "/add/0",
            "no address",
        ),
        (
            json!({"add": [{"user": "a", "app": "b"}]}),
            "/add/0",
            "one of",
        ),
        (
            json!({"add": [{"user": "a", "until": -1}]}),
            "/add/0",
            "since 1970",
        ),
        (
            json!({"add": [{"adress": "192.0.2.9"}]}),
            "/add/0",
            "adress",
        ),
        (json!({"add": "192.0.2.9"}), "/add", "no list"),
        (json!({"deny": []}), "/deny", "no change `deny`"),
        (json!({}), "", "changes nothing"),
        (json!(["192.0.2.9"]), "", "changes nothing"),
    ] {
        let mistake = Denylist::told(&filter.denied, &event, NOW).unwrap_err();
        assert_eq!(mistake.pointer, pointer, "{event}");
        assert!(mistake.message.contains(why), "{mistake}");
        assert!(
            !passes(&filter, "192.0.2.1") && passes(&filter, "192.0.2.9"),
            "{event}"
        );
    }
}

// spec: SE-26
#[test]
fn a_full_list_refuses_the_change_and_drops_nobody() {
    let config = json!({"max": 2});
    let event = json!({"set": [
        {"address": "192.0.2.1"}, {"address": "192.0.2.2", "until": 1005},
    ]});
    let filter = denylist(&config, &event);
    let add = json!({"add": [{"address": "192.0.2.3"}]});

    let full = Denylist::told(&filter.denied, &add, NOW).unwrap_err();
    assert!(full.message.contains("3 entries"), "{full}");
    assert!(full.expected.unwrap().contains("at most 2"));
    assert!(!passes(&filter, "192.0.2.1") && passes(&filter, "192.0.2.3"));

    let later = NOW + Duration::from_secs(5);
    Denylist::told(&filter.denied, &add, later).expect("one has ended");
    assert!(!passes(&filter, "192.0.2.3"));
}

#[test]
fn chains_with_one_id_look_at_one_list() {
    let states = States::default();
    let chain = |stage, scope: &str, config: Value| -> Chain {
        Chain::build(
            stage,
            &[FilterSpec::new("denylist", config)],
            scope,
            &states,
        )
        .unwrap()
    };
    let chains = [
        chain(Stage::Entry, "entry", json!({})),
        chain(Stage::Route, "route:a", json!({"by": ["user"]})),
        chain(Stage::Route, "route:b", json!({"by": ["address"]})),
    ];

    let event = json!({"set": [{"address": "192.0.2.1"}, {"user": "u-1"}]});
    let told = states.tell("denylist", "denylist", &event, NOW);

    assert_eq!(told, Ok(1));
    for chain in &chains {
        let mut trial = trial("192.0.2.1", &[]);
        trial.exchange.principal = Some(Principal {
            user: Some("u-1".into()),
            app: None,
        });
        let link = chain.links().first().unwrap();
        let verdict = trial.through(&link.filter, &mut link.filter.carry());
        assert_eq!(verdict.unwrap().unwrap_err().code.name, "caller_denied");
    }
}

#[test]
fn who_is_on_the_list_shows_in_an_explanation_and_not_in_the_answer() {
    let filter = denylist(&json!({}), &json!({"set": [{"address": "192.0.2.0/24"}]}));
    let mut trial = trial("192.0.2.9", &[]);
    trial.exchange.notes = Some(Vec::new());

    let reject = trial.request(&filter).unwrap().unwrap_err();

    assert_eq!(reject.code.status, 403);
    assert_eq!(
        trial.exchange.notes.unwrap(),
        ["address 192.0.2.0/24 is on the list"]
    );
}

#[test]
fn a_hundred_thousand_entries_are_no_burden() {
    let entries: Vec<_> = (0_u32..100_000)
        .map(|index| json!({"address": std::net::Ipv4Addr::from_bits(index * 40_000).to_string()}))
        .collect();
    let filter = denylist(&json!({}), &json!({"set": entries}));

    assert!(!passes(&filter, "0.0.156.64"));
    assert!(passes(&filter, "0.0.156.65"));
}
