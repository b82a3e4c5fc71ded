"""How WebSocket connections end, whoever ends them."""

import struct
import threading
import time
from collections.abc import Callable

import pytest

from support.pair import Pair
from support.upstream import Visit
from support.websocket import CLOSE, PING, PONG, TEXT, Caller, agree, closing, frame

StartTunnel = Callable[..., Pair]
Call = Callable[..., Caller]


def open_sockets(pair: Pair) -> float:
    """What the gauges say of connections on either side."""
    return pair.gateway.metric("sluicegate_websocket_connections")


@pytest.mark.case("WS-03")
def test_a_close_by_the_client_is_answered_and_both_legs_end(
    start_tunnel: StartTunnel, call: Call
) -> None:
    pair = start_tunnel()
    callers = [call(pair) for _ in range(50)]
    begun = time.monotonic()

    for caller in callers:
        caller.send(TEXT, b"once")
        caller.close(1000)
    for caller in callers:
        assert caller.frames.must().payload == b"once"
        assert caller.frames.must().code == 1000
        assert caller.connection.rest()[1] == "fin"

    assert time.monotonic() - begun < 5
    pair.gateway.records(50)
    assert open_sockets(pair) == 0
    assert all(record["outcome"] == "complete" for record in pair.gateway.records(50))


@pytest.mark.case("WS-03")
def test_an_upstream_that_dies_is_told_to_the_client(start_tunnel: StartTunnel, call: Call) -> None:
    def script(visit: Visit) -> None:
        frames = agree(visit)
        frames.must()
        visit.rst()

    pair = start_tunnel(script)
    caller = call(pair)
    begun = time.monotonic()

    caller.send(TEXT, b"x")

    assert caller.frames.must().code == 1011
    caller.close(1011)
    assert caller.frames.next() is None
    assert time.monotonic() - begun < 1
    assert pair.gateway.record()["outcome"] == "truncated"


@pytest.mark.case("WS-03")
def test_an_upstream_that_dies_inside_a_frame_ends_the_connection(
    start_tunnel: StartTunnel,
    call: Call,
) -> None:
    def script(visit: Visit) -> None:
        agree(visit)
        visit.send(frame(TEXT, b"x" * 100)[:50])
        visit.pause()
        visit.fin()

    pair = start_tunnel(script)
    caller = call(pair)
    begun = time.monotonic()

    pair.upstream.visits[0].go_on()

    got, _ = caller.connection.rest()
    assert b"\x88" not in got
    assert time.monotonic() - begun < 1.5


@pytest.mark.case("WS-03")
def test_a_client_that_leaves_is_told_to_the_upstream(
    start_tunnel: StartTunnel, call: Call
) -> None:
    codes = []

    def script(visit: Visit) -> None:
        frames = agree(visit)
        codes.append(frames.must())
        visit.wait_closed()

    pair = start_tunnel(script)
    caller = call(pair)

    caller.connection.close()

    assert pair.gateway.record()["outcome"] == "client_gone"
    assert (codes[0].code, codes[0].masked) == (1001, True)
    assert open_sockets(pair) == 0


@pytest.mark.case("WS-03")
@pytest.mark.spec("HT-47")
def test_idle_connections_end_and_those_that_ping_do_not(
    start_tunnel: StartTunnel, call: Call
) -> None:
    pair = start_tunnel(idle="30s")
    pinging, idle = call(pair), call(pair)

    for _ in range(4):
        pair.gateway.advance(20_000)
        pinging.send(PING, b"p")
        assert pinging.frames.must().opcode == PONG

    assert idle.frames.must().code == 1001
    pinging.send(TEXT, b"still here")
    assert pinging.frames.must().payload == b"still here"


@pytest.mark.spec("HT-47")
def test_a_connection_ends_at_its_age(start_tunnel: StartTunnel, call: Call) -> None:
    pair = start_tunnel(life="60s")
    caller = call(pair)

    pair.gateway.advance(61_000)

    assert caller.frames.must().code == 1001


@pytest.mark.spec("HT-47")
def test_a_silent_client_is_asked_and_then_given_up(start_tunnel: StartTunnel, call: Call) -> None:
    pair = start_tunnel(ping="20s", idle="5m")
    caller = call(pair)

    pair.gateway.advance(21_000)
    ping = caller.frames.must()
    assert ping.opcode == PING
    caller.send(PONG, ping.payload)
    caller.send(TEXT, b"x")
    assert caller.frames.must().payload == b"x"
    assert pair.upstream.received.count(ping.payload) == 0, "our pong stays here"

    pair.gateway.advance(21_000)
    assert caller.frames.must().opcode == PING
    pair.gateway.advance(21_000)
    assert caller.frames.must().code == 1001
    assert pair.gateway.record()["outcome"] == "client_gone"


