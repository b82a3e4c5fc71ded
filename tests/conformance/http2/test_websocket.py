"""WebSocket over one stream of HTTP/2 (RFC 8441)."""

from collections.abc import Callable

import pytest

from support.http2 import Client
from support.pair import Pair, StartPair
from support.upstream import Visit
from support.websocket import TEXT, closing, echoing, frame

Connect = Callable[..., Client]
OPEN = {"method": "CONNECT", "protocol": "websocket", "end": False}
ASKS = [("sec-websocket-version", "13"), ("origin", "http://a.test")]


@pytest.fixture
def tunnel(start_pair: StartPair) -> Pair:
    """A gateway whose route speaks WebSocket, before an upstream that echoes."""
    return start_pair(script=echoing, route={"websocket": {}})


@pytest.mark.spec("HT-46")
@pytest.mark.case("WS-01")
def test_frames_pass_both_ways_and_the_close_ends_the_stream(
    tunnel: Pair, connect: Connect
) -> None:
    client = connect(tunnel.gateway, validates=False)
    stream = client.begin("/chat?x", headers=ASKS, **OPEN)  # type: ignore[arg-type]
    answer = client.answers[stream]
    client.until(lambda: answer.headers)
    assert answer.status == 200
    assert answer.header("sec-websocket-accept") is None
    request = tunnel.upstream.requests[0]
    assert (request.method, request.target) == ("GET", "/chat?x")
    assert request.fields.all("Upgrade") == ["websocket"]

    client.send(stream, frame(TEXT, b"hello", masked=True))
    client.until(lambda: answer.body)
    assert bytes(answer.body) == frame(TEXT, b"hello")
    # Beside it the connection serves other streams.
    other = client.begin("/other", headers=ASKS, **OPEN)  # type: ignore[arg-type]
    client.until(lambda: client.answers[other].headers)
    client.send(stream, closing(1000, masked=True))

    assert client.answer(stream).is_complete
    client.send(other, frame(TEXT, b"still", masked=True))
    client.until(lambda: client.answers[other].body == frame(TEXT, b"still"))


def test_an_upstream_that_does_not_agree_is_passed_on(
    start_pair: StartPair, connect: Connect
) -> None:
    def refuses(visit: Visit) -> None:
        visit.head()
        visit.send(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
        visit.wait_closed()

    pair = start_pair(script=refuses, route={"websocket": {}})
    client = connect(pair.gateway, validates=False)

    answer = client.answer(client.begin(headers=ASKS, **OPEN))  # type: ignore[arg-type]

    assert (answer.status, answer.body) == (403, b"no")


def test_a_client_that_resets_the_stream_ends_the_upstreams_connection(
    tunnel: Pair, connect: Connect
) -> None:
    client = connect(tunnel.gateway, validates=False)
    stream = client.begin(headers=ASKS, **OPEN)  # type: ignore[arg-type]
    client.until(lambda: client.answers[stream].headers)

    client.cancel(stream)

    tunnel.upstream.wait_until(lambda: not tunnel.upstream.visits[0].is_open)
    tunnel.gateway.wait_until(lambda status: status["connections"] == 1)
