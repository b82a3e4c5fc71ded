"""What is measured: the work of a gateway, and the load it works under."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

# Part of the document of this gateway; what is inside is checked by `sluicegate` itself.
Part: TypeAlias = dict[str, object]

UPSTREAM = "bench"


@dataclass(frozen=True)
class Probe:
    """A request that shows, before anything is measured, that this gateway does the work."""

    path: str
    status: int
    headers: Mapping[str, str | None] = field(default_factory=dict)
    """Expected in the answer; `None` is any value."""


@dataclass(frozen=True)
class Work:
    """What this gateway is configured to do; its peers proxy the same requests."""

    entry: list[Part]
    routes: list[Part]
    paths: list[str]
    probes: list[Probe]


@dataclass(frozen=True)
class Scenario:
    """One line of the comparison."""

    name: str
    about: str
    work: Work
    connections: int = 64
    answer_bytes: int = 1024
    rate: int | None = None
    """Requests per second; `None` is as many as there can be."""
    body_bytes: int | None = None
    """The size of the body of a POST; `None` is a GET."""
    binds: bool = False
    """Whether goals hang on it: then it gets more rounds."""


_ENTRY: tuple[Part, ...] = (
    {"name": "request_id"},
    {"name": "trace_context"},
    {
        "name": "client_address",
        "config": {"source": "x_forwarded_for", "trusted": ["10.0.0.0/8", "192.168.0.0/16"]},
    },
    {"name": "header_hygiene"},
    {"name": "forwarded_headers"},
    {
        "name": "validate",
        "config": {
            "methods": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
            "max_path_length": 2048,
            "max_path_segments": 50,
            "max_query_parameters": 100,
        },
    },
    {
        "name": "address_list",
        "config": {
            "deny": [f"203.{high}.{low}.0/25" for high in range(4) for low in range(250)],
        },
    },
    {"name": "cors", "config": {"origins": ["https://app.example.com"]}},
    {
        "name": "security_headers",
        "config": {
            "nosniff": True,
            "frame_options": "DENY",
            "referrer_policy": "strict-origin-when-cross-origin",
            "hsts": {},
        },
    },
)
"""Every filter of the entry chain as a public listener has them, in the order of their phases: each
lets the load through, and has to look at it for that."""


def _plain() -> Work:
    return Work(
        entry=[],
        routes=[{"id": "everything", "match": {"path": "/**"}, "upstream": UPSTREAM}],
        paths=["/hello"],
        probes=[Probe("/hello", status=200)],
    )


def _chain() -> Work:
    """Three filters at the entry, two on every route."""
    rewritten = {"x-request-id": None, "x-bench": "route"}
    entry: list[Part] = [
        {"name": "request_id"},
        {"name": "trace_context"},
        {"name": "header_hygiene"},
    ]
    return _many_routes(entry, _route_filters(), rewritten)


def _entry() -> Work:
    """All filters of the entry chain, none on the routes."""
    shown = {"x-request-id": None, "x-content-type-options": "nosniff", "x-frame-options": "DENY"}
    return _many_routes(list(_ENTRY), [], shown)


def _many_routes(
    entry: list[Part],
    filters: list[Part],
    shown: Mapping[str, str | None],
    routes: int = 1000,
    requests_per_route: int = 4,
) -> Work:
    """Routes of four shapes, each with the same filters.

    The requests are drawn once, with a fixed seed, so that all gateways get the same.
    """
    dice = random.Random(1)  # noqa: S311 - repeatable on purpose
    shapes = [_shape(number) for number in range(routes)]
    paths = [
        concrete.format(one=dice.randrange(10**6), two=dice.randrange(10**6))
        for _, concrete in shapes
        for _ in range(requests_per_route)
    ]
    return Work(
        entry=entry,
        routes=[
            {
                "id": f"route-{number}",
                "match": {"path": template},
                "upstream": UPSTREAM,
                "filters": filters,
            }
            for number, (template, _) in enumerate(shapes)
        ],
        paths=paths,
        probes=[
            *(Probe(path, status=200, headers=shown) for path in paths[:: len(paths) // 8]),
            Probe("/no/such/route", status=404),
        ],
    )


def _shape(number: int) -> tuple[str, str]:
    """The template of a route, and a path of it with places for two random numbers."""
    return (
        (f"/api/v1/svc{number}/items/{{id}}", f"/api/v1/svc{number}/items/{{one}}"),
        (f"/api/v2/svc{number}/**", f"/api/v2/svc{number}/deep/{{one}}/and/{{two}}"),
        (
            f"/shop/{{tenant}}/svc{number}/orders/{{order}}/lines",
            f"/shop/t{{one}}/svc{number}/orders/{{two}}/lines",
        ),
        (f"/static/svc{number}/list", f"/static/svc{number}/list"),
    )[number % 4]


def _route_filters() -> list[Part]:
    return [
        {
            "name": "header_rewrite",
            "config": {
                "request": {"set": {"X-Gateway": "sluicegate"}, "remove": ["X-Internal"]},
                "response": {"set": {"X-Bench": "route"}},
            },
        },
        {"name": "path_rewrite", "config": {"prefix": "/inner"}},
    ]


_PLAIN = Scenario(
    name="plain",
    about="one route, no filters; 64 connections, 1 KB answers",
    work=_plain(),
    binds=True,
)
_CHAIN = Scenario(
    name="chain",
    about="1,000 routes, five filters; 64 connections, 1 KB answers",
    work=_chain(),
    binds=True,
)

_ENTRY_CHAIN = Scenario(
    name="entry",
    about=f"1,000 routes, {len(_ENTRY)} filters at the entry; 64 connections, 1 KB answers",
    work=_entry(),
    binds=True,
)


def _with_512(scenario: Scenario) -> Scenario:
    """The same work for more connections, reported without a goal."""
    about = f"{scenario.name}, 512 connections"
    name = f"{scenario.name}-512"
    return replace(scenario, name=name, about=about, connections=512, binds=False)


def _at_a_rate(scenario: Scenario) -> Scenario:
    """The same work when there is not more of it than this, reported without a goal."""
    about = f"{scenario.name}, 8,000 requests/s"
    name = f"{scenario.name}-rate"
    return replace(scenario, name=name, about=about, rate=8000, binds=False)


SCENARIOS = (
    _PLAIN,
    _CHAIN,
    _ENTRY_CHAIN,
    _with_512(_PLAIN),
    _with_512(_ENTRY_CHAIN),
    _at_a_rate(_PLAIN),
    _at_a_rate(_ENTRY_CHAIN),
    replace(_PLAIN, name="64k", about="plain, 64 KB answers", answer_bytes=65536, binds=False),
    replace(_PLAIN, name="post10k", about="plain, POST of 10 KB", body_bytes=10240, binds=False),
)
