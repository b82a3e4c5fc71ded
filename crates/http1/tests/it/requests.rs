//! Request heads: the cases of public bug reports, limits, forms.

use sluicegate_http1::{
    Framing, HeadLimits, Malformed, RequestHead, Version, parse_request, request_framing,
    strip_hop_by_hop, write_request,
};

const LIMITS: HeadLimits = HeadLimits {
    bytes: 1024,
    fields: 8,
    target: 64,
};

/// What a server makes of the bytes: head and framing, or the status it answers.
fn read(bytes: impl AsRef<[u8]>) -> Result<(RequestHead, Framing), u16> {
    let mut head = RequestHead::default();
    let parsed = parse_request(bytes.as_ref(), &LIMITS, &mut head)
        .map_err(|malformed| malformed.status())?;
    assert!(parsed.is_some(), "the head is complete");
    let framing = request_framing(&head).map_err(|malformed| malformed.status())?;
    Ok((head, framing))
}

fn status(bytes: impl AsRef<[u8]>) -> u16 {
    read(bytes).err().unwrap_or(200)
}

fn parse(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    parse_request(bytes, &LIMITS, &mut RequestHead::default())
}

fn with_fields(fields: &str) -> String {
    format!("POST /x HTTP/1.1\r\nHost: a.test\r\n{fields}\r\n\r\n")
}

fn forwarded(bytes: impl AsRef<[u8]>) -> String {
    let (mut head, framing) = read(bytes).unwrap();
    strip_hop_by_hop(&mut head.fields);
    let mut out = Vec::new();
    write_request(&head, framing, &mut out);
    String::from_utf8(out).unwrap()
}

// case: SM-01
#[test]
fn two_ways_to_find_the_end_are_refused() {
    for fields in [
        "Content-Length: 13\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 13",
        "Content-Length: 0\r\nTransfer-Encoding: chunked",
        "transfer-encoding: CHUNKED\r\ncontent-length: 0",
    ] {
        assert_eq!(status(with_fields(fields)), 400, "{fields}");
    }
}

// case: SM-02
#[test]
fn an_odd_transfer_encoding_is_chunked_or_refused() {
    let table = [
        ("Transfer-Encoding: chunked\t", 200),
        ("Transfer-Encoding: \t chunked  ", 200),
        ("Transfer-Encoding:chunked", 200),
        ("Transfer-Encoding: \x0bchunked", 400),
        ("Transfer-Encoding: xchunked", 400),
        ("Transfer-Encoding: chunked, identity", 400),
        ("Transfer-Encoding : chunked", 400),
        ("Transfer-Encoding\t: chunked", 400),
        ("Transfer-Encoding: gzip, chunked", 501),
        (
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            400,
        ),
        ("Transfer-Encoding:", 400),
    ];

    for (fields, expected) in table {
        assert_eq!(status(with_fields(fields)), expected, "{fields:?}");
    }
    let sent = forwarded(with_fields("Transfer-Encoding: chunked\t"));
    assert!(
        sent.ends_with("\r\nTransfer-Encoding: chunked\r\n\r\n"),
        "{sent}"
    );
}

// case: SM-03
#[test]
fn a_field_without_name_is_refused() {
    for fields in [
        ":",
        ": value",
        ":\r\nContent-Length: 27",
        "\0: x",
        "a b: x",
        "a\": x",
        "name",
        "(a): b",
    ] {
        assert_eq!(status(with_fields(fields)), 400, "{fields:?}");
    }
}

// case: SM-05
#[test]
fn a_length_that_is_not_a_number_is_refused() {
    for value in [
        "+5",
        "-1",
        "",
        " ",
        "0x5",
        "5 5",
        "5,6",
        "5\r\nContent-Length: 6",
        "18446744073709551616",
    ] {
        assert_eq!(
            status(with_fields(&format!("Content-Length: {value}"))),
            400,
            "{value:?}"
        );
    }
}

// case: SM-05
#[test]
fn a_repeated_length_is_forwarded_once() {
    let sent = forwarded(with_fields(
        "Content-Length: 5, 5\r\nX-A: 1\r\nContent-Length: 5",
    ));

    assert_eq!(
        sent,
        "POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\nX-A: 1\r\n\r\n"
    );
}

// case: SM-07
#[test]
fn http10_with_transfer_encoding_is_refused() {
    let head = "POST /x HTTP/1.0\r\nHost: a.test\r\nConnection: keep-alive\r\n";

    assert_eq!(
        status(format!(
            "{head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
        )),
        400
    );
    assert_eq!(
        status(format!("{head}Transfer-Encoding: chunked\r\n\r\n")),
        400
    );
}

