"""Which connections go on after an answer, and which must not."""

import socket
import threading
import time
from typing import Any

import pytest

from support.message import NotHttp
from support.pair import Pair, StartPair
from support.raw import get, post
from support.upstream import OK, Request, Visit, echo, response

PIECE = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
SHORT = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"


def test_a_connection_serves_one_request_after_another(pair: Pair) -> None:
    with pair.gateway.connect() as client:
        for number in range(5):
            answer = client.request(post(b"x" * number, f"/{number}"), "POST")
            assert answer.status == 200
            assert "Connection" not in answer.fields

    # And so does the one to the upstream.
    assert [len(visit.requests) for visit in pair.upstream.visits] == [5]


def test_pipelined_requests_are_answered_in_their_order(pair: Pair) -> None:
    pipelined = get("/1") + post(b"two", "/2") + get("/3") + get("/4", "Connection: close")

    with pair.gateway.connect() as client:
        client.send(pipelined)
        answers = [client.response() for _ in range(4)]
        assert client.end() == "fin"

    targets = [f'"target": "/{number}"'.encode() for number in range(1, 5)]
    assert all(want in answer.body for want, answer in zip(targets, answers, strict=True))
    assert pair.upstream.requests[1].body == b"two"


def test_many_pipelined_requests_in_arbitrary_pieces_lose_nothing(pair: Pair) -> None:
    count = 200
    data = b"".join(get(f"/{number}", f"X-Fill: {'y' * 100}") for number in range(count))

    with pair.gateway.connect() as client:
        sender = threading.Thread(
            target=client.send_pieces,
            args=([data[at : at + 1_009] for at in range(0, len(data), 1_009)],),
        )
        sender.start()
        answers = [client.response() for _ in range(count)]
        sender.join()

    assert [request.target for request in pair.upstream.requests] == [f"/{n}" for n in range(count)]
    assert all(answer.status == 200 for answer in answers)


def test_nothing_behind_a_request_that_closes_is_served(pair: Pair) -> None:
    with pair.gateway.connect() as client:
        answer = client.request(get("/1", "Connection: close") + get("/hidden"))
        assert client.end() in ("fin", "rst")

    assert answer.header("Connection") == "close"
    assert [request.target for request in pair.upstream.requests] == ["/1"]


@pytest.mark.parametrize(
    ("version", "connection", "goes_on"),
    [
        ("HTTP/1.1", None, True),
        ("HTTP/1.1", "keep-alive", True),
        ("HTTP/1.1", "close", False),
        ("HTTP/1.1", "Close", False),
        ("HTTP/1.1", "keep-alive, close", False),
        ("HTTP/1.0", None, False),
        ("HTTP/1.0", "keep-alive", True),
        ("HTTP/1.0", "Keep-Alive", True),
        ("HTTP/1.0", "close", False),
    ],
)
def test_version_and_connection_say_whether_it_goes_on(
    pair: Pair, version: str, connection: str | None, *, goes_on: bool
) -> None:
    lines = [f"GET /x {version}", "Host: a.test"]
    lines += [f"Connection: {connection}"] if connection else []
    request = ("\r\n".join(lines) + "\r\n\r\n").encode()

    with pair.gateway.connect() as client:
        answer = client.request(request)
        said = answer.header("Connection")
        if goes_on:
            assert said == ("keep-alive" if version == "HTTP/1.0" else None)
            assert client.request(request).status == 200
        else:
            assert said == "close"
            assert client.end() == "fin"

    assert all(one.version == "HTTP/1.1" for one in pair.upstream.requests)


def test_an_http10_client_gets_a_body_of_unknown_length_until_the_end(
    start_pair: StartPair,
) -> None:
    pair = start_pair(PIECE + b"0\r\n\r\n")

    with pair.gateway.connect() as client:
        client.send(b"GET /x HTTP/1.0\r\nHost: a.test\r\nConnection: keep-alive\r\n\r\n")
        answer = client.any_response()
        assert client.end() == "fin"

    assert answer.body == b"hello"
    assert "Transfer-Encoding" not in answer.fields
    assert answer.header("Connection") == "close"


def test_an_http10_client_without_a_host_is_served_and_the_upstream_gets_one(pair: Pair) -> None:
    with pair.gateway.connect() as client:
        answer = client.request(b"GET /x HTTP/1.0\r\n\r\n")

    assert answer.status == 200
    (request,) = pair.upstream.requests
    assert len(request.fields.all("Host")) == 1


def test_a_listener_may_bound_the_requests_of_a_connection(start_pair: StartPair) -> None:
    pair = start_pair(listener={"limits": {"requests_per_connection": 3}})

    with pair.gateway.connect() as client:
        answers = [client.request(get("/x")) for _ in range(3)]
        assert client.end() == "fin"

    assert [answer.header("Connection") for answer in answers] == [None, None, "close"]


