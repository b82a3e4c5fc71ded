"""A limit on every body, however it is framed."""

import threading
from typing import Any

import pytest

from support.memory import Growth
from support.pair import StartGateway, StartPair
from support.raw import Connection, chunked, post
from support.upstream import echo

LIMIT = 1_000
LIMITED: dict[str, Any] = {"listener": {"limits": {"body": f"{LIMIT}B"}}}
CHUNKED_POST = b"POST /x HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.case("BD-01")
@pytest.mark.spec("HT-33")
def test_a_declared_length_over_the_limit_is_refused_before_a_byte_is_read(
    start_pair: StartPair,
) -> None:
    pair = start_pair(**LIMITED)

    answer = pair.assert_refused(
        b"POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1001\r\n\r\n", 413
    )

    assert b"body_too_large" in answer.body
    assert pair.gateway.record()["code"] == "body_too_large"


@pytest.mark.case("BD-01")
@pytest.mark.spec("HT-33")
@pytest.mark.parametrize(
    "chunks", [[b"x" * 1_024], [b"x"] * 1_100, [b"x" * 600] * 2], ids=["one", "bytes", "two"]
)
def test_a_chunked_body_over_the_limit_is_refused_while_it_is_read(
    start_pair: StartPair, chunks: list[bytes]
) -> None:
    pair = start_pair(**LIMITED)
    body = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)

    with pair.gateway.connect() as client:
        # The last chunk never comes: the answer must not wait for it.
        client.send(CHUNKED_POST + body)
        answer = client.response("POST")
        assert client.end() == "fin"

    assert answer.status == 413
    assert answer.header("Connection") == "close"
    assert not pair.upstream.received.endswith(b"0\r\n\r\n")


@pytest.mark.case("BD-01")
@pytest.mark.spec("HT-33")
def test_a_body_that_grows_over_the_limit_ends_the_upstreams_connection_too(
    start_pair: StartPair,
) -> None:
    pair = start_pair(**LIMITED)

    with pair.gateway.connect() as client:
        client.send(CHUNKED_POST + b"258\r\n" + b"x" * 600 + b"\r\n")
        pair.upstream.wait_until(lambda: b"x" * 600 in pair.upstream.received)
        client.send(b"258\r\n" + b"x" * 600 + b"\r\n")
        answer = client.response("POST")

    assert answer.status == 413
    pair.upstream.wait_closed()
    assert not pair.upstream.received.endswith(b"0\r\n\r\n")


@pytest.mark.case("BD-01")
@pytest.mark.spec("HT-04")
def test_a_body_of_exactly_the_limit_passes(start_pair: StartPair) -> None:
    pair = start_pair(echo, **LIMITED)

    with pair.gateway.connect() as client:
        by_length = client.request(post(b"x" * LIMIT), "POST")
        by_chunks = client.request(CHUNKED_POST + chunked(*[b"x" * 100] * 10), "POST")

    assert (by_length.status, by_chunks.status) == (200, 200)
    assert [len(request.body) for request in pair.upstream.requests] == [LIMIT, LIMIT]


@pytest.mark.spec("HT-04")
def test_a_route_has_a_limit_of_its_own(start_pair: StartPair) -> None:
    larger = {"limits": {"body": "3KB"}}
    pair = start_pair(**LIMITED, route=larger)

    with pair.gateway.connect() as client:
        within = client.request(post(b"x" * 3_000), "POST")
        over = client.request(post(b"x" * 3_001), "POST")

    assert (within.status, over.status) == (200, 413)


@pytest.mark.case("BD-01")
@pytest.mark.parametrize("status", [200, 204, 404])
def test_a_route_that_answers_by_itself_reads_little_of_an_endless_body(
    start_gateway: StartGateway, status: int
) -> None:
    route = {"id": "mock", "match": {"path": "/mock"}, "respond": {"status": status}}
    gateway = start_gateway({"routes": [route], "listeners": [{"limits": {"body": "1GiB"}}]})
    path = b"/mock" if status != 404 else b"/nothing"

    with gateway.connect() as client, Growth() as growth:
        client.send(CHUNKED_POST.replace(b"/x", path))
        taken = threading.Event()
        sent = _send_until_it_breaks(client, 100 << 20, taken)
        answer = client.response("POST")
        taken.wait(10)

    assert answer.status == status
    assert answer.header("Connection") == "close"
    # What the kernel's buffers hold is not read: a few megabytes at most.
    assert sent[0] < 20 << 20
    assert growth.most < 20 << 20


def _send_until_it_breaks(client: Connection, most: int, done: threading.Event) -> list[int]:
    """Sends chunks from a thread until the peer resets; how much went."""
    sent = [0]
    piece = b"10000\r\n" + b"x" * 65536 + b"\r\n"

    def send() -> None:
        try:
            while sent[0] < most:
                client.socket.sendall(piece)
                sent[0] += len(piece)
        except OSError:
            pass
        finally:
            done.set()

    threading.Thread(target=send, daemon=True).start()
    return sent
