//! Header names in configurations.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use sluicegate_core::InvalidConfig;

/// A header name as the user wrote it: a token (RFC 9110 §5.6.2). Compared without regard to case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct HeaderName(Box<str>);

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
        Self(name.into())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is(&self, other: &str) -> bool {
        self.0.eq_ignore_ascii_case(other)
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
        let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        if text.is_empty() || !text.bytes().all(is_token) {
            return Err(format!("`{}` is not a header name", text.escape_debug()));
        }
        Ok(Self(text.into()))
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
