"""Document to data plane: load, check, number, apply; a bad one changes nothing."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from sluicegate.config.candidate import Candidate, EngineCheck
from sluicegate.config.loader import load, resolve_secrets
from sluicegate.config.snapshot import Snapshot, snapshot_of
from sluicegate.engine import DataPlane
from sluicegate.errors import ConfigError, Problem, SluicegateError
from sluicegate.runtime.denylists import Denylists, Prepared
from sluicegate.runtime.log import Log, listed, utc_now
from sluicegate.runtime.state import StateDirectory


@dataclass(frozen=True, slots=True)
class Rejection:
    """A document that was not applied."""

    time: datetime
    reason: str
    problems: tuple[Problem, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As `status` shows it."""
        return {
            "time": self.time.isoformat(timespec="seconds"),
            "reason": self.reason,
            "problems": [problem.as_json() for problem in self.problems],
        }


@dataclass(frozen=True, slots=True)
class InForce:
    """The snapshot that requests meet, and what it came from."""

    snapshot: Snapshot
    origin: Literal["file", "last-good"]


class Publisher:
    """Keeps the data plane at the newest good document."""

    def __init__(
        self,
        path: Path,
        state: StateDirectory,
        *,
        engine_check: EngineCheck,
        schemas: Mapping[str, Any],
        log: Log,
    ) -> None:
        self.path = path
        self.in_force: InForce | None = None
        self.rejection: Rejection | None = None
        self._state = state
        self._check = engine_check
        self._schemas = schemas
        self._log = log
        self._secret_values: dict[str, bytes] = {}
        self._one_at_a_time = threading.Lock()
        self.denylists = Denylists(path.parent, state, log)

    def examine(self) -> Candidate:
        """Load and check the document; starts and changes nothing."""
        return load(self.path, self._check)

    def begin(self, engine: DataPlane, candidate: Candidate) -> None:
        """Apply the first snapshot: the document's, or the last good one when it is broken.

        Raises:
            ConfigError: the document is broken and there is no last good snapshot.
            Unavailable: a listener cannot be opened.
        """
        with self._one_at_a_time, self.denylists.changing:
            try:
                secrets = self._secrets(candidate)
                snapshot = self._numbered(candidate)
                denied = self.denylists.prepare(snapshot)
            except ConfigError as error:
                self._fall_back(engine, error, refused_by_engine=False)
            else:
                try:
                    self._apply(engine, snapshot, secrets, denied)
                except ConfigError as error:
                    self._fall_back(engine, error, refused_by_engine=True)
            self._warn(candidate)

    def reload(self, engine: DataPlane) -> bool:
        """Bring the data plane to the document's content; False when it was refused."""
        with self._one_at_a_time, self.denylists.changing:
            try:
                candidate = self.examine()
                secrets = self._secrets(candidate)
                if self._is_in_force(candidate, secrets):
                    self._log.info("config_unchanged", "the document means what is in force")
                    self._found_good()
                    return True
                snapshot = self._numbered(candidate)
                denied = self.denylists.prepare(snapshot)
            except SluicegateError as error:
                self._reject(engine, error, refused_by_engine=False)
                return False
            try:
                self._apply(engine, snapshot, secrets, denied)
            except SluicegateError as error:
                self._reject(engine, error, refused_by_engine=True)
                return False
            self._warn(candidate)
            return True

    def _secrets(self, candidate: Candidate) -> dict[str, bytes]:
        try:
            return resolve_secrets(candidate.document, self._schemas)
        except ConfigError as error:
            locate = candidate.source.locate
            raise ConfigError(one if one.file else locate(one) for one in error.problems) from error

    def _numbered(self, candidate: Candidate) -> Snapshot:
        last_good = self._state.last_good()
        if self.in_force is None and last_good and last_good.digest == _digest(candidate):
            # The same content after a restart keeps its number.
            return last_good
        return snapshot_of(candidate.document, version=self._state.next_version())

    def _is_in_force(self, candidate: Candidate, secrets: Mapping[str, bytes]) -> bool:
        current = self.in_force
        return (
            current is not None
            and current.snapshot.digest == _digest(candidate)
            and self._secret_values == secrets
        )

    def _apply(
        self,
        engine: DataPlane,
        snapshot: Snapshot,
        secrets: Mapping[str, bytes],
        denied: Prepared,
        *,
        origin: Literal["file", "last-good"] = "file",
    ) -> None:
        engine.apply(snapshot, secrets, denied.facts)
        self.denylists.commit(denied)
        self._secret_values = dict(secrets)
        self.in_force = InForce(snapshot, origin)
        if origin == "file":
            self.rejection = None
            self._save(snapshot)
        message = f"snapshot {snapshot.version} is in force"
        self._log.info(
            "config_applied",
            message,
            version=snapshot.version,
            digest=snapshot.digest,
            origin=origin,
        )

    def _save(self, snapshot: Snapshot) -> None:
        try:
            self._state.save(snapshot)
        except SluicegateError as error:
            # The snapshot serves all the same; a later start would meet an older one.
            self._log.error("last_good_not_saved", str(error), version=snapshot.version)

    def _found_good(self) -> None:
        self.rejection = None
        if self.in_force:
            self.in_force = replace(self.in_force, origin="file")

    def _fall_back(self, engine: DataPlane, error: ConfigError, *, refused_by_engine: bool) -> None:
        last_good = self._state.last_good()
        if last_good is None:
            raise error
        self._reject(engine, error, refused_by_engine=refused_by_engine)
        self._log.error(
            "serving_last_good",
            f"the document is broken: serving the last good snapshot {last_good.version} instead",
            version=last_good.version,
        )
        denied = self.denylists.prepare(last_good)
        self._apply(engine, last_good, {}, denied, origin="last-good")

    def _reject(
        self, engine: DataPlane, error: SluicegateError, *, refused_by_engine: bool
    ) -> None:
        problems = tuple(error.problems) if isinstance(error, ConfigError) else ()
        count = f"{len(problems)} problem{'s' if len(problems) != 1 else ''}"
        reason = f"{self.path}: {count}" if problems else str(error)
        self.rejection = Rejection(utc_now(), reason, problems)
        version = self.in_force.snapshot.version if self.in_force else None
        self._log.error(
            "config_rejected",
            f"the document was refused, nothing has changed: {reason}",
            version=version,
            problems=listed(problems),
        )
        if not refused_by_engine:
            # It counts its own refusals, so that one document is one refusal in the metric.
            engine.tell({"kind": "config_rejected", "reason": reason})

    def _warn(self, candidate: Candidate) -> None:
        if candidate.warnings:
            count = len(candidate.warnings)
            message = f"{count} thing{'s' if count != 1 else ''} in the document to look at"
            self._log.warning("config_warnings", message, problems=listed(candidate.warnings))


def _digest(candidate: Candidate) -> str:
    return snapshot_of(candidate.document, version=1).digest
