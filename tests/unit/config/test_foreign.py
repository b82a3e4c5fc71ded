"""Fields of other gateways are refused in their own words, at their own lines."""

import re
from pathlib import Path

import pytest

from sluicegate import engine
from sluicegate.config.candidate import Candidate, examine
from sluicegate.config.source import Source

PAGE = Path(__file__).parents[3] / "docs" / "concepts" / "route-object.md"
ROW = re.compile(r"^\| ((?:RT)-\d+) \| `([^`]+)` \| ([^|]+?) \| ?([^|]*?) ?\|$", re.MULTILINE)
ROWS: list[tuple[str, str, str, str]] = ROW.findall(PAGE.read_text())


def examined(name: str, value: str = "x") -> Candidate:
    """A route in which a field stands under the name of another gateway."""
    top, _, below = name.partition(".")
    field = f"{top}: {{{below}: {value}}}" if below else f"{top}: {value}"
    own = "" if top == "upstream" else "    respond: {}\n"
    text = f"format: 1\nroutes:\n  - id: a\n    match: {{path: /a}}\n    {field}\n{own}"
    return examine(Source.parse(text))


@pytest.mark.parametrize(("item", "name", "ours", "today"), ROWS, ids=lambda cell: cell[:40])
def test_what_the_table_of_names_says_is_what_a_document_is_told(
    item: str, name: str, ours: str, today: str
) -> None:
    value = "dubbo" if name.endswith(".type") else "x"

    candidate = examined(name, value)

    assert candidate.parsed is None, f"{item}: accepted"
    (problem,) = candidate.errors
    assert (problem.line, problem.written_path) == (5, f"routes[0].{name}")
    if ours.startswith("waits for "):
        assert f"`{name}` {ours}" in problem.message
        assert problem.expected == f"today: {today}"
    else:
        assert problem.message == f"`{name}` is called {ours} here"
        assert problem.suggestion


def test_the_table_has_a_row_for_every_field_of_the_source() -> None:
    items = {item for item, *_ in ROWS}

    assert {f"RT-{number:02}" for number in (*range(4, 16), 18, 19)} <= items


@pytest.mark.parametrize(
    "name",
    [
        "loginRequired",
        "login_required",
        "rateLimit",
        "rate_limit",
        "permission",
        "retry",
        "breaker",
    ],
)
def test_the_same_fields_of_the_route_itself_wait_too(name: str) -> None:
    (problem,) = examined(name).errors

    assert f"`{name}` waits for " in problem.message


SOURCE_FORM = """\
format: 1
upstreams:
  - id: orders
    endpoints: [{address: "127.0.0.1:9001"}]
routes:
  - id: order-create
    priority: 100
    predicates:
      host: api.example.com
      path: /api/v1/orders
      methods: [POST]
    upstream: {type: dubbo, interface: com.example.order.OrderService, method: createOrder}
    meta:
      loginRequired: true
      timeoutMs: 800
      unheard_of: 1
    status: published
    version: 37
"""


def test_a_whole_route_in_the_form_of_the_source_is_answered_line_by_line() -> None:
    candidate = examine(Source.parse(SOURCE_FORM))

    found = {(one.line, one.written_path.removeprefix("routes[0].")) for one in candidate.errors}
    assert found == {
        (9, "predicates.host"),
        (10, "predicates.path"),
        (11, "predicates.methods"),
        (12, "upstream.type"),
        (12, "upstream.interface"),
        (12, "upstream.method"),
        (14, "meta.loginRequired"),
        (15, "meta.timeoutMs"),
        (16, "meta.unheard_of"),
    }


SPRING = """\
format: 1
routes:
  - id: course-route
    uri: lb://course-service
    predicates:
      - Path=/edu/course/**
      - Header=X-Env, gray
    filters:
      - StripPrefix=1
      - {name: path_rewrite, args: {strip_segments: 1}}
"""


@pytest.mark.spec("CF-19", "CF-20", "RT-19")
def test_a_route_of_spring_cloud_gateway_is_answered_line_by_line() -> None:
    candidate = examine(Source.parse(SPRING))

    found = {one.line: one.suggestion or "" for one in candidate.errors}
    assert set(found) == {4, 6, 7, 9, 10}
    assert found[4].startswith("upstream: ")
    assert found[6] == "match: {path: /api/v1/orders}"
    assert found[7].startswith("match: {headers:")
    assert found[9] == "{name: path_rewrite, config: {strip_segments: 1}}"
    assert found[10] == "config: {…}"


@pytest.mark.spec("CF-19")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("StripPrefix", "is called `path_rewrite` here"),
        ("RewritePath", "is called `path_rewrite` here"),
        ("RequestRateLimiter", "waits for rate limits"),
    ],
)
def test_filters_of_spring_cloud_gateway_by_name(name: str, said: str) -> None:
    text = f"""\
format: 1
routes:
  - id: a
    match: {{path: /a}}
    respond: {{}}
    filters: [{{name: {name}}}]
"""
    candidate = examine(Source.parse(text), engine.check)

    (problem,) = candidate.errors
    assert (problem.line, problem.code) == (6, "unknown_filter")
    assert f"`{name}` {said}" in problem.message


@pytest.mark.parametrize("scheme", ["lb", "http", "https", "ftp", "file", "dubbo"])
@pytest.mark.spec("CF-20")
def test_an_endpoint_is_an_address_and_no_url(scheme: str) -> None:
    text = f"""\
format: 1
upstreams: [{{id: a, endpoints: [{{address: "{scheme}://course-service:80"}}]}}]
"""
    (problem,) = examine(Source.parse(text)).errors

    assert problem.code == "bad_host"
    assert problem.suggestion == "course-service:80"
