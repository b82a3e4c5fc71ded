//! Header values in configurations, with placeholders.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use sluicegate_core::{Exchange, InvalidConfig};

use crate::template::{Escape, KNOWN, Template};

/// A header value: a template on one line. Values are filled in as they are: what stands in a
/// request is one line already.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct FieldValue(Template);

impl FieldValue {
    /// The value for this exchange; `buffer` is only used when there is something to fill in.
    pub fn of<'a>(&'a self, exchange: &Exchange, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        // A placeholder that stands for nothing may leave a space at an end.
        self.0.fill(exchange, Escape::Nothing, buffer).trim_ascii()
    }

    /// The value, when nothing is to be filled in.
    pub fn literal(&self) -> Option<&str> {
        self.0.literal()
    }

    /// The path parameters of the route that stand in it.
    pub fn params(&self) -> impl Iterator<Item = &str> {
        self.0.params()
    }

    /// Refuses placeholders where they could lead a client to another site.
    ///
    /// # Errors
    /// `name` is `Location` or `Refresh`, and something is to be filled in.
    pub fn check_name(&self, name: &str, pointer: &str) -> Result<(), InvalidConfig> {
        let leads = ["Location", "Content-Location", "Refresh"]
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known));
        if leads && self.literal().is_none() {
            let message = format!(
                "`{name}` cannot have placeholders here: a client could choose where it leads"
            );
            return Err(InvalidConfig::new(pointer, message)
                .expecting("a fixed value, or the route's own `redirect`"));
        }
        Ok(())
    }
}

impl TryFrom<String> for FieldValue {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.bytes().any(|b| b != b'\t' && b.is_ascii_control()) {
            return Err("a header value cannot have control characters".to_owned());
        }
        if text.trim() != text {
            return Err("a header value neither begins nor ends with a space".to_owned());
        }
        Template::parse(&text)
            .map(Self)
            .map_err(crate::template::BadTemplate::into_sentence)
    }
}

impl JsonSchema for FieldValue {
    fn schema_name() -> Cow<'static, str> {
        "FieldValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let known = KNOWN.map(|known| format!("{{{known}}}")).join(", ");
        json_schema!({
            "type": "string",
            "pattern": r"^[^\x00-\x08\x0a-\x1f\x7f]*$",
            "description": format!("Text; {known} stand for the exchange's own."),
            "examples": ["DENY"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::exchange;

    #[test]
    fn a_value_is_one_line_without_space_around_it() {
        for bad in ["a\r\nb", "\0", " a", "a ", "{user}"] {
            assert!(FieldValue::try_from(bad.to_owned()).is_err(), "{bad:?}");
        }
        let value = FieldValue::try_from("by {header.X-A}".to_owned()).unwrap();
        let exchange = exchange("GET", "/", &[]).unwrap();

        assert_eq!(value.of(&exchange, &mut Vec::new()), b"by");
    }

    #[test]
    fn no_placeholder_leads_a_client_elsewhere() {
        let value = FieldValue::try_from("{path}".to_owned()).unwrap();

        assert!(value.check_name("location", "/set/location").is_err());
        assert!(value.check_name("X-Path", "").is_ok());
    }
}
