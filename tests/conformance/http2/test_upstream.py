"""Upstreams that speak HTTP/2."""

import threading
from collections.abc import Callable

import h2.errors
import pytest

from support.gateway import Gateway
from support.http2 import Client, Http2Upstream, Peer, Received
from support.pair import StartGateway, StartUpstream
from support.upstream import Visit

Connect = Callable[..., Client]
StartHttp2 = Callable[..., tuple[Gateway, Http2Upstream]]
MB = 1_000_000


def silent(_peer: Peer, _request: Received) -> None:
    """Never answers."""


@pytest.mark.spec("HT-02")
def test_a_request_of_http1_goes_on_by_http2_and_back(start_http2: StartHttp2) -> None:
    gateway, upstream = start_http2(
        lambda peer, request: peer.answer(request, b"hello", headers=[("x-a", "1")])
    )

    with gateway.connect() as client:
        get = client.request(
            b"GET /a?b HTTP/1.1\r\nHost: a.test\r\nConnection: x-c\r\nX-C: 1\r\n\r\n"
        )
        post = client.request(
            b"POST /a HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nhello", "POST"
        )
        chunked = client.request(
            b"POST /a HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"5\r\nhello\r\n0\r\n\r\n",
            "POST",
        )

    for answer in (get, post, chunked):
        assert (answer.status, answer.body, answer.header("x-a")) == (200, b"hello", "1")
    heads = [request.headers for request in upstream.requests]
    assert heads[0][":path"] == "/a?b"
    assert heads[0][":authority"] == "a.test"
    assert not {"host", "connection", "x-c", "transfer-encoding"} & set(heads[0])
    assert heads[1]["content-length"] == "5"
    assert "content-length" not in heads[2]
    assert [request.body for request in upstream.requests] == [b"", b"hello", b"hello"]
    assert gateway.records(3)[0]["upstream_instance"] == upstream.authority


@pytest.mark.spec("HT-08", "HT-17")
def test_many_requests_share_one_connection(start_http2: StartHttp2, connect: Connect) -> None:
    go = threading.Event()
    waiting: list[tuple[Peer, Received]] = []

    def hold(peer: Peer, request: Received) -> None:
        waiting.append((peer, request))
        if len(waiting) == 50:
            go.set()

    gateway, upstream = start_http2(hold)
    client = connect(gateway)
    streams = [client.begin(f"/{number}") for number in range(50)]
    assert go.wait(5)
    for peer, request in reversed(waiting):
        peer.answer(request, request.headers[":path"].encode())

    for number, stream in enumerate(streams):
        assert client.answer(stream).body == b"/%d" % number
    assert len(upstream.peers) == 1
    reuse = gateway.metrics()
    assert any("upstream" in name for name in reuse)


def test_more_requests_than_streams_open_another_connection(
    start_http2: StartHttp2, connect: Connect
) -> None:
    waiting: list[tuple[Peer, Received]] = []

    def hold(peer: Peer, request: Received) -> None:
        waiting.append((peer, request))

    gateway, upstream = start_http2(hold, streams=2)
    client = connect(gateway)
    # The first learns what the upstream allows.
    first = client.begin()
    upstream.wait_until(lambda: len(waiting) == 1)
    streams = [first, *(client.begin() for _ in range(4))]
    upstream.wait_until(lambda: len(waiting) == 5)
    for peer, request in waiting:
        peer.answer(request)

    assert [client.answer(stream).status for stream in streams] == [200] * 5
    assert len(upstream.peers) > 1


@pytest.mark.spec("HT-09")
def test_no_stream_in_time_is_busy(start_http2: StartHttp2, connect: Connect) -> None:
    gateway, upstream = start_http2(
        silent,
        streams=1,
        upstream_settings={"connections": {"max": 1, "acquire": "50ms"}},
    )
    client = connect(gateway)
    client.begin()
    upstream.wait_until(lambda: len(upstream.requests) == 1)

    assert client.request().status == 503
    assert gateway.record()["code"] == "upstream_busy"


@pytest.mark.spec("HT-16")
def test_a_refused_stream_is_sent_again_whatever_its_method(
    start_http2: StartHttp2, connect: Connect
) -> None:
    def refuses_once(peer: Peer, request: Received) -> None:
        if len(upstream.requests) == 1:
            peer.refuse(request)
        else:
            peer.answer(request)

    gateway, upstream = start_http2(refuses_once)

    assert connect(gateway).request(method="POST", body=b"hello").status == 200
    assert [bytes(request.body) for request in upstream.requests] == [b"hello", b"hello"]


