"""How a gateway ends: nobody loses a request that it was given."""

import signal
import socket
import threading
import time
from typing import Any

import pytest

from conftest import StartUpstream
from e2e.conftest import Serve
from e2e.load import Load, QuickUpstream
from e2e.served import Served, run
from support.raw import Connection, get
from support.upstream import Visit, response

ANSWERED = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def document(upstream: str) -> dict[str, Any]:
    """Everything goes to one upstream."""
    return {
        "format": 1,
        "listeners": [{"id": "http", "address": "127.0.0.1:0"}],
        "upstreams": [
            {"id": "origin", "endpoints": [{"address": upstream}], "timeouts": {"response": "30s"}}
        ],
        "routes": [{"id": "all", "match": {"path": "/**"}, "upstream": "origin"}],
    }


class Held:
    """An upstream's script that answers `/slow` when it is told to, and the rest at once."""

    def __init__(self) -> None:
        self.released = threading.Event()

    def __call__(self, visit: Visit) -> None:
        """Serve one connection."""
        while (request := visit.request()) is not None:
            if request.target == "/slow":
                self.released.wait(20)
            visit.send(ANSWERED)


def wait_for_drain(gateway: Served) -> None:
    """Wait until readiness fails."""
    gateway.wait_for_event("draining")
    gateway.wait_until(lambda: gateway.ready() == 503, "readiness that fails")


@pytest.mark.case("DR-01")
@pytest.mark.spec("AV-02", "AV-03")
def test_the_order_of_leaving(serve: Serve, start_upstream: StartUpstream) -> None:
    held = Held()
    upstream = start_upstream(script=held)
    gateway = serve(document(upstream.authority), "--drain-delay", "2s", "--grace", "10s")
    address, operations = gateway.address, gateway.operations
    idle, flying, half = (Connection(address) for _ in range(3))
    with idle, flying, half:
        assert idle.request(get("/first")).status == 200
        flying.send(get("/slow"))
        half.send(b"GET /half HTTP/1.1\r\nHost: a.test\r\n")
        upstream.wait_for_requests(2)

        gateway.terminate()
        wait_for_drain(gateway)

        # Idle connections end at once, answers end theirs, and new requests are still served.
        idle.socket.settimeout(0.5)
        assert idle.end() == "fin"
        half.send(b"\r\n")
        finished = half.response()
        assert (finished.status, finished.header("Connection")) == (200, "close")
        assert half.end() == "fin"
        with Connection(address) as late:
            assert late.is_silent(within=0.1), "a new connection has time for its request"
            new = late.request(get("/late"))
        assert (new.status, new.header("Connection")) == (200, "close")
        with Connection(operations) as probe:
            assert probe.request(get("/livez")).status == 200

        # After the delay the listeners close; what flies is waited for.
        gateway.wait_until(lambda: not is_open(address), "a closed listener", within=5)
        assert gateway.process.poll() is None
        held.released.set()
        last = flying.response()
        assert (last.status, last.body, last.header("Connection")) == (200, b"ok", "close")
        assert flying.end() == "fin"

    assert gateway.wait() == 0
    assert [event["event"] for event in gateway.events()][-3:] == ["draining", "drained", "stopped"]
    assert len(gateway.records(4)) == 4


def is_open(address: tuple[str, int]) -> bool:
    """Somebody listens there."""
    with socket.socket() as client:
        return client.connect_ex(address) == 0


@pytest.mark.case("DR-01")
def test_what_takes_longer_than_the_grace_is_cut(
    serve: Serve, start_upstream: StartUpstream
) -> None:
    held = Held()
    upstream = start_upstream(script=held)
    gateway = serve(document(upstream.authority), "--grace", "300ms")
    with gateway.connect() as client:
        client.send(get("/slow"))
        upstream.wait_for_requests(1)

        began = time.monotonic()
        gateway.terminate()
        code = gateway.wait()
        took = time.monotonic() - began
        rest, _ = client.rest()
    held.released.set()

    assert code == 0
    assert 0.3 <= took < 3
    assert rest == b""
    assert gateway.events("grace_over")


@pytest.mark.case("DR-01")
def test_asked_twice_it_ends_at_once(serve: Serve, start_upstream: StartUpstream) -> None:
    held = Held()
    upstream = start_upstream(script=held)
    gateway = serve(document(upstream.authority), "--drain-delay", "20s", "--grace", "20s")
    with gateway.connect() as client:
        client.send(get("/slow"))
        upstream.wait_for_requests(1)

        gateway.terminate()
        wait_for_drain(gateway)
        began = time.monotonic()
        gateway.terminate()
        code = gateway.wait()
        took = time.monotonic() - began
    held.released.set()

    assert code == 1
    assert took < 3
    assert gateway.events("ended_at_once")


def test_asked_twice_while_exchanges_end_it_ends_at_once(
    serve: Serve, start_upstream: StartUpstream
) -> None:
    held = Held()
    upstream = start_upstream(script=held)
    gateway = serve(document(upstream.authority), "--drain-delay", "0s", "--grace", "20s")
    address = gateway.address
    with gateway.connect() as client:
        client.send(get("/slow"))
        upstream.wait_for_requests(1)

        gateway.terminate()
        gateway.wait_until(lambda: not is_open(address), "a closed listener")
        gateway.signal(signal.SIGINT)
        code = gateway.wait(within=3)
    held.released.set()

    assert code == 1


@pytest.mark.case("DR-01")
@pytest.mark.spec("AV-02")
def test_no_request_fails_while_the_balancer_still_sends(serve: Serve) -> None:
    with QuickUpstream() as upstream:
        gateway = serve(document(upstream.authority), "--drain-delay", "2s")
        with Load(gateway.address, "/", rate=300, connections=8) as load:
            time.sleep(0.5)
            gateway.terminate()
            wait_for_drain(gateway)
            # The balancer's probe has failed: it sends nothing new a moment later.
            time.sleep(1)
            report = load.report()
        code = gateway.wait()

    assert report.failures == []
    assert report.again <= 8, "only idle connections may close under a client's hands"
    assert report.statuses == {"200": report.sent}
    assert code == 0


def test_the_command_drains_and_waits(serve: Serve, start_upstream: StartUpstream) -> None:
    gateway = serve(document(start_upstream(response(b"")).authority))

    drained = run("drain", "--wait", "--state-dir", gateway.state_dir)
    again = run("drain", "--state-dir", gateway.state_dir)

    assert drained.returncode == 0, drained.stderr
    assert "ended" in drained.stdout
    assert gateway.wait() == 0
    assert again.returncode == 1
