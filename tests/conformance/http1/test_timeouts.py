"""How long the gateway waits for an upstream, stage by stage, and what it says then."""

import socket
import time
from collections.abc import Iterator

import pytest

from support.blackhole import Blackhole
from support.gateway import forwarding
from support.message import NotHttp
from support.pair import StartGateway, StartPair
from support.raw import get, post
from support.upstream import Visit, response


@pytest.fixture
def blackhole() -> Iterator[Blackhole]:
    with Blackhole() as hole:
        yield hole


def mute(visit: Visit) -> None:
    visit.request()
    visit.wait_closed()


@pytest.mark.spec("HT-19", "HT-20", "ER-14")
def test_an_endpoint_that_does_not_accept_is_a_504_of_its_own(
    start_gateway: StartGateway, blackhole: Blackhole
) -> None:
    gateway = start_gateway(forwarding(blackhole.authority))

    begun = time.monotonic()
    with gateway.connect() as client:
        answer = client.request(get("/x"))
        took = time.monotonic() - begun
        assert client.request(get("/x")).status == 504

    assert answer.status == 504
    assert b"upstream_connect_timeout" in answer.body
    # A second is the default.
    assert 0.9 < took < 2.5
    assert gateway.metric("sluicegate_upstream_connects_total", result="failed") == 2
    assert blackhole.authority not in answer.body.decode()


@pytest.mark.spec("HT-14", "HT-20")
def test_the_connect_timeout_is_the_upstreams_own(
    start_gateway: StartGateway, blackhole: Blackhole
) -> None:
    gateway = start_gateway(
        forwarding(blackhole.authority, upstream_settings={"timeouts": {"connect": "100ms"}})
    )

    begun = time.monotonic()
    with gateway.connect() as client:
        assert client.request(get("/x")).status == 504

    assert 0.09 < time.monotonic() - begun < 0.9


@pytest.mark.spec("HT-19")
def test_an_endpoint_that_refuses_is_a_502_at_once(start_gateway: StartGateway) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        host, port = gone.getsockname()
    gateway = start_gateway(forwarding(f"{host}:{port}"))

    with gateway.connect() as client:
        answer = client.request(post(b"hello"), "POST")
        # The body was small and has been read: the connection goes on.
        assert client.request(get("/x")).status == 502

    assert answer.status == 502
    assert b"upstream_unreachable" in answer.body
    assert "connect" in gateway.records(2)[0]["cause"]


@pytest.mark.spec("HT-19", "HT-21", "ER-14")
def test_an_upstream_that_does_not_answer_is_a_504_after_three_seconds(
    start_pair: StartPair,
) -> None:
    pair = start_pair(script=mute)

    with pair.gateway.connect() as client:
        client.send(get("/x"))
        pair.upstream.wait_for_requests(1)
        pair.gateway.advance(2_500)
        assert client.is_silent(within=0.1)
        pair.gateway.advance(600)
        answer = client.response()
        assert b"upstream_timeout" in answer.body
        # It said nothing that could be mistaken: the client may go on, the upstream may not.
        assert answer.header("Connection") is None
        assert pair.upstream.wait_closed() in ("fin", "rst")

    record = pair.gateway.record()
    assert (record["status"], record["code"], record["reason"], record["attempts"]) == (
        504,
        "upstream_timeout",
        "timeout",
        1,
    )


@pytest.mark.spec("HT-14", "HT-21", "RT-13")
def test_the_response_timeout_is_the_routes_own(start_pair: StartPair) -> None:
    pair = start_pair(script=mute, route={"timeouts": {"response": "20s"}})

    with pair.gateway.connect() as client:
        client.send(get("/x"))
        pair.upstream.wait_for_requests(1)
        pair.gateway.advance(19_000)
        assert client.is_silent(within=0.1)
        pair.gateway.advance(1_100)
        assert client.response().status == 504


@pytest.mark.spec("HT-21")
def test_the_response_timeout_begins_with_the_last_byte_of_the_request(
    start_pair: StartPair,
) -> None:
    pair = start_pair()

    with pair.gateway.connect() as client:
        client.send(post(b"", "/x").replace(b"Length: 0", b"Length: 10"))
        for piece in (b"01234", b"5678"):
            client.send(piece)
            pair.upstream.wait_for_bytes(piece)
            pair.gateway.advance(10_000)
        client.send(b"9")
        assert client.response("POST").status == 200


