"""The real engine in this process, on free ports, with a document given as a value."""

import importlib
import io
import json
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ruamel.yaml import YAML

from sluicegate.config.candidate import examine
from sluicegate.config.snapshot import snapshot_of
from sluicegate.config.source import Source
from support.raw import Address, Connection

Document = Mapping[str, Any]
# An engine thread looks at its deadlines every 20 ms.
TWO_SWEEPS = 0.045


class Gateway:
    """One engine. Documents go the way of a user's file: read, checked, filled in, applied.

    A document without listeners gets one on a free port, one without an access log writes to
    `log`. The clock can be put forward.
    """

    def __init__(self, document: Document | str, log: Path, *, threads: int = 1) -> None:
        self._extension = importlib.import_module("sluicegate._engine")
        settings = {"threads": threads, "operations": "127.0.0.1:0", "clock": "manual"}
        self.engine = self._extension.Engine.start(json.dumps(settings))
        self.log = log
        self.version = 0
        try:
            self.reload(document)
        except BaseException:
            self.engine.stop()
            raise

    def reload(self, document: Document | str, secrets: Mapping[str, bytes] | None = None) -> None:
        """Make another document current; raises what a user's reload would."""
        text = document if isinstance(document, str) else yaml_text(self._filled_in(document))
        snapshot = snapshot_of(
            examine(Source.parse(text), self._check).document, version=self.version + 1
        )
        self.engine.apply(snapshot.text, dict(secrets or {}))
        self.version += 1

    def status(self) -> dict[str, Any]:
        """What the engine says of itself."""
        status: dict[str, Any] = json.loads(self.engine.status())
        return status

    @property
    def address(self) -> Address:
        """Where the first listener is bound."""
        return self.address_of(None)

    def address_of(self, listener: str | None) -> Address:
        """Where a listener is bound."""
        for listening in self.status()["listeners"]:
            if listener in (None, listening["id"]):
                return _address(listening["address"])
        raise LookupError(listener)

    @property
    def operations(self) -> Address:
        """Where health and metrics are served."""
        return _address(self.status()["operations"])

    def connect(self, *, timeout: float = 5, receive_buffer: int | None = None) -> Connection:
        """A client connection to the first listener."""
        return Connection(self.address, timeout=timeout, receive_buffer=receive_buffer)

    def metrics(self) -> dict[str, float]:
        """Every sample by its name with labels, as `/metrics` shows them."""
        host, port = self.operations
        with urllib.request.urlopen(f"http://{host}:{port}/metrics", timeout=5) as answer:
            lines = answer.read().decode().splitlines()
        samples = (line.rpartition(" ") for line in lines if line and not line.startswith("#"))
        return {name: float(value) for name, _, value in samples}

    def metric(self, name: str, **labels: str) -> float:
        """The sum of the samples of a metric that have these labels."""
        wanted = [f'{label}="{value}"' for label, value in labels.items()]
        return sum(
            value
            for sample, value in self.metrics().items()
            if sample.partition("{")[0] == name and all(want in sample for want in wanted)
        )

    def records(self, count: int = 1, *, within: float = 5) -> list[dict[str, Any]]:
        """The access log, once it has so many lines."""
        deadline = time.monotonic() + within
        while True:
            lines = self.log.read_text().splitlines() if self.log.exists() else []
            if len(lines) >= count:
                return [json.loads(line) for line in lines]
            assert time.monotonic() < deadline, f"{len(lines)} of {count} records: {lines}"
            time.sleep(0.02)

    def record(self) -> dict[str, Any]:
        """The only record there is."""
        records = self.records(1)
        assert len(records) == 1, records
        return records[0]

    def advance(self, milliseconds: int) -> None:
        """Put the clock forward; deadlines that have passed have fired when this returns."""
        # A question to the first thread comes behind what it was doing: whoever has just been
        # answered is waiting again, and the new time does not become part of that wait.
        question = {"method": "GET", "target": "/", "host": "a.test", "headers": []}
        self.engine.explain_live(json.dumps(question), "{}")
        self.engine.advance(milliseconds)
        time.sleep(TWO_SWEEPS)

    def wait_until(self, holds: Any, *, within: float = 5) -> None:  # noqa: ANN401 - a callable of the status
        """Wait until something is true of the status."""
        deadline = time.monotonic() + within
        while not holds(self.status()):
            assert time.monotonic() < deadline, self.status()
            time.sleep(0.005)

    def stop(self) -> None:
        """End it."""
        self.engine.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _filled_in(self, document: Document) -> dict[str, Any]:
        filled = dict(document)
        filled.setdefault("format", 1)
        listeners = filled.get("listeners") or [{}]
        filled["listeners"] = [
            {"id": "http", "address": "127.0.0.1:0", **listener} for listener in listeners
        ]
        filled.setdefault("access_log", {"output": str(self.log)})
        return filled

    def _check(self, snapshot: str) -> Any:  # noqa: ANN401 - the engine's own words
        engine = importlib.import_module("sluicegate.engine")
        return engine.check(snapshot)


def forwarding(upstream: str, **sections: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a document
    """A document whose only route sends everything to one upstream.

    `route`, `upstream_settings` and `listener` are added to these; other sections as they are.
    """
    route = {"id": "all", "match": {"path": "/**"}, "upstream": "origin"}
    origin = {"id": "origin", "endpoints": [{"address": upstream}]}
    return {
        "listeners": [sections.pop("listener", {})],
        "upstreams": [origin | sections.pop("upstream_settings", {})],
        "routes": [route | sections.pop("route", {})],
        **sections,
    }


def yaml_text(document: Document) -> str:
    """A document as a user would write it."""
    out = io.StringIO()
    YAML(typ="safe").dump(json.loads(json.dumps(document)), out)
    return out.getvalue()


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)
