"""Documents as text, by a writer that knows the line of every value: no reader of ours is asked."""

import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal

Path = tuple[str | int, ...]
Style = Literal["block", "plain", "flow", "json"]
STYLES: tuple[Style, ...] = ("block", "plain", "flow", "json")
# What cannot be taken for anything but text when it has no quotes.
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9._/-]*")
_NOT_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


@dataclass(frozen=True)
class Lines:
    """Where something stands: the line of its key, and that of its value."""

    key: int
    value: int


@dataclass
class Written:
    """A text, and the lines of everything in it."""

    text: str
    lines: dict[Path, Lines] = field(default_factory=dict)

    def of(self, path: Path) -> set[int]:
        """The lines that may be named for a place; for what is not there, those around it."""
        while path not in self.lines:
            path = path[:-1]
        return {self.lines[path].key, self.lines[path].value}


def write(document: dict[str, Any], style: Style) -> Written:
    """Write a document: as JSON, or as YAML with quotes, without, or with rows in brackets."""
    writer = _Json() if style == "json" else _Yaml(style)
    writer.whole(document)
    return Written("\n".join(writer.rows) + "\n", writer.lines)


class _Writer:
    def __init__(self) -> None:
        self.rows: list[str] = []
        self.lines: dict[Path, Lines] = {}

    @property
    def here(self) -> int:
        """The line that comes next."""
        return len(self.rows) + 1

    def note_within(self, value: Any, path: Path) -> None:  # noqa: ANN401 - any value
        """Everything below a value stands in the line that comes next."""
        if not isinstance(value, dict | list):
            return
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            self.lines[*path, step] = Lines(self.here, self.here)
            self.note_within(inner, (*path, step))


class _Json(_Writer):
    def whole(self, document: dict[str, Any]) -> None:
        self.lines[()] = Lines(1, 1)
        self._put("", document, (), "")

    def _put(self, lead: str, value: Any, path: Path, tail: str) -> None:  # noqa: ANN401 - JSON
        self.lines[path] = Lines(self.here, self.here)
        if not isinstance(value, dict | list) or not value:
            self.rows.append(f"{lead}{json.dumps(value)}{tail}")
            return
        is_mapping = isinstance(value, dict)
        self.rows.append(lead + ("{" if is_mapping else "["))
        steps = list(value) if is_mapping else list(range(len(value)))
        for step in steps:
            name = f"{json.dumps(step)}: " if is_mapping else ""
            comma = "" if step is steps[-1] else ","
            self._put(" " * (len(path) + 1) + name, value[step], (*path, step), comma)
        self.rows.append(" " * len(path) + ("}" if is_mapping else "]") + tail)


class _Yaml(_Writer):
    def __init__(self, style: Style) -> None:
        super().__init__()
        self.style = style

    def whole(self, document: dict[str, Any]) -> None:
        self.rows.append("# a comment")
        self.lines[()] = Lines(self.here, self.here)
        self._mapping(document, (), "", "")

    def _mapping(self, value: dict[str, Any], path: Path, indent: str, lead: str) -> None:
        for key, inner in value.items():
            self._put(f"{lead or indent}{self._scalar(key)}:", inner, (*path, key), indent + "  ")
            lead = ""

    def _put(self, lead: str, value: Any, path: Path, indent: str) -> None:  # noqa: ANN401 - JSON
        if not isinstance(value, dict | list) or not value or self._is_row(value):
            self.lines[path] = Lines(self.here, self.here)
            self.note_within(value, path)
            self.rows.append(f"{lead} {self._flow(value)}")
            return
        self.lines[path] = Lines(self.here, self.here + 1)
        self.rows.append(lead)
        if isinstance(value, dict):
            self._mapping(value, path, indent, "")
        else:
            self._sequence(value, path, indent)

    def _sequence(self, value: list[Any], path: Path, indent: str) -> None:
        for index, inner in enumerate(value):
            here = (*path, index)
            self.lines[here] = Lines(self.here, self.here)
            if isinstance(inner, dict) and inner and not self._is_row(inner):
                self._mapping(inner, here, f"{indent}  ", f"{indent}- ")
            else:
                self.note_within(inner, here)
                self.rows.append(f"{indent}- {self._flow(inner)}")

    def _is_row(self, value: dict[str, Any] | list[Any]) -> bool:
        below = value.values() if isinstance(value, dict) else value
        return self.style == "flow" and not any(isinstance(one, dict | list) for one in below)

    def _flow(self, value: Any) -> str:  # noqa: ANN401 - JSON
        if isinstance(value, dict):
            pairs = (f"{self._scalar(key)}: {self._flow(one)}" for key, one in value.items())
            return "{" + ", ".join(pairs) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self._flow, value)) + "]"
        return self._scalar(value)

    def _scalar(self, value: Any) -> str:  # noqa: ANN401 - a scalar
        if isinstance(value, str) and self.style != "block":
            is_word = _WORD.fullmatch(value) and value.lower() not in _NOT_WORDS
            return value if is_word else json.dumps(value)
        return json.dumps(value)
