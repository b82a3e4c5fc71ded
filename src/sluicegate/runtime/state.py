"""The state directory: one gateway's lock, version counter and last good snapshot."""

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sluicegate.config.snapshot import Snapshot, snapshot_from
from sluicegate.errors import StateDirectoryTaken, Unavailable

_OWNER_ONLY = 0o600


class StateDirectory:
    """What a gateway keeps between its lives; readable by its user only, and free of secrets."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.socket_path = path / "control.sock"
        self._counter = path / "version"
        self._last_good = path / "last-good.json"
        self._denied = path / "denied.json"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the directory for this process.

        The kernel drops the lock when the process ends, however it ends.

        Raises:
            StateDirectoryTaken: another gateway runs on it.
            Unavailable: it cannot be made or written to.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, _OWNER_ONLY)
        except OSError as error:
            raise Unavailable(
                f"cannot use the state directory {self.path}: {error.strerror}"
            ) from error
        try:
            self._take(descriptor)
            yield
        finally:
            os.close(descriptor)

    def next_version(self) -> int:
        """Take a version greater than every one before it, also across restarts."""
        last_good = self.last_good()
        version = max(self._read_counter(), last_good.version if last_good else 0) + 1
        self._write(self._counter, f"{version}\n")
        return version

    def save(self, snapshot: Snapshot) -> None:
        """Keep a snapshot that is in force, for a start without a usable document (CF-10)."""
        content = {"digest": snapshot.digest, "snapshot": json.loads(snapshot.text)}
        self._write(self._last_good, json.dumps(content, ensure_ascii=False))

    def last_good(self) -> Snapshot | None:
        """The last snapshot that was in force; None when there is none, or it was damaged."""
        try:
            kept: dict[str, Any] = json.loads(self._last_good.read_text(encoding="utf-8"))
            snapshot = snapshot_from(kept["snapshot"], version=int(kept["snapshot"]["version"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return snapshot if snapshot.digest == kept["digest"] else None

    def save_denied(self, denied: dict[str, Any]) -> None:
        """Keep who is on the denylists, for a start without their files."""
        self._write(self._denied, json.dumps(denied, ensure_ascii=False))

    def denied(self) -> dict[str, Any] | None:
        """What `save_denied` kept; None when there is nothing.

        Raises:
            Unavailable: it is there and cannot be read: to go on would let everybody in.
        """
        try:
            kept: dict[str, Any] = json.loads(self._denied.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise Unavailable(
                f"cannot read who is denied from {self._denied}: {error}; "
                "repair it, or remove it to begin with empty lists"
            ) from error
        return kept

    def _take(self, descriptor: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
            raise StateDirectoryTaken(
                f"another gateway (process {holder or 'unknown'}) runs on the state directory "
                f"{self.path}; stop it, or give this one its own with --state-dir"
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)

    def _read_counter(self) -> int:
        try:
            return int(self._counter.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0

    def _write(self, path: Path, text: str) -> None:
        """Replace a file in one step: after a crash there is the old one or the new one."""
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            descriptor = os.open(temporary, flags, _OWNER_ONLY)
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(path)
            self._sync_directory()
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise Unavailable(f"cannot write {path}: {error.strerror}") from error

    def _sync_directory(self) -> None:
        descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
