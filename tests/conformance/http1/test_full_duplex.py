"""Both directions at once, at the pace of the slower side, in bounded memory."""

import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from support.memory import Growth
from support.message import Message
from support.pair import StartPair
from support.raw import Connection
from support.upstream import Visit

MB = 1_000_000
LONG = 200 * MB
# Buffers of the gateway, of both kernels and of this test; far below what is in transit.
FLAT = 40 * MB
HUGE: dict[str, Any] = {"listener": {"limits": {"body": "1GiB"}}}
PIECE = bytes(range(256)) * 256
CHUNK = b"10000\r\n" + PIECE + b"\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
CHUNKED_POST = b"POST /x HTTP/1.1\r\nHost: a.test\r\n" + CHUNKED


class Uploading:
    """Sends a body from a thread, counting what the gateway has taken."""

    def __init__(self, client: Connection, pieces: Iterator[bytes]) -> None:
        self.taken = 0
        self._client = client
        self._pieces = pieces
        self._thread = threading.Thread(target=self._send, daemon=True)
        self._thread.start()

    def _send(self) -> None:
        for piece in self._pieces:
            self._client.socket.sendall(piece)
            self.taken += len(piece)

    def join(self) -> None:
        """Wait until the last byte has gone."""
        self._thread.join(60)
        assert not self._thread.is_alive()


