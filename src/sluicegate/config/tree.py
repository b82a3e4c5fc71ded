"""The text of a document as plain values, with the place of each of them."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from sluicegate.config.syntax import character_problem, syntax_problem
from sluicegate.errors import Path, Problem

MOST_VALUES = 1_000_000
DEEPEST = 64
MOST_DIGITS = 40
"""A whole number with more is text: it fits no field, and is named where it stands."""
_TAGS = {"tag:yaml.org,2002:" + name: name for name in ("str", "int", "float", "bool", "null")}
_INTEGER = re.compile(r"[-+]?[0-9]{1,40}|0o[0-7]{1,40}|0x[0-9a-fA-F]{1,40}", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,4})?", re.ASCII)
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


class Mark(NamedTuple):
    """A place in a text; both count from 1."""

    line: int
    column: int


class Place(NamedTuple):
    """Where a value stands, and the key before it."""

    key: Mark
    value: Mark


@dataclass(slots=True)
class Tree:
    """A document as plain values, the places in its text, and what is wrong with its syntax."""

    value: Any = None
    places: dict[Path, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def grow(text: str) -> Tree:
    """Read YAML 1.2 (core schema): `no` and `off` are words, not booleans.

    Depth, number of values and aliases are bounded while reading, so no text can take more
    memory than it deserves. A syntax error ends the reading; other mistakes are gathered.
    """
    tree, is_yaml = _read(text, pure=False)
    if is_yaml:
        return tree
    # The parser in C is some 40 times as quick, but reads YAML 1.1: it stumbles over an address
    # such as `{see: https://a.example}` that 1.2 allows. What it refuses, the other one judges.
    tree, _ = _read(text, pure=True)
    return tree


def _read(text: str, *, pure: bool) -> tuple[Tree, bool]:
    tree = Tree()
    try:
        # Events need no stack of ours, and are read far quicker than nodes are composed.
        _Grower(tree, YAML(typ="safe", pure=pure).parse(text)).run()
    except _Stop as stop:
        tree.problems.append(stop.problem)
    except MarkedYAMLError as error:
        tree.problems.append(syntax_problem(error, text))
        return tree, False
    except (YAMLError, ValueError) as error:
        tree.problems.append(character_problem(error, text))
        return tree, False
    return tree, True


class _Stop(Exception):
    def __init__(self, problem: Problem) -> None:
        self.problem = problem


@dataclass(slots=True)
class _Open:
    """A mapping or sequence whose end has not come yet."""

    value: dict[str, Any] | list[Any]
    path: Path
    size_before: int
    anchor: str | None = None
    key: str | None = None
    key_mark: Mark | None = None
    marks: dict[str, Mark] = field(default_factory=dict)
    merges: list[tuple[Any, Mark]] = field(default_factory=list)


class _Grower:
    def __init__(self, tree: Tree, events: Iterator[Event]) -> None:
        self.tree = tree
        self.events = events
        self.stack: list[_Open] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.open_anchors: set[str] = set()
        self.size = 0
        self.documents = 0

    def run(self) -> None:
        for event in self.events:
            if isinstance(event, ScalarEvent):
                self._scalar(event)
            elif isinstance(event, MappingStartEvent):
                self._begin(event, {})
            elif isinstance(event, SequenceStartEvent):
                self._begin(event, [])
            elif isinstance(event, MappingEndEvent | SequenceEndEvent):
                self._end()
            elif isinstance(event, AliasEvent):
                self._alias(event)
            elif isinstance(event, DocumentStartEvent):
                self.documents += 1
                if self.documents > 1:
                    raise _stop("a second document starts here", _mark(event), code="syntax")

    def _scalar(self, event: ScalarEvent) -> None:
        mark = _mark(event)
        top = self.stack[-1] if self.stack else None
        if top and isinstance(top.value, dict) and top.key is None:
            self._key(top, event.value, mark)
            return
        value = self._resolve(event, mark)
        if event.anchor:
            self.anchors[event.anchor] = (value, 1)
        self._grow_by(1, mark)
        self._put(value, mark)

    def _key(self, top: _Open, key: str, mark: Mark) -> None:
        if key in top.marks:
            first = top.marks[key]
            self.tree.problems.append(
                Problem(
                    f"`{key}` stands twice here, first in line {first.line}",
                    (*top.path, key),
                    code="duplicate_key",
                    line=mark.line,
                    column=mark.column,
                )
            )
        top.marks.setdefault(key, mark)
        top.key, top.key_mark = key, mark

    def _resolve(self, event: ScalarEvent, mark: Mark) -> Any:  # noqa: ANN401 - any scalar
        text: str = event.value
        if event.tag is not None and event.tag != "!":
            kind = _TAGS.get(event.tag)
            if kind is None:
                raise _stop(f"the tag `{event.tag}` has no meaning here", mark, code="bad_tag")
            value = text if kind == "str" else _plain(text)
            if kind != "str" and type(value).__name__ not in {kind, "NoneType"}:
                raise _stop(f"`{text}` is not of the type its tag says", mark, code="bad_tag")
            return value
        return _plain(text) if event.implicit[0] and event.tag is None else text

    def _begin(
        self, event: MappingStartEvent | SequenceStartEvent, value: dict[str, Any] | list[Any]
    ) -> None:
        mark = _mark(event)
        if len(self.stack) >= DEEPEST:
            raise _stop(f"nested deeper than {DEEPEST} levels", mark, code="too_deep")
        top = self.stack[-1] if self.stack else None
        if top and isinstance(top.value, dict) and top.key is None:
            raise _stop("a key must be a word, not a list or mapping", mark, code="bad_key")
        if event.tag not in {None, "!"}:
            raise _stop(f"the tag `{event.tag}` has no meaning here", mark, code="bad_tag")
        self._grow_by(1, mark)
        anchor = event.anchor
        if anchor:
            self.open_anchors.add(anchor)
        path = self._put(value, mark)
        self.stack.append(_Open(value, path, self.size - 1, anchor))

    def _end(self) -> None:
        done = self.stack.pop()
        if done.anchor:
            self.open_anchors.discard(done.anchor)
            self.anchors[done.anchor] = (done.value, self.size - done.size_before)
        if isinstance(done.value, dict):
            for merged, mark in done.merges:
                _merge(done.value, merged, mark)

    def _alias(self, event: AliasEvent) -> None:
        mark = _mark(event)
        if event.anchor in self.open_anchors:
            raise _stop(f"`*{event.anchor}` contains itself", mark, code="recursion")
        if event.anchor not in self.anchors:
            raise _stop(f"there is no anchor `&{event.anchor}`", mark, code="unknown_anchor")
        value, size = self.anchors[event.anchor]
        top = self.stack[-1] if self.stack else None
        if top and isinstance(top.value, dict) and top.key is None:
            raise _stop("an alias cannot be a key", mark, code="bad_key")
        self._grow_by(size, mark)
        self._put(value, mark)

    def _grow_by(self, count: int, mark: Mark) -> None:
        self.size += count
        if self.size > MOST_VALUES:
            raise _stop(
                f"more than {MOST_VALUES:,} values, those behind aliases counted each time",
                mark,
                code="too_many",
            )

    def _put(self, value: Any, mark: Mark) -> Path:  # noqa: ANN401 - any value of a document
        if not self.stack:
            self.tree.value = value
            self.tree.places[()] = Place(mark, mark)
            return ()
        top = self.stack[-1]
        if isinstance(top.value, list):
            path: Path = (*top.path, len(top.value))
            top.value.append(value)
            self.tree.places[path] = Place(mark, mark)
            return path
        key, key_mark = top.key or "", top.key_mark or mark
        top.key = None
        path = (*top.path, key)
        if key == "<<":
            top.merges.append((value, mark))
            return path
        top.value.setdefault(key, value)
        self.tree.places.setdefault(path, Place(key_mark, mark))
        return path


def _merge(target: dict[str, Any], merged: Any, mark: Mark) -> None:  # noqa: ANN401 - checked here
    for source in merged if isinstance(merged, list) else [merged]:
        if not isinstance(source, dict):
            raise _stop("`<<` takes a mapping or a list of them", mark, code="bad_merge")
        for key, value in source.items():
            target.setdefault(key, value)


def _plain(text: str) -> str | int | float | bool | None:
    """Resolve a scalar without quotes by the core schema of YAML 1.2."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        base: Literal[8, 10, 16] = 8 if text.startswith("0o") else 16 if text[:2] == "0x" else 10
        return int(text.removeprefix("0o"), base)
    if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text


def _mark(event: Event) -> Mark:
    return Mark(event.start_mark.line + 1, event.start_mark.column + 1)


def _stop(message: str, mark: Mark, *, code: str) -> _Stop:
    return _Stop(Problem(message, code=code, line=mark.line, column=mark.column))
