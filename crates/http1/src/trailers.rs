//! Which fields may be trailers (RFC 9110 section 6.5.1).

use crate::known::Known;

/// Names that may not follow a body: by then framing, routing, authentication, caching and the
/// reading of the content have been decided, and a merge would forge them.
const FORBIDDEN: [&[u8]; 42] = [
    b"accept",
    b"accept-encoding",
    b"age",
    b"authentication-info",
    b"authorization",
    b"cache-control",
    b"content-encoding",
    b"content-range",
    b"content-type",
    b"cookie",
    b"date",
    b"expires",
    b"forwarded",
    b"if-match",
    b"if-modified-since",
    b"if-none-match",
    b"if-range",
    b"if-unmodified-since",
    b"location",
    b"max-forwards",
    b"origin",
    b"pragma",
    b"proxy-authentication-info",
    b"range",
    b"retry-after",
    b"set-cookie",
    b"trailer",
    b"user-agent",
    b"vary",
    b"via",
    b"warning",
    b"www-authenticate",
    b"x-forwarded-for",
    b"x-forwarded-host",
    b"x-forwarded-port",
    b"x-forwarded-prefix",
    b"x-forwarded-proto",
    b"x-http-method",
    b"x-http-method-override",
    b"x-method-override",
    b"x-real-ip",
    b"x-request-id",
];

/// Whether a trailer of this name is dropped.
pub(crate) fn is_forbidden(name: &[u8]) -> bool {
    Known::of(name) != Known::Other
        || FORBIDDEN
            .iter()
            .any(|forbidden| name.eq_ignore_ascii_case(forbidden))
}

#[cfg(test)]
mod tests {
    use super::*;

    // case: BD-04
    #[test]
    fn what_decides_something_may_not_be_a_trailer() {
        for name in [
            "Content-Length",
            "TRANSFER-ENCODING",
            "Host",
            "Authorization",
            "Cookie",
            "Trailer",
            "TE",
        ] {
            assert!(is_forbidden(name.as_bytes()), "{name}");
        }
        for name in ["grpc-status", "X-Sum", "Digest", "Server-Timing", "ETag"] {
            assert!(!is_forbidden(name.as_bytes()), "{name}");
        }
    }
}
