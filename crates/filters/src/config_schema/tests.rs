//! Tests of the messages about configurations.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use sluicegate_core::Span;

use super::*;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Config {
    rate: u32,
    every: Span,
    #[serde(default)]
    key: Key,
    inner: Option<Inner>,
    #[serde(default)]
    list: Vec<Inner>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Key {
    /// The address.
    #[default]
    Address,
    /// The user.
    User,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Inner {
    name: String,
}

fn mistakes(config: &Value) -> Vec<InvalidConfig> {
    ConfigSchema::of::<Config>()
        .read::<Config>(config)
        .unwrap_err()
}

#[test]
fn a_sound_configuration_is_read() {
    let config = json!({"rate": 1, "every": "1s", "key": "user", "inner": {"name": "a"}});

    assert!(ConfigSchema::of::<Config>().read::<Config>(&config).is_ok());
}

#[test]
fn all_mistakes_are_found_at_once() {
    let found = mistakes(
        &json!({"every": 5, "key": "adress", "inner": {"nam": "a"}, "list": [{"name": 1}]}),
    );

    let of = |pointer: &str| {
        let found = found.iter().filter(|mistake| mistake.pointer == pointer);
        found.map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(of(""), [": the field `rate` is missing"]);
    assert_eq!(of("/every"), ["/every: `5` has the wrong type"]);
    assert_eq!(of("/key"), ["/key: `adress` is not known here"]);
    assert_eq!(of("/inner"), ["/inner: the field `name` is missing"]);
    assert_eq!(of("/inner/nam"), ["/inner/nam: there is no field `nam`"]);
    assert_eq!(of("/list/0/name"), ["/list/0/name: `1` has the wrong type"]);
    assert_eq!(found.len(), 6, "{found:?}");
}

#[test]
fn a_mistake_says_what_would_be_right() {
    let found = mistakes(&json!({"rate": 1, "every": "5", "key": "adress", "inner": 3}));

    let by = |pointer: &str| {
        found
            .iter()
            .find(|mistake| mistake.pointer == pointer)
            .unwrap()
    };
    assert_eq!(by("/every").expected.as_deref(), Some("text such as 250ms"));
    assert_eq!(
        by("/key").expected.as_deref(),
        Some("one of: address, user")
    );
    assert_eq!(by("/key").suggestion.as_deref(), Some("address"));
    assert_eq!(by("/inner").message, "`3` has the wrong type");
}

#[test]
fn what_only_the_parser_sees_has_its_place() {
    let found = mistakes(&json!({"rate": 1, "every": "99999999999999999999s"}));

    assert_eq!(found.len(), 1);
    assert_eq!(found[0].pointer, "/every");
}

#[test]
fn pointers_are_escaped() {
    let found = mistakes(&json!({"rate": 1, "every": "1s", "a/b~c": 1}));

    assert_eq!(found[0].pointer, "/a~1b~0c");
}
