//! Secrets in configurations: references in the document, values in the filter.

use std::collections::HashMap;

use serde_json::Value;
use sluicegate_core::InvalidConfig;

/// The values by their references; none when somebody only looks at a document.
pub type Secrets = HashMap<String, Vec<u8>>;

/// Puts values where the schema says that a reference stands.
///
/// # Errors
/// A reference that has no value, or one that is not text.
pub(crate) fn resolved(
    config: &Value,
    schema: &Value,
    secrets: &Secrets,
) -> Result<Value, InvalidConfig> {
    let mut config = config.clone();
    walk(&mut config, schema, schema, secrets, "")?;
    Ok(config)
}

fn walk(
    value: &mut Value,
    part: &Value,
    schema: &Value,
    secrets: &Secrets,
    at: &str,
) -> Result<(), InvalidConfig> {
    if let Some(name) = part.get("$ref").and_then(Value::as_str) {
        let name = name.rsplit('/').next().unwrap_or_default();
        let Some(part) = schema.get("$defs").and_then(|defs| defs.get(name)) else {
            return Ok(());
        };
        return walk(value, part, schema, secrets, at);
    }
    let choices = ["anyOf", "oneOf"]
        .into_iter()
        .filter_map(|key| part.get(key).and_then(Value::as_array));
    for choice in choices.flatten() {
        walk(value, choice, schema, secrets, at)?;
    }
    match value {
        Value::String(reference)
            if part.get("format").and_then(Value::as_str) == Some("secret") =>
        {
            let Some(found) = secrets.get(reference) else {
                return Err(InvalidConfig::new(at, "this secret has no value"));
            };
            *reference = String::from_utf8(found.clone())
                .map_err(|_| InvalidConfig::new(at, "this secret is not text"))?;
        }
        Value::Object(members) => {
            for (key, below) in members {
                let known = part.get("properties").and_then(|known| known.get(key));
                if let Some(part) = known.or_else(|| part.get("additionalProperties")) {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    walk(below, part, schema, secrets, &format!("{at}/{key}"))?;
                }
            }
        }
        Value::Array(items) => {
            if let Some(part) = part.get("items") {
                for (index, below) in items.iter_mut().enumerate() {
                    walk(below, part, schema, secrets, &format!("{at}/{index}"))?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;
    use sluicegate_core::Secret;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only the schema counts")]
    struct Config {
        name: String,
        key: Option<Secret>,
        more: Vec<Secret>,
    }

    #[test]
    fn only_secrets_are_replaced() {
        let schema = schemars::schema_for!(Config).to_value();
        let secrets = Secrets::from([("env:A".to_owned(), b"value".to_vec())]);
        let config = json!({"name": "env:A", "key": "env:A", "more": ["env:A"]});

        let found = resolved(&config, &schema, &secrets).unwrap();
        let missing = resolved(&json!({"more": ["env:A", "env:B"]}), &schema, &secrets);

        assert_eq!(
            found,
            json!({"name": "env:A", "key": "value", "more": ["value"]})
        );
        assert_eq!(missing.unwrap_err().pointer, "/more/1");
    }
}
