//! A value that nobody may see.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// A secret of a configuration: a reference in the document, its value in the running filter.
/// It is never shown.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct Secret(Box<[u8]>);

impl Secret {
    /// Whether `other` is the same; takes as long for a wrong value as for the right one of its length.
    pub fn is(&self, other: &[u8]) -> bool {
        let differing = self
            .0
            .iter()
            .zip(other)
            .fold(0, |differing, (a, b)| differing | (a ^ b));
        self.0.len() == other.len() && std::hint::black_box(differing) == 0
    }

    /// The value itself.
    pub fn reveal(&self) -> &[u8] {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text.into_bytes().into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl JsonSchema for Secret {
    fn schema_name() -> Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": "secret",
            "description": "A reference to a secret: `file:/path` or `env:NAME`.",
            "examples": ["env:DEBUG_KEY"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_compared_and_never_shown() {
        let secret = Secret::from("hunter2".to_owned());

        assert!(secret.is(b"hunter2"));
        assert!(!secret.is(b"hunter3") && !secret.is(b"hunter") && !secret.is(b""));
        assert_eq!(format!("{secret:?}"), "***");
    }
}
