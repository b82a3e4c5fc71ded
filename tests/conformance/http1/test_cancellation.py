"""A client that leaves: its work at the upstream ends, and the record is written all the same."""

import time
from collections.abc import Callable

import pytest

from support.blackhole import Blackhole
from support.gateway import forwarding
from support.pair import StartGateway, StartPair
from support.raw import Connection, get, post
from support.upstream import OK, Upstream, Visit

CHUNKED_POST = b"POST /x HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n"
LEAVING: dict[str, Callable[[Connection], None]] = {
    "close": Connection.close,
    "reset": Connection.reset,
    "half close": Connection.half_close,
}


def mute(visit: Visit) -> None:
    visit.request()
    visit.wait_closed()


@pytest.mark.spec("HT-24")
@pytest.mark.parametrize("leave", LEAVING.values(), ids=LEAVING)
def test_a_client_that_leaves_before_the_answer_is_a_499_and_ends_the_upstreams_work(
    start_pair: StartPair, leave: Callable[[Connection], None]
) -> None:
    pair = start_pair(script=mute)

    with pair.gateway.connect() as client:
        client.send(get("/x"))
        pair.upstream.wait_for_requests(1)
        leave(client)
        assert pair.upstream.wait_closed() in ("fin", "rst")

        record = pair.gateway.record()
        assert (record["status"], record["code"], record["outcome"]) == (
            499,
            "client_gone",
            "client_gone",
        )
        assert (record["path"], record["attempts"], record["level"]) == ("/x", 1, "warn")
    assert pair.gateway.metric("sluicegate_incomplete_total", outcome="client_gone") == 1
    pair.gateway.wait_until(lambda status: status["connections"] == 0)
    pair.gateway.wait_until(lambda status: status["upstreams"][0]["connections"] == 0)


@pytest.mark.spec("HT-24")
@pytest.mark.parametrize("leave", LEAVING.values(), ids=LEAVING)
def test_a_client_that_leaves_in_the_answer_ends_the_upstreams_work(
    start_pair: StartPair, leave: Callable[[Connection], None]
) -> None:
    def streaming(visit: Visit) -> None:
        visit.request()
        visit.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        visit.wait_closed()

    pair = start_pair(script=streaming)

    with pair.gateway.connect() as client:
        client.send(get("/x"))
        assert client.reader.head() is not None
        leave(client)
        assert pair.upstream.wait_closed() in ("fin", "rst")

        record = pair.gateway.record()
        assert (record["status"], record["outcome"]) == (200, "client_gone")


@pytest.mark.spec("HT-24")
def test_a_client_that_leaves_a_busy_stream_ends_it(start_pair: StartPair) -> None:
    def endless(visit: Visit) -> None:
        visit.request()
        visit.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            visit.send(b"3e8\r\n" + b"x" * 1_000 + b"\r\n")

    pair = start_pair(script=endless, keeps_bytes=False)

    with pair.gateway.connect() as client:
        client.send(get("/x"))
        assert client.reader.head() is not None
        client.close()
        pair.upstream.wait_closed()

    assert pair.gateway.record()["outcome"] == "client_gone"


@pytest.mark.spec("HT-24")
@pytest.mark.parametrize("leave", [Connection.close, Connection.reset], ids=["close", "reset"])
def test_a_client_that_leaves_in_its_upload_leaves_no_whole_request(
    start_pair: StartPair, leave: Callable[[Connection], None]
) -> None:
    def reading(visit: Visit) -> None:
        visit.head()
        visit.wait_closed()

    pair = start_pair(script=reading)

    with pair.gateway.connect() as client:
        client.send(CHUNKED_POST + b"5\r\nhello\r\n")
        pair.upstream.wait_until(lambda: b"hello" in pair.upstream.received)
        leave(client)
        assert pair.upstream.wait_closed() in ("fin", "rst")

    # The end of the connection must not look like the end of the body.
    assert not pair.upstream.received.endswith(b"0\r\n\r\n")
    record = pair.gateway.record()
    assert (record["status"], record["outcome"]) == (499, "client_gone")


