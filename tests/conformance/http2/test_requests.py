"""Requests that come by HTTP/2 and go on by HTTP/1.1, and their answers."""

import json
import threading
from collections.abc import Callable

import h2.errors
import pytest

from support.http2 import Client
from support.memory import Growth
from support.pair import Pair, StartPair
from support.upstream import Visit

Connect = Callable[..., Client]
MB = 1_000_000
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"


@pytest.mark.spec("HT-02")
def test_a_request_arrives_as_one_of_http1_and_its_answer_goes_back(
    pair: Pair, connect: Connect
) -> None:
    client = connect(pair.gateway)

    answer = client.request("/a/b?c=d", headers=[("x-a", "1"), ("te", "trailers")])

    assert answer.status == 200
    request = pair.upstream.requests[0]
    assert (request.method, request.target) == ("GET", "/a/b?c=d")
    assert request.fields.all("Host") == ["a.test"]
    assert request.fields.all("x-a") == ["1"]
    assert pair.gateway.record()["status"] == 200
    assert answer.header("connection") is None
    assert answer.header("transfer-encoding") is None


def test_bodies_go_both_ways(pair: Pair, connect: Connect) -> None:
    client = connect(pair.gateway)

    known = client.request(
        method="POST", body=b"x" * 100_000, headers=[("content-length", "100000")]
    )
    unknown = client.request(method="POST", body=b"y" * 100_000)
    none = client.request(method="POST", body=b"")

    assert [answer.status for answer in (known, unknown, none)] == [200] * 3
    assert [len(request.body) for request in pair.upstream.requests] == [100_000, 100_000, 0]
    assert pair.upstream.requests[0].fields.all("Content-Length") == ["100000"]
    assert pair.upstream.requests[1].fields.all("Transfer-Encoding") == ["chunked"]


def test_many_streams_are_served_at_once_and_a_slow_one_holds_none_up(
    start_pair: StartPair, connect: Connect
) -> None:
    go = threading.Event()

    def slow_or_fast(visit: Visit) -> None:
        while request := visit.request():
            if request.target == "/slow":
                assert go.wait(10)
            visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    pair = start_pair(script=slow_or_fast)
    client = connect(pair.gateway)
    slow = [client.begin("/slow") for _ in range(20)]

    fast = [client.answer(client.begin("/fast")) for _ in range(20)]
    assert all(answer.body == b"ok" for answer in fast)
    assert not any(client.answers[stream].is_complete for stream in slow)
    go.set()

    assert all(client.answer(stream).body == b"ok" for stream in slow)


