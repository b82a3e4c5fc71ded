"""The Rust engine: listeners, routes, filters and upstreams, and what they decide.

Every value that crosses is JSON text; `sluicegate.engine` gives it types.
"""

from collections.abc import Sequence
from typing import final

__all__ = ["Engine", "EngineError", "FactRefused", "PortTaken", "SnapshotRefused"]

class EngineError(Exception):
    """The engine could not do what it was asked; the text says why."""

class FactRefused(EngineError):
    """A fact that a filter did not take; nothing has changed."""

    problems: str
    """JSON list of problems; pointers lead into the fact."""

class PortTaken(EngineError):
    """An address of a listener, or of the operations port, is in use by another process."""

class SnapshotRefused(EngineError):
    """A snapshot that was not applied; nothing has changed."""

    problems: str
    """JSON list of problems, each with `pointer`, `code`, `message`, perhaps `expected`."""

@final
class Engine:
    """A running data plane; its threads never wait for the interpreter."""

    @staticmethod
    def start(settings: str) -> Engine:
        """Start the threads; without a snapshot nothing listens but the operations port.

        `settings`: `{"threads": 2, "operations": "127.0.0.1:9090", "clock": "system"}`,
        where `null` means one thread per usable core, or no operations port.
        """

    @staticmethod
    def check(snapshot: str) -> str:
        """Say what is wrong with a snapshot, as a JSON list of problems; starts nothing."""

    @staticmethod
    def explain(snapshot: str, request: str, facts: str) -> str:
        """Say what would happen to a request under a snapshot; nothing is sent or counted."""

    @staticmethod
    def prove(snapshot: str) -> str:
        """Say what the routes of a snapshot do with all requests, as a JSON object.

        `findings`: routes that are never reached, that meet and who wins, and slips, each
        with a request that shows it; at most a hundred of a kind, `totals` has them all.
        """

    @staticmethod
    def schema() -> str:
        """Give the schemas of filters, the codes of rejects, the keys of records, the metrics."""

    def apply(self, snapshot: str, secrets: dict[str, bytes], facts: Sequence[str] = ...) -> None:
        """Compile a snapshot aside, then make it current in one step.

        `facts` are told to its filters in between, as by `tell`.

        Raises `SnapshotRefused` when something is wrong with it or its version is not
        greater than the current one, `PortTaken` when a listener cannot be opened.
        """

    def explain_live(self, request: str, facts: str) -> str:
        """Like `explain`, under the current snapshot and with the state of this engine."""

    def tell(self, event: str) -> None:
        """Push a fact in: a JSON object with its `kind`.

        Raises `FactRefused` when the filter it is for does not take it.
        """

    def take_events(self) -> list[tuple[str, str]]:
        """Take what has happened since the last call: kind and JSON of each event."""

    def status(self) -> str:
        """Say what is running: version, listeners, connections, exchanges in flight."""

    def set_ready(self, ready: bool) -> None:
        """Let `/readyz` succeed or fail, whatever else is true."""

    def drain(self, seconds: float) -> bool:
        """Accept nothing new and let running exchanges end; true when all ended in time."""

    def advance(self, milliseconds: int) -> None:
        """Move the clock of an engine that was started with `"clock": "manual"`."""

    def stop(self) -> None:
        """End everything at once; a stopped engine answers no other call."""
