"""Who may see a listener, a route or an upstream; and what is hardly meant for everybody."""

from collections.abc import Iterator
from typing import Any, Literal

from sluicegate.errors import Path, Problem

Exposure = Literal["public", "internal"]
"""`public`: everybody. `internal`: the own network."""

SENSITIVE = (
    "/actuator",
    "/debug/pprof",
    "/druid",
    "/h2-console",
    "/heapdump",
    "/jolokia",
    "/server-status",
)
"""Paths under which servers show their inside (SE-24); nobody outside should find them."""


def exposure_warnings(value: dict[str, Any]) -> Iterator[Problem]:
    """Warn of routes that show too much, and of those that nobody can reach.

    That no public route goes to an internal upstream is checked by the engine.
    """
    listeners = _mappings(value, "listeners")
    # Without listeners there is the usual one, and it is public.
    exposures = {_exposure(listener) for _, listener in listeners} or {"public"}
    for index, route in _mappings(value, "routes"):
        is_public = _exposure(route) == "public" and "public" in exposures
        if is_public and route.get("upstream") is not None:
            yield from _sensitive_paths(route, ("routes", index))
        if _exposure(route) == "internal" and "internal" not in exposures:
            yield Problem(
                "the route is internal and no listener is: nobody reaches it",
                ("routes", index, "exposure"),
                code="unreachable",
                expected="a listener with `exposure: internal`",
                severity="warning",
            )


def _sensitive_paths(route: dict[str, Any], at: Path) -> Iterator[Problem]:
    match = route.get("match")
    written = match.get("path") if isinstance(match, dict) else None
    several = written if isinstance(written, list) else [written]
    for number, path in enumerate(several):
        if not isinstance(path, str):
            continue
        found = [one for one in SENSITIVE if f"{path.lower()}/".startswith(f"{one}/")]
        if found:
            place = (*at, "match", "path")
            yield Problem(
                f"`{found[0]}` shows the inside of a server, and this route is public",
                (*place, number) if isinstance(written, list) else place,
                code="sensitive_path",
                expected="`exposure: internal` for the route",
                severity="warning",
            )


def _exposure(item: dict[str, Any]) -> Any:  # noqa: ANN401 - not yet valid
    return item.get("exposure", "public")


def _mappings(value: dict[str, Any], section: str) -> list[tuple[int, dict[str, Any]]]:
    found = value.get(section)
    items = enumerate(found) if isinstance(found, list) else ()
    return [(index, item) for index, item in items if isinstance(item, dict)]
