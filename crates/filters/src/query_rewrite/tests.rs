//! Tests of `query_rewrite`.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::testing::{Trial, exchange, filter};

fn passed(config: &Value, target: &str) -> String {
    let filter: QueryRewrite = filter(config).unwrap();
    let mut exchange = exchange("GET", target, &[("X-T", "a&b c")]).unwrap();
    exchange.params = [("id", "7")].into_iter().collect();
    let mut trial = Trial::new(exchange);
    trial.request(&filter).unwrap().unwrap();
    trial.exchange.request.target().to_owned()
}

#[test]
fn each_operation_touches_its_own_parameters_only() {
    for (config, target, expected) in [
        (
            json!({"set": {"a": "x y"}}),
            "/?b=+&a=1&c=%20&a=2",
            "/?b=+&a=x%20y&c=%20",
        ),
        (json!({"set": {"a": "1"}}), "/", "/?a=1"),
        (json!({"set": {"a": "1"}}), "/?", "/?a=1"),
        (json!({"add": {"a": "2"}}), "/?a=1", "/?a=1&a=2"),
        (json!({"remove": ["a"]}), "/?a=1&b&%61=2&a", "/?b"),
        (json!({"remove": ["a b"]}), "/?a+b=1&a%20b&x", "/?x"),
        (json!({"remove": ["a"]}), "/?a=1", "/"),
        (json!({"remove": ["a"]}), "/?b=%zz&&=&+", "/?b=%zz&&=&+"),
        (
            json!({"keep_only": ["a", "c"]}),
            "/?b=1&c=+&a=%2f&d",
            "/?c=+&a=%2f",
        ),
        (
            json!({"rename": {"a": "n m"}}),
            "/?a=%2f&b=a&a",
            "/?n%20m=%2f&b=a&n%20m",
        ),
        (
            json!({"set": {"t": "{header.X-T}", "i": "{param.id}"}}),
            "/",
            "/?i=7&t=a%26b%20c",
        ),
        (
            json!({"keep_only": ["a"], "rename": {"a": "b"}, "set": {"c": ""}, "add": {"b": "2"}}),
            "/?a=1&z",
            "/?b=1&c=&b=2",
        ),
    ] {
        assert_eq!(passed(&config, target), expected, "{config} {target}");
    }
}

#[test]
fn a_contradiction_is_named() {
    for (config, says) in [
        (json!({}), "too few"),
        (
            json!({"remove": ["a"], "set": {"a": "1"}}),
            "removed and written",
        ),
        (json!({"keep_only": []}), "removes every"),
        (json!({"rename": {"a": "b", "b": "c"}}), "renamed itself"),
        (json!({"rename": {"a": "c", "b": "c"}}), "two parameters"),
        (json!({"set": {"a": "{rout}"}}), "{route}"),
        (json!({"remove": [""]}), "/remove/0"),
    ] {
        let mistake = filter::<QueryRewrite>(&config).err().unwrap();
        assert!(mistake.contains(says), "{mistake}");
    }
}

proptest! {
    /// What no operation names is forwarded byte for byte, in its order.
    #[test]
    fn the_rest_stays_as_it_is(query in "[a-e+%&=./-]{1,20}") {
        let target = format!("/?{query}");
        let config = json!({"remove": ["zz"], "rename": {"yy": "xx"}});

        prop_assert_eq!(passed(&config, &target), target);
    }
}
