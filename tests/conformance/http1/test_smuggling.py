"""Requests and answers that two parsers would read differently: refused, never passed on."""

from typing import Any

import pytest

from support.pair import Pair, StartGateway, StartPair, StartUpstream
from support.raw import chunked, get
from support.upstream import OK, echo

HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: a.test\r\n\r\n"


def head(*fields: bytes, method: bytes = b"POST", version: bytes = b"HTTP/1.1") -> bytes:
    lines = [method + b" /x " + version, b"Host: a.test", *fields]
    return b"\r\n".join(lines) + b"\r\n\r\n"


@pytest.mark.case("SM-01")
@pytest.mark.parametrize(
    "data",
    [
        head(b"Content-Length: 13", b"Transfer-Encoding: chunked") + b"0\r\n\r\n" + HIDDEN,
        head(b"Transfer-Encoding: chunked", b"Content-Length: 13") + b"0\r\n\r\n" + HIDDEN,
        head(b"Content-Length: 0", b"Transfer-Encoding: chunked") + chunked(b"x" * 20) + HIDDEN,
    ],
    ids=["length first", "coding first", "length 0"],
)
def test_both_length_fields_are_refused(pair: Pair, data: bytes) -> None:
    pair.assert_refused(data, 400)


@pytest.mark.case("SM-02")
@pytest.mark.parametrize(
    "line",
    [
        b"Transfer-Encoding: \x0bchunked",
        b"Transfer-Encoding: xchunked",
        b"Transfer-Encoding: chunked, identity",
        b"Transfer-Encoding : chunked",
        b"Transfer-Encoding: gzip, chunked",
        b"Transfer-Encoding: chunked\x00",
        b"Transfer-Encoding: chunked, chunked",
        b"Transfer-Encoding:",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    ],
)
@pytest.mark.parametrize("length", [(b"Content-Length: 5",), ()], ids=["with length", "alone"])
def test_a_coding_not_understood_is_refused(
    pair: Pair, line: bytes, length: tuple[bytes, ...]
) -> None:
    pair.assert_refused(head(*length, line) + b"0\r\n\r\n" + HIDDEN, 400, 501)


@pytest.mark.case("SM-02")
@pytest.mark.parametrize("space", [b"\t", b" ", b" \t "])
def test_white_space_behind_a_coding_is_no_part_of_it(pair: Pair, space: bytes) -> None:
    with pair.gateway.connect() as client:
        answer = client.request(head(b"Transfer-Encoding: chunked" + space) + chunked(b"hello"))

    assert answer.status == 200
    (request,) = pair.upstream.requests
    assert request.fields["Transfer-Encoding"] == "chunked"
    assert "Content-Length" not in request.fields
    assert request.body == b"hello"


@pytest.mark.case("SM-02")
def test_a_coding_with_space_behind_it_and_a_length_is_refused(pair: Pair) -> None:
    pair.assert_refused(
        head(b"Content-Length: 5", b"Transfer-Encoding: chunked\t") + b"0\r\n\r\n", 400
    )


@pytest.mark.case("SM-03")
@pytest.mark.parametrize("line", [b":", b": value", b" : value", b"\t:"])
def test_a_field_without_a_name_is_refused(pair: Pair, line: bytes) -> None:
    data = head(line, b"Content-Length: 37", method=b"GET") + HIDDEN
    pair.assert_refused(data, 400)


@pytest.mark.case("SM-05")
@pytest.mark.parametrize(
    "value",
    [
        b"Content-Length: +5",
        b"Content-Length: -1",
        b"Content-Length: ",
        b"Content-Length:",
        b"Content-Length: 0x5",
        b"Content-Length: 5 5",
        b"Content-Length: 5,6",
        b"Content-Length: 5\r\nContent-Length: 6",
        b"Content-Length: 18446744073709551616",
        b"Content-Length: 5,",
        b"Content-Length: 5.0",
    ],
)
def test_a_length_that_is_not_one_number_is_refused(pair: Pair, value: bytes) -> None:
    pair.assert_refused(head(value) + b"hello", 400)


@pytest.mark.case("SM-05")
@pytest.mark.parametrize(
    "value", [b"Content-Length: 5, 5", b"Content-Length: 5\r\nContent-Length: 5"]
)
def test_the_same_length_twice_goes_on_once(pair: Pair, value: bytes) -> None:
    with pair.gateway.connect() as client:
        answer = client.request(head(value) + b"hello")

    assert answer.status == 200
    (request,) = pair.upstream.requests
    assert request.fields.all("Content-Length") == ["5"]
    assert request.body == b"hello"