// case: SM-08
#[test]
fn a_line_ends_with_crlf_and_with_nothing_else() {
    for fields in [
        "X-A: \rTransfer-Encoding: chunked",
        "X-A: a\0b",
        "X-A: a\x7fb",
        "X-A: a\nX-B: b",
        "X-A:\nX-B: b",
        "X-A: a\n",
        "X-A: a\r\n Transfer-Encoding: chunked",
        "X-A: a\r\n\tb",
        " X-A: a",
        "X-A: a\r",
    ] {
        assert_eq!(status(with_fields(fields)), 400, "{fields:?}");
    }
    for head in [
        "GET /x\ry HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET /x\0 HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET /x\n HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET /x\ty HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "GET /x HTTP/1.1\nHost: a.test\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: a.test\n\r\n",
        "GET /x HTTP/1.1\r\nHost: a.test\r\n\n",
        "GET /x HTTP/1.1\nHost: a.test\n\n",
        "GET /x HTTP/1.1\n\r\n",
        "GET /x HTTP/1.1\r\n Host: a.test\r\n\r\n",
    ] {
        assert_eq!(status(head), 400, "{head:?}");
    }
    assert!(
        parse(b"GET /x HTTP/1.1\nHost: a").is_err(),
        "the fault is seen before the head ends"
    );
}

// case: SM-13
#[test]
fn there_is_one_host() {
    let get = |fields: &str| format!("GET /x HTTP/1.1\r\n{fields}X-A: 1\r\n\r\n");
    for fields in [
        "",
        "Host: a.test\r\nHost: b.test\r\n",
        "Host: a.test\r\nhost: a.test\r\n",
        "Host: a.test, b.test\r\n",
        "Host: a.test/x\r\n",
        "Host: user@a.test\r\n",
        "Host: a.test:99999\r\n",
        "Host: \r\n",
        "Host:\r\n",
        "Host: \u{e4}.test\r\n",
    ] {
        assert_eq!(status(get(fields)), 400, "{fields:?}");
    }
    let (head, _) = read(get("Host: A.TEST.:80\r\n")).unwrap();
    assert_eq!(head.authority(), Some("A.TEST.:80"));
    assert_eq!(status("GET /x HTTP/1.0\r\n\r\n"), 200);
}

// case: SM-13
#[test]
fn the_host_of_the_target_is_the_host() {
    let sent =
        forwarded("GET http://b.test/x?y HTTP/1.1\r\nX-A: 1\r\nhost: a.test\r\nX-B: 2\r\n\r\n");

    assert_eq!(
        sent,
        "GET /x?y HTTP/1.1\r\nX-A: 1\r\nHost: b.test\r\nX-B: 2\r\n\r\n"
    );
    assert_eq!(
        status("GET http://user@b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"),
        400
    );
    assert_eq!(status("GET http://b.test/ HTTP/1.1\r\n\r\n"), 400);
}

// case: HD-01
#[test]
fn what_the_client_nominates_does_not_reach_the_upstream() {
    let sent = forwarded(
        "GET /x HTTP/1.1\r\nHost: a.test\r\nX-User-Id: 1\r\nConnection: close, x-user-id\r\nAccept: */*\r\n\r\n",
    );

    assert_eq!(
        sent,
        "GET /x HTTP/1.1\r\nHost: a.test\r\nAccept: */*\r\n\r\n"
    );
}

// spec: HT-03
#[test]
fn a_head_beyond_its_limits_is_431() {
    let long = format!("X-A: {}", "a".repeat(1024));
    assert_eq!(status(with_fields(&long)), 431);
    assert_eq!(status(with_fields(&["X-A: 1"; 8].join("\r\n"))), 431);
    assert_eq!(status(with_fields(&["X-A: 1"; 7].join("\r\n"))), 200);

    // As soon as it is known, not when the sender is pleased to end.
    assert_eq!(
        parse(&[&b"GET / HTTP/1.1\r\nX-A: "[..], &[b'a'; 1024]].concat())
            .map_err(|fault| fault.status()),
        Err(431)
    );
}

// spec: HT-03
#[test]
fn a_head_of_exactly_the_limit_passes() {
    let head = with_fields(&format!("X-A: {}", "a".repeat(700)));
    let limits = |bytes| HeadLimits { bytes, ..LIMITS };
    let parse = |bytes| parse_request(head.as_bytes(), &limits(bytes), &mut RequestHead::default());

    assert_eq!(parse(head.len()), Ok(Some(head.len())));
    assert_eq!(
        parse(head.len() - 1).map_err(|fault| fault.status()),
        Err(431)
    );
}

