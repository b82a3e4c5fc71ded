//! Chunked bodies: the cases of public bug reports, extensions, trailers, bounds.

use sluicegate_http1::{BodyDecoder, Framing};

/// The data, and how it ended: done with so many bytes left over, waiting, or refused because.
fn read(bytes: &[u8]) -> (String, Result<Option<usize>, &'static str>) {
    let mut decoder = BodyDecoder::new(Framing::Chunked);
    let (data, end) = read_with(&mut decoder, bytes);
    (data, end)
}

fn read_with(
    decoder: &mut BodyDecoder,
    bytes: &[u8],
) -> (String, Result<Option<usize>, &'static str>) {
    let mut data = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        match decoder.decode(rest) {
            Ok(piece) => {
                data.extend_from_slice(&rest[piece.data]);
                rest = &rest[piece.consumed..];
                if piece.done {
                    return (String::from_utf8(data).unwrap(), Ok(Some(rest.len())));
                }
            }
            Err(malformed) => return (String::from_utf8(data).unwrap(), Err(malformed.reason())),
        }
    }
    (String::from_utf8(data).unwrap(), Ok(None))
}

// case: SM-09
#[test]
fn a_malformed_chunk_is_refused_at_its_first_bad_byte() {
    let table: &[(&str, &str, &str)] = &[
        ("5\r\nhello0", "hello", "chunk not ended by CRLF"),
        ("5\r\nhello\r0", "hello", "chunk not ended by CRLF"),
        ("5\r\nhello\n", "hello", "chunk not ended by CRLF"),
        ("10000000000000005", "", "chunk size too large"),
        ("00000000000000005", "", "chunk size too large"),
        ("-", "", "invalid chunk size"),
        ("0x", "", "invalid chunk size"),
        (" ", "", "invalid chunk size"),
        ("\r", "", "invalid chunk size"),
        ("+", "", "invalid chunk size"),
        ("5\n", "", "invalid chunk size"),
        ("5\r5", "", "line not ended by CRLF"),
        ("5 \r", "", "invalid chunk extension"),
        ("5;\r", "", "invalid chunk extension"),
        ("5;a\n", "", "invalid chunk extension"),
        ("5;a=\"\r", "", "invalid chunk extension"),
        ("0\r\n\r\r", "", "line not ended by CRLF"),
        ("0\r\n\n", "", "invalid trailer field"),
    ];

    for (bytes, data, cause) in table {
        assert_eq!(
            read(bytes.as_bytes()),
            ((*data).to_owned(), Err(*cause)),
            "{bytes:?}"
        );
        let before = &bytes.as_bytes()[..bytes.len() - 1];
        assert_eq!(
            read(before).1,
            Ok(None),
            "nothing is wrong before the last byte of {bytes:?}"
        );
    }
}

// case: SM-09
#[test]
fn the_largest_size_reserves_nothing() {
    assert_eq!(
        read(b"ffffffffffffffff\r\nhello"),
        ("hello".into(), Ok(None))
    );
}

#[test]
fn chunks_are_joined_and_the_next_message_is_left() {
    let bytes = b"5\r\nhello\r\n0006;a=b;c=\"d\\\"e\" ; f\r\n world\r\n00\r\n\r\nGET /";

    assert_eq!(read(bytes), ("hello world".into(), Ok(Some(5))));
}

#[test]
fn one_call_takes_a_chunk_and_the_end_behind_it() {
    let bytes = b"5\r\nhello\r\n0\r\n\r\n";
    let mut decoder = BodyDecoder::new(Framing::Chunked);

    let piece = decoder.decode(bytes).unwrap();

    assert_eq!(
        (piece.consumed, piece.data, piece.done),
        (bytes.len(), 3..8, true)
    );
}

// case: BD-04
#[test]
fn trailers_are_kept_but_for_those_that_decide_something() {
    let bytes = b"2\r\nok\r\n0\r\nContent-Length: 5\r\nX-Sum:9 \r\nAuthorization: Bearer x\r\nHost: b\r\ngrpc-status: 0\r\n\r\n";
    let mut decoder = BodyDecoder::new(Framing::Chunked);

    assert_eq!(read_with(&mut decoder, bytes), ("ok".into(), Ok(Some(0))));

    let trailers: Vec<_> = decoder.trailers().iter().collect();
    assert_eq!(
        trailers,
        [(&b"X-Sum"[..], &b"9"[..]), (b"grpc-status", b"0")]
    );
    decoder.reset(Framing::Chunked);
    assert!(decoder.trailers().is_empty());
}

// case: BD-04
#[test]
fn a_malformed_trailer_is_refused() {
    for trailer in [
        "X-Sum",
        ": 9",
        "X Sum: 9",
        "X-Sum : 9",
        " X-Sum: 9",
        "X-Sum: 9\r\n y",
        "X: 9\rY: 8",
        "X: \0",
        "X: 9\n",
    ] {
        let (_, end) = read(format!("0\r\n{trailer}\r\n\r\n").as_bytes());
        assert!(end.is_err(), "{trailer:?} gave {end:?}");
    }
}

#[test]
fn trailers_and_extensions_are_bounded() {
    let endless = format!("0\r\nX-A: {}", "a".repeat(9000));
    assert_eq!(read(endless.as_bytes()).1, Err("trailers too large"));

    let many = format!("0\r\n{}", "A: b\r\n".repeat(65));
    assert_eq!(read(many.as_bytes()).1, Err("trailers too large"));

    let dropped = format!("0\r\n{}", "Host: b\r\n".repeat(65));
    assert_eq!(read(dropped.as_bytes()).1, Err("trailers too large"));

    let long = format!("5;a={}", "b".repeat(600));
    assert_eq!(read(long.as_bytes()).1, Err("chunk extension too long"));

    let padded = format!("1;a={}\r\nx\r\n", "b".repeat(400)).repeat(100);
    assert_eq!(read(padded.as_bytes()).1, Err("too much chunk overhead"));

    let signed = format!(
        "400;chunk-signature={}\r\n{}\r\n",
        "0".repeat(64),
        "x".repeat(1024)
    )
    .repeat(1000);
    assert_eq!(read(signed.as_bytes()).1, Ok(None));

    let tiny = "1\r\nx\r\n".repeat(100_000);
    assert_eq!(read(tiny.as_bytes()).1, Ok(None));
}
