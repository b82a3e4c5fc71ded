"""Upstream connections: how many, who waits, and how long one is kept."""

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from support.gateway import Gateway, forwarding
from support.pair import StartGateway, StartPair, StartUpstream
from support.raw import Connection, get
from support.upstream import OK, Upstream, Visit, answering, response


def pooled(**connections: Any) -> dict[str, Any]:  # noqa: ANN401 - numbers and durations
    return {"upstream_settings": {"connections": connections}}


def ask(gateway: Gateway, requests: int, *, target: str = "/x") -> list[tuple[int, float]]:
    """Sends requests on a connection of its own: status and seconds of each."""
    results = []
    with gateway.connect(timeout=20) as client:
        for _ in range(requests):
            begun = time.monotonic()
            status = client.request(get(target)).status
            results.append((status, time.monotonic() - begun))
    return results


@pytest.mark.spec("HT-08", "HT-09")
@pytest.mark.parametrize("threads", [1, 4])
def test_an_upstream_never_has_more_connections_than_its_cap(
    start_pair: StartPair, threads: int
) -> None:
    """Forty clients want four connections; those who wait too long are told so, in time."""
    cap = 4
    pair = start_pair(
        script=answering(OK, delay=0.004), threads=threads, **pooled(max=cap, acquire="30ms")
    )

    with ThreadPoolExecutor(40) as clients:
        runs = [clients.submit(ask, pair.gateway, 25) for _ in range(40)]
        results = [result for run in runs for result in run.result()]

    assert pair.upstream.most_open <= cap
    statuses = Counter(status for status, _ in results)
    assert set(statuses) == {200, 503}
    assert statuses[200] > 100, statuses
    # On a busy machine everything is late; what counts is that nobody waits for long.
    assert max(took for _, took in results) < 1
    assert len(pair.upstream.requests) == statuses[200]


@pytest.mark.spec("HT-08", "HT-09")
def test_idle_connections_of_one_thread_are_given_up_for_another(start_pair: StartPair) -> None:
    """All connections belong to clients who are silent now; others, on other threads, ask."""
    pair = start_pair(threads=4, **pooled(max=2, acquire="2s"))
    clients = [pair.gateway.connect(timeout=20) for _ in range(24)]

    try:
        for _ in range(2):
            for client in clients:
                assert client.request(get("/x")).status == 200
    finally:
        for client in clients:
            client.close()

    assert pair.upstream.most_open <= 2


@pytest.mark.spec("HT-08", "HT-09")
@pytest.mark.parametrize("threads", [1, 4])
def test_skewed_load_starves_nobody(start_pair: StartPair, threads: int) -> None:
    """One busy client keeps asking; twenty quiet ones still get their turn."""
    pair = start_pair(
        script=answering(OK, delay=0.002), threads=threads, **pooled(max=1, acquire="3s")
    )
    over = threading.Event()

    def busy() -> int:
        count = 0
        with pair.gateway.connect(timeout=20) as client:
            while not over.is_set():
                assert client.request(get("/busy")).status == 200
                count += 1
        return count

    with ThreadPoolExecutor(30) as clients:
        loud = [clients.submit(busy) for _ in range(4)]
        quiet = [clients.submit(ask, pair.gateway, 3, target="/quiet") for _ in range(20)]
        statuses = Counter(status for run in quiet for status, _ in run.result())
        over.set()
        assert all(run.result() > 0 for run in loud)

    assert statuses == {200: 60}
    assert pair.upstream.most_open == 1


@pytest.mark.spec("HT-09")
def test_an_exhausted_pool_fails_fast_and_says_when_to_come_again(start_pair: StartPair) -> None:
    def held(visit: Visit) -> None:
        visit.request()
        visit.pause()
        visit.send(OK)
        visit.wait_closed()

    pair = start_pair(script=held, **pooled(max=1))

    with pair.gateway.connect() as first, pair.gateway.connect() as second:
        first.send(get("/held"))
        pair.upstream.wait_for_requests(1)
        begun = time.monotonic()
        answer = second.request(get("/x"))
        took = time.monotonic() - begun
        pair.upstream.visits[0].go_on()
        assert first.response().status == 200

    assert answer.status == 503
    assert b"upstream_busy" in answer.body
    assert answer.header("Retry-After") == "1"
    # Fifty milliseconds by default: far from the response timeout.
    assert 0.04 < took < 1
    assert len(pair.upstream.requests) == 1
    record = pair.gateway.records(2)[0]
    assert (record["code"], record["reason"], record["attempts"]) == (
        "upstream_busy",
        "overload",
        0,
    )
    assert pair.gateway.metric("sluicegate_upstream_acquire_seconds_count") == 1