@pytest.mark.spec("HT-19", "HT-21")
def test_an_interim_answer_does_not_buy_more_time(start_pair: StartPair) -> None:
    def hinting(visit: Visit) -> None:
        visit.request()
        visit.send(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        visit.wait_closed()

    pair = start_pair(script=hinting)

    with pair.gateway.connect() as client:
        client.send(get("/x"))
        assert client.any_response().status == 103
        pair.gateway.advance(3_100)
        assert client.any_response().status == 504


@pytest.mark.spec("HT-19")
def test_a_head_that_stops_in_the_middle_is_a_504(start_pair: StartPair) -> None:
    def half(visit: Visit) -> None:
        visit.request()
        visit.send(b"HTTP/1.1 200 OK\r\nX-A")
        visit.wait_closed()

    pair = start_pair(script=half)

    with pair.gateway.connect() as client:
        client.send(get("/x"))
        pair.upstream.wait_for_requests(1)
        pair.gateway.advance(3_100)
        assert client.response().status == 504


@pytest.mark.spec("HT-19")
def test_an_upstream_that_stops_reading_the_body_is_a_504(start_pair: StartPair) -> None:
    def reads_nothing(visit: Visit) -> None:
        visit.head()
        visit.pause(20)

    pair = start_pair(
        script=reads_nothing,
        listener={"limits": {"body": "1GiB"}},
        route={"timeouts": {"idle": "10s"}},
        keeps_bytes=False,
    )

    with pair.gateway.connect() as client:
        client.socket.settimeout(0.3)
        with pytest.raises(TimeoutError):
            client.send(post(b"x" * (64 << 20), "/x"))
        client.socket.settimeout(5)
        pair.gateway.advance(10_100)
        assert client.response("POST").status == 504


@pytest.mark.spec("HT-19")
def test_a_body_that_keeps_coming_may_take_longer_than_the_idle_timeout(
    start_pair: StartPair,
) -> None:
    def dripping(visit: Visit) -> None:
        visit.request()
        visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        for letter in b"hello":
            visit.send(bytes([letter]))
            visit.pause()

    pair = start_pair(script=dripping, route={"timeouts": {"idle": "10s"}})

    with pair.gateway.connect() as client:
        client.send(get("/x"))
        message = client.reader.head()
        assert message is not None
        pieces = client.reader.pieces(message, until_close=False)
        got = b""
        while len(got) < 5:
            got += next(pieces)
            pair.gateway.advance(6_000)
            pair.upstream.visits[0].go_on()

    assert got == b"hello"


@pytest.mark.spec("HT-19")
def test_a_total_timeout_ends_an_exchange_that_answers_too_late(start_pair: StartPair) -> None:
    pair = start_pair(script=mute, route={"timeouts": {"response": "5s", "total": "5s"}})

    with pair.gateway.connect() as client:
        client.send(post(b"", "/x").replace(b"Length: 0", b"Length: 5"))
        pair.upstream.wait_until(lambda: bool(pair.upstream.requests))
        pair.gateway.advance(3_000)
        client.send(b"hello")
        pair.upstream.wait_until(lambda: pair.upstream.received.endswith(b"hello"))
        # The response timeout has begun only now; the total runs since the head.
        pair.gateway.advance(2_100)
        answer = client.response("POST")

    assert answer.status == 504
    assert b"total_timeout" in answer.body


@pytest.mark.spec("HT-19")
def test_a_total_timeout_cuts_a_body_that_never_pauses(start_pair: StartPair) -> None:
    def endless(visit: Visit) -> None:
        visit.request()
        visit.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            visit.send(b"3e8\r\n" + b"x" * 1_000 + b"\r\n")

    pair = start_pair(script=endless, route={"timeouts": {"total": "5s"}}, keeps_bytes=False)

    with pair.gateway.connect() as client:
        client.send(get("/x"))
        message = client.reader.head()
        assert message is not None
        pieces = client.reader.pieces(message, until_close=False)
        next(pieces)
        pair.gateway.engine.advance(5_100)
        with pytest.raises((NotHttp, ConnectionResetError)):
            sum(len(piece) for piece in pieces)

    assert pair.gateway.record()["outcome"] == "truncated"


@pytest.mark.spec("HT-19")
def test_without_a_total_timeout_a_stream_has_no_end(start_pair: StartPair) -> None:
    def streaming(visit: Visit) -> None:
        visit.request()
        visit.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(20):
            visit.send(b"5\r\nhello\r\n")
            visit.pause()
        visit.send(b"0\r\n\r\n")
        visit.wait_closed()

    pair = start_pair(script=streaming)

    with pair.gateway.connect() as client:
        client.send(get("/x"))
        message = client.reader.head()
        assert message is not None
        for piece in client.reader.pieces(message, until_close=False):
            assert piece == b"hello"
            # Twenty times fifty seconds.
            pair.gateway.advance(50_000)
            pair.upstream.visits[0].go_on()


@pytest.mark.spec("HT-19")
def test_the_total_timeout_counts_connecting_too(
    start_gateway: StartGateway, blackhole: Blackhole
) -> None:
    gateway = start_gateway(
        forwarding(
            blackhole.authority,
            upstream_settings={"timeouts": {"connect": "10s"}},
            route={"timeouts": {"response": "200ms", "total": "200ms"}},
        )
    )

    begun = time.monotonic()
    with gateway.connect() as client:
        answer = client.request(get("/x"))

    assert answer.status == 504
    assert time.monotonic() - begun < 2


def test_a_timeout_of_one_exchange_leaves_the_next_alone(start_pair: StartPair) -> None:
    def slow_once(visit: Visit) -> None:
        while (request := visit.request()) is not None:
            if request.target == "/slow":
                visit.wait_closed()
                return
            visit.send(response(b"fine"))

    pair = start_pair(script=slow_once)

    with pair.gateway.connect() as client:
        for round_ in range(3):
            client.send(get("/slow"))
            pair.upstream.wait_for_requests(2 * round_ + 1)
            pair.gateway.advance(3_100)
            assert client.response().status == 504
            assert client.request(get("/fast")).body == b"fine"