@pytest.mark.case("SM-07")
def test_a_coding_in_http10_is_refused(pair: Pair) -> None:
    lines = (b"Connection: keep-alive", b"Content-Length: 5", b"Transfer-Encoding: chunked")
    data = head(*lines, version=b"HTTP/1.0") + b"0\r\n\r\n" + HIDDEN
    pair.assert_refused(data, 400)
    pair.assert_refused(head(*lines[2:], version=b"HTTP/1.0") + b"0\r\n\r\n" + HIDDEN, 400)


@pytest.mark.case("SM-08")
@pytest.mark.parametrize(
    "data",
    [
        head(b"X-A: \rTransfer-Encoding: chunked", method=b"GET"),
        head(b"X-A: a\x00b", method=b"GET"),
        b"GET /x HTTP/1.1\r\nHost: a.test\nX-A: 1\r\n\r\n",
        b"GET /x HTTP/1.1\nHost: a.test\r\n\r\n",
        head(b"X-A: 1", b" Transfer-Encoding: chunked", method=b"GET"),
        head(b"X-A: 1", b"\tTransfer-Encoding: chunked", method=b"GET"),
        b"GET /x\rTransfer-Encoding: chunked HTTP/1.1\r\nHost: a.test\r\n\r\n",
        b"GET /x\x00 HTTP/1.1\r\nHost: a.test\r\n\r\n",
        b"GET /x\nX-A: HTTP/1.1\r\nHost: a.test\r\n\r\n",
        b"GET /x y HTTP/1.1\r\nHost: a.test\r\n\r\n",
        b"GET\t/x HTTP/1.1\r\nHost: a.test\r\n\r\n",
    ],
    ids=[
        "CR in a value",
        "NUL in a value",
        "bare LF behind a field",
        "bare LF behind the request line",
        "fold by a space",
        "fold by a tab",
        "CR in the target",
        "NUL in the target",
        "LF in the target",
        "space in the target",
        "tab behind the method",
    ],
)
def test_control_characters_are_refused_and_kept_out_of_the_log(pair: Pair, data: bytes) -> None:
    pair.assert_refused(data, 400)

    assert pair.gateway.record()["status"] == 400
    assert pair.gateway.log.read_bytes().removesuffix(b"\n").decode().isprintable()


BAD_CHUNKS = [
    b"5\r\nhello0\r\n\r\n",
    b"10000000000000005\r\nhello\r\n0\r\n\r\n",
    b"-1\r\n",
    b"0x5\r\nhello\r\n0\r\n\r\n",
    b" 5\r\nhello\r\n0\r\n\r\n",
    b"\r\n5\r\nhello\r\n0\r\n\r\n",
    b"5\nhello\r\n0\r\n\r\n",
    b"5 \r\nhello\r\n0\r\n\r\n",
    b"5;a=\x00\r\nhello\r\n0\r\n\r\n",
    b"5\r\nhello\n0\r\n\r\n",
]


@pytest.mark.case("SM-09")
@pytest.mark.parametrize("pieces", [0, 1], ids=["at once", "byte by byte"])
@pytest.mark.parametrize("body", BAD_CHUNKS)
def test_a_bad_chunk_is_refused_at_its_first_bad_byte(pair: Pair, body: bytes, pieces: int) -> None:
    data = head(b"Transfer-Encoding: chunked") + body
    if not pieces:
        pair.assert_refused(data + HIDDEN, 400)
        return
    pair.assert_refused(data, 400, pieces=pieces)
    if pair.upstream.visits:
        # What went up before the fault is not a whole request, and its connection ends.
        pair.upstream.wait_closed()
        assert not pair.upstream.received.endswith(b"0\r\n\r\n")


ROUTES: dict[str, Any] = {
    "routes": [
        {"id": "a", "match": {"host": "a.test", "path": "/**"}, "upstream": "origin"},
        {"id": "b", "match": {"host": "b.test", "path": "/**"}, "respond": {"body": "b"}},
    ]
}