@pytest.mark.case("WS-05")
@pytest.mark.parametrize("code", [1000, 1001, 1011, 1012, 1013, 1014, 3000, 4999, None])
def test_a_close_passes_unchanged_and_its_answer_comes_before_the_end(
    start_tunnel: StartTunnel, call: Call, code: int | None
) -> None:
    reason = "" if code is None else "é" * 61 + "x"
    answers = []

    def script(visit: Visit) -> None:
        frames = agree(visit)
        visit.send(closing(code, reason))
        answers.append(frames.must())

    pair = start_tunnel(script)
    caller = call(pair)

    came = caller.frames.must()
    time.sleep(0.2)
    caller.connection.send(frame(CLOSE, came.payload, masked=True))

    expected = b"" if code is None else struct.pack("!H", code) + reason.encode()
    assert came.payload == expected
    caller.connection.rest()
    pair.gateway.record()
    assert answers[0].payload == expected


@pytest.mark.case("WS-05")
@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (struct.pack("!H", 1005), 1002),
        (struct.pack("!H", 1006), 1002),
        (struct.pack("!H", 1015), 1002),
        (struct.pack("!H", 999), 1002),
        (b"\x03", 1002),
        (struct.pack("!H", 1000) + b"\xff\xfe", 1007),
    ],
)
def test_a_close_that_may_not_be_sent_is_replaced(
    start_tunnel: StartTunnel, call: Call, payload: bytes, code: int
) -> None:
    def script(visit: Visit) -> None:
        agree(visit)
        visit.send(frame(CLOSE, payload))
        visit.wait_closed()

    pair = start_tunnel(script)
    caller = call(pair)

    assert caller.frames.must().code == code
    caller.close(code)
    assert caller.frames.next() is None


@pytest.mark.spec("HT-47")
@pytest.mark.parametrize(
    ("data", "code"),
    [
        (frame(TEXT, b"x" * 2000, masked=True), 1009),
        (frame(TEXT, b"not masked"), 1002),
        (frame(0, b"x", masked=True), 1002),
        (frame(3, b"x", masked=True), 1002),
        (frame(PING, b"x" * 126, masked=True), 1002),
        (frame(TEXT, b"", masked=True) * 40, 1008),
    ],
    ids=["long", "unmasked", "continuation", "opcode", "ping", "rate"],
)
def test_a_client_that_breaks_a_rule_is_told_which(
    start_tunnel: StartTunnel, call: Call, data: bytes, code: int
) -> None:
    pair = start_tunnel(max_frame="1KiB", messages_per_second=20)
    caller = call(pair)

    caller.connection.send(data)

    while (came := caller.frames.must()).opcode != CLOSE:
        pass
    assert came.code == code


@pytest.mark.case("DR-01")
@pytest.mark.spec("HT-48")
def test_draining_says_goodbye(start_tunnel: StartTunnel, call: Call) -> None:
    pair = start_tunnel()
    caller = call(pair)

    pair.gateway.engine.set_ready(False)

    farewell = caller.frames.must()
    assert farewell.code == 1001
    assert farewell.payload[2:] == b"the gateway is leaving"
    caller.close(1001)
    assert caller.frames.next() is None


@pytest.mark.spec("RT-50")
def test_a_connection_outlives_its_route(start_tunnel: StartTunnel, call: Call) -> None:
    pair = start_tunnel()
    caller = call(pair)

    pair.gateway.reload({"routes": [], "listeners": [{}]})

    caller.send(TEXT, b"still")
    assert caller.frames.must().payload == b"still"


def test_much_passes_in_both_directions_at_once(start_tunnel: StartTunnel, call: Call) -> None:
    """More than all buffers hold, from a client that reads late."""
    pair = start_tunnel(max_frame="1MiB")
    caller = call(pair)
    payload = bytes(range(256)) * 1024

    def send() -> None:
        for _ in range(40):
            caller.send(2, payload)

    sender = threading.Thread(target=send)
    sender.start()
    time.sleep(0.2)
    for _ in range(40):
        assert caller.frames.must().payload == payload
    sender.join()
