"""Faults that are put into sound documents, each with the place where it then stands."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from support.sound import Draw
from support.written import Path

Value = dict[str, Any]
Put = Callable[[Draw, Value], Path]

LONG = "x" * 101


@dataclass(frozen=True)
class Fault:
    """One kind of fault: how it is put in, and what may be said of it."""

    name: str
    codes: frozenset[str]
    put: Put
    """Changes the document and says where."""
    consequences: frozenset[str] = frozenset()
    """Codes that may be said of other places: what this fault breaks elsewhere."""


def fault(name: str, codes: str, put: Put, consequences: str = "") -> Fault:
    """A kind of fault; codes are words."""
    return Fault(name, frozenset(codes.split()), put, frozenset(consequences.split()))


def places(document: Any, pattern: str) -> list[Path]:  # noqa: ANN401 - JSON
    """The places that `routes/*/match` names; the last word need not be there yet."""
    *holders, last = pattern.split("/")
    found: list[tuple[Path, Any]] = [((), document)]
    for word in holders:
        found = [pair for path, value in found for pair in _steps(path, value, word)]
    return [
        (*path, step)
        for path, value in found
        if isinstance(value, dict | list)
        for step in (range(len(value)) if last == "*" else [last])
    ]


def _steps(path: Path, value: Any, word: str) -> Iterator[tuple[Path, Any]]:  # noqa: ANN401 - JSON
    if isinstance(value, list) and word == "*":
        yield from (((*path, index), inner) for index, inner in enumerate(value))
    elif isinstance(value, dict) and word in value:
        yield (*path, word), value[word]


def within(document: Any, path: Path) -> Any:  # noqa: ANN401 - JSON
    """What stands at a place."""
    for step in path:
        document = document[step]
    return document


def one_place(draw: Draw, document: Value, *patterns: str) -> Path:
    """One of the places that the patterns name."""
    found = [path for pattern in patterns for path in places(document, pattern)]
    return tuple(draw(st.sampled_from(found)))


def sets(*patterns: str, to: list[Any]) -> Put:
    """Sets one of these places to one of these values."""

    def put(draw: Draw, document: Value) -> Path:
        path = one_place(draw, document, *patterns)
        within(document, path[:-1])[path[-1]] = draw(st.sampled_from(to))
        return path

    return put


def changes(*patterns: str, to: list[Any]) -> Put:
    """Sets one of these places, if it is there, to one of these values."""

    def put(draw: Draw, document: Value) -> Path:
        path: Path = draw(st.sampled_from(there(document, *patterns)))
        within(document, path[:-1])[path[-1]] = draw(st.sampled_from(to))
        return path

    return put


def drops(*patterns: str) -> Put:
    """Takes one of these places away."""

    def put(draw: Draw, document: Value) -> Path:
        path = one_place(draw, document, *patterns)
        del within(document, path[:-1])[path[-1]]
        return path

    return put


def doubles(pattern: str, same: str) -> Put:
    """Adds another item to a list, with the same `same` as one that is there."""

    def put(draw: Draw, document: Value) -> Path:
        listed = one_place(draw, document, pattern)
        items = within(document, listed)
        twin = dict(draw(st.sampled_from(items)))
        if same != "id" and "id" in twin:
            twin["id"] = "twin"
        if same == "id" and "address" in twin:
            twin["address"] = "127.0.0.1:7777"
        items.append(twin)
        return (*listed, len(items) - 1, same)

    return put


MODELS = (
    *("listeners/*", "listeners/*/limits", "listeners/*/timeouts", "upstreams/*"),
    *("upstreams/*/endpoints/*", "upstreams/*/connections", "upstreams/*/timeouts", "routes/*"),
    *("routes/*/match", "routes/*/match/headers/*", "routes/*/match/query/*", "routes/*/limits"),
    *("routes/*/match/cookies/*", "routes/*/timeouts", "routes/*/respond", "routes/*/redirect"),
    *("routes/*/filters/*", "entry/*", "errors", "access_log", "access_log/rotate", "metrics"),
)
"""Places whose fields are known."""


def there(document: Value, *patterns: str) -> list[Path]:
    """The places of these that are in the document."""
    found = [path for pattern in patterns for path in places(document, pattern)]
    return [path for path in found if _has(document, path)]


def _has(document: Any, path: Path) -> bool:  # noqa: ANN401 - JSON
    try:
        within(document, path)
    except (KeyError, IndexError):
        return False
    return True


def adds_a_field(draw: Draw, document: Value) -> Path:
    """A field that nobody knows."""
    path: Path = draw(st.sampled_from([(), *there(document, *MODELS)]))
    name = draw(st.sampled_from(["colour", "x-extra", "a/b", "m~n", "1", "", "é"]))
    within(document, path)[name] = draw(st.sampled_from([1, "x", [], {"a": 1}, None]))
    return (*path, name)


def misspells_a_field(draw: Draw, document: Value) -> Path:
    """A known field with two letters exchanged."""
    path: Path = draw(st.sampled_from(there(document, *MODELS)))
    model = within(document, path)
    known = [name for name in model if len(name) > 3]
    if not known:
        return adds_a_field(draw, document)
    name = draw(st.sampled_from(known))
    wrong = name[:-2] + name[-1] + name[-2]
    if wrong == name:
        wrong = name + "s"
    model[wrong] = model.pop(name)
    return (*path, wrong)


def takes_another_type(draw: Draw, document: Value) -> Path:
    """A value of a type that fits nowhere in its model."""
    models = draw(st.sampled_from(there(document, *MODELS)))
    model = within(document, models)
    # What is inside `config` has words of its own, and a table takes any text.
    known = [name for name in model if name not in ("config", "labels", "headers", "codes")]
    name = draw(st.sampled_from(known))
    model[name] = draw(st.sampled_from([[[]], {"a": {}}] if name != "host" else [{"a": {}}, 5]))
    return (*models, name)


def two_ends(draw: Draw, document: Value) -> Path:
    """A route with two ends."""
    routes = document["routes"]
    number = draw(st.integers(0, len(routes) - 1))
    routes[number] |= {"respond": {"status": 200}, "redirect": {"location": "/x"}}
    ends = [one for one in ("upstream", "respond", "redirect") if one in routes[number]]
    return ("routes", number, ends[1])


def no_end(draw: Draw, document: Value) -> Path:
    """A route without an end."""
    number = draw(st.integers(0, len(document["routes"]) - 1))
    for end in ("upstream", "respond", "redirect"):
        document["routes"][number].pop(end, None)
    return ("routes", number)


def a_test(kind: str, test: Value) -> Put:
    """Adds a test of requests to a route; the place is that of the test."""

    def put(draw: Draw, document: Value) -> Path:
        number = draw(st.integers(0, len(document["routes"]) - 1))
        tests = document["routes"][number]["match"].setdefault(kind, [])
        tests.append(test)
        return ("routes", number, "match", kind, len(tests) - 1)

    return put


def a_test_at(kind: str, field: str, values: list[Any]) -> Put:
    """Adds a test whose `field` is wrong."""

    def put(draw: Draw, document: Value) -> Path:
        fine = {"name": "X-A"} if field == "name" else {"name": "X-A", field: None}
        more = {"present": True} if field == "name" else {}
        test = fine | more | {field: draw(st.sampled_from(values))}
        return (*a_test(kind, test)(draw, document), field)

    return put


def a_filter(use: Value, *below: str | int, chain: str = "routes") -> Put:
    """Adds a use of a filter; `below` leads from it to the fault."""

    def put(draw: Draw, document: Value) -> Path:
        if chain == "entry":
            path: Path = ("entry",)
            uses = document["entry"]
        else:
            number = draw(st.integers(0, len(document["routes"]) - 1))
            path = ("routes", number, "filters")
            uses = document["routes"][number].setdefault("filters", [])
        uses.append({"id": "wrong", **use})
        return (*path, len(uses) - 1, *below)

    return put


def rewrites(config: Value, *below: str) -> Put:
    """Adds a `path_rewrite` with a fault in its configuration."""
    return a_filter({"name": "path_rewrite", "config": config}, "config", *below)


def heads(operations: Value, *below: str | int) -> Put:
    """Adds a `header_rewrite` with a fault in what it does to requests."""
    use = {"name": "header_rewrite", "config": {"request": operations}}
    return a_filter(use, "config", "request", *below)
