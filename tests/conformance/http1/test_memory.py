"""What connections and requests leave behind: nothing that grows."""

from collections.abc import Callable

import pytest

from support.memory import open_descriptors, resident
from support.pair import Pair, StartPair
from support.raw import Connection, get, post
from support.upstream import OK

IDLE = 1_000


@pytest.mark.spec("HT-32")
def test_an_idle_connection_holds_no_buffer(start_pair: StartPair) -> None:
    """Sixteen kilobytes each would be a buffer; an idle connection has none."""
    pair = start_pair(OK, keeps_bytes=False)
    clients: list[Connection] = []

    def serve(count: int) -> None:
        for _ in range(count):
            client = pair.gateway.connect()
            clients.append(client)
            assert client.request(get("/x")).status == 200

    try:
        serve(50)
        before = resident()
        serve(IDLE)
        grown = resident() - before
    finally:
        for client in clients:
            client.close()

    # Half of it is this test's own: the client, its socket, its reader.
    assert grown < IDLE * 16_000


def _requests(pair: Pair, count: int) -> None:
    with pair.gateway.connect() as client:
        for number in range(count):
            assert client.request(post(b"x" * 100, f"/{number}"), "POST").status == 200


def _connections(pair: Pair, count: int) -> None:
    for _ in range(count):
        with pair.gateway.connect() as client:
            assert client.request(get("/x")).status == 200


def _refusals(pair: Pair, count: int) -> None:
    for _ in range(count):
        with pair.gateway.connect() as client:
            assert client.request(b"GET /x HTTP/1.1\r\n\r\n").status == 400


def _resets(pair: Pair, count: int) -> None:
    for _ in range(count):
        with pair.gateway.connect() as client:
            client.send(post(b"half", "/x")[:-2])
            client.reset()


@pytest.mark.parametrize(
    "work",
    [_requests, _connections, _refusals, _resets],
    ids=["requests", "connections", "refusals", "resets"],
)
def test_work_that_is_over_leaves_nothing(
    start_pair: StartPair, work: Callable[[Pair, int], None]
) -> None:
    pair = start_pair(OK, keeps_bytes=False)

    work(pair, 500)
    before, descriptors = resident(), open_descriptors()
    work(pair, 1_500)
    pair.gateway.wait_until(lambda status: status["connections"] == 0)

    assert resident() - before < 8_000_000
    # The upstream of the test lives in this process and closes its ends in its own time.
    pair.gateway.wait_until(lambda _: open_descriptors() <= descriptors + 5)
