"""Risk control's word is in force at once: by a file, by a command, and after a restart."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Serve
from e2e.served import Served, run
from support.raw import get

EXAMPLE = Path(__file__).parents[2] / "examples/filters/denied.txt"
BY_HEADER = {
    "name": "client_address",
    "config": {"source": "x_forwarded_for", "trusted": ["127.0.0.1"]},
}


def document(**config: Any) -> dict[str, Any]:  # noqa: ANN401 - a filter's configuration
    """Everybody gets in who is not on the list; the caller is in a header."""
    return {
        "format": 1,
        "listeners": [{"id": "http", "address": "127.0.0.1:0"}],
        "routes": [{"id": "all", "match": {"path": "/**"}, "respond": {"body": "in"}}],
        "entry": [BY_HEADER, {"name": "denylist", "config": config}],
    }


def status(gateway: Served, caller: str, *lines: str) -> int:
    """What a caller gets."""
    with gateway.connect() as client:
        return client.request(get("/", f"X-Forwarded-For: {caller}", *lines)).status


def command(gateway: Served, *words: str) -> Any:  # noqa: ANN401 - JSON
    """A command of an operator, which has to succeed."""
    done = run(*words, "--state-dir", gateway.state_dir, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.spec("SE-26")
def test_a_file_is_followed(serve: Serve, tmp_path: Path) -> None:
    denied = tmp_path / "denied.txt"
    denied.write_text(EXAMPLE.read_text())
    gateway = serve(document(by=["address", "device"], file="denied.txt"))
    version = gateway.status()["version"]
    assert status(gateway, "198.51.100.9") == 403
    assert status(gateway, "203.0.113.7", "X-Device-Id: 3f1c9a") == 403
    assert status(gateway, "203.0.113.7") == 200

    denied.write_text("203.0.113.0/24\n")
    gateway.wait_for_event("denylist_changed")

    assert status(gateway, "203.0.113.7") == 403
    assert status(gateway, "198.51.100.9") == 200
    assert gateway.status()["version"] == version, "no new snapshot"


@pytest.mark.spec("SE-26")
def test_a_broken_file_changes_nothing_and_says_where(serve: Serve, tmp_path: Path) -> None:
    denied = tmp_path / "denied.txt"
    denied.write_text("203.0.113.7\n")
    gateway = serve(document(file="denied.txt"))

    denied.write_text("198.51.100.9\n\n203.0.113.7/8\nwho\n")
    refused = gateway.wait_for_event("denylist_refused")

    assert [problem["line"] for problem in refused["problems"]] == [3, 4]
    assert status(gateway, "203.0.113.7") == 403
    assert status(gateway, "198.51.100.9") == 200
    gateway.terminate()
    gateway.wait()
    # Neither does a restart open the door, though the file is still broken.
    again = serve(document(file="denied.txt"))
    assert status(again, "203.0.113.7") == 403


@pytest.mark.spec("SE-26")
def test_a_file_that_was_never_good_starts_nothing(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "denied.txt").write_text("203.0.113.7\nwho\n")

    gateway = serve(document(file="denied.txt"), starts=False)

    assert gateway.wait() == 2
    said = gateway.log_path.read_text()
    assert "denied.txt:2:1" in said
    assert "`who` is no address or network" in said


@pytest.mark.spec("SE-26")
def test_a_command_is_in_force_at_once_and_after_a_restart(serve: Serve) -> None:
    gateway = serve(document())
    assert status(gateway, "203.0.113.7") == 200

    (one,) = command(gateway, "block", "203.0.113.7", "198.51.100.0/24", "--for", "1h")

    assert (one["id"], one["entries"]) == ("denylist", 2)
    assert status(gateway, "203.0.113.7") == 403
    gateway.terminate()
    gateway.wait()
    again = serve(document())
    assert status(again, "203.0.113.7") == 403
    assert again.status()["denylists"][0]["entries"] == 2
    command(again, "unblock", "203.0.113.7")
    assert status(again, "203.0.113.7") == 200
    assert status(again, "198.51.100.9") == 403


@pytest.mark.spec("SE-26")
def test_a_command_that_is_refused_says_why(serve: Serve) -> None:
    gateway = serve(document(max=1))
    command(gateway, "block", "203.0.113.7")

    def refused(*words: str) -> str:
        done = run(*words, "--state-dir", gateway.state_dir)
        assert done.returncode == 1, done.stdout
        return done.stderr

    full = refused("block", "198.51.100.9")
    assert full.startswith("error: denylist `denylist`: the list would have 2 entries")
    assert "at most 1" in full
    assert "bits" in refused("block", "198.51.100.9/8")
    assert "no denylist looks at: user" in refused("block", "--user", "u-1")
    assert "is on no list" in refused("unblock", "198.51.100.9")
    assert status(gateway, "203.0.113.7") == 403
    assert status(gateway, "198.51.100.9") == 200