@pytest.mark.spec("HT-08")
def test_who_waits_is_served_by_the_connection_that_becomes_free(start_pair: StartPair) -> None:
    def held(visit: Visit) -> None:
        while visit.request() is not None:
            visit.pause()
            visit.send(OK)

    pair = start_pair(script=held, **pooled(max=1, acquire="5s"))

    with pair.gateway.connect() as first, pair.gateway.connect() as second:
        first.send(get("/1"))
        pair.upstream.wait_for_requests(1)
        second.send(get("/2"))
        pair.gateway.wait_until(lambda status: status["upstreams"][0]["waiting"] == 1)
        pair.upstream.visits[0].go_on()
        assert first.response().status == 200
        pair.upstream.wait_for_requests(2)
        pair.upstream.visits[0].go_on()
        assert second.response().status == 200

    assert [len(visit.requests) for visit in pair.upstream.visits] == [2]


@pytest.mark.spec("HT-08")
def test_a_permit_comes_back_however_an_exchange_ends(start_pair: StartPair) -> None:
    """Aborted clients, dead upstreams, timeouts and broken answers leave no connection counted."""

    def odd(visit: Visit) -> None:
        while (request := visit.request()) is not None:
            if request.target == "/dies":
                visit.rst()
                return
            if request.target in broken:
                visit.send(broken[request.target])
                return
            if request.target != "/mute":
                visit.send(OK)

    broken = {
        "/garbage": b"garbage\r\n\r\n",
        "/cut": b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello",
    }

    pair = start_pair(script=odd, **pooled(max=1, acquire="3s"))

    for _ in range(3):
        for target in ("/dies", "/garbage", "/cut", "/x"):
            with pair.gateway.connect() as client:
                client.send(get(target))
                client.socket.recv(1 << 16)
        with pair.gateway.connect() as client:
            count = len(pair.upstream.requests)
            client.send(get("/mute"))
            pair.upstream.wait_for_requests(count + 1)
            client.reset()

    with pair.gateway.connect() as client:
        assert client.request(get("/x")).status == 200
    assert pair.upstream.most_open <= 1
    assert pair.gateway.status()["upstreams"][0]["connections"] == 1


@pytest.mark.spec("HT-08")
def test_a_new_document_lowers_the_cap_without_an_error(start_pair: StartPair) -> None:
    pair = start_pair(script=answering(OK, delay=0.002), **pooled(max=8, acquire="3s"))

    with ThreadPoolExecutor(16) as clients:
        runs = [clients.submit(ask, pair.gateway, 60) for _ in range(16)]
        pair.upstream.wait_until(lambda: pair.upstream.most_open >= 4)
        lowered = forwarding(pair.upstream.authority, **pooled(max=2, acquire="3s"))
        pair.gateway.reload(lowered)
        statuses = Counter(status for run in runs for status, _ in run.result())

    assert statuses == {200: 16 * 60}
    pair.gateway.wait_until(lambda status: status["upstreams"][0]["connections"] <= 2)
    open_now = [visit for visit in pair.upstream.visits if visit.is_open]
    assert len(open_now) <= 2


@pytest.mark.spec("HT-10", "HT-13")
def test_an_idle_connection_is_closed_in_the_background(start_pair: StartPair) -> None:
    pair = start_pair(**pooled(idle="50s"))

    with pair.gateway.connect() as client:
        assert client.request(get("/x")).status == 200
        pair.gateway.advance(49_000)
        assert pair.upstream.visits[0].is_open
        pair.gateway.advance(2_000)
        # Nobody asks: the sweep does it.
        assert pair.upstream.wait_closed() == "fin"

    pair.gateway.wait_until(lambda status: status["upstreams"][0]["connections"] == 0)


@pytest.mark.spec("HT-10")
def test_a_connection_idle_too_long_is_never_used(start_pair: StartPair) -> None:
    pair = start_pair(**pooled(idle="50s"))

    with pair.gateway.connect() as client:
        assert client.request(get("/x")).status == 200
        for _ in range(3):
            pair.gateway.advance(40_000)
            assert client.request(get("/x")).status == 200
        pair.gateway.advance(51_000)
        assert client.request(get("/x")).status == 200

    assert [len(visit.requests) for visit in pair.upstream.visits] == [4, 1]


@pytest.mark.spec("HT-12")
def test_a_connection_is_used_no_longer_than_its_life(start_pair: StartPair) -> None:
    pair = start_pair(**pooled(idle="50s", life="100s"))

    with pair.gateway.connect() as client:
        for _ in range(6):
            assert client.request(get("/x")).status == 200
            pair.gateway.advance(30_000)

    # At 0, 30, 60 and 90 s on the first; at 120 and 150 s on the second.
    assert [len(visit.requests) for visit in pair.upstream.visits] == [4, 2]
    assert pair.upstream.wait_closed() == "fin"


