"""A sound document in the shape of a broken one: what the engine looks at in its place.

Every part that is sound stays where it was, so that pointers keep their meaning; in place of the
others stands something harmless.
"""

from typing import Any

from pydantic import ValidationError

from sluicegate.config.defaults import RouteDefaults
from sluicegate.config.document import ENTRY_DEFAULTS, Document
from sluicegate.config.filter import FilterUse, RouteFilterUse
from sluicegate.config.listener import Listener
from sluicegate.config.model import Model
from sluicegate.config.policy import UpstreamPolicy
from sluicegate.config.route import Route
from sluicegate.config.snapshot import content_of
from sluicegate.config.upstream import Upstream


def skeleton(value: Any) -> dict[str, Any]:  # noqa: ANN401 - a document not yet valid
    """Make a sound document of the same shape."""
    if not isinstance(value, dict):
        value = {}
    bare = content_of(Document(format=1))
    listeners = _sound_list(Listener, value.get("listeners")) or bare["listeners"]
    upstreams = [
        _sound(Upstream, one) or _stand_in_upstream(i) for i, one in _enumerated(value, "upstreams")
    ]
    seen: set[str] = set()
    for index, upstream in enumerate(upstreams):
        if upstream["id"] in seen:
            upstreams[index] = _stand_in_upstream(index)
        seen.add(upstream["id"])
    # Where routes to a broken upstream go: what else they say needs some upstream.
    upstreams.append(_stand_in_upstream(len(upstreams)))
    defaults = _sound_defaults(value.get("route_defaults"))
    around = (seen, {listener["id"] for listener in listeners}, defaults)
    routes = [
        _sound_route(i, one, around, refuge=upstreams[-1]["id"])
        for i, one in _enumerated(value, "routes")
    ]
    ids: set[str] = set()
    for index, route in enumerate(routes):
        if route["id"] in ids:
            route["id"] = f"stand-in-{index}"
        ids.add(route["id"])
    entry = _sound_chain(FilterUse, value["entry"]) if "entry" in value else _usual_entry()
    return {
        **bare,
        **_sound_sections(value),
        "listeners": listeners,
        "upstreams": upstreams,
        "upstream_policy": _sound(UpstreamPolicy, value.get("upstream_policy")) or {},
        "route_defaults": defaults or {},
        "routes": routes,
        "entry": entry,
    }


def _sound_sections(value: dict[str, Any]) -> dict[str, Any]:
    """Keep the sections that stand alone, such as `masking`, as far as they are sound."""
    sections = {}
    for name in Document.model_fields:
        try:
            sound = Document.model_validate({"format": 1, name: value[name]})
        except (KeyError, ValidationError):
            continue
        sections[name] = content_of(sound)[name]
    return sections


def _enumerated(value: dict[str, Any], key: str) -> list[tuple[int, Any]]:
    found = value.get(key)
    return list(enumerate(found)) if isinstance(found, list) else []


def _sound(model: type[Model], value: Any) -> dict[str, Any] | None:  # noqa: ANN401 - not yet valid
    try:
        return model.model_validate(value).model_dump(mode="json", exclude_none=True)
    except ValidationError:
        return None


def _sound_list(model: type[Model], value: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - not yet valid
    """Keep a list whose items are sound and have ids of their own; else none of it."""
    found = [_sound(model, one) for one in value] if isinstance(value, list) else []
    sound = [one for one in found if one is not None]
    is_whole = len(sound) == len(found) == len({one["id"] for one in sound})
    return sound if is_whole else []


def _sound_defaults(value: Any) -> dict[str, Any] | None:  # noqa: ANN401 - not yet valid
    """Keep the defaults of routes; None when something is wrong with them."""
    if value is None:
        return {"filters": []}
    sound = _sound(RouteDefaults, value)
    if sound is None:
        return None
    chain = _sound_chain(FilterUse, value.get("filters", []))
    return sound | {"filters": chain} if len(chain) == len(sound["filters"]) else None


def _stand_in_upstream(index: int) -> dict[str, Any]:
    value = {"id": f"stand-in-{index}", "endpoints": [{"address": "127.0.0.1:9"}]}
    return Upstream.model_validate(value).model_dump(mode="json", exclude_none=True)


def _sound_route(
    index: int,
    value: Any,  # noqa: ANN401 - not yet valid
    around: tuple[set[str], set[str], dict[str, Any] | None],
    *,
    refuge: str,
) -> dict[str, Any]:
    upstreams, listeners, defaults = around
    bare = {
        "id": f"stand-in-{index}",
        "match": {"path": f"/stand-in/{index}"},
        "respond": {"status": 204},
    }
    stand_in = Route.model_validate(bare).model_dump(mode="json", exclude_none=True)
    route = _sound(Route, value) or stand_in
    if "upstream" in route and route["upstream"] not in upstreams:
        route["upstream"] = refuge
    if not listeners.issuperset(route["match"]["listeners"]):
        route["match"]["listeners"] = []
    route["filters"] = (
        _sound_chain(RouteFilterUse, value.get("filters")) if isinstance(value, dict) else []
    )
    if defaults is None and any(use.get("off") for use in route["filters"]):
        # Whether there is something to switch off is not known.
        route["filters"] = []
    return route


def _sound_chain(model: type[FilterUse], value: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - not yet valid
    """Keep a chain if it is sound as a whole; a part of it would move the others' places."""
    if not isinstance(value, list):
        return []
    try:
        uses = [model.model_validate(use) for use in value]
    except ValidationError:
        return []
    if len({use.identity for use in uses}) != len(uses):
        return []
    return [use.model_dump(mode="json", exclude_none=True) | {"config": use.config} for use in uses]


def _usual_entry() -> list[dict[str, Any]]:
    return [{"name": name, "config": {}} for name in ENTRY_DEFAULTS]
