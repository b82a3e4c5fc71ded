//! Header values in configurations, with placeholders.

use std::{borrow::Cow, io::Write, iter};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use sluicegate_core::Exchange;

/// A header value: text in which `{request_id}`, `{client_ip}` and `{route}` stand for the
/// exchange's own. Any other brace is a brace, so JSON may stand here; `{{route}}` is the text
/// `{route}`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct FieldValue(Form);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    Text(Box<[u8]>),
    Parts(Box<[Part]>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(Box<[u8]>),
    RequestId,
    ClientIp,
    Route,
}

const KNOWN: &str = "{request_id}, {client_ip}, {route}";

impl FieldValue {
    /// The value for this exchange; `buffer` is only used when there is something to fill in.
    pub(crate) fn of<'a>(&'a self, exchange: &Exchange, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        let parts = match &self.0 {
            Form::Text(text) => return text,
            Form::Parts(parts) => parts,
        };
        buffer.clear();
        for part in parts {
            part.write(exchange, buffer);
        }
        buffer
    }
}

impl Part {
    fn write(&self, exchange: &Exchange, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => out.extend_from_slice(text),
            Self::RequestId => {
                let id = exchange.request_id.as_ref();
                out.extend_from_slice(id.map_or("", |id| id.as_str()).as_bytes());
            }
            Self::ClientIp => {
                let written = write!(out, "{}", exchange.client);
                debug_assert!(written.is_ok(), "a vector takes all that is written");
            }
            Self::Route => {
                let route = exchange.route.as_ref();
                out.extend_from_slice(route.map_or("", |route| &route.id).as_bytes());
            }
        }
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
        let mut parts: Vec<Part> = Vec::new();
        let mut literal = String::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            literal.push_str(before);
            if let Some((word, tail)) = after.strip_prefix('{').and_then(placeholder)
                && let Some(tail) = tail.strip_prefix('}')
            {
                literal.extend(["{", word, "}"]);
                rest = tail;
            } else if let Some((word, tail)) = placeholder(after) {
                let part = known(word)?;
                parts.extend(
                    iter::once(std::mem::take(&mut literal))
                        .filter(|text| !text.is_empty())
                        .map(Part::from),
                );
                parts.push(part);
                rest = tail;
            } else {
                literal.push('{');
                rest = after;
            }
        }
        literal.push_str(rest);
        if parts.is_empty() {
            return Ok(Self(Form::Text(literal.into_bytes().into())));
        }
        if !literal.is_empty() {
            parts.push(literal.into());
        }
        Ok(Self(Form::Parts(parts.into())))
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::Text(text.into_bytes().into())
    }
}

/// The word before the next `}`, when it is one, and what follows.
fn placeholder(text: &str) -> Option<(&str, &str)> {
    let (word, tail) = text.split_once('}')?;
    let is_word = !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    is_word.then_some((word, tail))
}

fn known(word: &str) -> Result<Part, String> {
    match word {
        "request_id" => Ok(Part::RequestId),
        "client_ip" => Ok(Part::ClientIp),
        "route" => Ok(Part::Route),
        _ => Err(format!(
            "there is no placeholder `{{{word}}}`; known are {KNOWN}; write `{{{{{word}}}}}` for the text"
        )),
    }
}

impl JsonSchema for FieldValue {
    fn schema_name() -> Cow<'static, str> {
        "FieldValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": r"^[^\x00-\x08\x0a-\x1f\x7f]*$",
            "description": format!("Text; {KNOWN} stand for the exchange's own."),
            "examples": ["DENY"],
        })
    }
}

#[cfg(test)]
mod tests {
    use sluicegate_core::RequestId;

    use super::*;
    use crate::testing::exchange;

    fn rendered(text: &str) -> String {
        let value = FieldValue::try_from(text.to_owned()).unwrap();
        let mut exchange = exchange("GET", "/", &[]).unwrap();
        exchange.request_id = RequestId::parse(b"abc");
        let mut buffer = Vec::new();
        String::from_utf8(value.of(&exchange, &mut buffer).to_vec()).unwrap()
    }

    #[test]
    fn placeholders_are_filled_in() {
        assert_eq!(rendered("{route}"), "orders");
        assert_eq!(
            rendered("id={request_id}; for={client_ip}"),
            "id=abc; for=192.0.2.1"
        );
    }

    #[test]
    fn other_braces_are_text() {
        for text in [
            "",
            "plain",
            r#"{"group":"a","n":{"b":1}}"#,
            "{",
            "}{",
            "{Route}",
        ] {
            assert_eq!(rendered(text), text);
        }
        assert_eq!(rendered("{{route}} is {route}"), "{route} is orders");
    }

    #[test]
    fn a_placeholder_that_nobody_knows_is_refused() {
        let mistake = FieldValue::try_from("{user}".to_owned()).unwrap_err();

        assert!(mistake.contains("{request_id}"), "{mistake}");
        for bad in ["a\r\nb", "\0", " a", "a "] {
            assert!(FieldValue::try_from(bad.to_owned()).is_err(), "{bad:?}");
        }
    }
}
