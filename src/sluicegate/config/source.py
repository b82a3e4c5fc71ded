"""A document as it was written: text, plain values, and the way from a path to its line."""

import json
import math
import re
from dataclasses import dataclass, replace
from typing import Any

from sluicegate.config.tree import MOST_DIGITS, Mark, Place, Tree, grow
from sluicegate.errors import Path, Problem

_LONGEST_EXCERPT = 160
_STRING_OR_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|NaN|-?Infinity')


@dataclass(frozen=True, slots=True)
class Source:
    """A text that has been read; `problems` are those of its syntax."""

    file: str
    text: str
    value: Any
    places: dict[Path, Place]
    problems: tuple[Problem, ...]

    @classmethod
    def parse(cls, text: str, *, file: str = "document") -> "Source":
        """Read YAML, or JSON when the text begins like it."""
        is_named_json = file.endswith(".json")
        is_json = is_named_json or text.lstrip("\ufeff \t\r\n").startswith("{")
        tree = _grow_json(text, may_be_yaml=not is_named_json) if is_json else grow(text)
        source = cls(file, text, tree.value, tree.places, ())
        return replace(source, problems=tuple(map(source.locate, tree.problems)))

    def locate(self, problem: Problem) -> Problem:
        """Give a problem its file, line and source line.

        What is missing or came by an alias has no place of its own: then the nearest
        thing around it that has one.
        """
        if problem.line is None:
            mark = self._mark(problem)
        else:
            mark = self._within(Mark(problem.line, problem.column or 1))
        problem = replace(problem, line=mark.line, column=mark.column)
        return replace(problem, file=self.file, excerpt=self._excerpt(problem.line or 1))

    def _mark(self, problem: Problem) -> Mark:
        for length in range(len(problem.path), -1, -1):
            place = self._place(problem.path[:length])
            if place is None:
                continue
            at_key = problem.code == "unknown_field" or length < len(problem.path)
            return place.key if at_key else place.value
        return Mark(1, 1)

    def _within(self, mark: Mark) -> Mark:
        """What is missing at the end is shown behind the last thing that is there."""
        written = self.text.rstrip()
        last = written.count("\n") + 1
        if mark.line <= last:
            return mark
        return Mark(last, len(written) - written.rfind("\n"))

    def _place(self, path: Path) -> Place | None:
        # A pointer cannot tell the key `404` from the index 404.
        return self.places.get(path) or self.places.get(
            tuple(str(step) if isinstance(step, int) else step for step in path)
        )

    def _excerpt(self, line: int) -> str | None:
        lines = self.text.split("\n", line)
        if line > len(lines):
            return None
        return lines[line - 1].rstrip("\r")[:_LONGEST_EXCERPT]


def _grow_json(text: str, *, may_be_yaml: bool) -> Tree:
    text = text.removeprefix("\ufeff")
    try:
        value = json.loads(
            text, parse_constant=_refuse_constant, parse_int=_moderate, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        # Flow YAML looks like JSON at its beginning; then YAML's messages are the right ones.
        tree = grow(text)
        if not tree.problems and may_be_yaml:
            return tree
        problem = Problem(error.msg, code="syntax", line=error.lineno, column=error.colno)
        return Tree(problems=[problem])
    except _NoNumber as error:
        return Tree(problems=[_no_number(str(error), text)])
    except (RecursionError, ValueError):
        # What is nested too deep, or a number beyond all: YAML's reader names its place.
        return grow(text.replace("\t", " "))
    # JSON is YAML but for tabs between tokens and some escapes; values come from the JSON
    # reader, places (and keys that stand twice) from the YAML one.
    tree = grow(text.replace("\t", " "))
    if any(problem.code in {"too_deep", "too_many"} for problem in tree.problems):
        return tree
    doubled = [problem for problem in tree.problems if problem.code == "duplicate_key"]
    return Tree(value, tree.places, doubled)


class _NoNumber(Exception):
    """`NaN` or `Infinity`, which Python's reader takes for JSON."""


def _refuse_constant(name: str) -> float:
    raise _NoNumber(name)


def _no_number(name: str, text: str) -> Problem:
    found = next(one for one in _STRING_OR_CONSTANT.finditer(text) if one[0] == name)
    line = text.count("\n", 0, found.start()) + 1
    column = found.start() - text.rfind("\n", 0, found.start())
    message = f"`{name}` is not a JSON number"
    return Problem(message, code="syntax", line=line, column=column)


def _moderate(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError("more digits than any number needs")
    return int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("beyond the largest number")
    return value
