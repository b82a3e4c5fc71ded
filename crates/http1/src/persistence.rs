//! Whether a connection outlives a message (RFC 9112 section 9.3).

use crate::fields::Fields;
use crate::framing::declared_length;
use crate::known::Known;
use crate::list::members;
use crate::request::{RequestHead, Version};
use crate::response::ResponseHead;

/// What a response says about the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// It stays, which HTTP/1.1 need not say.
    KeepAlive,
    /// It closes after this response.
    Close,
    /// It stays, which an HTTP/1.0 client must be told.
    KeepAliveHttp10,
}

/// Whether the client lets the connection stay open after this request.
pub fn request_keep_alive(head: &RequestHead) -> bool {
    keep_alive(&head.fields, head.version())
}

/// Whether the server lets the connection stay open after this response, and may be believed:
/// 204 and 205 that announce a body may be followed by it.
pub fn response_keep_alive(head: &ResponseHead) -> bool {
    let has_strays = matches!(head.status(), 204 | 205) && announces_body(&head.fields);
    keep_alive(&head.fields, head.version()) && !has_strays
}

fn keep_alive(fields: &Fields, version: Version) -> bool {
    let mut is_kept = version == Version::Http11;
    for member in fields.known(Known::Connection).flat_map(members) {
        if member.eq_ignore_ascii_case(b"close") {
            return false;
        }
        is_kept |= member.eq_ignore_ascii_case(b"keep-alive");
    }
    is_kept
}

fn announces_body(fields: &Fields) -> bool {
    fields.known(Known::TransferEncoding).next().is_some()
        || !matches!(declared_length(fields), Ok(None | Some(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(version: Version, connection: &[&str]) -> bool {
        let mut head = RequestHead::build("GET", "/", version).unwrap();
        for value in connection {
            head.fields.append("Connection", value.as_bytes()).unwrap();
        }
        request_keep_alive(&head)
    }

    #[test]
    fn the_version_decides_unless_the_connection_field_does() {
        assert!(request(Version::Http11, &[]));
        assert!(!request(Version::Http10, &[]));
        assert!(request(Version::Http10, &["Keep-Alive"]));
        assert!(!request(Version::Http11, &["keep-alive, CLOSE"]));
        assert!(!request(
            Version::Http11,
            &["x-a", " upgrade ,close"].map(str::trim)
        ));
        assert!(request(Version::Http11, &["closed"]));
    }

    // case: BD-05
    #[test]
    fn a_connection_on_which_a_forbidden_body_may_follow_is_not_used_again() {
        for status in [204, 205] {
            let mut head = ResponseHead::new(status);
            assert!(response_keep_alive(&head));

            head.fields.set("Content-Length", b"0").unwrap();
            assert!(response_keep_alive(&head));
            head.fields.set("Content-Length", b"5").unwrap();
            assert!(!response_keep_alive(&head));
            head.fields.clear();
            head.fields.set("Transfer-Encoding", b"chunked").unwrap();
            assert!(!response_keep_alive(&head));
        }
    }
}
