//! Where a body ends (RFC 9112 section 6.3), or why nobody can say.

use crate::fields::Fields;
use crate::known::{Known, KnownSet};
use crate::list::members;
use crate::malformed::{Fault, Malformed};
use crate::octets::trim;
use crate::request::{RequestHead, Version};
use crate::response::ResponseHead;

/// How the end of a body is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// There is none, and nothing announces one.
    Empty,
    /// That many bytes.
    Length(u64),
    /// In chunks, until the last one.
    Chunked,
    /// Until the sender closes; responses only.
    UntilClose,
}

/// The framing of a request's body.
///
/// # Errors
///
/// The length is invalid or ambiguous, or the transfer coding is not `chunked` alone.
pub fn request_framing(head: &RequestHead) -> Result<Framing, Malformed> {
    let framing = declared(&head.fields, head.version())?;
    Ok(framing.unwrap_or(Framing::Empty))
}

/// The framing of the body of the response to a request with that method.
///
/// 205 counts as empty whatever it announces (RFC 9110 section 15.3.6); whether bytes may follow
/// all the same is part of [`crate::response_keep_alive`].
///
/// # Errors
///
/// As for [`request_framing`]; 1xx, 204 and 205, whose framing fields nobody reads or forwards,
/// never fail.
pub fn response_framing(head: &ResponseHead, request_method: &str) -> Result<Framing, Malformed> {
    if matches!(head.status(), 100..=199 | 204 | 205) {
        return Ok(Framing::Empty);
    }
    let framing = declared(&head.fields, head.version())?;
    let is_tunnel = request_method == "CONNECT" && (200..300).contains(&head.status());
    if request_method == "HEAD" || head.status() == 304 || is_tunnel {
        return Ok(Framing::Empty);
    }
    Ok(framing.unwrap_or(Framing::UntilClose))
}

/// What the fields say of the body; `None` if nothing.
fn declared(fields: &Fields, version: Version) -> Result<Option<Framing>, Fault> {
    if !fields.seen().meets(KnownSet::FRAMING) {
        return Ok(None);
    }
    let length = declared_length(fields)?;
    if !is_chunked(fields)? {
        return Ok(length.map(Framing::Length));
    }
    if length.is_some() {
        return Err(Fault::LengthAndEncoding);
    }
    if version == Version::Http10 {
        return Err(Fault::TransferEncodingOnHttp10);
    }
    Ok(Some(Framing::Chunked))
}

/// The one length that all `Content-Length` fields and their members give, if any.
pub(crate) fn declared_length(fields: &Fields) -> Result<Option<u64>, Fault> {
    let mut length = None;
    for value in fields.known(Known::ContentLength) {
        for member in value.split(|&octet| octet == b',') {
            let member = decimal(trim(member)).ok_or(Fault::LengthInvalid)?;
            if length.is_some_and(|length| length != member) {
                return Err(Fault::LengthConflict);
            }
            length = Some(member);
        }
    }
    Ok(length)
}