@pytest.mark.case("SM-13")
def test_the_target_in_absolute_form_names_the_host(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream(echo)
    gateway = start_gateway(upstream, **ROUTES)

    with gateway.connect() as client:
        other = client.request(b"GET http://b.test/x HTTP/1.1\r\nHost: a.test\r\n\r\n")
        same = client.request(b"GET http://a.test/x?y HTTP/1.1\r\nHost: b.test\r\n\r\n")

    assert other.body == b"b"
    assert same.status == 200
    (request,) = upstream.requests
    assert request.target == "/x?y"
    assert request.fields.all("Host") == ["a.test"]


@pytest.mark.case("SM-13")
@pytest.mark.parametrize(
    "lines",
    [
        b"Host: a.test\r\nHost: b.test\r\n",
        b"Host: a.test\r\nHost: a.test\r\n",
        b"X-A: 1\r\n",
        b"Host: a.test, b.test\r\n",
        b"Host: a.test/x\r\n",
        b"Host: user@a.test\r\n",
        b"Host: a.test:99999\r\n",
        b"Host: \r\n",
        b"Host: a.test:8x\r\n",
    ],
    ids=["two", "twice", "none", "list", "path", "user", "port", "empty", "port with a letter"],
)
def test_anything_but_one_host_is_refused(pair: Pair, lines: bytes) -> None:
    pair.assert_refused(b"GET /x HTTP/1.1\r\n" + lines + b"\r\n", 400)


@pytest.mark.case("SM-13")
@pytest.mark.parametrize("host", ["A.TEST.:80", "a.test.", "A.test", "a.test:80", "a.test:8443"])
def test_case_dot_and_port_do_not_change_the_route(
    start_gateway: StartGateway, start_upstream: StartUpstream, host: str
) -> None:
    upstream = start_upstream(echo)
    gateway = start_gateway(upstream, **ROUTES)

    with gateway.connect() as client:
        answer = client.request(get("/x", host=host))

    assert answer.status == 200
    assert upstream.requests[0].fields.all("Host") == [host]


TWO_CODINGS = (
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
)
BOTH = b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
TWO_LENGTHS = b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nok"


@pytest.mark.case("SM-15")
@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        (TWO_CODINGS, "transfer-encoding more than once"),
        (BOTH, "content-length and transfer-encoding together"),
        (TWO_LENGTHS, "content-length values differ"),
        (b"Content-Length: +2\r\n\r\nok", "invalid content-length"),
        (b"X-A: \rb\r\nContent-Length: 2\r\n\r\nok", "invalid field value"),
        (b": b\r\nContent-Length: 2\r\n\r\nok", "invalid field name"),
    ],
)
def test_an_ambiguous_answer_is_a_502_that_names_the_cause(
    start_pair: StartPair, fields: bytes, cause: str
) -> None:
    pair = start_pair(b"HTTP/1.1 200 OK\r\n" + fields)

    with pair.gateway.connect() as client:
        first = client.request(get("/x"))
        second = client.request(get("/x"))

    assert (first.status, second.status) == (502, 502)
    assert cause in pair.gateway.records(2)[0]["cause"]
    assert "127.0.0.1" not in first.body.decode()
    assert pair.gateway.metric("sluicegate_rejected_total", code="upstream_malformed") == 2
    # Closed, and not used again.
    pair.upstream.wait_closed(0)
    assert [len(visit.requests) for visit in pair.upstream.visits] == [1, 1]


@pytest.mark.case("HD-01")
@pytest.mark.parametrize(
    "connection",
    [
        ("Connection: close, X-Request-Id, traceparent, Host, Content-Length, X-User-Id",),
        ("connection: CLOSE, x-request-ID, TRACEPARENT, x-user-id",),
        ("Connection: X-Request-Id, traceparent", "Connection: close, X-User-Id"),
    ],
    ids=["one line", "mixed case", "two lines"],
)
def test_a_client_cannot_nominate_away_what_the_gateway_adds(
    pair: Pair, connection: tuple[str, ...]
) -> None:
    forged = ("X-Request-Id: forged", "X-User-Id: 1", "traceparent: forged")
    with pair.gateway.connect() as client:
        answer = client.request(get("/x", *connection, *forged))
        assert client.end() == "fin"

    (request,) = pair.upstream.requests
    assert request.fields["X-Request-Id"] == answer.fields["X-Request-Id"] != "forged"
    assert request.fields["traceparent"].startswith("00-")
    assert request.fields.all("Host") == ["a.test"]
    assert "X-User-Id" not in request.fields
    assert "Connection" not in request.fields


@pytest.mark.case("HD-01")
def test_an_upstream_cannot_nominate_away_what_the_gateway_adds(start_pair: StartPair) -> None:
    pair = start_pair(OK.replace(b"Content-Length", b"Connection: X-Request-Id\r\nContent-Length"))

    with pair.gateway.connect() as client:
        answer = client.request(get("/x"))

    assert "X-Request-Id" in answer.fields
    assert "Connection" not in answer.fields