// spec: HT-07
#[test]
fn a_target_beyond_its_limit_is_414() {
    let get = |length: usize| {
        format!(
            "GET /{} HTTP/1.1\r\nHost: a.test\r\n\r\n",
            "a".repeat(length - 1)
        )
    };

    assert_eq!(status(get(64)), 200);
    assert_eq!(status(get(65)), 414);
    for end in 70..get(1200).len() {
        assert_eq!(
            parse(&get(1200).as_bytes()[..end]).map_err(|fault| fault.status()),
            Err(414)
        );
    }
}

#[test]
fn a_version_that_is_not_ours_is_505() {
    for (version, expected) in [
        ("HTTP/1.1", 200),
        ("HTTP/1.2", 505),
        ("HTTP/2.0", 505),
        ("HTTP/0.9", 505),
        ("HTTP/11", 400),
        ("http/1.1", 400),
        ("HTTP/1.1 ", 400),
        ("HTTP/1.10", 400),
        ("HTTP", 400),
        ("x", 400),
    ] {
        assert_eq!(
            status(format!("GET / {version}\r\nHost: a.test\r\n\r\n")),
            expected,
            "{version:?}"
        );
    }
    assert_eq!(status("GET /\r\nHost: a.test\r\n\r\n"), 400);
}

#[test]
fn a_request_line_has_three_parts_and_two_spaces() {
    for line in [
        "GET  / HTTP/1.1",
        "GET /  HTTP/1.1",
        "GET / x HTTP/1.1",
        " GET / HTTP/1.1",
        "GET\t/ HTTP/1.1",
        "G(T / HTTP/1.1",
        " / HTTP/1.1",
        "GET x HTTP/1.1",
        "GET /x#y HTTP/1.1",
        "GET /\u{e4} HTTP/1.1",
        "GET * HTTP/1.1",
        "CONNECT / HTTP/1.1",
    ] {
        assert_eq!(
            status(format!("{line}\r\nHost: a.test\r\n\r\n")),
            400,
            "{line:?}"
        );
    }
    for line in [
        "OPTIONS * HTTP/1.1",
        "CONNECT a.test:443 HTTP/1.1",
        "x-y!z /|{}[]^`\\ HTTP/1.1",
    ] {
        assert_eq!(
            status(format!("{line}\r\nHost: a.test\r\n\r\n")),
            200,
            "{line:?}"
        );
    }
}

#[test]
fn one_empty_line_may_come_before_the_request() {
    let head = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";

    assert_eq!(
        parse(format!("\r\n{head}").as_bytes()),
        Ok(Some(head.len() + 2))
    );
    for before in ["\r\n\r\n", "\n", "\r\r\n", "\r\n\n"] {
        assert_eq!(status(format!("{before}{head}")), 400, "{before:?}");
    }
    assert_eq!(parse(b"\r"), Ok(None));
}

#[test]
fn what_follows_the_head_is_left_alone() {
    let head = with_fields("Content-Length: 5");

    assert_eq!(
        parse(format!("{head}hello").as_bytes()),
        Ok(Some(head.len()))
    );
}

#[test]
fn order_and_case_stay_and_white_space_becomes_one_space() {
    let bytes = "GET / HTTP/1.1\r\nhOsT:a.test\r\nx-B:\t b  c \t\r\nX-a: 1\r\nX-Empty:\r\nx-b: \r\nUTF: \u{e4}\r\n\r\n";

    assert_eq!(
        forwarded(bytes),
        "GET / HTTP/1.1\r\nhOsT: a.test\r\nx-B: b  c\r\nX-a: 1\r\nX-Empty: \r\nx-b: \r\nUTF: \u{e4}\r\n\r\n"
    );
}

#[test]
fn a_head_that_is_used_again_forgets_what_it_was() {
    let mut head = RequestHead::default();
    let first = b"GET http://b.test/x?y HTTP/1.0\r\nHost: a.test\r\nX-A: 1\r\n\r\n";
    let second = b"PUT /z HTTP/1.1\r\nHost: c.test\r\n\r\n";
    parse_request(first, &LIMITS, &mut head).unwrap();
    assert_eq!(head.version(), Version::Http10);

    parse_request(second, &LIMITS, &mut head).unwrap();

    assert_eq!(
        (head.method(), head.target(), head.original_target()),
        ("PUT", "/z", "/z")
    );
    assert_eq!(
        (head.query(), head.version(), head.fields.len()),
        (None, Version::Http11, 1)
    );
}

#[test]
fn a_refused_head_still_tells_the_log_what_was_asked() {
    let mut head = RequestHead::default();

    let refused = parse_request(b"GET /x HTTP/1.1\r\n: y\r\n\r\n", &LIMITS, &mut head).unwrap_err();

    assert_eq!(refused.reason(), "invalid field name");
    assert_eq!((head.method(), head.original_target()), ("GET", "/x"));
}