/// One or more digits, nothing else, that fit.
fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |number, octet| {
        let digit = octet.is_ascii_digit().then(|| u64::from(octet - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// Whether there is a transfer coding; then it is `chunked` and nothing else.
fn is_chunked(fields: &Fields) -> Result<bool, Fault> {
    let mut values = fields.known(Known::TransferEncoding);
    let Some(value) = values.next() else {
        return Ok(false);
    };
    if values.next().is_some() {
        return Err(Fault::TransferEncodingTwice);
    }
    if value.eq_ignore_ascii_case(b"chunked") {
        return Ok(true);
    }
    Err(coding_fault(value))
}

/// A coding before one final `chunked` is merely not ours; all else has no certain end.
fn coding_fault(value: &[u8]) -> Fault {
    let is_chunked = |member: &[u8]| member.eq_ignore_ascii_case(b"chunked");
    let chunked = members(value).filter(|member| is_chunked(member)).count();
    let is_last = members(value).last().is_some_and(is_chunked);
    if chunked == 1 && is_last {
        Fault::TransferEncodingUnknown
    } else {
        Fault::TransferEncodingInvalid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(version: Version, fields: &[(&str, &str)]) -> Result<Framing, Malformed> {
        let mut head = RequestHead::build("POST", "/", version).unwrap();
        for (name, value) in fields {
            head.fields.append(name, value.as_bytes()).unwrap();
        }
        request_framing(&head)
    }

    fn response(method: &str, status: u16, fields: &[(&str, &str)]) -> Result<Framing, Malformed> {
        let mut head = ResponseHead::new(status);
        for (name, value) in fields {
            head.fields.append(name, value.as_bytes()).unwrap();
        }
        response_framing(&head, method)
    }

    fn length(value: &str) -> Result<Framing, Malformed> {
        request(Version::Http11, &[("Content-Length", value)])
    }

    fn coding(value: &str) -> Result<Framing, Malformed> {
        request(Version::Http11, &[("Transfer-Encoding", value)])
    }

    // case: SM-05
    #[test]
    fn a_length_is_digits_and_one_number() {
        assert_eq!(length("5"), Ok(Framing::Length(5)));
        assert_eq!(length("0"), Ok(Framing::Length(0)));
        assert_eq!(
            length("18446744073709551615"),
            Ok(Framing::Length(u64::MAX))
        );
        assert_eq!(length("5, 5"), Ok(Framing::Length(5)));
        for value in [
            "+5",
            "-1",
            "",
            "0x5",
            "5 5",
            "5,",
            ",5",
            "18446744073709551616",
            "5.0",
            "٥",
        ] {
            assert_eq!(length(value), Err(Fault::LengthInvalid.into()), "{value:?}");
        }
        assert_eq!(length("5,6"), Err(Fault::LengthConflict.into()));
        let two = [("Content-Length", "5"), ("content-length", "6")];
        assert_eq!(
            request(Version::Http11, &two),
            Err(Fault::LengthConflict.into())
        );
    }

    // case: SM-02
    #[test]
    fn a_coding_is_chunked_and_nothing_else() {
        assert_eq!(coding("chunked"), Ok(Framing::Chunked));
        assert_eq!(coding("CHUNKED"), Ok(Framing::Chunked));
        assert_eq!(
            coding("gzip, chunked").map_err(|fault| fault.status()),
            Err(501)
        );
        for value in [
            "xchunked",
            "chunked, identity",
            "identity",
            "",
            "chunked, chunked",
            "chunked;q=1",
            "gzip",
        ] {
            assert_eq!(
                coding(value).map_err(|fault| fault.status()),
                Err(400),
                "{value:?}"
            );
        }
    }

    // case: SM-01
    #[test]
    fn both_length_fields_are_refused_in_either_order() {
        let mut both = [("Content-Length", "13"), ("Transfer-Encoding", "chunked")];
        assert_eq!(
            request(Version::Http11, &both),
            Err(Fault::LengthAndEncoding.into())
        );

        both.reverse();
        assert_eq!(
            request(Version::Http11, &both),
            Err(Fault::LengthAndEncoding.into())
        );
        assert_eq!(
            response("GET", 200, &both),
            Err(Fault::LengthAndEncoding.into())
        );
    }

    // case: SM-07
    #[test]
    fn http10_has_no_transfer_coding() {
        let fields = [("Transfer-Encoding", "chunked")];

        assert_eq!(
            request(Version::Http10, &fields),
            Err(Fault::TransferEncodingOnHttp10.into())
        );
    }

    // case: SM-15
    #[test]
    fn an_upstream_that_says_chunked_twice_is_refused_by_name() {
        let twice = [
            ("Transfer-Encoding", "chunked"),
            ("Transfer-Encoding", "chunked"),
        ];

        let refused = response("GET", 200, &twice).unwrap_err();

        assert_eq!(refused.reason(), "transfer-encoding more than once");
    }

    // case: BD-05
    #[test]
    fn some_responses_never_have_a_body() {
        for fields in [
            vec![("Content-Length", "5")],
            vec![("Transfer-Encoding", "chunked")],
            vec![],
        ] {
            for status in [100, 103, 199, 204, 205, 304] {
                assert_eq!(
                    response("GET", status, &fields),
                    Ok(Framing::Empty),
                    "{status}"
                );
            }
            assert_eq!(response("HEAD", 200, &fields), Ok(Framing::Empty));
            assert_eq!(response("CONNECT", 200, &fields), Ok(Framing::Empty));
        }
    }

    #[test]
    fn a_response_without_length_ends_with_the_connection() {
        assert_eq!(response("GET", 200, &[]), Ok(Framing::UntilClose));
        assert_eq!(
            response("CONNECT", 403, &[("Content-Length", "2")]),
            Ok(Framing::Length(2))
        );
        assert_eq!(request(Version::Http11, &[]), Ok(Framing::Empty));
    }
}
