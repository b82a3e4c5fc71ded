"""A document under examination: all its problems at once, ours and the engine's."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from sluicegate.config.complaints import closest, problems_of
from sluicegate.config.document import Document
from sluicegate.config.foreign import filter_named
from sluicegate.config.relations import relation_problems
from sluicegate.config.skeleton import skeleton
from sluicegate.config.snapshot import content_of, snapshot_from
from sluicegate.config.source import Source
from sluicegate.errors import ConfigError, Path, Problem

EngineCheck = Callable[[str], list[Problem]]
"""What the engine says of a snapshot; it starts nothing."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A source, what it means, and what is wrong with it."""

    source: Source
    parsed: Document | None
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> list[Problem]:
        """What makes the document unusable."""
        return [problem for problem in self.problems if problem.severity == "error"]

    @property
    def warnings(self) -> list[Problem]:
        """What works, but was hardly meant."""
        return [problem for problem in self.problems if problem.severity == "warning"]

    @property
    def document(self) -> Document:
        """The document, if nothing is wrong with it.

        Raises:
            ConfigError: with every error.
        """
        if self.errors or self.parsed is None:
            raise ConfigError(self.errors)
        return self.parsed


def examine(source: Source, engine_check: EngineCheck | None = None) -> Candidate:
    """Find everything that is wrong with a source.

    The engine is asked even when our own checks have found something: then it sees a
    skeleton in which only what is sound is left, so that mistakes in filters show in
    the same run.
    """
    if any(problem.code != "duplicate_key" for problem in source.problems):
        return Candidate(source, None, source.problems)
    if source.value is None:
        empty = Problem("the document is empty", code="empty", expected="format: 1")
        return Candidate(source, None, (source.locate(empty),))
    document, problems = _validate(source.value)
    problems += relation_problems(source.value)
    if engine_check is not None:
        broken = [problem.path for problem in problems if problem.severity == "error"]
        content = content_of(document) if document and not broken else skeleton(source.value)
        found = engine_check(snapshot_from(content, version=1).text)
        problems += [
            _with_suggestion(one)
            for one in found
            if not _is_known(one.path, broken)
            and not _is_of_a_stand_in(one.path, source.value, broken)
        ]
    written = (replace(one, path=_as_written(one.path, source.value)) for one in problems)
    located = [*source.problems, *map(source.locate, written)]
    return Candidate(source, document, tuple(sorted(located, key=_in_reading_order)))


def _validate(value: Any) -> tuple[Document | None, list[Problem]]:  # noqa: ANN401 - not yet valid
    try:
        return Document.model_validate(value), []
    except ValidationError as error:
        return None, problems_of(error, Document)


def _as_written(path: Path, value: Any) -> Path:  # noqa: ANN401 - a document not yet valid
    """Leave out steps into a single word that stands for a list of one."""
    for length, step in enumerate(path):
        if isinstance(value, str):
            return path[:length]
        try:
            value = value[step]
        except (LookupError, TypeError):
            break
    return path


def _in_reading_order(problem: Problem) -> tuple[int, int]:
    return problem.line or 0, problem.column or 0


def _is_known(path: Path, broken: list[Path]) -> bool:
    """Tell whether our own check has already spoken of this place or a part of it."""
    return any(known[: len(path)] == path or path == known for known in broken)


def _is_of_a_stand_in(path: Path, value: Any, broken: list[Path]) -> bool:  # noqa: ANN401 - a document not yet valid
    """Tell whether a place is in an upstream that only the engine has seen."""
    if not broken or path[:1] != ("upstreams",) or not isinstance(value, dict):
        return False
    upstreams = value.get("upstreams")
    count = len(upstreams) if isinstance(upstreams, list) else 0
    is_behind_the_last = any(isinstance(step, int) and step >= count for step in path[1:2])
    return is_behind_the_last or any(known[:2] == path[:2] for known in broken)


def _with_suggestion(problem: Problem) -> Problem:
    if problem.message.startswith("there is no field"):
        # As with our own models, what is wrong is the key and not its value.
        problem = replace(problem, code="unknown_field")
    if problem.code == "unknown_filter":
        problem = filter_named(problem)
    if problem.suggestion or not problem.expected:
        return problem
    listed = problem.expected.removeprefix("one of:").removeprefix("one of ")
    quoted = problem.message.split("`")
    if listed == problem.expected or len(quoted) < 3:  # noqa: PLR2004 - one word in backquotes
        return problem
    words = [word.strip(" `") for word in listed.split(",")]
    return replace(problem, suggestion=closest(quoted[1], words))
