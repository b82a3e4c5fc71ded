"""Checks of what stands in different places: ids, references, addresses.

They read plain values and skip what is malformed, so that they find their mistakes
next to those of the models, in one go.
"""

from collections.abc import Iterator
from typing import Any

from sluicegate.config import denylist
from sluicegate.config.complaints import closest, one_of
from sluicegate.config.exposure import exposure_warnings
from sluicegate.errors import Path, Problem


def relation_problems(value: Any) -> list[Problem]:  # noqa: ANN401 - a document not yet valid
    """Find every broken relation, and warn of what is never used."""
    if not isinstance(value, dict):
        return []
    return [
        *_doubled_ids(value),
        *_doubled_filters(value),
        *_two_files_of_a_denylist(value),
        *_doubled_addresses(value),
        *_unknown_upstreams(value),
        *_doubled_endpoints(value),
        *_unused(value),
        *exposure_warnings(value),
    ]


def _doubled_ids(value: dict[str, Any]) -> Iterator[Problem]:
    for section, noun in (
        ("listeners", "listener"),
        ("upstreams", "upstream"),
        ("routes", "route"),
    ):
        yield from _doubled(
            ((path, name) for path, name, _ in _named(value, section)),
            f"another {noun} has the id `{{}}`",
            code="duplicate_id",
        )


def _doubled_filters(value: dict[str, Any]) -> Iterator[Problem]:
    for path, chain in _chains(value):
        uses = [(i, use) for i, use in enumerate(chain) if isinstance(use, dict)]
        names = (
            ((*path, i, "id" if "id" in use else "name"), use.get("id") or use.get("name"))
            for i, use in uses
        )
        yield from _doubled(
            names,
            "another filter of this chain is called `{}`",
            code="duplicate_filter",
            expected="an `id` of its own",
        )


def _two_files_of_a_denylist(value: dict[str, Any]) -> Iterator[Problem]:
    """Filters with one id are one list, wherever they stand; it has one file."""
    first: dict[str, tuple[str, Path]] = {}
    for path, use in _uses(value):
        config = use.get("config")
        file = config.get("file") if isinstance(config, dict) else None
        if use.get("name") != denylist.FILTER or not isinstance(file, str):
            continue
        name = str(use.get("id") or denylist.FILTER)
        known, place = first.setdefault(name, (file, path))
        if known != file:
            where = Problem("", place).written_path
            yield Problem(
                f"the denylist `{name}` has another file: {where}",
                (*path, "config", "file"),
                code="two_files",
                expected=f"`{known}`, or an `id` of its own",
            )


def _uses(value: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    for path, chain in _chains(value):
        yield from (((*path, i), use) for i, use in enumerate(chain) if isinstance(use, dict))


def _chains(value: dict[str, Any]) -> Iterator[tuple[Path, list[Any]]]:
    yield ("entry",), _list(value, "entry")
    common = value.get("route_defaults")
    if isinstance(common, dict):
        yield ("route_defaults", "filters"), _list(common, "filters")
    for path, _, route in _items(value, "routes"):
        yield (*path[:-1], "filters"), _list(route, "filters")


def _doubled_addresses(value: dict[str, Any]) -> Iterator[Problem]:
    listeners = (
        ((*path[:-1], "address"), listener.get("address"))
        for path, _, listener in _items(value, "listeners")
        if not str(listener.get("address")).endswith(":0")
    )
    yield from _doubled(
        listeners, "another listener has the address `{}`", code="duplicate_address"
    )


def _doubled_endpoints(value: dict[str, Any]) -> Iterator[Problem]:
    for path, _, upstream in _items(value, "upstreams"):
        endpoints = enumerate(_list(upstream, "endpoints"))
        addresses = (
            ((*path[:-1], "endpoints", i, "address"), endpoint.get("address"))
            for i, endpoint in endpoints
            if isinstance(endpoint, dict)
        )
        yield from _doubled(
            addresses,
            "another endpoint of this upstream has the address `{}`",
            code="duplicate_address",
            expected="one endpoint with a `weight`",
        )


def _doubled(
    named: Iterator[tuple[Path, Any]], sentence: str, *, code: str, expected: str | None = None
) -> Iterator[Problem]:
    first: dict[str, Path] = {}
    for path, name in named:
        if not isinstance(name, str):
            continue
        if name in first:
            where = Problem("", first[name][:-1]).written_path
            message = f"{sentence.format(name)}: {where}"
            yield Problem(message, path, code=code, expected=expected)
        first.setdefault(name, path)


def _unknown_upstreams(value: dict[str, Any]) -> Iterator[Problem]:
    known = [name for _, name, _ in _named(value, "upstreams")]
    known_set = frozenset(known)
    for path, _, route in _items(value, "routes"):
        wanted = route.get("upstream")
        if isinstance(wanted, str) and wanted not in known_set:
            suggestion = closest(wanted, known)
            yield Problem(
                f"there is no upstream `{wanted}`",
                (*path[:-1], "upstream"),
                code="unknown_upstream",
                expected=one_of(known) or (None if known else "an upstream in `upstreams`"),
                suggestion=suggestion,
            )


def _unused(value: dict[str, Any]) -> Iterator[Problem]:
    wanted = {
        upstream
        for _, _, route in _items(value, "routes")
        if isinstance(upstream := route.get("upstream"), str)
    }
    known = {name for _, name, _ in _named(value, "upstreams")}
    # Next to a misspelled reference, "unused" would say the same mistake again.
    is_misspelled = bool(wanted - known)
    for path, name, _ in _named(value, "upstreams"):
        if name not in wanted and not is_misspelled:
            message = f"no route goes to the upstream `{name}`"
            yield Problem(message, path[:-1], code="unused_upstream", severity="warning")
    if not value.get("routes"):
        message = "there are no routes: every request is answered 404"
        yield Problem(message, ("routes",), code="no_routes", severity="warning")


def _named(value: dict[str, Any], section: str) -> Iterator[tuple[Path, str, dict[str, Any]]]:
    for path, name, item in _items(value, section):
        if isinstance(name, str):
            yield path, name, item


def _items(value: dict[str, Any], section: str) -> Iterator[tuple[Path, Any, dict[str, Any]]]:
    """Path of the id, id, and the item itself, for every item that is a mapping."""
    for index, item in enumerate(_list(value, section)):
        if isinstance(item, dict):
            yield (section, index, "id"), item.get("id"), item


def _list(value: dict[str, Any], key: str) -> list[Any]:
    found = value.get(key)
    return found if isinstance(found, list) else []
