"""The only reader of files and environment variables."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from sluicegate.config import denylist, secrets
from sluicegate.config.candidate import Candidate, EngineCheck, examine
from sluicegate.config.complaints import problems_of
from sluicegate.config.document import Document
from sluicegate.config.settings import ProcessSettings
from sluicegate.config.snapshot import content_of
from sluicegate.config.source import Source
from sluicegate.errors import ConfigError, Problem
from sluicegate.errors import Path as PathInDocument

LARGEST_FILE = 5_000_000
LARGEST_DENYLIST = 64_000_000
_LARGEST_SECRET = 1 << 20
_UTF_8 = "a file saved as UTF-8"
_PREFIX = "SLUICEGATE_"


def load(path: Path, engine_check: EngineCheck | None = None) -> Candidate:
    """Read and examine a document; whatever is wrong is in the candidate, nothing is raised."""
    try:
        source = read_source(path)
    except ConfigError as error:
        empty = Source(str(path), "", None, {}, ())
        return Candidate(empty, None, tuple(error.problems))
    return examine(source, engine_check)


def read_source(path: Path) -> Source:
    """Read a YAML or JSON file.

    Raises:
        ConfigError: it cannot be read, is above 5 MB, or is not UTF-8.
    """
    return Source.parse(_read_text(path, LARGEST_FILE), file=str(path))


def load_with_files(path: Path, engine_check: EngineCheck | None = None) -> Candidate:
    """Read and examine a document and the files it names.

    One that is not there is a warning: it may be somewhere else than where it is checked.
    """
    candidate = load(path, engine_check)
    if candidate.parsed is None:
        return candidate
    problems: list[Problem] = []
    for one in denylist.lists_of(content_of(candidate.parsed)).values():
        try:
            if one.file is not None:
                read_denylist(path.parent / one.file)
        except ConfigError as error:
            problems += error.problems
    softened = (
        replace(one, severity="warning") if one.code == "unreadable" else one for one in problems
    )
    return replace(candidate, problems=(*candidate.problems, *softened))


def read_denylist(path: Path) -> list[denylist.Entry]:
    """Read a file of entries.

    Raises:
        ConfigError: with every line that is wrong; or it cannot be read, or is above 64 MB.
    """
    text = _read_text(path, LARGEST_DENYLIST)
    entries, problems = denylist.parse(text, file=str(path))
    if problems:
        raise ConfigError(problems)
    return entries


def _read_text(path: Path, largest: int) -> str:
    try:
        with path.open("rb") as stream:
            content = stream.read(largest + 1)
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise _unreadable(path, f"cannot read this file: {reason}", code="unreadable") from error
    if len(content) > largest:
        raise _unreadable(
            path,
            "the file is too large",
            code="too_large",
            expected=f"at most {largest:,} bytes",
        )
    if b"\0" in content[:2]:
        # Every other byte of Latin text in UTF-16 is a zero, and YAML has no such character.
        raise _unreadable(path, "this looks like UTF-16", code="encoding", expected=_UTF_8)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError([_not_utf8(path, content, error)]) from None


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a path leads to right now; another file, or the same one written to, differs."""

    resolved: str
    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int


def fingerprint(path: Path) -> Fingerprint | None:
    """Look at the file a path leads to, through every symlink; None when there is none.

    A ConfigMap is switched by one symlink in the middle of the path.
    """
    try:
        resolved = path.resolve(strict=True)
        found = resolved.stat()
    except (OSError, RuntimeError):
        return None
    return Fingerprint(
        str(resolved),
        found.st_dev,
        found.st_ino,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
    )


def content_digest(path: Path) -> str | None:
    """Hash the content of a file, as far as one that is followed may be long.

    None when unreadable.
    """
    try:
        with path.open("rb") as stream:
            return hashlib.sha256(stream.read(LARGEST_DENYLIST + 1)).hexdigest()
    except OSError:
        return None


def process_settings(
    given: Mapping[str, object], environment: Mapping[str, str] | None = None
) -> ProcessSettings:
    """Join what the command line gave with `SLUICEGATE_…`; the command line wins.

    Raises:
        ConfigError: a setting that cannot be understood, named as it was given.
    """
    environment = os.environ if environment is None else environment
    merged: dict[str, object] = {}
    origin: dict[str, str] = {}
    for name in ProcessSettings.model_fields:
        variable = _PREFIX + name.upper()
        if given.get(name) is not None:
            merged[name], origin[name] = _plain(given[name]), f"--{name.replace('_', '-')}"
        elif variable in environment:
            merged[name], origin[name] = _plain(environment[variable]), variable
    try:
        return ProcessSettings.model_validate(merged)
    except ValidationError as error:
        problems = problems_of(error, ProcessSettings)
        raise ConfigError(_named_as_given(problem, origin) for problem in problems) from None


def resolve_secrets(document: Document, schemas: Mapping[str, object]) -> dict[str, bytes]:
    """Read every secret the document refers to, by its reference.

    Raises:
        ConfigError: with every reference that leads nowhere; no value is ever in the text.
    """
    values: dict[str, bytes] = {}
    problems: list[Problem] = []
    for path, reference in secrets.references(document, schemas):
        try:
            values[reference] = _read_secret(reference, path)
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)
    return values


def _read_secret(reference: str, path: PathInDocument) -> bytes:
    kind, _, rest = reference.partition(":")
    if kind == "env" and rest:
        value = os.environ.get(rest)
        if value:
            return value.encode()
        raise _bad_secret(path, f"the environment variable `{rest}` is not set or empty")
    if kind == "file" and rest:
        try:
            with Path(rest).open("rb") as stream:
                content = stream.read(_LARGEST_SECRET + 1)
        except OSError as error:
            raise _bad_secret(path, f"cannot read the secret `{rest}`: {error.strerror}") from error
        # Editors and `kubectl` leave a line end that is no part of the secret.
        content = content.removesuffix(b"\n").removesuffix(b"\r")
        if 0 < len(content) <= _LARGEST_SECRET:
            return content
        raise _bad_secret(path, f"the secret `{rest}` is empty or larger than 1 MiB")
    # What stands here may be the secret itself, so it is not shown.
    raise _bad_secret(path, "a secret is given by reference, never by value")


def _bad_secret(path: PathInDocument, message: str) -> ConfigError:
    expected = "file:/path or env:NAME"
    return ConfigError([Problem(message, path, code="secret", expected=expected)])


def _plain(value: object) -> object:
    """Read a setting that came as text; an empty one turns off what can be off."""
    if not isinstance(value, str):
        return value
    return int(value) if value.isascii() and value.isdigit() else value or None


def _named_as_given(problem: Problem, origin: Mapping[str, str]) -> Problem:
    name = str(problem.path[0]) if problem.path else ""
    return replace(problem, file=origin.get(name), path=())


def _unreadable(path: Path, message: str, *, code: str, expected: str | None = None) -> ConfigError:
    return ConfigError([Problem(message, code=code, expected=expected, file=str(path))])


def _not_utf8(path: Path, content: bytes, error: UnicodeDecodeError) -> Problem:
    before = content[: error.start]
    line_start = before.rfind(b"\n") + 1
    return Problem(
        f"the byte 0x{content[error.start]:02x} is not UTF-8",
        code="encoding",
        expected=_UTF_8,
        file=str(path),
        line=before.count(b"\n") + 1,
        column=len(before[line_start:].decode("utf-8", errors="replace")) + 1,
    )
