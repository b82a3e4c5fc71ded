//! What each fuzz target does with its bytes; not part of the interface.
//!
//! Plain functions, so that the checked-in corpora run as an ordinary test too.

use crate::{
    BodyDecoder, Framing, HeadLimits, Malformed, Persistence, RequestHead, ResponseHead,
    parse_request, parse_response, request_framing, response_framing, strip_hop_by_hop,
    write_last_chunk, write_request, write_response,
};

const LIMITS: HeadLimits = HeadLimits {
    bytes: 4096,
    fields: 32,
    target: 1024,
};

/// Reads a request head; what is written from it means the same and is as strict.
///
/// # Panics
///
/// A promise of the parser is broken.
pub fn request_head(input: &[u8]) {
    let mut head = RequestHead::default();
    let parsed = parse_request(input, &LIMITS, &mut head);
    check_prefixes(input, parsed, |prefix| {
        parse_request(prefix, &LIMITS, &mut RequestHead::default())
    });
    if !matches!(parsed, Ok(Some(_))) {
        return;
    }
    let Ok(framing) = request_framing(&head) else {
        return;
    };
    strip_hop_by_hop(&mut head.fields);

    let mut written = Vec::new();
    write_request(&head, framing, &mut written);
    check_lines(&written);

    let mut again = RequestHead::default();
    // HTTP/1.0 may come without the `Host` that HTTP/1.1 must have; the gateway adds one.
    if head.authority().is_some() {
        let limits = HeadLimits {
            bytes: 8192,
            fields: 64,
            target: 2048,
        };
        assert_eq!(
            parse_request(&written, &limits, &mut again),
            Ok(Some(written.len()))
        );
        assert_eq!(
            (again.method(), again.target()),
            (head.method(), head.target())
        );
        assert_eq!(again.authority(), head.authority());
        assert_eq!(request_framing(&again), Ok(framing));
    }
}

/// Reads a response head; what is written from it means the same and is as strict.
///
/// # Panics
///
/// A promise of the parser is broken.
pub fn response_head(input: &[u8]) {
    let mut head = ResponseHead::default();
    let parsed = parse_response(input, &LIMITS, &mut head);
    check_prefixes(input, parsed, |prefix| {
        parse_response(prefix, &LIMITS, &mut ResponseHead::default())
    });
    if !matches!(parsed, Ok(Some(_))) {
        return;
    }
    for method in ["GET", "HEAD"] {
        let Ok(framing) = response_framing(&head, method) else {
            continue;
        };
        let mut head = head.clone();
        strip_hop_by_hop(&mut head.fields);

        let mut written = Vec::new();
        write_response(&head, framing, Persistence::Close, &mut written);
        check_lines(&written);

        let mut again = ResponseHead::default();
        let limits = HeadLimits {
            bytes: 8192,
            fields: 64,
            target: 0,
        };
        assert_eq!(
            parse_response(&written, &limits, &mut again),
            Ok(Some(written.len()))
        );
        assert_eq!(
            (again.status(), again.reason()),
            (head.status(), head.reason())
        );
        assert_eq!(response_framing(&again, method), Ok(framing));
    }
}

/// Decodes chunks, whole and cut into pieces whose length the first byte gives.
///
/// # Panics
///
/// The cut changes what is decoded, or a promise of the decoder is broken.
pub fn chunked(input: &[u8]) {
    let Some((&cut, body)) = input.split_first() else {
        return;
    };
    let whole = decode(body, body.len().max(1));
    assert_eq!(whole, decode(body, usize::from(cut).max(1)));
    assert_eq!(whole, decode(body, 1));
}

/// What a body decodes to: its data, its trailers as written, how much input it took and how it
/// ended.
type Outcome = (Vec<u8>, Vec<u8>, usize, Result<(), Malformed>);

fn decode(body: &[u8], piece: usize) -> Outcome {
    let mut decoder = BodyDecoder::new(Framing::Chunked);
    let mut data = Vec::new();
    let mut taken = 0;
    for part in body.chunks(piece) {
        let mut rest = part;
        while !rest.is_empty() && !decoder.is_done() {
            match decoder.decode(rest) {
                Ok(piece) => {
                    assert!(
                        piece.consumed > 0,
                        "input that is left over is taken or refused"
                    );
                    assert!(piece.data.end <= piece.consumed && piece.consumed <= rest.len());
                    data.extend_from_slice(rest.get(piece.data.clone()).unwrap_or_default());
                    taken += piece.consumed;
                    rest = rest.get(piece.consumed..).unwrap_or_default();
                }
                Err(malformed) => return (data, Vec::new(), 0, Err(malformed)),
            }
        }
    }
    let mut trailers = Vec::new();
    write_last_chunk(Some(decoder.trailers()), &mut trailers);
    check_lines(&trailers);
    (data, trailers, taken, decoder.finish())
}

/// A prefix never says more than the whole: the same, nothing yet, or an error if the whole is
/// one.
fn check_prefixes(
    input: &[u8],
    whole: Result<Option<usize>, Malformed>,
    mut parse: impl FnMut(&[u8]) -> Result<Option<usize>, Malformed>,
) {
    if let Ok(Some(consumed)) = whole {
        assert!(consumed <= input.len() && consumed <= LIMITS.bytes + 2);
    }
    for end in 0..input.len() {
        match (parse(input.get(..end).unwrap_or_default()), whole) {
            (Ok(None), _) | (Err(_), Err(_)) => {}
            (part, whole) => {
                assert!(
                    part == whole && matches!(whole, Ok(Some(consumed)) if consumed <= end),
                    "{part:?} {whole:?}"
                );
            }
        }
    }
}

/// Every line ends with CRLF, and neither octet stands elsewhere; nor does NUL anywhere.
fn check_lines(written: &[u8]) {
    let mut before = 0;
    for &octet in written {
        assert_eq!(
            before == b'\r',
            octet == b'\n',
            "a line that does not end with CRLF"
        );
        assert_ne!(octet, 0);
        before = octet;
    }
    assert!(written.ends_with(b"\r\n"));
}
