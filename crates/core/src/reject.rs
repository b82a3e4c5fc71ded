//! The gateway answers with an error itself.

use std::{borrow::Cow, time::Duration};

use serde::Serialize;
use sluicegate_http1::InvalidField;

/// One row of the error reference: a stable code with its default status and text.
///
/// The set of codes is closed per release (ER-04); status, title and detail may be overridden by
/// configuration. A filter declares its own codes in its own file.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Code {
    /// The stable word, such as `no_route`.
    #[serde(rename = "code")]
    pub name: &'static str,
    /// The default status.
    pub status: u16,
    /// A short text for people.
    pub title: &'static str,
    /// What a client can do about it; never an internal name, address or token.
    pub detail: &'static str,
    /// Which family of refusals it counts for (OB-20).
    pub reason: &'static str,
}

/// This request is refused: one code, and what only the log may know.
#[derive(Debug)]
pub struct Reject {
    /// The row of the error reference.
    pub code: &'static Code,
    /// Why, for the log; the client never sees it.
    pub cause: Option<Cow<'static, str>>,
    /// When it makes sense to come again (`Retry-After`).
    pub retry_after: Option<Duration>,
    /// Fields the answer carries besides (`Allow`, `WWW-Authenticate`, `RateLimit`).
    pub fields: Vec<(&'static str, String)>,
    /// The client's connection cannot be used after this answer.
    pub closes: bool,
}

impl Reject {
    /// A reject with nothing more to say.
    pub const fn new(code: &'static Code) -> Self {
        Self {
            code,
            cause: None,
            retry_after: None,
            fields: Vec::new(),
            closes: false,
        }
    }

    /// Adds the cause for the log.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Cow<'static, str>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Adds a field to the answer.
    #[must_use]
    pub fn with_field(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// Adds `Retry-After`.
    #[must_use]
    pub const fn retry_after(mut self, span: Duration) -> Self {
        self.retry_after = Some(span);
        self
    }

    /// Ends the client's connection after the answer.
    #[must_use]
    pub const fn closing(mut self) -> Self {
        self.closes = true;
        self
    }
}

impl From<InvalidField> for Reject {
    /// A filter tried to write a field that HTTP forbids: what it wrote came from the request, so it is the request's fault.
    fn from(_: InvalidField) -> Self {
        Self::new(&codes::BAD_REQUEST)
            .because("a value of the request cannot stand in a header field")
    }
}

/// The codes of the engine itself; filters declare theirs beside their logic.
pub mod codes {
    use super::Code;

    /// Declares the codes and the list of all of them in one place.
    macro_rules! codes {
        ($($constant:ident = $name:literal $status:literal $reason:literal $title:literal $detail:literal;)*) => {
            $(
                #[doc = $title]
                pub static $constant: Code =
                    Code { name: $name, status: $status, title: $title, detail: $detail, reason: $reason };
            )*
            /// Every code of the engine, in the order of the reference.
            pub static ALL: &[&Code] = &[$(&$constant),*];
        };
    }

    codes! {
        BAD_REQUEST = "bad_request" 400 "malformed"
            "Bad request" "The request is not valid HTTP or has characters that are not allowed.";
        BAD_PATH = "bad_path" 400 "malformed"
            "Bad path" "The path has an invalid escape, a control character or a backslash.";
        ENCODED_SLASH = "encoded_slash" 400 "malformed"
            "Encoded slash" "This address does not accept %2F in the path.";
        NO_ROUTE = "no_route" 404 "no_route"
            "Not found" "Nothing is published at this address.";
        METHOD_NOT_ALLOWED = "method_not_allowed" 405 "no_route"
            "Method not allowed" "This address does not accept the method; see the Allow field.";
        HEADER_TIMEOUT = "header_timeout" 408 "timeout"
            "Request header too slow" "The request header did not arrive in time.";
        BODY_TIMEOUT = "body_timeout" 408 "timeout"
            "Request body too slow" "The request body did not arrive in time.";
        BODY_TOO_LARGE = "body_too_large" 413 "size"
            "Body too large" "The request body is larger than this address accepts.";
        TARGET_TOO_LONG = "target_too_long" 414 "size"
            "Address too long" "The request target is longer than the gateway accepts.";
        EXPECTATION_FAILED = "expectation_failed" 417 "malformed"
            "Expectation failed" "The only expectation understood is 100-continue.";
        BAD_HANDSHAKE = "bad_handshake" 400 "malformed"
            "Bad handshake" "The request does not open a WebSocket connection as RFC 6455 says.";
        WEBSOCKET_VERSION = "websocket_version" 426 "malformed"
            "WebSocket version" "Only version 13 of WebSocket is understood; see the Sec-WebSocket-Version field.";
        HEADER_TOO_LARGE = "header_too_large" 431 "size"
            "Header too large" "The request header has more bytes or fields than the gateway accepts.";
        CLIENT_GONE = "client_gone" 499 "client_gone"
            "Client gone" "The client left before the answer was complete; only the log says so.";
        INTERNAL = "internal_error" 500 "internal"
            "Internal error" "The gateway could not handle the request.";
        NOT_IMPLEMENTED = "not_implemented" 501 "malformed"
            "Not implemented" "The method or transfer coding is not supported.";
        UPSTREAM_UNREACHABLE = "upstream_unreachable" 502 "upstream"
            "Upstream unreachable" "The service behind the gateway could not be reached.";
        UPSTREAM_BROKEN = "upstream_broken" 502 "upstream"
            "Upstream connection broken" "The service behind the gateway closed the connection before it answered.";
        UPSTREAM_MALFORMED = "upstream_malformed" 502 "upstream"
            "Upstream answer not valid" "The service behind the gateway gave an answer that is not valid HTTP.";
        NO_ENDPOINT = "no_endpoint" 503 "upstream"
            "No instance" "The service behind the gateway has no usable instance at the moment.";
        UPSTREAM_BUSY = "upstream_busy" 503 "overload"
            "Upstream busy" "All connections to the service behind the gateway are in use.";
        TOO_MANY_CONNECTIONS = "too_many_connections" 503 "overload"
            "Too many connections" "The gateway serves as many connections as it is allowed to.";
        TOO_MANY_WEBSOCKETS = "too_many_websockets" 503 "overload"
            "Too many WebSocket connections" "This address has as many WebSocket connections as it is allowed to.";
        BUFFER_EXHAUSTED = "buffer_exhausted" 503 "overload"
            "Buffers exhausted" "The gateway holds as many buffered bytes as it is allowed to.";
        UPSTREAM_CONNECT_TIMEOUT = "upstream_connect_timeout" 504 "timeout"
            "Upstream connect timeout" "The service behind the gateway did not accept the connection in time.";
        UPSTREAM_TIMEOUT = "upstream_timeout" 504 "timeout"
            "Upstream timeout" "The service behind the gateway did not answer in time; what it did is unknown.";
        TOTAL_TIMEOUT = "total_timeout" 504 "timeout"
            "Total timeout" "The exchange took longer than it may; what the service behind the gateway did is unknown.";
        VERSION_NOT_SUPPORTED = "version_not_supported" 505 "malformed"
            "HTTP version not supported" "Only HTTP/1.0 and HTTP/1.1 are understood here.";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: ER-04
    #[test]
    fn codes_are_unique_and_carry_an_error_status() {
        let mut names: Vec<_> = codes::ALL.iter().map(|code| code.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), codes::ALL.len());
        assert!(
            codes::ALL
                .iter()
                .all(|code| (400..600).contains(&code.status))
        );
    }
}
