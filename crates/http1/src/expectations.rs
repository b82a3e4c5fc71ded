//! What a client asks of the exchange itself: to be told to go on, to get trailers.

use crate::known::Known;
use crate::list::members;
use crate::malformed::{Fault, Malformed};
use crate::request::{RequestHead, Version};

/// Whether the client waits for `100 Continue` before it sends the body. HTTP/1.0 has no interim
/// responses, so what such a client expects is ignored (RFC 9110 section 10.1.1).
///
/// # Errors
///
/// It expects something else: 417.
pub fn expects_continue(head: &RequestHead) -> Result<bool, Malformed> {
    if head.version() == Version::Http10 {
        return Ok(false);
    }
    let mut is_expected = false;
    for member in head.fields.known(Known::Expect).flat_map(members) {
        if !member.eq_ignore_ascii_case(b"100-continue") {
            return Err(Fault::UnknownExpectation.into());
        }
        is_expected = true;
    }
    Ok(is_expected)
}

/// Whether the client takes trailers. `TE` is of this hop: ask before hop-by-hop fields go.
pub fn accepts_trailers(head: &RequestHead) -> bool {
    head.fields
        .known(Known::Te)
        .flat_map(members)
        .any(|member| member.eq_ignore_ascii_case(b"trailers"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(version: Version, name: &str, value: &str) -> RequestHead {
        let mut head = RequestHead::build("PUT", "/", version).unwrap();
        head.fields.append(name, value.as_bytes()).unwrap();
        head
    }

    // case: BD-03
    #[test]
    fn only_a_continue_can_be_expected() {
        let expects = |version, value| expects_continue(&head(version, "Expect", value));

        assert_eq!(expects(Version::Http11, "100-Continue"), Ok(true));
        assert_eq!(expects(Version::Http10, "100-continue"), Ok(false));
        assert_eq!(
            expects(Version::Http11, "something-else").map_err(|fault| fault.status()),
            Err(417)
        );
        assert_eq!(
            expects(Version::Http11, "100-continue, more").map_err(|fault| fault.status()),
            Err(417)
        );
        assert_eq!(
            expects_continue(&head(Version::Http11, "X-A", "1")),
            Ok(false)
        );
    }

    // case: BD-04
    #[test]
    fn te_says_whether_trailers_are_welcome() {
        assert!(accepts_trailers(&head(
            Version::Http11,
            "TE",
            "deflate;q=0.5, Trailers"
        )));
        assert!(!accepts_trailers(&head(Version::Http11, "TE", "deflate")));
        assert!(!accepts_trailers(&head(
            Version::Http11,
            "X-TE",
            "trailers"
        )));
    }
}