def exactly(length: int) -> Iterator[bytes]:
    for _ in range(length // len(PIECE)):
        yield PIECE
    yield PIECE[: length % len(PIECE)]


def in_chunks(length: int) -> Iterator[bytes]:
    for _ in range(length // len(PIECE)):
        yield CHUNK
    yield b"0\r\n\r\n"


def read_all(client: Connection, message: Message) -> int:
    """Reads a body and compares each byte."""
    got = 0
    for piece in client.reader.pieces(message, until_close=True):
        at = got % len(PIECE)
        assert piece == (PIECE + PIECE)[at : at + len(piece)]
        got += len(piece)
    return got


def test_upload_and_download_run_at_once(start_pair: StartPair) -> None:
    """The upstream gives back each piece before the client sends the next."""

    def mirror(visit: Visit) -> None:
        request = visit.head()
        assert request is not None
        visit.send(b"HTTP/1.1 200 OK\r\n" + CHUNKED)
        for piece in visit.pieces(request):
            visit.send(b"%x\r\n%b\r\n" % (len(piece), piece))
        visit.send(b"0\r\n\r\n")
        visit.wait_closed()

    pair = start_pair(script=mirror)

    with pair.gateway.connect() as client:
        client.send(CHUNKED_POST)
        message = client.reader.head()
        assert message is not None
        pieces = client.reader.pieces(message, until_close=False)
        for number in range(100):
            said = b"piece %d" % number
            client.send(b"%x\r\n%b\r\n" % (len(said), said))
            assert next(pieces) == said
        client.send(b"0\r\n\r\n")
        assert list(pieces) == []


@pytest.mark.spec("HT-32", "HT-34")
@pytest.mark.parametrize("coding", ["length", "chunked"])
def test_a_long_body_each_way_at_once_arrives_whole_in_bounded_memory(
    start_pair: StartPair, coding: str
) -> None:
    arrived: queue.SimpleQueue[int] = queue.SimpleQueue()

    def both_ways(visit: Visit) -> None:
        request = visit.head()
        assert request is not None
        length = b"Content-Length: %d\r\n\r\n" % LONG
        visit.send(b"HTTP/1.1 200 OK\r\n" + (length if coding == "length" else CHUNKED))
        pieces = exactly(LONG) if coding == "length" else in_chunks(LONG)

        def send() -> None:
            for piece in pieces:
                visit.send(piece)

        sending = threading.Thread(target=send, daemon=True)
        sending.start()
        arrived.put(sum(len(piece) for piece in visit.pieces(request)))
        sending.join()
        visit.wait_closed()

    pair = start_pair(script=both_ways, keeps_bytes=False, **HUGE)

    with pair.gateway.connect(timeout=30) as client, Growth() as growth:
        if coding == "length":
            client.send(b"POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Length: %d\r\n\r\n" % LONG)
            uploading = Uploading(client, exactly(LONG))
        else:
            client.send(CHUNKED_POST)
            uploading = Uploading(client, in_chunks(LONG))
        message = client.reader.head()
        assert message is not None
        got = read_all(client, message)
        uploading.join()
        sent = arrived.get(timeout=30)

    whole = LONG if coding == "length" else LONG // len(PIECE) * len(PIECE)
    assert (got, sent) == (whole, whole)
    assert growth.most < FLAT


@pytest.mark.spec("HT-32")
def test_a_client_that_does_not_read_stops_the_upstream(start_pair: StartPair) -> None:
    sent = [0]

    def endless(visit: Visit) -> None:
        visit.request()
        visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % LONG)
        for piece in exactly(LONG):
            visit.send(piece)
            sent[0] += len(piece)
        visit.wait_closed()

    pair = start_pair(script=endless, keeps_bytes=False)

    with pair.gateway.connect(receive_buffer=65_536, timeout=30) as client, Growth() as growth:
        client.send(b"GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n")
        assert _where_it_stops(lambda: sent[0]) < 30 * MB
        message = client.reader.head()
        assert message is not None
        assert read_all(client, message) == LONG

    assert growth.most < FLAT


@pytest.mark.spec("HT-32", "HT-34")
def test_an_upstream_that_does_not_read_stops_the_client(start_pair: StartPair) -> None:
    read_now = threading.Event()
    arrived: list[int] = []

    def lazy(visit: Visit) -> None:
        request = visit.head()
        assert request is not None
        assert read_now.wait(30)
        arrived.append(sum(len(piece) for piece in visit.pieces(request)))
        visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        visit.wait_closed()

    pair = start_pair(script=lazy, keeps_bytes=False, **HUGE)

    with pair.gateway.connect(timeout=30) as client, Growth() as growth:
        client.send(b"POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Length: %d\r\n\r\n" % LONG)
        uploading = Uploading(client, exactly(LONG))
        assert _where_it_stops(lambda: uploading.taken) < 30 * MB
        read_now.set()
        assert client.response("POST").status == 200
        uploading.join()

    assert arrived == [LONG]
    assert growth.most < FLAT


def _where_it_stops(look: Callable[[], int]) -> int:
    """Waits until a count has not changed for a while."""
    deadline = time.monotonic() + 20
    before = -1
    while time.monotonic() < deadline:
        now = look()
        if now == before and now > 0:
            return now
        before = now
        # There is no event for something that does not happen.
        time.sleep(0.3)
    pytest.fail(f"it never stopped: {before} bytes")


@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_that_is_over_before_the_upload_is_delivered_whole(
    start_pair: StartPair, status: int
) -> None:
    def early(visit: Visit) -> None:
        visit.head()
        visit.send(b"HTTP/1.1 %d X\r\nContent-Length: 5\r\n\r\nearly" % status)
        visit.wait_closed()

    pair = start_pair(script=early, keeps_bytes=False, **HUGE)

    with pair.gateway.connect() as client:
        client.send(CHUNKED_POST + CHUNK)
        answer = client.response("POST")
        assert (answer.status, answer.body) == (status, b"early")
        # The rest of the body has nowhere to go: the connection cannot serve another request.
        client.socket.shutdown(socket.SHUT_WR)
        assert client.rest()[1] in ("fin", "rst")

    assert pair.gateway.record()["status"] == status
    # Nor can the upstream's, whose request was never complete.
    assert pair.upstream.wait_closed() in ("fin", "rst")


@pytest.mark.spec("HT-34")
@pytest.mark.parametrize("coding", ["length", "chunked"])
def test_an_upstream_that_reads_on_after_its_answer_gets_the_whole_upload(
    start_pair: StartPair, coding: str
) -> None:
    arrived: queue.SimpleQueue[int] = queue.SimpleQueue()

    def answers_first(visit: Visit) -> None:
        request = visit.head()
        assert request is not None
        visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly")
        arrived.put(sum(len(piece) for piece in visit.pieces(request)))

    pair = start_pair(script=answers_first, keeps_bytes=False, **HUGE)

    whole = 20 * MB if coding == "length" else 20 * MB // len(PIECE) * len(PIECE)
    with pair.gateway.connect() as client:
        if coding == "length":
            client.send(b"POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Length: %d\r\n\r\n" % whole)
        else:
            client.send(CHUNKED_POST)
        answer = client.response("POST")
        assert (answer.status, answer.body) == (200, b"early")
        pieces = exactly(whole) if coding == "length" else in_chunks(whole)
        Uploading(client, pieces).join()
        assert arrived.get(timeout=10) == whole
        # Both messages are whole: the connections go on.
        client.send(b"GET /again HTTP/1.1\r\nHost: a.test\r\n\r\n")
        assert client.response().body == b"early"


def test_a_slow_reader_that_uploads_too_much_still_sees_the_whole_answer(
    start_pair: StartPair,
) -> None:
    """Closing with bytes unread resets, and a reset would take back what is still on its way."""
    size = 8 * MB

    def refuses(visit: Visit) -> None:
        visit.head()
        visit.send(b"HTTP/1.1 403 Forbidden\r\nContent-Length: %d\r\n\r\n" % size)
        for piece in exactly(size):
            visit.send(piece)
        visit.wait_closed()

    pair = start_pair(script=refuses, keeps_bytes=False, **HUGE)

    with pair.gateway.connect(receive_buffer=65_536, timeout=30) as client:
        client.send(b"POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Length: %d\r\n\r\n" % LONG)
        Uploading(client, exactly(20 * MB))
        message = client.reader.head()
        assert message is not None
        assert message.start.startswith("HTTP/1.1 403 ")
        time.sleep(0.3)
        assert read_all(client, message) == size


@pytest.mark.spec("HT-33")
def test_a_body_that_grows_too_long_under_an_answer_ends_the_exchange(
    start_pair: StartPair,
) -> None:
    def answers_early(visit: Visit) -> None:
        visit.head()
        visit.send(b"HTTP/1.1 200 OK\r\n" + CHUNKED + b"5\r\nearly\r\n")
        visit.wait_closed()

    pair = start_pair(script=answers_early, listener={"limits": {"body": "100KB"}})

    with pair.gateway.connect() as client:
        client.send(CHUNKED_POST + b"5\r\nhello\r\n")
        message = client.reader.head()
        assert message is not None
        assert next(client.reader.pieces(message, until_close=False)) == b"early"
        client.send(CHUNK * 2)
        # The answer has begun: all that is left is to cut it visibly.
        rest, _ = client.rest()
        assert not rest.endswith(b"0\r\n\r\n")

    assert pair.gateway.record()["outcome"] == "truncated"
    assert pair.upstream.wait_closed() in ("fin", "rst")


def test_a_flood_of_interim_answers_is_not_piled_up(start_pair: StartPair) -> None:
    hint = b"HTTP/1.1 103 Early Hints\r\nLink: </" + b"x" * 8_000 + b">\r\n\r\n"
    flooded = threading.Event()

    def flooding(visit: Visit) -> None:
        visit.request()
        for _ in range(10_000):
            visit.send(hint)
        flooded.set()
        visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        visit.wait_closed()

    pair = start_pair(script=flooding, keeps_bytes=False, route={"timeouts": {"response": "60s"}})

    with pair.gateway.connect(receive_buffer=65_536, timeout=30) as client:
        client.send(b"GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n")
        with Growth() as growth:
            flooded.wait(10)
        # They are optional: a client that does not read gets fewer, not all at once later.
        answer = client.response()

    assert (answer.status, answer.body) == (200, b"ok")
    assert growth.most < FLAT
