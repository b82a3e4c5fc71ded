"""The only importer of the Rust extension: its calls with types and our exceptions."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from sluicegate import _engine
from sluicegate.config.proof import Proof
from sluicegate.config.settings import ProcessSettings
from sluicegate.config.snapshot import Snapshot
from sluicegate.errors import (
    ConfigError,
    EngineError,
    PortTaken,
    Problem,
    StaleSnapshot,
    path_from_pointer,
)


@dataclass(frozen=True, slots=True)
class Request:
    """A request to explain."""

    method: str
    target: str
    host: str
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    listener: str | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What the world would have said; without a fact, none is read."""

    peer: str = "127.0.0.1:40000"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in the engine and somebody should know."""

    kind: str
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Considered:
    """A route that matched or came near, and why it was not taken."""

    route: str
    matched: bool
    why_not: str | None = None
    template: str | None = None
    lost_to: str | None = None
    """The route taken, when this one matched too."""
    lost_by: str | None = None
    """What decided: `priority`, `host`, `path`, `conditions`, `head` or `place`."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one filter said."""

    stage: str
    filter: str
    id: str
    phase: str
    verdict: str
    code: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a request would end: `forward`, `respond`, `redirect` or `reject`."""

    kind: str
    status: int | None = None
    upstream: str | None = None
    endpoints: tuple[str, ...] = ()
    location: str | None = None
    code: str | None = None
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class UpstreamRequest:
    """The request as the upstream would see it."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What would happen to a request, and who decided it."""

    normal_path: str | None
    route: str | None
    params: Mapping[str, str]
    candidates: tuple[Considered, ...]
    steps: tuple[Step, ...]
    outcome: Outcome
    upstream_request: UpstreamRequest | None
    raw: dict[str, Any] = field(repr=False)
    route_version: int | None = None

    @classmethod
    def from_raw(cls, raw: dict[str, Any]) -> Self:
        """Read the engine's answer; fields of a newer engine are kept in `raw` only."""
        if "error" in raw:
            raise EngineError(str(raw["error"]))
        sent = raw.get("upstream_request")
        return cls(
            normal_path=raw.get("normal_path"),
            route=raw.get("route"),
            params=raw.get("params") or {},
            candidates=tuple(
                Considered(**{name: one.get(name) for name in Considered.__slots__})
                for one in raw.get("candidates") or ()
            ),
            steps=tuple(_step(one) for one in raw.get("steps") or ()),
            outcome=_outcome(raw["outcome"]),
            upstream_request=_upstream_request(sent) if sent else None,
            raw=raw,
            route_version=raw.get("route_version"),
        )


