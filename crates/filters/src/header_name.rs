//! Header names in configurations.

use std::{borrow::Cow, cmp::Ordering};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use sluicegate_core::InvalidConfig;
use sluicegate_http1::FieldName;

/// A header name as the user wrote it: a token (RFC 9110 §5.6.2). Compared without regard to case.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct HeaderName(FieldName);

impl Ord for HeaderName {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl PartialOrd for HeaderName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Fields that describe one connection or one message on it; HTTP/1.1 framing hangs on them.
const FRAMING: [&str; 11] = [
    "Connection",
    "Content-Length",
    "Expect",
    "Keep-Alive",
    "Proxy-Authenticate",
    "Proxy-Authorization",
    "Proxy-Connection",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
];

impl HeaderName {
    /// A name of our own, for defaults.
    pub(crate) fn known(name: &'static str) -> Self {
        Self(FieldName::of_ours(name))
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// For edits, which need not check it again.
    pub(crate) fn field(&self) -> &FieldName {
        &self.0
    }

    pub(crate) fn is(&self, other: &str) -> bool {
        self.as_str().eq_ignore_ascii_case(other)
    }

    /// Refuses the names that only the engine may write; `pointer` is where this one stands.
    ///
    /// # Errors
    /// The name frames messages or connections, or is `Host`.
    pub(crate) fn check_writable(&self, pointer: &str) -> Result<(), InvalidConfig> {
        let name = self.as_str();
        if self.is("Host") {
            let message = format!("`{name}` is not a filter's to change");
            return Err(InvalidConfig::new(pointer, message)
                .expecting("the filter `host_rewrite`, or the setting `host` of the upstream"));
        }
        if FRAMING.iter().any(|framing| self.is(framing)) {
            let message =
                format!("`{name}` frames the message or its connection; the engine writes it");
            return Err(InvalidConfig::new(pointer, message).expecting("another header"));
        }
        Ok(())
    }
}

impl TryFrom<String> for HeaderName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        FieldName::new(&text)
            .map(Self)
            .map_err(|_| format!("`{}` is not a header name", text.escape_debug()))
    }
}

impl JsonSchema for HeaderName {
    fn schema_name() -> Cow<'static, str> {
        "HeaderName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
            "examples": ["X-Request-Id"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_token() {
        assert!(HeaderName::try_from("X-Request-Id".to_owned()).is_ok());
        for bad in ["", "X Y", "X:", "X\r\n", "Größe"] {
            assert!(HeaderName::try_from(bad.to_owned()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn framing_and_host_are_not_a_filters_to_change() {
        for bad in [
            "content-length",
            "TRANSFER-ENCODING",
            "Connection",
            "upgrade",
            "host",
        ] {
            let name = HeaderName::try_from(bad.to_owned()).unwrap();
            assert!(name.check_writable("").is_err(), "{bad}");
        }
    }
}
