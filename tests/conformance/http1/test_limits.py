"""What a client may send, and how slowly: heads, targets, bodies, connections."""

import time
from typing import Any

import pytest

from support.gateway import forwarding
from support.pair import StartPair
from support.raw import Connection, get, post
from support.upstream import OK, Visit


def limits(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - sizes and numbers
    return {"listener": {"limits": values}}


def timeouts(**values: str) -> dict[str, Any]:
    return {"listener": {"timeouts": values}}


def filled(size: int) -> bytes:
    """A GET whose head has exactly this many bytes."""
    empty = get("/x", "X-Fill: ")
    return get("/x", "X-Fill: " + "y" * (size - len(empty)))


@pytest.mark.spec("HT-03")
def test_a_head_of_the_limit_passes_and_a_longer_one_is_a_431(start_pair: StartPair) -> None:
    pair = start_pair(**limits(header="2KiB"))

    with pair.gateway.connect() as client:
        assert client.request(filled(2_048)).status == 200
    pair.assert_refused(filled(2_049), 431)

    assert pair.gateway.records(2)[1]["code"] == "header_too_large"


@pytest.mark.spec("HT-03")
def test_a_head_without_end_is_refused_at_its_limit(start_pair: StartPair) -> None:
    pair = start_pair(**limits(header="2KiB"))

    with pair.gateway.connect() as client:
        client.send(b"GET /x HTTP/1.1\r\nX-Fill: " + b"y" * 4_000)
        assert client.response().status == 431
        assert client.end() == "fin"


@pytest.mark.spec("HT-03")
def test_the_default_admits_what_browsers_send(start_pair: StartPair) -> None:
    pair = start_pair()

    with pair.gateway.connect() as client:
        assert client.request(filled(16_000)).status == 200
    pair.assert_refused(filled(20_000), 431)


@pytest.mark.spec("HT-03")
def test_more_fields_than_the_limit_are_a_431(start_pair: StartPair) -> None:
    pair = start_pair(**limits(fields=10))
    fields = [f"X-{number}: 1" for number in range(9)]

    with pair.gateway.connect() as client:
        assert client.request(get("/x", *fields)).status == 200
    pair.assert_refused(get("/x", *fields, "X-More: 1"), 431)


@pytest.mark.spec("HT-07")
def test_a_target_of_the_limit_passes_and_a_longer_one_is_a_414(start_pair: StartPair) -> None:
    pair = start_pair(**limits(target="100B"))

    with pair.gateway.connect() as client:
        assert client.request(get("/" + "x" * 99)).status == 200
    answer = pair.assert_refused(get("/" + "x" * 100), 414)

    assert b"target_too_long" in answer.body


@pytest.mark.spec("HT-07")
def test_a_target_without_end_is_refused_at_its_limit(start_pair: StartPair) -> None:
    pair = start_pair(**limits(target="100B"))

    with pair.gateway.connect() as client:
        client.send(b"GET /" + b"x" * 3_000)
        assert client.response().status == 414


@pytest.mark.spec("HT-06")
def test_a_slow_head_is_a_408_however_it_drips(start_pair: StartPair) -> None:
    pair = start_pair(**timeouts(header="10s"))

    with pair.gateway.connect() as client:
        client.send(b"GET /x HTTP/1.1\r\n")
        for _ in range(3):
            # A byte now and then does not buy more time.
            assert client.is_silent(within=0.05)
            pair.gateway.advance(3_000)
            client.send(b"X-A: 1\r\n")
        pair.gateway.advance(1_200)
        answer = client.response()
        assert client.end() == "fin"

    assert (answer.status, answer.header("Connection")) == (408, "close")
    assert pair.gateway.record()["code"] == "header_timeout"
    assert pair.upstream.visits == []


@pytest.mark.spec("HT-06")
@pytest.mark.parametrize("part", ["declared", "chunked"])
def test_a_slow_body_is_a_408_and_ends_the_upstreams_connection(
    start_pair: StartPair, part: str
) -> None:
    def reading(visit: Visit) -> None:
        visit.head()
        visit.wait_closed()

    pair = start_pair(script=reading, **timeouts(body="10s"))
    framing = "Content-Length: 100" if part == "declared" else "Transfer-Encoding: chunked"
    request = f"POST /x HTTP/1.1\r\nHost: a.test\r\n{framing}\r\n\r\n".encode()

    with pair.gateway.connect() as client:
        client.send(request + (b"half" if part == "declared" else b"4\r\nhalf\r\n"))
        pair.upstream.wait_for_requests(1)
        assert client.is_silent(within=0.05)
        pair.gateway.advance(10_100)
        answer = client.response("POST")
        client.end()

    assert (answer.status, answer.header("Connection")) == (408, "close")
    assert pair.gateway.record()["code"] == "body_timeout"
    assert pair.upstream.wait_closed() in ("fin", "rst")


@pytest.mark.spec("HT-06")
def test_a_body_that_keeps_coming_may_take_longer_than_its_timeout(start_pair: StartPair) -> None:
    pair = start_pair(**timeouts(body="10s"))

    with pair.gateway.connect() as client:
        client.send(post(b"", "/x").replace(b"Length: 0", b"Length: 5"))
        for letter in b"hell":
            client.send(bytes([letter]))
            pair.upstream.wait_for_bytes(bytes([letter]))
            pair.gateway.advance(6_000)
            assert client.is_silent(within=0.05)
        client.send(b"o")
        assert client.response("POST").status == 200

    assert pair.upstream.requests[0].body == b"hello"


@pytest.mark.spec("HT-05")
def test_an_idle_connection_is_closed_without_a_word(start_pair: StartPair) -> None:
    pair = start_pair(**timeouts(idle="60s"))

    with pair.gateway.connect() as used, pair.gateway.connect() as fresh:
        assert used.request(get("/x")).status == 200
        pair.gateway.wait_until(lambda status: status["connections"] == 2)
        pair.gateway.advance(50_000)
        assert used.request(get("/x")).status == 200
        pair.gateway.advance(20_000)
        # The fresh one has never said anything; the used one has spoken twenty seconds ago.
        assert fresh.end() == "fin"
        assert used.is_silent(within=0.1)
        pair.gateway.advance(41_000)
        assert used.end() == "fin"

    pair.gateway.wait_until(lambda status: status["connections"] == 0)
    assert len(pair.gateway.records(2)) == 2


def test_a_client_that_does_not_read_is_given_up(start_pair: StartPair) -> None:
    sent = [0]

    def endless(visit: Visit) -> None:
        visit.request()
        visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
        while True:
            visit.send(b"x" * 65_536)
            sent[0] += 1

    pair = start_pair(script=endless, keeps_bytes=False, **timeouts(write="30s"))

    with pair.gateway.connect(receive_buffer=4_096) as client:
        client.send(get("/x"))
        pair.upstream.wait_for_requests(1)
        _wait_until_it_stops(sent)
        pair.gateway.advance(31_000)
        pair.upstream.wait_closed()

    record = pair.gateway.record()
    assert (record["outcome"], record["status"]) == ("client_gone", 200)


def _wait_until_it_stops(count: list[int]) -> None:
    """There is no event for something that does not happen."""
    before = -1
    while count[0] != before:
        before = count[0]
        time.sleep(0.2)


def test_a_listener_serves_as_many_connections_as_it_may(start_pair: StartPair) -> None:
    pair = start_pair(**limits(connections=2))

    with pair.gateway.connect() as first, pair.gateway.connect() as second:
        assert first.request(get("/x")).status == 200
        assert second.request(get("/x")).status == 200
        with pair.gateway.connect() as third:
            # Said before anything was read: nobody may wait for a place.
            assert third.response().status == 503
            third.rest()
        assert first.request(get("/x")).status == 200
        first.close()
        pair.gateway.wait_until(lambda status: status["connections"] == 1)
        with pair.gateway.connect() as fourth:
            assert fourth.request(get("/x")).status == 200

    assert pair.gateway.metric("sluicegate_connections_refused_total", listener="http") == 1


def test_a_refused_connection_is_told_so_even_if_it_has_asked_already(
    start_pair: StartPair,
) -> None:
    pair = start_pair(**limits(connections=1))

    with pair.gateway.connect() as inside:
        assert inside.request(get("/x")).status == 200
        for _ in range(20):
            with pair.gateway.connect() as outside:
                outside.send(get("/x"))
                answer = outside.response()
                assert (answer.status, answer.header("Connection")) == (503, "close")


def test_the_cap_holds_for_all_threads_together(start_pair: StartPair) -> None:
    pair = start_pair(threads=4, **limits(connections=8))
    clients: list[Connection] = []

    try:
        statuses = []
        for _ in range(20):
            client = pair.gateway.connect()
            clients.append(client)
            try:
                client.send(get("/x"))
                statuses.append(client.response().status)
            except ConnectionResetError:
                statuses.append(503)
    finally:
        for client in clients:
            client.close()

    assert sorted(statuses) == [200] * 8 + [503] * 12


def test_a_new_document_changes_the_limits_of_the_next_request(start_pair: StartPair) -> None:
    pair = start_pair(OK, **limits(target="100B"))

    with pair.gateway.connect() as client:
        assert client.request(get("/x")).status == 200
        pair.gateway.reload(forwarding(pair.upstream.authority, **limits(target="20B")))
        assert client.request(get("/" + "x" * 50)).status == 414
