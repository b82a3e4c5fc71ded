"""Names that other documents have for what is ours, or for what is not there yet.

A field of a route that this release cannot obey is refused, never ignored: a gateway that skips
`loginRequired` opens a door. The message says what the field is called here, or which capability
it waits for and what would be right today.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic_core import ErrorDetails

from sluicegate.errors import Path, Problem


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """It is there, under another name; `how` is what to write."""

    name: str
    how: str


@dataclass(frozen=True, slots=True)
class Waits:
    """It is not there yet; `today` is what would be right until then."""

    capability: str
    today: str


Answer = Elsewhere | Waits

_DUBBO = Waits("Dubbo upstreams", "an upstream whose endpoints speak HTTP")
_IDENTITY = Waits(
    "identity (login tokens)", "`exposure: internal`, or an upstream that asks for the login itself"
)
_PERMISSIONS = Waits(
    "permissions", "`exposure: internal`, or an upstream that checks the permission itself"
)
_LIMITS = Waits("rate limits", "`limits.connections` of the listener")
_GRAY = Waits("gray releases", "a second route with `match.headers` and a higher `priority`")
_BLUE_GREEN = Waits("blue/green releases", "another `upstream` for the route, and a reload")
_OPEN = Waits("open API signing", "an upstream that checks the signature itself")
_PATH = Elsewhere("match.path", "match: {path: /api/v1/orders}")
_METHODS = Elsewhere("match.methods", "match: {methods: [POST]}")
_HOST = Elsewhere("match.host", "match: {host: api.example.com}")
_HEADERS = Elsewhere("match.headers", "match: {headers: [{name: X-Env, value: gray}]}")
_QUERY = Elsewhere("match.query", "match: {query: [{name: v, value: '2'}]}")
_COOKIES = Elsewhere("match.cookies", "match: {cookies: [{name: c, present: true}]}")

PREDICATES: Mapping[str, Answer] = {
    "host": _HOST,
    "path": _PATH,
    "method": _METHODS,
    "methods": _METHODS,
    "header": _HEADERS,
    "headers": _HEADERS,
    "query": _QUERY,
    "cookie": _COOKIES,
    "cookies": _COOKIES,
}
"""Below `predicates` of a route (RT-04 … RT-06, RT-19); names as `_plain` writes them."""

UPSTREAM: Mapping[str, Answer] = {
    "interface": _DUBBO,
    "method": _DUBBO,
    "version": _DUBBO,
    "group": _DUBBO,
    "paramtypes": _DUBBO,
    "parambinding": _DUBBO,
}
"""In an upstream (RT-08, RT-09)."""

ROUTE: Mapping[str, Answer] = {
    "loginrequired": _IDENTITY,
    "permission": _PERMISSIONS,
    "ratelimit": _LIMITS,
    "timeoutms": Elsewhere("timeouts.response", "timeouts: {response: 800ms}"),
    "retry": Waits("retries", "no such field: what an upstream has answered is not tried again"),
    "grayenabled": _GRAY,
    "gray": _GRAY,
    "grayrules": _GRAY,
    "bodysize": Elsewhere("limits.body", "limits: {body: 20MiB}"),
    "maxbodysize": Elsewhere("limits.body", "limits: {body: 20MiB}"),
    "streamingupload": Elsewhere(
        "limits.body", "limits: {body: 1GiB}; uploads are streamed without a switch"
    ),
    "connecttimeout": Elsewhere("timeouts.connect", "timeouts: {connect: 300ms}"),
    "responsetimeout": Elsewhere("timeouts.response", "timeouts: {response: 800ms}"),
    "criticality": Waits("overload protection", "`priority` only orders matching; leave it out"),
    "degrade": Waits("degradation", "a route with `respond`, published in its place"),
    "degradation": Waits("degradation", "a route with `respond`, published in its place"),
    "breaker": Waits("circuit breakers", "`connections.acquire` and `timeouts` of the upstream"),
    "circuitbreaker": Waits(
        "circuit breakers", "`connections.acquire` and `timeouts` of the upstream"
    ),
    "bodycache": Waits("open API signing", "no such field: only a filter that asks for a body"),
    "openplatform": _OPEN,
    "bluegreen": _BLUE_GREEN,
    "color": _BLUE_GREEN,
    "colour": _BLUE_GREEN,
    "responselogging": Waits("logging of response bodies", "no such field: bodies are not logged"),
    "uri": Elsewhere("upstream", "upstream: orders, and in `upstreams` its endpoints"),
    "order": Elsewhere("priority", "priority: 100; here the higher wins, not the lower"),
    "enabled": Elsewhere("status", "status: published or status: disabled"),
}
"""In a route or below its `meta` (RT-10 … RT-15, RT-18); names as `_plain` writes them."""

FILTERS: Mapping[str, Answer] = {
    "stripprefix": Elsewhere("path_rewrite", "{name: path_rewrite, config: {strip_segments: 1}}"),
    "prefixpath": Elsewhere("path_rewrite", "{name: path_rewrite, config: {prefix: /v2}}"),
    "setpath": Elsewhere("path_rewrite", "{name: path_rewrite, config: {template: '/b/{id}'}}"),
    "rewritepath": Elsewhere(
        "path_rewrite", "{name: path_rewrite, config: {replace: {pattern: ^/a/, with: /b/}}}"
    ),
    "requestratelimiter": _LIMITS,
    "ratelimit": _LIMITS,
    "retry": ROUTE["retry"],
    "circuitbreaker": ROUTE["breaker"],
    "jwt": _IDENTITY,
}
"""As a filter of a chain (RT-19)."""


def foreign_fields(details: ErrorDetails) -> list[Problem]:
    """Say of a field that is not ours what it is here; nothing when it is just unknown."""
    return list(_answers(details))


def _answers(details: ErrorDetails) -> Iterator[Problem]:
    path: Path = tuple(step for step in details["loc"] if not str(step).startswith("["))
    given = details["input"]
    match path, details["type"]:
        case ("spring",), "extra_forbidden":
            how = "routes: [{id: …, match: {path: …}, upstream: …}]"
            yield _problem(path, "spring.cloud.gateway.routes", Elsewhere("routes", how))
        case ("upstreams", int(), str(name)), "extra_forbidden":
            yield from _upstream(path[:2], "", {name: given})
        case ("routes", int(), "upstream"), "string_type" if isinstance(given, dict):
            yield from _upstream(path, "upstream.", given)
        case ("routes", int(), str(name)), "extra_forbidden":
            yield from _route(path, name, given)
        case ("routes", int(), "filters", int(), "args"), "extra_forbidden":
            yield _problem(path, "args", Elsewhere("config", "config: {…}"))
        case ("routes", int(), "filters", int()), "model_type" if isinstance(given, str):
            answer = FILTERS.get(_plain(given.partition("=")[0]))
            if answer is not None:
                yield replace(_problem(path, given, answer), code="wrong_type")
        case _:
            return


def filter_named(problem: Problem) -> Problem:
    """Say of a filter that nobody knows what it is called here, if it is something."""
    quoted = problem.message.split("`")
    name = quoted[1] if len(quoted) > 1 else ""
    answer = FILTERS.get(_plain(name))
    if answer is None:
        return problem
    return replace(_problem(problem.path, name, answer), code=problem.code)


def without_echoes(problems: list[Problem]) -> list[Problem]:
    """Leave out that `match` is missing where it was written under another name."""
    renamed = {one.path[:2] for one in problems if one.path[2:3] == ("predicates",)}
    return [
        one
        for one in problems
        if not (one.code == "missing_field" and one.path[2:] == ("match",))
        or one.path[:2] not in renamed
    ]


def _route(path: Path, name: str, given: Any) -> Iterator[Problem]:  # noqa: ANN401 - not yet valid
    if name in {"meta", "metadata"} and isinstance(given, dict):
        for key in given:
            yield _known(ROUTE, (*path, key), f"{name}.{key}")
    elif name == "predicates" and isinstance(given, dict):
        for key in given:
            yield _known(PREDICATES, (*path, key), f"{name}.{key}")
    elif name == "predicates" and isinstance(given, list):
        for index, one in enumerate(given):
            yield _known(PREDICATES, (*path, index), str(one).partition("=")[0])
    elif _plain(name) in ROUTE:
        yield _problem(path, name, ROUTE[_plain(name)])


def _upstream(path: Path, before: str, given: dict[Any, Any]) -> Iterator[Problem]:
    for key, value in given.items():
        plain = _plain(key)
        if plain == "type" and _plain(value) == "http":
            answer: Answer = Elsewhere("upstreams", "no such field: every endpoint speaks HTTP")
        elif plain == "type":
            capability = "Dubbo upstreams" if _plain(value) == "dubbo" else f"`{value}` upstreams"
            answer = replace(_DUBBO, capability=capability)
        elif plain in UPSTREAM:
            answer = UPSTREAM[plain]
        elif before:
            answer = Elsewhere("upstreams", "upstream: orders, and in `upstreams` what it is")
        else:
            continue
        yield _problem((*path, key), f"{before}{key}", answer)


def _known(table: Mapping[str, Answer], path: Path, name: str) -> Problem:
    answer = table.get(_plain(name.rpartition(".")[2]))
    if answer is not None:
        return _problem(path, name, answer)
    return Problem(f"there is no field `{name}` here", path, code="unknown_field")


def _problem(path: Path, name: str, answer: Answer) -> Problem:
    match answer:
        case Elsewhere(ours, how):
            message, suggestion = f"`{name}` is called `{ours}` here", how
            return Problem(message, path, code="unknown_field", suggestion=suggestion)
        case Waits(capability, today):
            message = f"`{name}` waits for {capability}: this release would ignore it"
            return Problem(message, path, code="unknown_field", expected=f"today: {today}")


def _plain(name: object) -> str:
    """`rateLimit`, `rate_limit` and `RateLimit` are one name."""
    return str(name).lower().replace("_", "").replace("-", "")
