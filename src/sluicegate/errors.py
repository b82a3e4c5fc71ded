"""Every exception of the product.

```
SluicegateError
├── ConfigError            the user's document: every problem at once
├── StaleSnapshot          a snapshot that is not newer than the current one
└── Unavailable            the world: something did not answer or could not be had
    ├── PortTaken          an address that another process listens on
    ├── StateDirectoryTaken  another gateway runs on the same state directory
    ├── NotRunning         no gateway answers on the control socket
    └── EngineError        the engine could not do what it was asked
```
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Path = tuple[str | int, ...]
"""Keys and indexes from the top of a document to a place in it."""

_LONGEST_QUOTED = 60
_LONGEST_SENTENCE = 1000
_QUOTED_AT_LENGTH = re.compile(f"`([^`]{{{_LONGEST_QUOTED}}})[^`]+`")


class SluicegateError(Exception):
    """Anything that this product raises on purpose."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a document, with its place and the way out."""

    message: str
    path: Path = ()
    code: str = "invalid"
    expected: str | None = None
    suggestion: str | None = None
    severity: Literal["error", "warning"] = "error"
    file: str | None = None
    line: int | None = None
    column: int | None = None
    excerpt: str | None = None

    def __post_init__(self) -> None:
        """Make words of a document fit for a terminal and a log, whatever they are."""
        object.__setattr__(self, "message", _sentence(self.message))
        if self.expected is not None:
            object.__setattr__(self, "expected", _sentence(self.expected))
        if self.suggestion is not None and not _can_be_suggested(self.suggestion):
            object.__setattr__(self, "suggestion", None)
        if self.excerpt is not None:
            object.__setattr__(self, "excerpt", "".join(map(_one_sign, self.excerpt)))

    @property
    def pointer(self) -> str:
        """The place as an RFC 6901 JSON pointer."""
        return "".join(f"/{_escape(str(step))}" for step in self.path)

    @property
    def written_path(self) -> str:
        """The place as a person writes it: `routes[3].match.path`."""
        text = ""
        for step in self.path:
            if isinstance(step, int):
                text += f"[{step}]"
            elif _is_plain(step):
                text += f".{step}" if text else step
            else:
                text += f'["{_printable(step)}"]'
        return text

    @property
    def place(self) -> str:
        """`file:line:column`, as far as known; editors and terminals make it a link."""
        parts = [self.file or "document"]
        if self.line is not None:
            parts.append(str(self.line))
            parts.append(str(self.column or 1))
        return ":".join(parts)

    def as_json(self) -> dict[str, Any]:
        """Return what `--json` prints; fields that are not known are left out."""
        fields = {
            "severity": self.severity,
            "code": self.code,
            "pointer": self.pointer,
            "path": self.written_path,
            "message": self.message,
            "expected": self.expected,
            "suggestion": self.suggestion,
            "file": self.file,
            "line": self.line,
            "column": self.column,
        }
        return {name: value for name, value in fields.items() if value is not None}

    def __str__(self) -> str:
        sentence = f"{self.place}: "
        if self.path:
            sentence += f"{self.written_path}: "
        sentence += self.message
        if self.expected:
            sentence += f"; expected {self.expected}"
        if self.suggestion:
            sentence += f"; did you mean `{self.suggestion}`?"
        return sentence


class ConfigError(SluicegateError):
    """A document that cannot be used; `problems` names every mistake in it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: Sequence[Problem] = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class StaleSnapshot(SluicegateError):
    """A snapshot whose version is not greater than the current one; nothing was changed."""

    def __init__(self, offered: int, current: int | None = None) -> None:
        self.offered = offered
        self.current = current
        than = f"the current version {current}" if current is not None else "the current one"
        super().__init__(f"snapshot version {offered} is not newer than {than}")


class Unavailable(SluicegateError):
    """Something outside this process that did not answer or could not be had."""


class PortTaken(Unavailable):
    """An address that another process already listens on."""

    def __init__(self, message: str, address: str | None = None) -> None:
        self.address = address
        super().__init__(message)


class StateDirectoryTaken(Unavailable):
    """Another gateway holds the lock of the state directory."""


class NotRunning(Unavailable):
    """No gateway answers on the control socket."""


class EngineError(Unavailable):
    """The engine could not do what it was asked; the text says why."""


def path_from_pointer(pointer: str) -> Path:
    """Read an RFC 6901 JSON pointer; steps of digits become indexes."""
    if not pointer:
        return ()
    steps = (_unescape(step) for step in pointer.removeprefix("/").split("/"))
    return tuple(int(step) if step.isascii() and step.isdigit() else step for step in steps)


def _sentence(text: str) -> str:
    """Shorten what is quoted at length, and write control characters as escapes."""
    text = _printable(_QUOTED_AT_LENGTH.sub(r"`\1…`", text))
    return text if len(text) <= _LONGEST_SENTENCE else text[:_LONGEST_SENTENCE] + "…"


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def _can_be_suggested(text: str) -> bool:
    return text.isprintable() and len(text) <= _LONGEST_QUOTED


def _one_sign(char: str) -> str:
    """Show a character in one column, so that a mark below a line stays in its place."""
    if char.isprintable() or char == "\t":
        return char
    return chr(0x2400 + ord(char)) if char < " " else "\ufffd"


def _escape(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")


def _unescape(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


def _is_plain(step: str) -> bool:
    return bool(step) and all(char.isalnum() or char in "_-" for char in step)
