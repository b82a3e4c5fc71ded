"""gRPC passes through: a client and a server of another make, all four kinds of calls."""

import time
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import ExitStack

import grpc
import pytest

from support.gateway import Gateway, forwarding
from support.pair import StartGateway

Serve = Callable[..., Gateway]


def _unary(request: bytes, context: grpc.ServicerContext) -> bytes:
    context.set_trailing_metadata((("x-after", "1"),))
    if request == b"missing":
        context.abort(grpc.StatusCode.NOT_FOUND, "no such thing")
    if request == b"slow":
        time.sleep(3)
    return b"got " + request


def _down(request: bytes, _context: grpc.ServicerContext) -> Iterator[bytes]:
    for number in range(5):
        yield b"%b %d" % (request, number)


def _up(requests: Iterator[bytes], _context: grpc.ServicerContext) -> bytes:
    return b",".join(requests)


def _both(requests: Iterator[bytes], _context: grpc.ServicerContext) -> Iterator[bytes]:
    for request in requests:
        yield b"echo " + request


@pytest.fixture
def gateway(parts: ExitStack, start_gateway: StartGateway) -> Gateway:
    """A gateway before a gRPC server."""
    server = grpc.server(futures.ThreadPoolExecutor(8))
    handlers = {
        "Unary": grpc.unary_unary_rpc_method_handler(_unary),
        "Down": grpc.unary_stream_rpc_method_handler(_down),
        "Up": grpc.stream_unary_rpc_method_handler(_up),
        "Both": grpc.stream_stream_rpc_method_handler(_both),
    }
    service = grpc.method_handlers_generic_handler("test.Echo", handlers)
    server.add_generic_rpc_handlers((service,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    parts.callback(lambda: server.stop(None).wait(5))
    document = forwarding(f"127.0.0.1:{port}", upstream_settings={"protocol": "http2"})
    document["routes"][0]["match"] = {"path": "/test.Echo/**"}
    return start_gateway(document)


@pytest.fixture
def channel(parts: ExitStack, gateway: Gateway) -> grpc.Channel:
    """A client of that gateway."""
    host, port = gateway.address
    return parts.enter_context(grpc.insecure_channel(f"{host}:{port}"))


@pytest.mark.spec("HT-02")
def test_all_four_kinds_of_calls_pass(channel: grpc.Channel) -> None:
    answer, call = channel.unary_unary("/test.Echo/Unary").with_call(b"one", timeout=5)
    assert answer == b"got one"
    assert ("x-after", "1") in list(call.trailing_metadata())

    down = channel.unary_stream("/test.Echo/Down")(b"n", timeout=5)
    assert list(down) == [b"n %d" % number for number in range(5)]

    up = channel.stream_unary("/test.Echo/Up")(iter([b"a", b"b", b"c"]), timeout=5)
    assert up == b"a,b,c"

    both = channel.stream_stream("/test.Echo/Both")(iter([b"x", b"y"]), timeout=5)
    assert list(both) == [b"echo x", b"echo y"]


def test_statuses_of_the_server_pass(channel: grpc.Channel) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        channel.unary_unary("/test.Echo/Unary")(b"missing", timeout=5)

    assert raised.value.code() == grpc.StatusCode.NOT_FOUND
    assert raised.value.details() == "no such thing"


def test_rejects_of_the_gateway_are_statuses(gateway: Gateway, channel: grpc.Channel) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        channel.unary_unary("/other.Service/Call")(b"one", timeout=5)

    assert raised.value.code() == grpc.StatusCode.UNIMPLEMENTED
    assert raised.value.details() == "no_route"
    record = gateway.record()
    assert (record["code"], record["status"]) == ("no_route", 200)


def test_a_call_that_the_client_cancels_is_cancelled(
    gateway: Gateway, channel: grpc.Channel
) -> None:
    call = channel.unary_unary("/test.Echo/Unary").future(b"slow")
    gateway.wait_until(lambda status: status["upstreams"][0]["connections"] == 1)
    time.sleep(0.1)

    call.cancel()

    assert gateway.record()["code"] == "client_gone"
