"""Opening a WebSocket connection through the gateway (RFC 6455 section 4)."""

from collections.abc import Callable

import pytest

from support.pair import Pair, StartGateway, StartUpstream
from support.raw import get
from support.upstream import Visit, echo
from support.websocket import (
    KEY,
    TEXT,
    Caller,
    accept_for,
    agree,
    frame,
    opening,
    switching,
)

StartTunnel = Callable[..., Pair]
Call = Callable[..., Caller]


def answering(raw: bytes) -> Callable[[Visit], None]:
    """A server that says this to a handshake, and waits for the end."""

    def script(visit: Visit) -> None:
        while visit.request() is not None:
            visit.send(raw)

    return script


@pytest.mark.spec("HT-46")
def test_both_sides_are_joined_after_the_101(start_tunnel: StartTunnel, call: Call) -> None:
    pair = start_tunnel()

    caller = call(pair, "Sec-WebSocket-Protocol: chat", target="/notify?x=1")
    caller.send(TEXT, b"hello")

    assert caller.frames.must().payload == b"hello"
    assert caller.answer.header("Upgrade") == "websocket"
    assert caller.answer.header("Sec-WebSocket-Accept") == accept_for(KEY)
    (request,) = pair.upstream.requests
    assert request.target == "/notify?x=1"
    assert request.fields.all("Connection") == ["Upgrade"]
    assert request.fields.all("Upgrade") == ["websocket"]
    assert request.fields.all("Sec-WebSocket-Protocol") == ["chat"]
    caller.close()
    assert caller.frames.must().code == 1000
    assert pair.gateway.record()["status"] == 101


def test_frames_that_come_along_with_the_answer_pass(start_tunnel: StartTunnel, call: Call) -> None:
    def eager(visit: Visit) -> None:
        visit.request()
        visit.send(switching() + frame(TEXT, b"first"))
        visit.wait_closed()

    pair = start_tunnel(eager)

    assert call(pair).frames.must().payload == b"first"


@pytest.mark.case("WS-01")
@pytest.mark.parametrize(
    ("refusal", "status", "body"),
    [
        (b"HTTP/1.1 406 Not Acceptable\r\nContent-Length: 4\r\n\r\nnope", 406, b"nope"),
        (b"HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n", 302, b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, b"ok"),
        (
            (
                b"HTTP/1.1 426 Upgrade Required\r\nSec-WebSocket-Version: 13\r\n"
                b"Content-Length: 0\r\n\r\n"
            ),
            426,
            b"",
        ),
    ],
    ids=["406", "302", "200", "426"],
)
def test_a_refusal_is_passed_on_and_the_connection_goes_on(
    start_tunnel: StartTunnel, refusal: bytes, status: int, body: bytes
) -> None:
    pair = start_tunnel(answering(refusal))

    with pair.gateway.connect() as client:
        answer = client.request(opening())
        again = client.request(opening())

    assert (answer.status, answer.body) == (status, body)
    assert again.status == status
    if status == 426:
        assert answer.header("Sec-WebSocket-Version") == "13"


@pytest.mark.case("WS-01")
@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        switching(key="BBBBBBBBBBBBBBBBBBBBBB=="),
        switching().replace(b"Upgrade: websocket\r\n", b""),
        switching().replace(b"websocket", b"h2c"),
        b"HTTP/1.1 101 Switch",
        b"",
    ],
    ids=["bare", "wrong accept", "no upgrade", "another protocol", "cut", "nothing"],
)
def test_a_101_that_is_none_never_reaches_the_client(start_tunnel: StartTunnel, raw: bytes) -> None:
    def script(visit: Visit) -> None:
        visit.request()
        visit.send(raw)
        if not raw.endswith(b"\r\n\r\n"):
            return
        visit.wait_closed()

    pair = start_tunnel(script)

    with pair.gateway.connect() as client:
        answer = client.request(opening())

    assert answer.status == 502


@pytest.mark.case("WS-01")
def test_a_reset_instead_of_an_answer_is_502(start_tunnel: StartTunnel) -> None:
    def script(visit: Visit) -> None:
        visit.request()
        visit.rst()

    pair = start_tunnel(script)

    with pair.gateway.connect() as client:
        assert client.request(opening()).status == 502


@pytest.mark.parametrize(
    ("data", "status", "code"),
    [
        (opening(version="8"), 426, "websocket_version"),
        (opening(key="short"), 400, "bad_handshake"),
        (opening("/", f"Sec-WebSocket-Key: {KEY}"), 400, "bad_handshake"),
    ],
    ids=["version", "key", "two keys"],
)
def test_a_handshake_that_cannot_succeed_is_refused_here(
    start_tunnel: StartTunnel, data: bytes, status: int, code: str
) -> None:
    pair = start_tunnel()

    with pair.gateway.connect() as client:
        answer = client.request(data)

    assert answer.status == status
    assert pair.gateway.record()["code"] == code
    assert not pair.upstream.visits


def test_without_the_setting_an_upgrade_is_ignored(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream(echo)
    gateway = start_gateway(upstream)

    with gateway.connect() as client:
        answer = client.request(opening())

    assert answer.status == 200
    (request,) = upstream.requests
    assert not request.fields.all("Upgrade")


def test_an_ordinary_request_passes_the_route_too(start_tunnel: StartTunnel) -> None:
    pair = start_tunnel(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))

    with pair.gateway.connect() as client:
        assert client.request(get()).body == b"ok"


@pytest.mark.spec("HT-47")
def test_a_route_has_so_many_connections_and_no_more(start_tunnel: StartTunnel, call: Call) -> None:
    pair = start_tunnel(connections=2)
    first, _second = call(pair), call(pair)

    with pair.gateway.connect() as client:
        refused = client.request(opening())
        first.close()
        assert first.frames.must().code == 1000
        first.connection.rest()

        pair.gateway.records(2)
        assert client.request(opening()).status == 101
    assert refused.status == 503
    assert refused.header("Content-Type") == "application/problem+json"


def test_compressed_messages_pass_when_the_sides_agree(
    start_tunnel: StartTunnel, call: Call
) -> None:
    def script(visit: Visit) -> None:
        frames = agree(visit, "Sec-WebSocket-Extensions: permessage-deflate")
        came = frames.must()
        visit.send(b"\xc1" + frame(TEXT, came.payload)[1:])
        visit.wait_closed()

    pair = start_tunnel(script)
    caller = call(pair, "Sec-WebSocket-Extensions: permessage-deflate")

    packed = frame(TEXT, b"packed", masked=True)
    caller.connection.send(b"\xc1" + packed[1:])

    assert caller.frames.must().payload == b"packed"
