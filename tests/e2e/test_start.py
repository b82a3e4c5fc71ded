"""How a gateway starts, and how it refuses to."""

import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Serve
from e2e.served import Served, is_running, run, write
from support.raw import Connection, get

BROKEN = "format: 1\nroutes:\n  - id: a\n    match: {path: nowhere}\n    upstream: nobody\n"


def document(name: str = "a", **sections: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a document
    """A document with one route that answers with its name."""
    return {
        "format": 1,
        "listeners": [{"id": "http", "address": "127.0.0.1:0"}],
        "routes": [{"id": name, "match": {"path": "/"}, "respond": {"body": name}}],
        **sections,
    }


def body(gateway: Served) -> bytes:
    """What `/` answers."""
    with Connection(gateway.address) as client:
        return client.request(get()).body


@pytest.mark.parametrize("taken", ["listener", "operations"])
def test_a_taken_port_is_said_in_a_sentence(serve: Serve, taken: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        listeners = [{"id": "http", "address": address}]
        content = document(listeners=listeners) if taken == "listener" else document()
        options = ("--operations", address) if taken == "operations" else ()

        gateway = serve(content, *options, starts=False)

        assert gateway.wait() == 1
    said = gateway.log_path.read_text()
    assert address in said
    assert "in use" in said or "taken" in said
    assert "Traceback" not in said
    assert not is_running(gateway.state_dir)


def test_a_broken_document_without_a_last_good_one_is_not_served(serve: Serve) -> None:
    gateway = serve(BROKEN, starts=False)

    assert gateway.wait() == 2
    said = gateway.log_path.read_text()
    assert "routes[0].match.path" in said
    assert "there is no upstream `nobody`" in said
    assert "Traceback" not in said


@pytest.mark.spec("CF-10", "CF-09")
def test_a_broken_document_at_start_leaves_the_last_good_one_in_force_loudly(
    tmp_path: Path,
) -> None:
    with Served(tmp_path, document("good")) as first:
        first.terminate()
        assert first.wait() == 0
    write(first.document_path, BROKEN)

    with Served(tmp_path, "", path=first.document_path) as second:
        status = second.status()
        assert body(second) == b"good"
        assert second.ready() == 200
        assert status["origin"] == "last-good"
        assert status["version"] == 1
        assert {one["path"] for one in status["rejection"]["problems"]} == {
            "routes[0].match.path",
            "routes[0].upstream",
        }
        assert second.events("serving_last_good")[0]["level"] == "error"
        assert second.metric("sluicegate_config_rejected_total") == 1
        shown = run("status", "--state-dir", second.state_dir).stdout
        assert "the last good one" in shown
        assert "routes[0].upstream" in shown

        write(second.document_path, document("better"))
        second.wait_for_version(2)
        assert body(second) == b"better"
        assert second.status()["origin"] == "file"
        assert second.status()["rejection"] is None


def test_the_same_document_keeps_its_version_and_another_gets_a_greater_one(
    tmp_path: Path,
) -> None:
    versions = []
    for content in (document("a"), document("a"), document("b"), document("a")):
        with Served(tmp_path, content) as gateway:
            versions.append(gateway.status()["version"])
            gateway.terminate()
            assert gateway.wait() == 0

    assert versions == [1, 1, 2, 3]


def test_a_state_directory_belongs_to_one_gateway(serve: Serve, tmp_path: Path) -> None:
    first = serve(document("a"))

    second = run(
        *("serve", "gateway", "--config", first.document_path, "--operations", "127.0.0.1:0"),
        *("--state-dir", first.state_dir),
        cwd=tmp_path,
    )

    assert second.returncode == 1
    assert str(first.state_dir) in second.stderr.replace("\n", "")
    assert "Traceback" not in second.stderr
    assert body(first) == b"a"
    assert first.status()["phase"] == "serving"


def test_after_a_kill_the_next_one_starts(tmp_path: Path) -> None:
    with Served(tmp_path, document("a")) as first:
        first.signal(signal.SIGKILL)
        first.wait()
        assert first.state_dir.joinpath("control.sock").exists()

    with Served(tmp_path, document("b")) as second:
        assert body(second) == b"b"


def test_what_is_kept_is_for_its_owner_only(serve: Serve) -> None:
    gateway = serve(document("a"))

    modes = {path.name: path.stat().st_mode & 0o777 for path in gateway.state_dir.iterdir()}

    assert set(modes) == {"control.sock", "last-good.json", "lock", "version"}
    assert set(modes.values()) == {0o600}
    assert gateway.state_dir.stat().st_mode & 0o777 == 0o700


@pytest.mark.spec("SE-24")
def test_health_and_readiness_are_told_on_their_own_port(serve: Serve) -> None:
    gateway = serve(document("a"))

    with Connection(gateway.operations) as client:
        ready = client.request(get("/readyz"))
    with Connection(gateway.operations) as client:
        written = client.request(get("/metrics").replace(b"GET", b"POST"))
    with Connection(gateway.address) as client:
        outside = client.request(get("/readyz"))

    assert (ready.status, ready.body) == (200, b"ready\n")
    assert written.status == 405
    assert outside.status == 404
    assert gateway.ready() == 200