@pytest.mark.parametrize(
    "answer",
    [
        OK.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n"),
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        PIECE.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n") + b"0\r\n\r\n",
        OK + b"more than it said",
    ],
    ids=["close", "HTTP/1.0", "chunked and close", "surplus bytes"],
)
def test_an_upstream_connection_that_ends_is_not_used_again(
    start_pair: StartPair, answer: bytes
) -> None:
    pair = start_pair(answer)

    with pair.gateway.connect() as client:
        for _ in range(3):
            got = client.request(get("/x"))
            # What one hop says of its connection is nothing to the next.
            assert (got.status, got.header("Connection")) == (200, None)
            assert got.body in (b"ok", b"hello")

    assert [len(visit.requests) for visit in pair.upstream.visits] == [1, 1, 1]


def test_an_http10_upstream_that_keeps_alive_is_used_again(start_pair: StartPair) -> None:
    pair = start_pair(b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok")

    with pair.gateway.connect() as client:
        assert [client.request(get("/x")).body for _ in range(3)] == [b"ok"] * 3

    assert [len(visit.requests) for visit in pair.upstream.visits] == [3]


def test_a_body_until_the_upstreams_end_keeps_the_clients_connection(start_pair: StartPair) -> None:
    def until_close(visit: Visit) -> None:
        visit.request()
        visit.send(b"HTTP/1.1 200 OK\r\n\r\nhel")
        visit.send(b"lo")

    pair = start_pair(script=until_close)

    with pair.gateway.connect() as client:
        answers = [client.request(get("/x")) for _ in range(2)]

    assert [answer.body for answer in answers] == [b"hello"] * 2
    assert answers[0].header("Transfer-Encoding") == "chunked"


def test_bytes_an_upstream_sends_unasked_answer_nobody(start_pair: StartPair) -> None:
    smuggled = threading.Event()

    def script(visit: Visit) -> None:
        visit.request()
        visit.send(OK)
        if visit.number == 0:
            visit.send(response(b"smuggled"))
            smuggled.set()
        visit.wait_closed()

    pair = start_pair(script=script)

    with pair.gateway.connect() as client:
        first = client.request(get("/x"))
        smuggled.wait(5)
        time.sleep(0.05)  # It has to reach the gateway's kernel; nothing tells when.
        second = client.request(get("/x"))

    assert (first.body, second.body) == (b"ok", b"ok")
    assert [len(visit.requests) for visit in pair.upstream.visits] == [1, 1]


class ShortLived:
    """An upstream with a keep-alive of its own, which ends idle connections by FIN or by RST."""

    def __init__(self, keep_alive: float, end: str) -> None:
        self.keep_alive = keep_alive
        self.end = end
        self.answered: list[Request] = []

    def __call__(self, visit: Visit) -> None:
        """Serve a connection until it has been silent for too long."""
        while True:
            visit.socket.settimeout(self.keep_alive)
            try:
                head = visit.head()
            except TimeoutError:
                if self.end == "fin":
                    visit.fin()
                else:
                    visit.rst()
                return
            if head is None:
                return
            visit.socket.settimeout(5)
            visit.body(head)
            self.answered.append(head)
            visit.send(OK)


@pytest.mark.case("KA-01")
@pytest.mark.spec("HT-16")
@pytest.mark.parametrize("end", ["fin", "rst"])
def test_idle_connections_that_the_upstream_closes_cost_no_request(
    start_pair: StartPair, end: str
) -> None:
    """The upstream's keep-alive and the pause between requests are the same, give or take 2 ms."""
    keep_alive = 0.05
    upstream = ShortLived(keep_alive, end)
    pair = start_pair(script=upstream)
    statuses: dict[str, list[int]] = {"GET": [], "POST": []}

    with pair.gateway.connect() as client:
        for number in range(120):
            method = "GET" if number < 60 else "POST"
            data = get(f"/{number}") if method == "GET" else post(b"0123456789", f"/{number}")
            statuses[method].append(client.request(data, method).status)
            time.sleep(keep_alive + (number % 41 - 20) / 10_000)

    assert statuses["GET"] == [200] * 60
    # A reset that crosses a POST proves nothing: 502, and never sent twice.
    allowed = {200} if end == "fin" else {200, 502}
    assert set(statuses["POST"]) <= allowed, statuses["POST"]
    targets = [request.target for request in upstream.answered]
    assert len(targets) == len(set(targets))
    assert len(pair.upstream.visits) > 1


@pytest.mark.case("KA-01")
def test_a_streamed_post_is_never_executed_twice(start_pair: StartPair) -> None:
    """Every second connection dies in the middle of the upload."""

    def dying(visit: Visit) -> None:
        assert visit.request() is not None
        visit.send(OK)
        head = visit.head()
        if head is None:
            return
        got = 0
        for piece in visit.pieces(head):
            got += len(piece)
            if got > 1 << 20:
                break
        visit.rst()

    pair = start_pair(script=dying, listener={"limits": {"body": "8MiB"}}, keeps_bytes=False)

    with pair.gateway.connect() as client:
        assert client.request(get("/first")).status == 200
    with pair.gateway.connect() as client:
        try:
            client.send(post(b"x" * (5 << 20), "/streamed"))
        except (ConnectionResetError, BrokenPipeError):
            pass
        else:
            assert client.response("POST").status == 502

    posts = [request for request in pair.upstream.requests if request.method == "POST"]
    assert [request.target for request in posts] == ["/streamed"]


@pytest.mark.case("KA-01")
@pytest.mark.spec("HT-10")
def test_a_connection_is_given_up_before_the_upstreams_announced_timeout(
    start_pair: StartPair,
) -> None:
    pair = start_pair(OK.replace(b"OK\r\n", b"OK\r\nKeep-Alive: timeout=5, max=100\r\n"))

    with pair.gateway.connect() as client:
        first = client.request(get("/x"))
        pair.gateway.advance(3_000)
        client.request(get("/x"))
        pair.gateway.advance(4_500)
        client.request(get("/x"))

    assert "Keep-Alive" not in first.fields
    assert [len(visit.requests) for visit in pair.upstream.visits] == [2, 1]


def aborting(data: bytes, end: str) -> Any:  # noqa: ANN401 - a script
    def script(visit: Visit) -> None:
        visit.request()
        visit.send(data)
        if end == "rst":
            # The reset must not overtake what was sent.
            time.sleep(0.02)
            visit.rst()

    return script


@pytest.mark.case("KA-03")
@pytest.mark.parametrize("end", ["fin", "rst"])
@pytest.mark.parametrize(
    "data", [PIECE, SHORT, PIECE + b"5\r\nhe"], ids=["chunked", "short", "cut"]
)
def test_an_upstream_that_dies_in_a_body_ends_the_clients_connection_too(
    start_pair: StartPair, data: bytes, end: str
) -> None:
    pair = start_pair(script=aborting(data, end))

    with pair.gateway.connect() as client:
        client.send(get("/x"))
        with pytest.raises((NotHttp, ConnectionResetError)):
            client.response()

    record = pair.gateway.record()
    assert (record["outcome"], record["level"], record["attempts"]) == ("truncated", "error", 1)
    assert pair.gateway.metric("sluicegate_incomplete_total", outcome="truncated") == 1
    assert len(pair.upstream.requests) == 1


@pytest.mark.case("KA-03")
def test_an_upstream_that_stalls_in_a_body_ends_the_clients_connection_too(
    start_pair: StartPair,
) -> None:
    def stalling(visit: Visit) -> None:
        visit.request()
        visit.send(PIECE)
        visit.wait_closed()

    pair = start_pair(script=stalling, route={"timeouts": {"idle": "2s"}})

    with pair.gateway.connect() as client:
        client.send(get("/x"))
        assert client.socket.recv(1 << 16, socket.MSG_PEEK)
        pair.gateway.advance(2_100)
        with pytest.raises((NotHttp, ConnectionResetError)):
            client.response()

    assert pair.gateway.record()["outcome"] == "truncated"
    # Its connection is not used again.
    assert pair.upstream.wait_closed() in ("fin", "rst")


@pytest.mark.case("KA-03")
def test_an_http10_client_learns_of_a_cut_body_by_a_reset(start_pair: StartPair) -> None:
    pair = start_pair(script=aborting(PIECE, "fin"))

    with pair.gateway.connect() as client:
        client.send(b"GET /x HTTP/1.0\r\nHost: a.test\r\n\r\n")
        # Its body ends with the connection: only a reset says that something is missing.
        assert client.rest()[1] == "rst"


def test_a_client_that_asks_again_while_it_is_answered_is_served_next(
    start_pair: StartPair,
) -> None:
    answer_now = threading.Event()

    def slow(request: Request) -> bytes:
        answer_now.wait(5)
        return echo(request)

    pair = start_pair(slow)

    with pair.gateway.connect() as client:
        client.send(get("/1"))
        pair.upstream.wait_for_requests(1)
        client.send(get("/2"))
        answer_now.set()
        answers = [client.response(), client.response()]

    assert b'"target": "/1"' in answers[0].body
    assert b'"target": "/2"' in answers[1].body