class DataPlane(Protocol):
    """What runs a gateway needs of an engine; tests have one without sockets."""

    def apply(
        self,
        snapshot: Snapshot,
        secrets: Mapping[str, bytes],
        facts: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Make a snapshot current, or raise and change nothing.

        Its filters know the facts before the first request meets them.
        """

    def explain_live(self, request: Request, facts: Facts) -> Explanation:
        """Explain under the current snapshot and state."""

    def tell(self, event: Mapping[str, Any]) -> None:
        """Push a fact in."""

    def take_events(self) -> list[Event]:
        """Take what has happened since the last call."""

    def status(self) -> dict[str, Any]:
        """Say what is running."""

    def set_ready(self, *, ready: bool) -> None:
        """Let readiness succeed or fail."""

    def drain(self, seconds: float) -> bool:
        """Let running exchanges end; True when all did."""

    def stop(self) -> None:
        """End everything at once."""


class Engine:
    """A running data plane."""

    def __init__(self, running: _engine.Engine) -> None:
        self._running = running

    @classmethod
    def start(cls, settings: ProcessSettings, *, clock: str = "system") -> Self:
        """Start the engine's threads and its operations port.

        Raises:
            PortTaken: the operations port is in use.
            EngineError: a thread or socket could not be had.
        """
        operations = settings.operations
        text = {
            "threads": settings.threads,
            "operations": str(operations) if operations else None,
            "clock": clock,
        }
        with _our_errors():
            return cls(_engine.Engine.start(json.dumps(text)))

    def apply(
        self,
        snapshot: Snapshot,
        secrets: Mapping[str, bytes],
        facts: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Make a snapshot current in one step, with facts that its filters know at once.

        Raises:
            ConfigError: with every problem; nothing was changed.
            StaleSnapshot: its version is not greater than the current; nothing was changed.
            PortTaken: a listener's address is in use; nothing was changed.
        """
        with _our_errors(offered=snapshot.version):
            told = [json.dumps(fact) for fact in facts]
            self._running.apply(snapshot.text, dict(secrets), told)

    def explain_live(self, request: Request, facts: Facts) -> Explanation:
        """Explain under the current snapshot and state; reads both, changes neither."""
        with _our_errors():
            text = self._running.explain_live(_request_json(request), _facts_json(facts))
        return Explanation.from_raw(json.loads(text))

    def tell(self, event: Mapping[str, Any]) -> None:
        """Push a fact in: an object with its `kind`.

        Raises:
            ConfigError: the filter it is for refuses it; nothing was changed.
            EngineError: it is for nobody.
        """
        with _our_errors():
            self._running.tell(json.dumps(event))

    def take_events(self) -> list[Event]:
        """Take what has happened since the last call."""
        with _our_errors():
            return [Event(kind, json.loads(text)) for kind, text in self._running.take_events()]

    def status(self) -> dict[str, Any]:
        """Say what is running: version, listeners, connections, exchanges in flight."""
        with _our_errors():
            status: dict[str, Any] = json.loads(self._running.status())
        return status

    def set_ready(self, *, ready: bool) -> None:
        """Let `/readyz` succeed or fail, whatever else is true."""
        with _our_errors():
            self._running.set_ready(ready)

    def drain(self, seconds: float) -> bool:
        """Accept nothing new and wait for running exchanges; True when all ended in time."""
        with _our_errors():
            return self._running.drain(seconds)

    def stop(self) -> None:
        """End everything at once."""
        with _our_errors():
            self._running.stop()


def check(snapshot: str) -> list[Problem]:
    """Ask the engine what is wrong with a snapshot; starts nothing."""
    with _our_errors():
        return _problems(_engine.Engine.check(snapshot))


def explain(snapshot: Snapshot, request: Request, facts: Facts) -> Explanation:
    """Say what would happen to a request; nothing is sent, taken or counted."""
    with _our_errors():
        text = _engine.Engine.explain(snapshot.text, _request_json(request), _facts_json(facts))
    return Explanation.from_raw(json.loads(text))


def prove(snapshot: Snapshot) -> Proof:
    """Say what the routes do with all requests; takes seconds where there are thousands."""
    with _our_errors():
        text = _engine.Engine.prove(snapshot.text)
    return Proof.from_raw(json.loads(text))


def filter_catalogue() -> dict[str, Any]:
    """Every filter with the JSON Schema of its configuration, its phase and docs."""
    return dict(_schema()["filters"])


def filter_schemas() -> dict[str, Any]:
    """The JSON Schema of each filter's configuration, by the filter's name."""
    return {name: entry["schema"] for name, entry in filter_catalogue().items()}


def reject_catalogue() -> list[dict[str, Any]]:
    """Every code of a reject with its default status and text."""
    return list(_schema()["rejects"])


def log_fields() -> list[dict[str, Any]]:
    """Every key of an access log record, in the order in which it is written."""
    return list(_schema()["log_fields"])


def log_field_sets() -> dict[str, list[dict[str, Any]]]:
    """The keys of a record by the name of their set."""
    return dict(_schema()["log_field_sets"])


def metric_sets() -> dict[str, list[dict[str, Any]]]:
    """The metrics by the name of their set."""
    return dict(_schema()["metric_sets"])


def metrics() -> list[dict[str, Any]]:
    """Every metric the gateway gives by itself, without the prefix of the document."""
    return list(_schema()["metrics"])


def _schema() -> dict[str, Any]:
    with _our_errors():
        schema: dict[str, Any] = json.loads(_engine.Engine.schema())
    return schema


def _step(raw: dict[str, Any]) -> Step:
    return Step(
        raw.get("stage", ""),
        raw["filter"],
        raw.get("id") or raw["filter"],
        raw.get("phase", ""),
        raw["verdict"],
        raw.get("code"),
        tuple(str(note) for note in raw.get("notes") or ()),
    )


def _outcome(raw: dict[str, Any]) -> Outcome:
    known = {name: raw[name] for name in Outcome.__slots__ if name in raw}
    return Outcome(**{**known, "endpoints": tuple(raw.get("endpoints") or ())})


def _upstream_request(raw: dict[str, Any]) -> UpstreamRequest:
    headers = tuple((str(name), str(value)) for name, value in raw["headers"])
    return UpstreamRequest(raw["method"], raw["target"], headers)


def _request_json(request: Request) -> str:
    return json.dumps({name: getattr(request, name) for name in Request.__slots__})


def _facts_json(facts: Facts) -> str:
    return json.dumps({"peer": facts.peer})


def _problems(text: str) -> list[Problem]:
    return [
        Problem(
            one["message"],
            path_from_pointer(one["pointer"]),
            code=one["code"],
            expected=one.get("expected"),
            suggestion=one.get("suggestion"),
        )
        for one in json.loads(text)
    ]


@contextmanager
def _our_errors(*, offered: int = 0) -> Iterator[None]:
    try:
        yield
    except _engine.PortTaken as error:
        raise PortTaken(str(error)) from error
    except _engine.SnapshotRefused as error:
        problems = _problems(error.problems)
        if any(problem.code == "stale_version" for problem in problems):
            raise StaleSnapshot(offered) from error
        raise ConfigError(problems) from error
    except _engine.FactRefused as error:
        raise ConfigError(_problems(error.problems)) from error
    except _engine.EngineError as error:
        raise EngineError(str(error)) from error
