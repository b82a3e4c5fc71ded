"""`sluicegate` as a process of its own: its document, its state directory, and what it says."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sluicegate.errors import SluicegateError
from sluicegate.runtime.control import ask
from support.gateway import yaml_text
from support.raw import Address, Connection

Document = Mapping[str, Any] | str
SLOWEST = 20.0
COMMAND = (sys.executable, "-m", "sluicegate")


class Served:
    """`sluicegate serve gateway` on free ports; what it says goes to files beside the document."""

    def __init__(
        self,
        folder: Path,
        document: Document,
        *options: str,
        name: str = "gateway",
        path: Path | None = None,
        starts: bool = True,
    ) -> None:
        self.folder = folder
        self.document_path = path or folder / f"{name}.yaml"
        self.state_dir = folder / f"{name}-state"
        self.log_path = folder / f"{name}.err"
        self.access_path = folder / f"{name}.out"
        if path is None:
            write(self.document_path, document)
        self.process = self._start(options)
        if starts:
            self.wait_for_event("serving")

    def _start(self, options: tuple[str, ...]) -> subprocess.Popen[bytes]:
        given = {
            "--config": str(self.document_path),
            "--state-dir": str(self.state_dir),
            "--operations": "127.0.0.1:0",
            "--drain-delay": "0s",
            "--grace": "5s",
            "--threads": "2",
        }
        given |= dict(zip(options[::2], options[1::2], strict=True))
        words = [word for pair in given.items() for word in pair]
        with self.log_path.open("wb") as err, self.access_path.open("wb") as out:
            return subprocess.Popen([*COMMAND, "serve", "gateway", *words], stdout=out, stderr=err)

    @property
    def address(self) -> Address:
        """Where the first listener is bound."""
        return address(self.status()["engine"]["listeners"][0]["address"])

    @property
    def operations(self) -> Address:
        """Where health and metrics are served."""
        return address(self.status()["engine"]["operations"])

    def status(self) -> dict[str, Any]:
        """What `sluicegate status` shows."""
        status: dict[str, Any] = ask(self.state_dir, "status")
        return status

    def connect(self, *, timeout: float = 5) -> Connection:
        """A client connection to the first listener."""
        return Connection(self.address, timeout=timeout)

    def events(self, name: str | None = None) -> list[dict[str, Any]]:
        """What it has said of itself, in order."""
        lines = self.log_path.read_text().splitlines()
        events = [json.loads(line) for line in lines if line.startswith("{")]
        return [event for event in events if name in (None, event["event"])]

    def wait_for_event(self, name: str, *, count: int = 1) -> dict[str, Any]:
        """Wait until it has said something so often; the last one."""
        self.wait_until(
            lambda: len(self.events(name)) >= count or self.process.poll() is not None, name
        )
        events = self.events(name)
        assert len(events) >= count, f"ended without `{name}`: {self.log_path.read_text()}"
        return events[count - 1]

    def wait_until(self, holds: Callable[[], bool], what: str, *, within: float = SLOWEST) -> None:
        """Wait until something is true."""
        deadline = time.monotonic() + within
        while not holds():
            assert time.monotonic() < deadline, f"{what} did not come: {self.log_path.read_text()}"
            time.sleep(0.01)

    def wait_for_version(self, version: int) -> None:
        """Wait until a snapshot is in force."""
        self.wait_until(lambda: bool(self.status()["version"] == version), f"version {version}")

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.signal(signal.SIGTERM)

    def wait(self, *, within: float = SLOWEST) -> int:
        """Wait for its end; the exit code."""
        return self.process.wait(within)

    def ready(self) -> int:
        """The status of `/readyz`."""
        return probe(self.operations, "/readyz")[0]

    def metric(self, name: str) -> float:
        """The sum of a metric's samples."""
        return metric(self.operations, name)

    def records(self, count: int) -> list[dict[str, Any]]:
        """The access log, once it has so many lines."""

        def lines() -> list[str]:
            return self.access_path.read_text().splitlines()

        self.wait_until(lambda: len(lines()) >= count, f"{count} records")
        return [json.loads(line) for line in lines()]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(SLOWEST)


def write(path: Path, document: Document) -> None:
    """Replace a file in one step, as editors and deployments do."""
    text = document if isinstance(document, str) else yaml_text(document)
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    fresh.replace(path)


def run(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A command that ends by itself; words are not wrapped, so that they can be looked for."""
    return subprocess.run(
        [*COMMAND, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=cwd,
        env={**os.environ, "TERM": "dumb", "COLUMNS": "200"},
    )


def probe(operations: Address, path: str) -> tuple[int, str]:
    """Status and text of an operations address."""
    host, port = operations
    try:
        with urllib.request.urlopen(f"http://{host}:{port}{path}", timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as answer:
        with answer:
            return answer.code, answer.read().decode()


def metric(operations: Address, name: str) -> float:
    """The sum of a metric's samples."""
    lines = probe(operations, "/metrics")[1].splitlines()
    samples = [line for line in lines if line.split("{")[0].split(" ")[0] == name]
    return sum(float(line.rpartition(" ")[2]) for line in samples)


def address(text: str) -> Address:
    """An address as the status shows it."""
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def is_running(state_dir: Path) -> bool:
    """A gateway answers on this state directory."""
    try:
        ask(state_dir, "status")
    except SluicegateError:
        return False
    return True