def test_after_goaway_what_is_open_goes_on_and_new_requests_take_a_new_connection(
    start_http2: StartHttp2, connect: Connect
) -> None:
    waiting: list[tuple[Peer, Received]] = []

    def handle(peer: Peer, request: Received) -> None:
        if request.headers[":path"] == "/slow":
            waiting.append((peer, request))
            peer.leave()
        else:
            peer.answer(request)

    gateway, upstream = start_http2(handle)
    client = connect(gateway)
    slow = client.begin("/slow")
    upstream.wait_until(lambda: waiting)

    assert [client.request("/fast").status for _ in range(3)] == [200] * 3
    assert len(upstream.peers) == 2
    # This library ends with its own GOAWAY; by hand the stream goes on.
    peer, request = waiting[0]
    peer.h2.state_machine.state = type(peer.h2.state_machine.state).SERVER_OPEN
    peer.answer(request, b"late")
    assert client.answer(slow).body == b"late"


def test_a_stream_that_the_upstream_resets_is_a_502_and_its_connection_lives(
    start_http2: StartHttp2, connect: Connect
) -> None:
    def resets(peer: Peer, request: Received) -> None:
        if request.headers[":path"] == "/reset":
            peer.h2.reset_stream(request.stream, h2.errors.ErrorCodes.INTERNAL_ERROR)
            peer.flush()
        else:
            peer.answer(request)

    gateway, upstream = start_http2(resets)
    client = connect(gateway)

    assert client.request("/reset").status == 502
    assert client.request("/fine").status == 200
    assert len(upstream.requests) == 2
    assert len(upstream.peers) == 1


def test_trailers_and_answers_that_are_a_head_alone(
    start_http2: StartHttp2, connect: Connect
) -> None:
    def answers(peer: Peer, request: Received) -> None:
        if request.headers[":path"] == "/head":
            peer.answer(request, None, headers=[("grpc-status", "5")])
        else:
            trailers = [("grpc-status", "0"), ("content-length", "7")]
            peer.answer(request, b"data", trailers=trailers)

    gateway, _ = start_http2(answers)
    client = connect(gateway)

    alone = client.request("/head")
    assert (alone.header("grpc-status"), alone.body, alone.trailers) == ("5", b"", None)
    assert alone.header("content-length") is None
    whole = client.request("/body")
    assert (whole.body, whole.trailers) == (b"data", [("grpc-status", "0")])
    with gateway.connect() as plain:
        answer = plain.request(b"GET /body HTTP/1.1\r\nHost: a.test\r\nTE: trailers\r\n\r\n")
        assert answer.trailers.all("grpc-status") == ["0"]


@pytest.mark.spec("HT-32", "HT-34")
def test_long_bodies_both_ways_arrive_whole(start_http2: StartHttp2, connect: Connect) -> None:
    gateway, upstream = start_http2(
        lambda peer, request: peer.answer(request, str(len(request.body)).encode()),
        listener={"limits": {"body": "1GiB"}},
    )
    client = connect(gateway, timeout=20)

    answer = client.request(method="POST", body=b"x" * (10 * MB))

    assert answer.body == b"%d" % (10 * MB)
    assert upstream.requests[0].is_complete


def test_a_client_that_leaves_cancels_the_stream(start_http2: StartHttp2, connect: Connect) -> None:
    gateway, upstream = start_http2(silent)
    client = connect(gateway)
    stream = client.begin()
    upstream.wait_until(lambda: upstream.requests)

    client.cancel(stream)

    upstream.wait_until(lambda: upstream.requests[0].reset == h2.errors.ErrorCodes.CANCEL)
    assert gateway.record()["status"] == 499
    assert len(upstream.peers) == 1


@pytest.mark.spec("HT-10", "HT-13")
def test_an_idle_connection_is_closed(start_http2: StartHttp2, connect: Connect) -> None:
    gateway, upstream = start_http2(
        upstream_settings={"connections": {"idle": "5s"}},
    )
    assert connect(gateway).request().status == 200

    # Idleness is noticed by one look a second, and its end by another.
    def is_closed() -> bool:
        gateway.advance(6_000)
        return not upstream.peers[0].is_open

    upstream.wait_until(is_closed, within=10)


@pytest.mark.spec("HT-21")
def test_a_silent_upstream_is_a_504_and_the_stream_is_given_up(
    start_http2: StartHttp2, connect: Connect
) -> None:
    gateway, upstream = start_http2(silent)
    client = connect(gateway)
    stream = client.begin()
    upstream.wait_until(lambda: upstream.requests)

    gateway.advance(4_000)

    assert client.answer(stream).status == 504
    upstream.wait_until(lambda: upstream.requests[0].reset is not None)


def test_an_upstream_that_does_not_speak_it_is_a_502(
    start_gateway: StartGateway, start_upstream: StartUpstream, connect: Connect
) -> None:
    def plain(visit: Visit) -> None:
        visit.receive()
        visit.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

    upstream = start_upstream(script=plain)
    gateway = start_gateway(upstream, upstream_settings={"protocol": "http2"})

    assert connect(gateway).request().status == 502


def test_a_websocket_route_to_it_is_refused(start_http2: StartHttp2) -> None:
    with pytest.raises(Exception, match="no WebSocket handshake"):
        start_http2(route={"websocket": {}})