@pytest.mark.spec("HT-12")
def test_a_connection_that_outlives_its_life_in_an_exchange_is_closed_after_it(
    start_pair: StartPair,
) -> None:
    def slow(visit: Visit) -> None:
        while visit.request() is not None:
            visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no")
            visit.pause()
            visit.send(b"k")

    pair = start_pair(script=slow, **pooled(idle="10s", life="20s"))

    with pair.gateway.connect() as client:
        client.send(get("/x"))
        pair.upstream.wait_for_requests(1)
        pair.gateway.advance(25_000)
        pair.upstream.visits[0].go_on()
        # Not cut in the middle: only not used again.
        assert client.response().body == b"ok"

    assert pair.upstream.wait_closed() == "fin"


@pytest.mark.spec("HT-13")
def test_a_connection_that_the_upstream_closed_is_noticed_without_a_request(
    start_pair: StartPair,
) -> None:
    def leaves(visit: Visit) -> None:
        visit.request()
        visit.send(OK)
        visit.pause()

    pair = start_pair(script=leaves)

    with pair.gateway.connect() as client:
        assert client.request(get("/x")).status == 200
        pair.gateway.wait_until(lambda status: status["upstreams"][0]["idle"] == 1)
        pair.upstream.visits[0].go_on()
        pair.upstream.wait_closed()
        pair.gateway.advance(1_100)
        pair.gateway.wait_until(lambda status: status["upstreams"][0]["connections"] == 0)


@pytest.mark.spec("HT-17")
def test_connections_belong_to_their_endpoint(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    first, second = start_upstream(response(b"first")), start_upstream(response(b"second"))
    endpoints = [{"address": first.authority}, {"address": second.authority}]
    gateway = start_gateway(forwarding(first.authority, upstream_settings={"endpoints": endpoints}))

    with gateway.connect() as client:
        bodies = Counter(client.request(get("/x")).body for _ in range(10))

    assert bodies == {b"first": 5, b"second": 5}
    for upstream in (first, second):
        assert [len(visit.requests) for visit in upstream.visits] == [5]


@pytest.mark.spec("HT-08", "HT-17")
def test_a_cap_of_one_serves_two_endpoints_in_turn(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    """The idle connection to the one holds the permit that the other needs."""
    first, second = start_upstream(response(b"first")), start_upstream(response(b"second"))
    settings = {
        "endpoints": [{"address": first.authority}, {"address": second.authority}],
        "connections": {"max": 1},
    }
    gateway = start_gateway(forwarding(first.authority, upstream_settings=settings))

    with gateway.connect() as client:
        bodies = [client.request(get("/x")).body for _ in range(6)]

    assert Counter(bodies) == {b"first": 3, b"second": 3}


@pytest.mark.spec("HT-13")
def test_connections_to_an_endpoint_that_is_gone_are_closed(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    old: Upstream = start_upstream(response(b"old"))
    new: Upstream = start_upstream(response(b"new"))
    gateway = start_gateway(forwarding(old.authority))

    with gateway.connect() as client:
        assert client.request(get("/x")).body == b"old"
        gateway.reload(forwarding(new.authority))
        assert client.request(get("/x")).body == b"new"
        gateway.advance(1_100)
        assert old.wait_closed() == "fin"


@pytest.mark.spec("HT-18")
def test_the_state_of_the_pool_is_in_the_metrics(start_pair: StartPair) -> None:
    pair = start_pair()

    with pair.gateway.connect() as client:
        for _ in range(4):
            assert client.request(get("/x")).status == 200
        pair.gateway.wait_until(lambda status: status["upstreams"][0]["idle"] == 1)

        def metric(name: str, **labels: str) -> float:
            return float(pair.gateway.metric(f"sluicegate_upstream_{name}", **labels))

        assert metric("connections", state="idle") == 1
        assert metric("connections", state="active") == 0
        assert metric("attempts_total") == 4
        assert metric("reused_total") == 3
        assert metric("connects_total", result="ok") == 1
        assert metric("connect_seconds_count") == 1


def test_a_waiting_client_that_leaves_gives_its_place_up(start_pair: StartPair) -> None:
    def held(visit: Visit) -> None:
        while visit.request() is not None:
            visit.pause()
            visit.send(OK)

    pair = start_pair(script=held, **pooled(max=1, acquire="20s"))
    clients: list[Connection] = [pair.gateway.connect(timeout=10) for _ in range(3)]
    holder, leaver, patient = clients

    try:
        holder.send(get("/holder"))
        pair.upstream.wait_for_requests(1)
        leaver.send(get("/leaver"))
        pair.gateway.wait_until(lambda status: status["upstreams"][0]["waiting"] == 1)
        patient.send(get("/patient"))
        pair.gateway.wait_until(lambda status: status["upstreams"][0]["waiting"] == 2)
        leaver.reset()
        pair.gateway.wait_until(lambda status: status["upstreams"][0]["waiting"] == 1)
        for _ in range(2):
            pair.upstream.visits[0].go_on()
        assert holder.response().status == 200
        assert patient.response().status == 200
    finally:
        for client in clients:
            client.close()

    assert [request.target for request in pair.upstream.requests] == ["/holder", "/patient"]
