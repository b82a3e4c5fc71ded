//! The opening handshake (RFC 6455 section 4).

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha1::{Digest, Sha1};

/// What proves that the answer is to a WebSocket handshake (RFC 6455 section 1.3).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Whether this can be a `Sec-WebSocket-Key`: 16 bytes in base64 (RFC 6455 section 4.1).
pub fn is_key(value: &[u8]) -> bool {
    STANDARD.decode(value).is_ok_and(|bytes| bytes.len() == 16)
}

/// The `Sec-WebSocket-Accept` that belongs to a key.
pub fn accept_for(key: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(key);
    hash.update(GUID);
    STANDARD.encode(hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_rfc_holds() {
        // RFC 6455 section 1.3.
        assert_eq!(
            accept_for(b"dGhlIHNhbXBsZSBub25jZQ=="),
            "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        );
    }

    #[test]
    fn a_key_is_sixteen_bytes() {
        assert!(is_key(b"AAAAAAAAAAAAAAAAAAAAAA=="));
        for bad in [
            "",
            "AAAA",
            "AAAAAAAAAAAAAAAAAAAAAAAA",
            "not base64 at all!!!!!!=",
            "AAAAAAAAAAAAAAAAAAAAAA",
        ] {
            assert!(!is_key(bad.as_bytes()), "{bad}");
        }
    }
}
