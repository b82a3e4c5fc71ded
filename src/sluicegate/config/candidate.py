"""A document under examination: all its problems at once, ours and the engine's."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from sluicegate.config.complaints import closest, problems_of
from sluicegate.config.document import ENTRY_DEFAULTS, Document
from sluicegate.config.filter import FilterUse
from sluicegate.config.relations import relation_problems
from sluicegate.config.route import Route
from sluicegate.config.snapshot import content_of, snapshot_from
from sluicegate.config.source import Source
from sluicegate.config.upstream import Upstream
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
        content = content_of(document) if document and not broken else _skeleton(source.value)
        found = engine_check(snapshot_from(content, version=1).text)
        problems += [_with_suggestion(one) for one in found if not _is_known(one.path, broken)]
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


def _with_suggestion(problem: Problem) -> Problem:
    if problem.message.startswith("there is no field"):
        # As with our own models, what is wrong is the key and not its value.
        problem = replace(problem, code="unknown_field")
    if problem.suggestion or not problem.expected:
        return problem
    listed = problem.expected.removeprefix("one of:").removeprefix("one of ")
    quoted = problem.message.split("`")
    if listed == problem.expected or len(quoted) < 3:  # noqa: PLR2004 - one word in backquotes
        return problem
    words = [word.strip(" `") for word in listed.split(",")]
    return replace(problem, suggestion=closest(quoted[1], words))


def _skeleton(value: Any) -> dict[str, Any]:  # noqa: ANN401 - a document not yet valid
    """Make a sound document of the same shape, so that pointers keep their meaning."""
    if not isinstance(value, dict):
        value = {}
    upstreams = [
        _sound(Upstream, one, _stand_in_upstream(i)) for i, one in _enumerated(value, "upstreams")
    ]
    seen: set[str] = set()
    for index, upstream in enumerate(upstreams):
        if upstream["id"] in seen:
            upstreams[index] = _stand_in_upstream(index)
        seen.add(upstream["id"])
    routes = [_stand_in_route(i, one, seen) for i, one in _enumerated(value, "routes")]
    ids: set[str] = set()
    for index, route in enumerate(routes):
        if route["id"] in ids:
            route["id"] = f"stand-in-{index}"
        ids.add(route["id"])
    entry = _sound_chain(value["entry"]) if "entry" in value else _defaults()
    bare = content_of(Document(format=1))
    return {**bare, "upstreams": upstreams, "routes": routes, "entry": entry}


def _enumerated(value: dict[str, Any], key: str) -> list[tuple[int, Any]]:
    found = value.get(key)
    return list(enumerate(found)) if isinstance(found, list) else []


def _sound(model: type[Upstream | Route], value: Any, otherwise: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - not yet valid
    try:
        return model.model_validate(value).model_dump(mode="json", exclude_none=True)
    except ValidationError:
        return otherwise


def _stand_in_upstream(index: int) -> dict[str, Any]:
    value = {"id": f"stand-in-{index}", "endpoints": [{"address": "127.0.0.1:9"}]}
    return Upstream.model_validate(value).model_dump(mode="json", exclude_none=True)


def _stand_in_route(index: int, value: Any, upstreams: set[str]) -> dict[str, Any]:  # noqa: ANN401 - not yet valid
    bare = {
        "id": f"stand-in-{index}",
        "match": {"path": f"/stand-in/{index}"},
        "respond": {"status": 204},
    }
    stand_in = Route.model_validate(bare).model_dump(mode="json", exclude_none=True)
    route = _sound(Route, value, stand_in)
    if "upstream" in route and route["upstream"] not in upstreams:
        del route["upstream"]
        route["respond"] = stand_in["respond"]
    route["filters"] = _sound_chain(value.get("filters")) if isinstance(value, dict) else []
    return route


def _sound_chain(value: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - not yet valid
    """Keep a chain if it is sound as a whole; a part of it would move the others' places."""
    if not isinstance(value, list):
        return []
    try:
        uses = [FilterUse.model_validate(use) for use in value]
    except ValidationError:
        return []
    if len({use.identity for use in uses}) != len(uses):
        return []
    return [use.model_dump(mode="json", exclude_none=True) | {"config": use.config} for use in uses]


def _defaults() -> list[dict[str, Any]]:
    return [{"name": name, "config": {}} for name in ENTRY_DEFAULTS]