def test_head_and_answers_without_body_end_with_their_head(
    start_pair: StartPair, connect: Connect
) -> None:
    pair = start_pair(b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n")
    head = connect(pair.gateway).request(method="HEAD")
    assert (head.status, head.body, head.header("content-length")) == (200, b"", "1234")

    for status in (204, 304):
        pair = start_pair(b"HTTP/1.1 %d X\r\nX-A: 1\r\n\r\n" % status)
        answer = connect(pair.gateway).request()
        assert (answer.status, answer.body, answer.header("x-a")) == (status, b"", "1")


def test_trailers_of_an_answer_are_passed_on(start_pair: StartPair, connect: Connect) -> None:
    trailers = b"0\r\nX-Sum: 7\r\nContent-Length: 9\r\n\r\n"
    pair = start_pair(CHUNKED + b"Trailer: X-Sum\r\n\r\n5\r\nhello\r\n" + trailers)

    answer = connect(pair.gateway).request()

    assert (answer.body, answer.trailers) == (b"hello", [("x-sum", "7")])


@pytest.mark.spec("HT-34", "HT-32")
def test_upload_and_download_run_at_once(start_pair: StartPair, connect: Connect) -> None:
    def mirror(visit: Visit) -> None:
        request = visit.head()
        assert request is not None
        visit.send(CHUNKED + b"\r\n")
        for piece in visit.pieces(request):
            visit.send(b"%x\r\n%b\r\n" % (len(piece), piece))
        visit.send(b"0\r\n\r\n")
        visit.wait_closed()

    pair = start_pair(script=mirror)
    client = connect(pair.gateway)
    stream = client.begin(method="POST", end=False)
    answer = client.answers[stream]

    sent = b""
    for number in range(50):
        said = b"piece %d;" % number
        client.send(stream, said)
        sent += said
        client.until(lambda: answer.body == sent)  # noqa: B023 - looked at before it changes
    client.send(stream, b"", end=True)

    assert client.answer(stream).body == sent


@pytest.mark.spec("HT-32")
def test_a_client_that_does_not_open_its_window_stops_the_upstream(
    start_pair: StartPair, connect: Connect
) -> None:
    size = 60 * MB
    sent = [0]

    def endless(visit: Visit) -> None:
        visit.request()
        visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(size // MB):
            visit.send(b"x" * MB)
            sent[0] += MB

    pair = start_pair(script=endless, keeps_bytes=False)
    client = connect(pair.gateway, timeout=20)
    client.reads = False
    with Growth() as growth:
        stream = client.begin()
        client.until(lambda: len(client.answers[stream].body) == 65_535)
        other = connect(pair.gateway)
        assert other.request("/nothing", method="HEAD").status == 200
    assert sent[0] < 20 * MB
    assert growth.most < 40 * MB

    client.reads = True
    client.h2.increment_flow_control_window(65_535)
    client.h2.increment_flow_control_window(65_535, stream)
    client.flush()
    assert len(client.answer(stream).body) == size


@pytest.mark.spec("HT-04", "HT-33")
def test_a_body_that_is_too_large_is_refused_before_and_while_it_comes(
    start_pair: StartPair, connect: Connect
) -> None:
    pair = start_pair(listener={"limits": {"body": "100KB"}})
    client = connect(pair.gateway)

    declared = client.request(
        method="POST", body=b"x" * 60_000, headers=[("content-length", "60000")]
    )
    stream = client.begin(method="POST", end=False, headers=[("content-length", "100001")])
    too_long = client.answer(stream)
    client.cancel(stream)
    stream = client.begin(method="POST", end=False)
    client.send(stream, b"x" * 60_000)
    client.send(stream, b"x" * 60_000)
    undeclared = client.answer(stream)

    assert declared.status == 200
    assert json.loads(too_long.body)["code"] == "body_too_large"
    assert undeclared.status == 413
    assert client.request().status == 200


@pytest.mark.case("SM-03")
@pytest.mark.parametrize(
    "fields",
    [
        [("", "value")],
        [("connection", "close")],
        [("transfer-encoding", "chunked")],
        [("upgrade", "h2c")],
        [("te", "gzip")],
        [("X-Upper", "1")],
        [("content-length", "5"), ("content-length", "6")],
        [("content-length", "+5")],
    ],
    ids=lambda fields: fields[0][0] or "empty",
)
def test_what_http2_forbids_goes_nowhere(
    pair: Pair, connect: Connect, fields: list[tuple[str, str]]
) -> None:
    client = connect(pair.gateway, validates=False)

    answer = client.request(method="POST", body=b"hello", headers=fields)

    # Of the stream, or where the compression of heads may be out of step, of the connection.
    said = client.goaway.error_code if client.goaway else answer.reset
    assert said == h2.errors.ErrorCodes.PROTOCOL_ERROR or answer.status == 400
    assert pair.upstream.requests == []


@pytest.mark.case("SM-13")
@pytest.mark.parametrize(
    ("authority", "host"),
    [("a.test", "b.test"), (None, None), (None, "a b"), ("a.test", "a.test:81")],
)
def test_two_hosts_or_none_are_refused(
    pair: Pair, connect: Connect, authority: str | None, host: str | None
) -> None:
    client = connect(pair.gateway, validates=False)
    fields = [("host", host)] if host else []

    answer = client.request(authority=authority, headers=fields)

    assert answer.reset is not None or answer.status == 400
    assert pair.upstream.requests == []


def test_a_host_that_says_the_same_as_the_authority_or_stands_alone_is_fine(
    pair: Pair, connect: Connect
) -> None:
    client = connect(pair.gateway, validates=False)

    assert client.request(headers=[("host", "a.test")]).status == 200
    assert client.request(authority=None, headers=[("host", "b.test")]).status == 200

    hosts = [request.fields.all("Host") for request in pair.upstream.requests]
    assert hosts == [["a.test"], ["b.test"]]


def test_a_body_of_another_length_than_declared_is_cut(pair: Pair, connect: Connect) -> None:
    client = connect(pair.gateway, validates=False)

    answer = client.request(method="POST", body=b"hello", headers=[("content-length", "9")])

    assert answer.reset is not None or answer.status == 400
    assert pair.upstream.requests == [] or not pair.upstream.requests[0].body.endswith(b"hello")


def test_crumbs_of_a_cookie_become_one_field(pair: Pair, connect: Connect) -> None:
    client = connect(pair.gateway)

    client.request(headers=[("cookie", "a=1"), ("cookie", "b=2")])

    assert pair.upstream.requests[0].fields.all("Cookie") == ["a=1; b=2"]


@pytest.mark.parametrize(
    ("settings", "more", "status"),
    [
        ({"target": "50B"}, {"path": "/" + "a" * 60}, 414),
        ({"fields": 10}, {"headers": [("x-a", "1")] * 11}, 431),
        ({"header": "1KiB"}, {"headers": [("x-a", "1" * 1_100)]}, 431),
    ],
)
@pytest.mark.spec("HT-03", "HT-07")
def test_limits_of_heads_are_answered(
    start_pair: StartPair,
    connect: Connect,
    settings: dict[str, object],
    more: dict[str, object],
    status: int,
) -> None:
    pair = start_pair(listener={"limits": settings})
    client = connect(pair.gateway)

    assert client.request(**more).status == status  # type: ignore[arg-type]
    assert client.request().status == 200


def test_connect_is_not_offered(pair: Pair, connect: Connect) -> None:
    client = connect(pair.gateway, validates=False)

    assert client.answer(client.connect_to("b.test:80")).status == 501


def test_interim_answers_are_passed_on(start_pair: StartPair, connect: Connect) -> None:
    hint = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    pair = start_pair(hint + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    answer = connect(pair.gateway).request()

    assert [dict(head)[":status"] for head in answer.interim] == ["103"]
    assert (answer.status, answer.body) == (200, b"ok")


def test_a_client_that_waits_for_100_is_told(start_pair: StartPair, connect: Connect) -> None:
    pair = start_pair()
    client = connect(pair.gateway)
    stream = client.begin(
        method="POST", end=False, headers=[("expect", "100-continue"), ("content-length", "5")]
    )
    answer = client.answers[stream]

    client.until(lambda: answer.interim)
    assert dict(answer.interim[0])[":status"] == "100"
    client.send(stream, b"hello", end=True)

    assert client.answer(stream).status == 200


def test_a_stream_that_the_client_gives_up_cancels_the_work_at_once(
    start_pair: StartPair, connect: Connect
) -> None:
    def silent(visit: Visit) -> None:
        visit.request()
        visit.wait_closed()

    pair = start_pair(script=silent)
    client = connect(pair.gateway)
    stream = client.begin()
    pair.upstream.wait_for_requests(1)

    client.cancel(stream)

    assert pair.upstream.wait_closed() in ("fin", "rst")
    record = pair.gateway.record()
    assert (record["status"], record["code"]) == (499, "client_gone")


def test_an_answer_that_ends_early_resets_the_stream_and_nothing_else(
    start_pair: StartPair, connect: Connect
) -> None:
    def short(visit: Visit) -> None:
        request = visit.request()
        assert request is not None
        if request.target == "/short":
            visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
        else:
            visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    pair = start_pair(script=short)
    client = connect(pair.gateway)

    cut = client.answer(client.begin("/short"))
    assert cut.reset == h2.errors.ErrorCodes.INTERNAL_ERROR
    assert client.request("/fine").body == b"ok"


def test_http2_can_be_switched_off(start_pair: StartPair) -> None:
    pair = start_pair(listener={"http2": {"enabled": False}})

    with pair.gateway.connect() as client:
        client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        assert client.response().status == 505
