//! Response heads: what an upstream may say, and what a client is told.

use sluicegate_http1::{
    Framing, HeadLimits, Persistence, ResponseHead, Version, parse_response, response_framing,
    response_keep_alive, strip_hop_by_hop, write_response,
};

fn read(bytes: &str, method: &str) -> Result<(ResponseHead, Framing), &'static str> {
    let mut head = ResponseHead::default();
    let parsed = parse_response(bytes.as_bytes(), &HeadLimits::default(), &mut head);
    assert!(
        parsed.map_err(|malformed| malformed.reason())?.is_some(),
        "the head is complete"
    );
    let framing = response_framing(&head, method).map_err(|malformed| malformed.reason())?;
    Ok((head, framing))
}

fn relayed(bytes: &str, method: &str) -> String {
    let (mut head, framing) = read(bytes, method).unwrap();
    strip_hop_by_hop(&mut head.fields);
    let mut out = Vec::new();
    write_response(&head, framing, Persistence::KeepAlive, &mut out);
    String::from_utf8(out).unwrap()
}

// case: SM-15
#[test]
fn an_ambiguous_upstream_is_refused_with_the_cause() {
    let table = [
        (
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            "transfer-encoding more than once",
        ),
        (
            "Content-Length: 2\r\nTransfer-Encoding: chunked",
            "content-length and transfer-encoding together",
        ),
        (
            "Content-Length: 2\r\nContent-Length: 3",
            "content-length values differ",
        ),
        ("Content-Length: two", "invalid content-length"),
        ("Transfer-Encoding: identity", "invalid transfer-encoding"),
        (
            "Transfer-Encoding: gzip, chunked",
            "transfer-encoding not supported",
        ),
        ("A: b\nC: d", "line not ended by CRLF"),
        ("A: b\r\n c", "invalid field name"),
        ("A : b", "invalid field name"),
        ("A: b\rc", "invalid field value"),
    ];

    for (fields, cause) in table {
        let answer = format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n");
        assert_eq!(read(&answer, "GET").err(), Some(cause), "{fields:?}");
    }
}

#[test]
fn a_status_line_is_exact() {
    for line in [
        "HTTP/1.1 099 No",
        "HTTP/1.1 20 OK",
        "HTTP/1.1 2000 OK",
        "HTTP/1.1  200 OK",
        "HTTP/1.1 2x0 OK",
        "+PONG",
        "HTTP/1.1 200 O\0",
    ] {
        assert_eq!(
            read(&format!("{line}\r\n\r\n"), "GET").err(),
            Some("invalid status line"),
            "{line:?}"
        );
    }
    assert_eq!(
        read("HTTP/2.0 200 OK\r\n\r\n", "GET").err(),
        Some("HTTP version not supported")
    );
    assert_eq!(
        read("HTTP/1.1 200 OK\n\r\n", "GET").err(),
        Some("line not ended by CRLF")
    );
    assert_eq!(
        read("\r\nHTTP/1.1 200 OK\r\n\r\n", "GET").err(),
        Some("empty lines before the message")
    );
}

// case: BD-05
#[test]
fn a_response_without_body_tells_only_what_it_may() {
    let of = |status: &str, fields: &str| format!("HTTP/1.1 {status}\r\nA: b\r\n{fields}\r\n\r\n");
    let table = [
        (
            "GET",
            of("204 No Content", "Content-Length: 5"),
            "204 No Content\r\nA: b\r\n\r\n",
        ),
        (
            "GET",
            of("204 No Content", "Transfer-Encoding: chunked"),
            "204 No Content\r\nA: b\r\n\r\n",
        ),
        (
            "GET",
            of("304 Not Modified", "Content-Length: 1234"),
            "304 Not Modified\r\nA: b\r\nContent-Length: 1234\r\n\r\n",
        ),
        (
            "HEAD",
            of("200 OK", "Content-Length: 1234"),
            "200 OK\r\nA: b\r\nContent-Length: 1234\r\n\r\n",
        ),
        (
            "HEAD",
            of("200 OK", "Transfer-Encoding: chunked"),
            "200 OK\r\nA: b\r\n\r\n",
        ),
        (
            "GET",
            of("205 Reset Content", "Content-Length: 5"),
            "205 Reset Content\r\nA: b\r\nContent-Length: 0\r\n\r\n",
        ),
        (
            "GET",
            of("103 Early Hints", "Content-Length: 5"),
            "103 Early Hints\r\nA: b\r\n\r\n",
        ),
    ];

    for (method, answer, expected) in table {
        assert_eq!(
            read(&answer, method).map(|(_, framing)| framing),
            Ok(Framing::Empty),
            "{answer}"
        );
        assert_eq!(relayed(&answer, method), format!("HTTP/1.1 {expected}"));
    }
}

// case: BD-05
#[test]
fn an_interim_response_is_read_alone() {
    let answer = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let mut head = ResponseHead::default();

    let first = parse_response(answer, &HeadLimits::default(), &mut head)
        .unwrap()
        .unwrap();
    assert_eq!(head.status(), 103);
    let second = parse_response(&answer[first..], &HeadLimits::default(), &mut head)
        .unwrap()
        .unwrap();

    assert_eq!((head.status(), first + second), (200, answer.len()));
    assert_eq!(response_framing(&head, "GET"), Ok(Framing::Length(0)));
}

#[test]
fn the_version_of_the_upstream_stays_between_it_and_us() {
    let (head, framing) = read("HTTP/1.0 200 Fine\r\nA: b\r\n\r\n", "GET").unwrap();

    assert_eq!(
        (head.version(), framing, response_keep_alive(&head)),
        (Version::Http10, Framing::UntilClose, false)
    );
    assert_eq!(
        relayed("HTTP/1.0 200 Fine\r\nA: b\r\n\r\n", "GET"),
        "HTTP/1.1 200 Fine\r\nA: b\r\n\r\n"
    );
}

#[test]
fn a_limit_holds_for_upstreams_too() {
    let limits = HeadLimits {
        bytes: 64,
        fields: 2,
        target: 0,
    };
    let parse = |bytes: &[u8]| {
        parse_response(bytes, &limits, &mut ResponseHead::default())
            .map_err(|malformed| malformed.reason())
    };

    assert_eq!(
        parse(b"HTTP/1.1 200 OK\r\nA: b\r\nA: b\r\nA: b\r\n\r\n"),
        Err("too many fields")
    );
    assert_eq!(
        parse(&[b"HTTP/1.1 200 OK\r\nA: ", &[b'a'; 60][..]].concat()),
        Err("head too large")
    );
}
