"""A data plane without sockets, and the engine's word on filters."""

import io
import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from sluicegate.config.document import ENTRY_DEFAULTS
from sluicegate.config.snapshot import Snapshot
from sluicegate.engine import Event, Explanation, Facts, Request, check
from sluicegate.errors import ConfigError, Path, Problem, StaleSnapshot
from sluicegate.runtime.log import Log
from sluicegate.runtime.publisher import Publisher
from sluicegate.runtime.state import StateDirectory

KNOWN_FILTERS = (*ENTRY_DEFAULTS, "path_rewrite", "denylist")
GOOD = """\
format: 1
upstreams:
  - id: orders
    endpoints: [{address: "127.0.0.1:9001"}]
routes:
  - id: order-create
    match: {path: /api/orders}
    upstream: orders
"""


class FakeDataPlane:
    """Keeps the rules of the real one: newer versions only, all or nothing."""

    def __init__(self) -> None:
        self.applied: list[Snapshot] = []
        self.secrets: dict[str, bytes] = {}
        self.facts: list[Mapping[str, Any]] = []
        self.told: list[Mapping[str, Any]] = []
        self.happened: list[str] = []
        self.events: list[Event] = []
        self.drains_in_time = True

    @property
    def current(self) -> dict[str, Any]:
        """The content in force."""
        content: dict[str, Any] = json.loads(self.applied[-1].text)
        return content

    def apply(
        self,
        snapshot: Snapshot,
        secrets: Mapping[str, bytes],
        facts: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Keep a newer snapshot whose filters are known."""
        if self.applied and snapshot.version <= self.applied[-1].version:
            raise StaleSnapshot(snapshot.version, self.applied[-1].version)
        problems = unknown_filters(snapshot.text)
        if problems:
            raise ConfigError(problems)
        self.applied.append(snapshot)
        self.secrets = dict(secrets)
        self.facts = list(facts)

    def explain_live(self, request: Request, facts: Facts) -> Explanation:
        """Know no route at all."""
        outcome = {"kind": "reject", "status": 404, "code": "no_route"}
        return Explanation.from_raw(
            {"normal_path": request.target, "peer": facts.peer, "outcome": outcome}
        )

    def tell(self, event: Mapping[str, Any]) -> None:
        """Keep what was told."""
        self.told.append(event)

    def take_events(self) -> list[Event]:
        """Give each event once."""
        events, self.events = self.events, []
        return events

    def status(self) -> dict[str, Any]:
        """Say the version."""
        return {"version": self.applied[-1].version if self.applied else None, "listeners": []}

    def set_ready(self, *, ready: bool) -> None:
        """Note it."""
        self.happened.append("ready" if ready else "not ready")

    def drain(self, seconds: float) -> bool:
        """Note it, and end as the test wants."""
        self.happened.append(f"drain {seconds:g}")
        return self.drains_in_time

    def stop(self) -> None:
        """Note it."""
        self.happened.append("stop")


def unknown_filters(snapshot: str) -> list[Problem]:
    """What an engine with few filters says of a snapshot."""
    content = json.loads(snapshot)
    chains: list[tuple[Path, Any]] = [(("entry",), content["entry"])]
    chains += [(("routes", i, "filters"), r["filters"]) for i, r in enumerate(content["routes"])]
    return [
        Problem(
            f"there is no filter `{use['name']}`",
            (*path, index, "name"),
            code="unknown_filter",
            expected=f"one of: {', '.join(KNOWN_FILTERS)}",
        )
        for path, chain in chains
        for index, use in enumerate(chain)
        if use["name"] not in KNOWN_FILTERS
    ]


@pytest.fixture
def data_plane() -> FakeDataPlane:
    return FakeDataPlane()


@pytest.fixture
def log_stream() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def log(log_stream: io.StringIO) -> Log:
    return Log(log_stream)


@pytest.fixture
def document(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "sluicegate.yaml"
    path.write_text(GOOD)
    return path


@pytest.fixture
def state(tmp_path: pathlib.Path) -> StateDirectory:
    directory = tmp_path / "state"
    directory.mkdir()
    return StateDirectory(directory)


@pytest.fixture
def publisher(document: pathlib.Path, state: StateDirectory, log: Log) -> Publisher:
    return Publisher(document, state, engine_check=check, schemas={}, log=log)
