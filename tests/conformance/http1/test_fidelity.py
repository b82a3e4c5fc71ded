"""What goes through unchanged, and what an upstream may not send."""

import pytest

from support.gateway import forwarding
from support.pair import Pair, StartGateway, StartPair, StartUpstream
from support.raw import get, post
from support.upstream import OK, Visit, echo, response

ADDED = ("X-Request-Id", "traceparent", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host")


def test_fields_keep_their_case_their_order_and_their_repetitions(start_pair: StartPair) -> None:
    fields = ("x-B: 2", "X-a: 1", "Set-Cookie: a=1", "x-B:   3  ", "sEt-cOOkie: b=2", "X-Empty:")
    pair = start_pair(response(b"ok", *fields))

    with pair.gateway.connect() as client:
        answer = client.request(get("/x", *fields))

    expected = [("x-B", "2"), ("X-a", "1"), ("Set-Cookie", "a=1"), ("x-B", "3")]
    expected += [("sEt-cOOkie", "b=2"), ("X-Empty", "")]
    (request,) = pair.upstream.requests
    for pairs in (request.fields.pairs, answer.fields.pairs):
        kept = [pair_ for pair_ in pairs if pair_[0] not in {*ADDED, "Host", "Content-Length"}]
        assert kept == expected


def test_a_gateway_without_filters_adds_nothing(start_pair: StartPair) -> None:
    sent = b"GET /a%2Fb/../c?q=%20&r HTTP/1.1\r\nHost: A.test\r\nX-Raw: \xe4\xf6\r\n\r\n"
    pair = start_pair(OK, entry=[], route={"encoded_slash": "allow"})

    with pair.gateway.connect() as client:
        answer = client.request(sent)

    # The path is in its normal form, which every decision was made on; all else is as it came.
    assert pair.upstream.received == sent.replace(b"/a%2Fb/../c", b"/c")
    assert answer.raw_head + answer.body == OK


def test_bytes_of_a_body_are_nobodys_business(start_pair: StartPair) -> None:
    body = bytes(range(256)) * 64 + b"\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n"
    pair = start_pair(response(body))

    with pair.gateway.connect() as client:
        answer = client.request(post(body, "/x"), "POST")

    assert pair.upstream.requests[0].body == answer.body == body


@pytest.mark.parametrize("status", [200, 201, 299, 300, 404, 418, 500, 503, 599, 999])
def test_a_status_goes_through_whatever_it_is(start_pair: StartPair, status: int) -> None:
    pair = start_pair(response(b"body", status=f"{status} What Ever"))

    with pair.gateway.connect() as client:
        answer = client.request(get("/x"))

    assert (answer.status, answer.reason, answer.body) == (status, "What Ever", b"body")


@pytest.mark.parametrize("line", [b"HTTP/1.1 200 \r\n", b"HTTP/1.1 200\r\n"])
def test_a_missing_reason_is_no_fault(start_pair: StartPair, line: bytes) -> None:
    pair = start_pair(line + b"Content-Length: 2\r\n\r\nok")

    with pair.gateway.connect() as client:
        answer = client.request(get("/x"))

    assert (answer.status, answer.body) == (200, b"ok")


@pytest.mark.parametrize(
    "answer",
    [
        b"garbage\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"HTTP/2.0 200 OK\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 099 No\r\n\r\n",
        b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
        b"HTTP/1.1 200 OK\r\n X-Folded: 1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-A : 1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-A: " + b"x" * 70_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X-A: 1\r\n" * 300 + b"\r\n",
        b"HTTP/1.1 200 O\x00K\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    ],
    ids=[
        "garbage",
        "TLS",
        "another version",
        "two digits",
        "below 100",
        "bare LF",
        "folded",
        "space before the colon",
        "too large",
        "too many fields",
        "NUL in the reason",
        "chunked in HTTP/1.0",
        "unknown coding",
    ],
)
def test_an_answer_that_is_not_http_is_a_502(start_pair: StartPair, answer: bytes) -> None:
    pair = start_pair(answer)

    with pair.gateway.connect() as client:
        got = client.request(get("/x"))
        # A fault of the upstream is no reason to send the client away.
        assert got.header("Connection") is None

    assert (got.status, b"upstream_malformed" in got.body) == (502, True)
    assert pair.gateway.record()["code"] == "upstream_malformed"
    assert pair.upstream.wait_closed() is not None


@pytest.mark.parametrize("size", [b"5 hello", b"-5", b"0x5", b"fffffffffffffffff", b"", b"5;\x00"])
def test_a_bad_chunk_of_an_upstream_cuts_the_answer(start_pair: StartPair, size: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    def script(visit: Visit) -> None:
        visit.request()
        visit.send(head + b"5\r\nhello\r\n")
        visit.pause()
        visit.send(size + b"\r\nhello\r\n0\r\n\r\n")
        visit.wait_closed()

    pair = start_pair(script=script)

    with pair.gateway.connect() as client:
        client.send(get("/x"))
        message = client.reader.head()
        assert message is not None
        assert next(client.reader.pieces(message, until_close=False)) == b"hello"
        pair.upstream.visits[0].go_on()
        rest, _ = client.rest()

    assert b"0\r\n\r\n" not in rest
    assert pair.gateway.record()["outcome"] == "truncated"


@pytest.mark.parametrize("method", ["TRACE", "OPTIONS", "PROPFIND", "x-own"])
def test_methods_of_any_name_go_through(pair: Pair, method: str) -> None:
    with pair.gateway.connect() as client:
        answer = client.request(get("/x").replace(b"GET", method.encode()))

    assert answer.status == 200
    assert pair.upstream.requests[0].method == method


def test_the_asterisk_form_is_answered_and_harms_nobody(pair: Pair) -> None:
    with pair.gateway.connect() as client:
        star = client.request(b"OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n")
        after = client.request(get("/x"))

    assert star.status in (200, 404)
    assert after.status == 200


def test_one_empty_line_before_a_request_is_forgiven_and_no_more(pair: Pair) -> None:
    """RFC 9112 section 2.2: old clients send one behind a body."""
    with pair.gateway.connect() as client:
        assert client.request(post(b"hello", "/1") + b"\r\n", "POST").status == 200
        assert client.request(get("/2")).status == 200
    pair.assert_refused(b"\r\n\r\n" + get("/hidden"), 400)


def test_the_host_an_upstream_gets_is_what_it_is_configured_to_get(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream(echo)
    gateway = start_gateway(forwarding(upstream.authority))

    hosts = []
    with gateway.connect() as client:
        for choice in ("keep", "endpoint", "internal.test:81"):
            settings = {"host": choice}
            gateway.reload(forwarding(upstream.authority, upstream_settings=settings))
            assert client.request(get("/x")).status == 200
            hosts.append(upstream.requests[-1].fields.all("Host"))

    assert hosts == [["a.test"], [upstream.authority], ["internal.test:81"]]
