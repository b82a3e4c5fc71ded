"""Who is on the denylists: what their files say, and what commands have added."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sluicegate.config.complaints import closest
from sluicegate.config.denylist import FILTER, Entry, Kind, ListUse, canonical, lists_of
from sluicegate.config.loader import content_digest, read_denylist
from sluicegate.config.snapshot import Snapshot
from sluicegate.engine import DataPlane
from sluicegate.errors import ConfigError, Problem, SluicegateError
from sluicegate.runtime.log import Log, listed
from sluicegate.runtime.state import StateDirectory
from sluicegate.runtime.watch import Watch

_ENTRY_OF_A_FACT = re.compile(r"/event/set/(\d+)")


@dataclass(frozen=True, slots=True)
class FileRead:
    """What a file said when it was last good; no digest when it was read by an earlier process."""

    entries: tuple[Entry, ...]
    digest: str | None


@dataclass(frozen=True, slots=True)
class Prepared:
    """The lists of a snapshot that is about to be applied."""

    lists: Mapping[str, ListUse]
    files: Mapping[Path, FileRead]
    facts: tuple[dict[str, Any], ...]


class Denylists:
    """Keeps the lists in the data plane at what their files and commands say.

    A file that is away or wrong changes nothing: the last good entries stay in force, also
    after a restart. Commands add to the files and take nothing from them.
    """

    def __init__(
        self,
        folder: Path,
        state: StateDirectory,
        log: Log,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.changing = threading.RLock()
        """Held by whoever applies a snapshot, from `prepare` to `commit`."""
        self._folder = folder
        self._state = state
        self._log = log
        self._clock = clock
        self._lists: Mapping[str, ListUse] = {}
        self._files: dict[Path, FileRead] = {}
        self._watches: dict[Path, Watch] = {}
        self._commanded: dict[str, tuple[Entry, ...]] = {}
        self._kept: dict[str, Any] | None = None

    def prepare(self, snapshot: Snapshot) -> Prepared:
        """Read what the lists of a snapshot need; changes nothing.

        Raises:
            ConfigError: a file is away or wrong, and there are no earlier entries of it.
            Unavailable: what an earlier process kept cannot be read.
        """
        self._restore()
        lists = lists_of(json.loads(snapshot.text))
        files: dict[Path, FileRead] = {}
        problems: list[Problem] = []
        for path in {path for one in lists.values() if (path := self._path(one))}:
            try:
                files[path] = self._read(path)
            except ConfigError as error:
                problems += error.problems
        if problems:
            raise ConfigError(problems)
        facts = tuple(self._fact(one, "set", self._all(one, files)) for one in lists.values())
        return Prepared(lists, files, facts)

    def commit(self, prepared: Prepared) -> None:
        """The snapshot is in force, and its filters know the facts."""
        self._lists = prepared.lists
        self._files = dict(prepared.files)
        self._watches = {
            path: self._watches.get(path) or Watch(path, seen=read.digest)
            for path, read in self._files.items()
        }
        self._save()
        for one in prepared.lists.values():
            self._warn_of_idle(one, self._all(one, self._files))

    def follow(self, engine: DataPlane) -> None:
        """Look at every file once; tell the data plane what has changed."""
        for path, watch in tuple(self._watches.items()):
            if watch.look() is None:
                continue
            with self.changing:
                try:
                    self._follow(engine, path)
                except ConfigError as error:
                    self._refused(path, error)

    def block(
        self, engine: DataPlane, entries: Iterable[Entry], *, only: str | None = None
    ) -> list[dict[str, Any]]:
        """Add entries to every list, or to one; give the lists as they are then.

        Raises:
            ConfigError: an entry is none, no filter looks for it, or the list is full.
        """
        with self.changing:
            added = tuple(_canonical(entry) for entry in entries)
            chosen = self._chosen(only, {entry.kind for entry in added})
            for one in chosen:
                engine.tell(self._fact(one, "add", added))
                before = self._commanded.get(one.id, ())
                self._commanded[one.id] = _with_later_ends((*before, *added))
                names = [entry.as_json() for entry in added]
                self._log.info("denylist_blocked", f"added to `{one.id}`", entries=names)
            self._save()
            return self.status(chosen)

    def unblock(
        self, engine: DataPlane, entries: Iterable[Entry], *, only: str | None = None
    ) -> list[dict[str, Any]]:
        """Take entries out that commands have added; give the lists as they are then.

        Raises:
            ConfigError: an entry stands on no list, or in a file.
        """
        with self.changing:
            gone = {_whom(_canonical(entry)) for entry in entries}
            chosen = self._chosen(only, set())
            self._check_removable(gone, chosen)
            for one in chosen:
                before = self._commanded.get(one.id, ())
                self._commanded[one.id] = tuple(e for e in before if _whom(e) not in gone)
                engine.tell(self._fact(one, "set", self._all(one, self._files)))
                names = [{kind: name} for kind, name in sorted(gone)]
                self._log.info("denylist_unblocked", f"taken out of `{one.id}`", entries=names)
            self._save()
            return self.status(chosen)

    def status(self, lists: Iterable[ListUse] | None = None) -> list[dict[str, Any]]:
        """What every list has: entries in all, its file, and what commands have added."""
        return [
            {
                "id": one.id,
                "entries": len({_whom(entry) for entry in self._all(one, self._files)}),
                "file": str(path) if (path := self._path(one)) else None,
                "commanded": [entry.as_json() for entry in self._of_commands(one)],
            }
            for one in (self._lists.values() if lists is None else lists)
        ]

    def _follow(self, engine: DataPlane, path: Path) -> None:
        digest = content_digest(path)
        files = {**self._files, path: FileRead(tuple(read_denylist(path)), digest)}
        for one in self._lists.values():
            if self._path(one) != path:
                continue
            entries = self._all(one, files)
            try:
                engine.tell(self._fact(one, "set", entries))
            except ConfigError as error:
                raise ConfigError(
                    _in_file(problem, path, entries) for problem in error.problems
                ) from error
            message = f"`{one.id}` has {len(entries)} entries"
            self._log.info("denylist_changed", message, file=str(path), entries=len(entries))
            self._warn_of_idle(one, entries)
        self._files = files
        self._save()

    def _read(self, path: Path) -> FileRead:
        """Read a file that a snapshot names, or give its last good entries.

        Raises:
            ConfigError: there are none.
        """
        earlier = self._files.get(path)
        digest = content_digest(path)
        if earlier and digest is not None and earlier.digest == digest:
            return earlier
        try:
            return FileRead(tuple(read_denylist(path)), digest)
        except ConfigError as error:
            if earlier is None:
                raise
            self._refused(path, error)
            return replace(earlier, digest=digest)

    def _refused(self, path: Path, error: ConfigError) -> None:
        message = f"{path} was refused, the last good entries stay in force"
        self._log.error("denylist_refused", message, problems=listed(error.problems))

    def _warn_of_idle(self, one: ListUse, entries: Iterable[Entry]) -> None:
        idle = sorted({entry.kind for entry in entries} - one.by)
        if idle:
            message = f"`{one.id}` has entries that no filter looks at: {', '.join(idle)}"
            self._log.warning("denylist_idle", message, expected="these words under `by`")

    def _chosen(self, only: str | None, kinds: set[Kind]) -> list[ListUse]:
        """The lists that a command is for.

        Raises:
            ConfigError: there is none, or none whose filters look at all these kinds.
        """
        if only is not None and only not in self._lists:
            known = list(self._lists)
            raise _wrong(
                f"there is no denylist `{only}`",
                expected=f"one of: {', '.join(known)}" if known else None,
                suggestion=closest(only, known),
            )
        lists = [one for one in self._lists.values() if only in (None, one.id)]
        if not lists:
            raise _wrong(
                "the document has no denylist",
                expected=f"a filter `{FILTER}` in `entry` or in a route",
            )
        looking = [one for one in lists if kinds <= one.by]
        if not looking:
            missing = ", ".join(sorted(kinds - frozenset().union(*(one.by for one in lists))))
            raise _wrong(
                f"no denylist looks at: {missing or ', '.join(sorted(kinds))}",
                expected=f"a filter `{FILTER}` with this under `by`",
            )
        return looking

    def _check_removable(self, gone: set[tuple[Kind, str]], lists: list[ListUse]) -> None:
        files = {path for one in lists if (path := self._path(one))}
        in_files = {
            _whom(_canonical(entry)): path for path in files for entry in self._files[path].entries
        }
        of_commands = {_whom(entry) for one in lists for entry in self._of_commands(one)}
        problems = []
        for kind, name in sorted(gone):
            if path := in_files.get((kind, name)):
                message = f"the {kind} `{name}` stands in a file; take it out there"
                problems.append(Problem(message, code="denylist", file=str(path)))
            elif (kind, name) not in of_commands:
                problems.append(Problem(f"the {kind} `{name}` is on no list", code="denylist"))
        if problems:
            raise ConfigError(problems)

    def _path(self, one: ListUse) -> Path | None:
        return self._folder / one.file if one.file else None

    def _all(self, one: ListUse, files: Mapping[Path, FileRead]) -> list[Entry]:
        path = self._path(one)
        of_file = files[path].entries if path else ()
        return [*of_file, *self._of_commands(one)]

    def _of_commands(self, one: ListUse) -> list[Entry]:
        now = self._clock()
        entries = self._commanded.get(one.id, ())
        return [entry for entry in entries if entry.until is None or entry.until > now]

    def _fact(self, one: ListUse, change: str, entries: Iterable[Entry]) -> dict[str, Any]:
        event = {change: [entry.as_json() for entry in entries]}
        return {"kind": "filter", "filter": FILTER, "id": one.id, "event": event}

    def _restore(self) -> None:
        if self._kept is not None:
            return
        self._kept = kept = self._state.denied() or {"files": {}, "commanded": {}}
        self._files = {
            Path(path): FileRead(_entries(values), None) for path, values in kept["files"].items()
        }
        self._commanded = {name: _entries(values) for name, values in kept["commanded"].items()}

    def _save(self) -> None:
        now = self._clock()
        commanded = {
            name: [entry.as_json() for entry in entries if (entry.until or now + 1) > now]
            for name, entries in self._commanded.items()
        }
        files = {
            str(path): [entry.as_json() for entry in read.entries]
            for path, read in self._files.items()
        }
        kept = {"files": files, "commanded": {name: e for name, e in commanded.items() if e}}
        if kept == self._kept:
            return
        try:
            self._state.save_denied(kept)
            self._kept = kept
        except SluicegateError as error:
            # The lists are in force all the same; a later start would meet older ones.
            self._log.error("denylists_not_saved", str(error))


def _whom(entry: Entry) -> tuple[Kind, str]:
    return entry.kind, entry.name


def _canonical(entry: Entry) -> Entry:
    try:
        return replace(entry, name=canonical(entry.kind, entry.name))
    except ValueError as error:
        raise _wrong(str(error), expected="such as 203.0.113.7 or 2001:db8::/32") from None


def _with_later_ends(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    latest: dict[tuple[Kind, str], Entry] = {}
    for entry in entries:
        known = latest.get(_whom(entry))
        if known is None or (known.until is not None and _ends_later(entry, known.until)):
            latest[_whom(entry)] = entry
    return tuple(latest.values())


def _ends_later(entry: Entry, than: float) -> bool:
    return entry.until is None or entry.until > than


def _entries(values: Iterable[dict[str, Any]]) -> tuple[Entry, ...]:
    return tuple(Entry.from_json(value) for value in values)


def _wrong(
    message: str, *, expected: str | None = None, suggestion: str | None = None
) -> ConfigError:
    problem = Problem(message, code="denylist", expected=expected, suggestion=suggestion)
    return ConfigError([problem])


def _in_file(problem: Problem, path: Path, entries: list[Entry]) -> Problem:
    """Name the entry that only the engine has found wrong."""
    found = _ENTRY_OF_A_FACT.match(problem.pointer)
    index = int(found.group(1)) if found else len(entries)
    named = f" (`{entries[index].name}`)" if index < len(entries) else ""
    return replace(problem, path=(), message=problem.message + named, file=str(path))
