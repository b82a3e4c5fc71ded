"""`sluicegate up`: from nothing to an answered request."""

import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.served import COMMAND, address, probe, run
from sluicegate.cli.starter import EXAMPLE_ADDRESS
from sluicegate.runtime.control import ask
from support.raw import Connection, get
from support.services import require_service


@pytest.fixture
def up(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A gateway started in an empty folder: the document it writes has the ports of the README."""
    for taken in ("127.0.0.1:8080", EXAMPLE_ADDRESS):
        with socket.socket() as probing:
            free = probing.connect_ex(address(taken)) != 0
        require_service(f"a free {taken}", present=free, reason="another process has it")
    words = [*COMMAND, "up", "--operations", "127.0.0.1:0"]
    with (tmp_path / "up.err").open("wb") as err, (tmp_path / "up.out").open("wb") as out:
        process = subprocess.Popen(words, cwd=tmp_path, stdout=out, stderr=err)
    yield process
    if process.poll() is None:
        process.kill()
    process.wait(10)


def test_one_command_answers_a_request(
    tmp_path: Path, up: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = tmp_path / "up.err"
    deadline = time.monotonic() + 20
    while "Sluicegate is up" not in said.read_text():
        assert up.poll() is None, said.read_text()
        assert time.monotonic() < deadline, said.read_text()
        time.sleep(0.02)

    engine = ask(tmp_path / ".sluicegate", "status")["engine"]
    with Connection(address(engine["listeners"][0]["address"])) as client:
        hello = client.request(get("/hello"))
        echo = client.request(get("/echo/x?y=1", "X-User-Id: forged"))
    ready = probe(address(engine["operations"]), "/readyz")
    explained = run("explain", "GET", "/hello", cwd=tmp_path)
    up.send_signal(signal.SIGINT)
    code = up.wait(15)

    assert hello.status == 200
    assert b"hello" in hello.body
    assert re.fullmatch("[0-9a-f]{32}", hello.header("X-Request-Id") or "")
    seen = dict(json.loads(echo.body)["headers"])
    assert json.loads(echo.body)["target"] == "/echo/x?y=1"
    assert "X-User-Id" not in seen
    assert "traceparent" in seen
    assert ready == (200, "ready\n")
    assert "forward to example" in explained.stdout
    assert code == 0
    assert (tmp_path / "sluicegate.yaml").exists()
    assert "curl -i http://" in said.read_text()
    assert "Traceback" not in said.read_text()
    assert len((tmp_path / "up.out").read_text().splitlines()) == 2, "one line for each request"