@pytest.mark.spec("HT-24")
def test_a_client_that_leaves_in_both_bodies_at_once_is_gone(start_pair: StartPair) -> None:
    def both(visit: Visit) -> None:
        visit.head()
        visit.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        visit.wait_closed()

    pair = start_pair(script=both)

    with pair.gateway.connect() as client:
        client.send(CHUNKED_POST + b"5\r\nhello\r\n")
        assert client.reader.head() is not None
        client.reset()
        assert pair.upstream.wait_closed() in ("fin", "rst")

    # Its leaving, not a fault of the upstream.
    record = pair.gateway.record()
    assert (record["status"], record["outcome"]) == (200, "client_gone")


@pytest.mark.spec("HT-24")
def test_a_client_that_leaves_while_it_is_being_connected_sends_nothing(
    start_gateway: StartGateway,
) -> None:
    with Blackhole() as blackhole:
        gateway = start_gateway(
            forwarding(blackhole.authority, upstream_settings={"timeouts": {"connect": "20s"}})
        )
        with gateway.connect() as client:
            client.send(post(b"order", "/x"))
            gateway.wait_until(lambda status: status["upstreams"][0]["connections"] == 1)
            client.reset()

            record = gateway.record()
            assert (record["status"], record["attempts"]) == (499, 0)
            gateway.wait_until(lambda status: status["upstreams"][0]["connections"] == 0)


def test_a_client_that_leaves_after_its_answer_is_no_failure(start_pair: StartPair) -> None:
    pair = start_pair(OK)

    for _ in range(10):
        with pair.gateway.connect() as client:
            assert client.request(get("/x")).status == 200
            client.reset()

    records = pair.gateway.records(10)
    assert {record["outcome"] for record in records} == {"complete"}
    assert [len(visit.requests) for visit in pair.upstream.visits] == [10]


def test_a_client_that_says_nothing_leaves_no_record(start_pair: StartPair) -> None:
    pair = start_pair(OK)

    for leave in LEAVING.values():
        with pair.gateway.connect() as client:
            pair.gateway.wait_until(lambda status: status["connections"] == 1)
            leave(client)
            pair.gateway.wait_until(lambda status: status["connections"] == 0)
    with pair.gateway.connect() as client:
        assert client.request(get("/x")).status == 200

    assert pair.gateway.record()["path"] == "/x"


def test_a_client_that_leaves_inside_its_head_is_recorded(start_pair: StartPair) -> None:
    pair = start_pair(OK)

    with pair.gateway.connect() as client:
        client.send(b"GET /x HTTP/1.1\r\nHost: a")
        client.half_close()
        client.rest()

    record = pair.gateway.record()
    assert (record["status"], record["outcome"]) == (499, "client_gone")
    assert pair.upstream.visits == []


@pytest.mark.parametrize("threads", [1, 4])
def test_a_storm_of_leaving_clients_leaks_nothing(start_pair: StartPair, threads: int) -> None:
    def slowly(visit: Visit) -> None:
        while visit.request() is not None:
            time.sleep(0.01)
            visit.send(OK)

    pair = start_pair(script=slowly, threads=threads)
    upstream: Upstream = pair.upstream

    for number in range(200):
        client = pair.gateway.connect()
        client.send(get(f"/{number}") if number % 2 else CHUNKED_POST + b"5\r\nhel")
        (client.reset if number % 3 else client.close)()

    pair.gateway.wait_until(lambda status: status["connections"] == 0)
    pair.gateway.wait_until(
        lambda status: status["upstreams"][0]["connections"] == status["upstreams"][0]["idle"]
    )
    # The last clients may have left before they were accepted, and come a moment later.
    pair.gateway.wait_until(lambda _: pair.gateway.metric("sluicegate_in_flight") == 0)
    with pair.gateway.connect() as client:
        assert client.request(get("/after")).status == 200
    assert upstream.requests
