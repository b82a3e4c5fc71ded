//! Leaving HTTP for WebSocket on the same connection (RFC 9110 section 7.8, RFC 6455 section 4).

use crate::fields::Fields;
use crate::known::Known;
use crate::list::members;
use crate::request::{RequestHead, Version};
use crate::response::ResponseHead;

/// Whether the client asks to speak WebSocket from the answer on. Both fields are of this hop: ask
/// before hop-by-hop fields go.
pub fn asks_for_websocket(head: &RequestHead) -> bool {
    head.version() == Version::Http11 && head.method() == "GET" && is_named(&head.fields)
}

/// Whether a server's `101` is the beginning of WebSocket.
pub fn agrees_to_websocket(head: &ResponseHead) -> bool {
    head.status() == 101 && is_named(&head.fields)
}

fn is_named(fields: &Fields) -> bool {
    let has = |field: Known, word: &[u8]| {
        fields
            .known(field)
            .flat_map(members)
            .any(|member| member.eq_ignore_ascii_case(word))
    };
    has(Known::Upgrade, b"websocket") && has(Known::Connection, b"upgrade")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(method: &str, version: Version, fields: &[(&str, &str)]) -> bool {
        let mut head = RequestHead::build(method, "/", version).unwrap();
        for (name, value) in fields {
            head.fields.append(name, value.as_bytes()).unwrap();
        }
        asks_for_websocket(&head)
    }

    #[test]
    fn both_fields_and_the_right_request_are_needed() {
        let both = [
            ("Connection", "keep-alive, Upgrade"),
            ("Upgrade", "h2c, WebSocket"),
        ];
        assert!(asks("GET", Version::Http11, &both));
        assert!(!asks("POST", Version::Http11, &both));
        assert!(!asks("GET", Version::Http10, &both));
        assert!(!asks("GET", Version::Http11, &both[..1]));
        assert!(!asks("GET", Version::Http11, &both[1..]));
    }

    // case: WS-01
    #[test]
    fn a_switch_without_its_fields_is_none() {
        let mut head = ResponseHead::new(101);
        assert!(!agrees_to_websocket(&head));
        head.fields.append("Connection", b"upgrade").unwrap();
        assert!(!agrees_to_websocket(&head));
        head.fields.append("Upgrade", b"websocket").unwrap();
        assert!(agrees_to_websocket(&head));
    }
}
