"""New fields of routes, listeners, upstreams: what is refused, what is warned of, where."""

import pytest

from sluicegate import engine
from sluicegate.config.candidate import examine
from sluicegate.config.document import Document
from sluicegate.config.source import Source
from sluicegate.errors import Problem

HEAD = """\
format: 1
upstreams:
  - id: orders
    endpoints: [{address: "127.0.0.1:9001"}]
"""


def found(text: str) -> list[Problem]:
    """Every problem of a document, the engine's among them."""
    return list(examine(Source.parse(HEAD + text), engine.check).problems)


def places(text: str) -> list[tuple[int | None, str, str]]:
    """Line, place and code of each problem."""
    return [(one.line, one.written_path, one.code) for one in found(text)]


@pytest.mark.parametrize(
    ("path", "is_warned"),
    [
        ("/actuator/**", True),
        ("/actuator", True),
        ("/Actuator/{name}", True),
        ("[/orders, /actuator/health]", True),
        ("/debug/pprof/**", True),
        ("/actuators/**", False),
        ("/orders/actuator", False),
    ],
)
@pytest.mark.spec("SE-24", "RT-35")
def test_a_public_route_to_the_inside_of_a_server_is_warned_of(path: str, is_warned: bool) -> None:  # noqa: FBT001 - a column of the table
    text = f"routes:\n  - {{id: a, match: {{path: '{path}'}}, upstream: orders}}\n"

    warnings = found(text.replace("'[", "[").replace("]'", "]"))

    assert [one.code for one in warnings] == ["sensitive_path"] * is_warned
    assert all(one.severity == "warning" for one in warnings)


def test_an_internal_route_is_not_warned_of_but_needs_a_listener() -> None:
    route = "routes:\n  - {id: a, exposure: internal, match: {path: /actuator}, upstream: orders}\n"
    inner = 'listeners: [{id: in, address: "127.0.0.1:0", exposure: internal}]\n'

    assert places(route) == [(6, "routes[0].exposure", "unreachable")]
    assert places(inner + route) == []


@pytest.mark.spec("CF-21")
def test_an_exposed_upstream_is_named_with_both_places() -> None:
    (problem,) = found(
        "    exposure: internal\nroutes:\n  - id: a\n    match: {path: /a}\n    upstream: orders\n"
    )

    assert (problem.line, problem.written_path) == (9, "routes[0].upstream")
    assert "`a` is public" in problem.message
    assert "(upstreams[0].exposure)" in problem.message


DEFAULTS = """\
route_defaults:
  filters:
    - {name: header_rewrite, id: edge, config: {response: {set: {X-Edge: a}}}}
routes:
"""


def test_a_mistake_in_a_default_is_said_once_at_its_line() -> None:
    text = DEFAULTS.replace("response:", "respons:") + "".join(
        f"  - {{id: r{number}, match: {{path: /{number}}}, upstream: orders}}\n"
        for number in range(20)
    )

    assert places(text) == [(7, "route_defaults.filters[0].config.respons", "unknown_field")]


def test_a_default_that_needs_a_parameter_names_the_route() -> None:
    text = DEFAULTS.replace(
        "{name: header_rewrite, id: edge, config: {response: {set: {X-Edge: a}}}}",
        "{name: path_rewrite, config: {template: '/v2/{id}'}}",
    )
    text += "  - {id: good, match: {path: '/a/{id}'}, upstream: orders}\n"
    text += "  - {id: bad, match: {path: '/b/{key}'}, upstream: orders}\n"

    (problem,) = found(text)

    assert (problem.line, problem.code) == (7, "unknown_parameter")
    assert "`bad`" in problem.message


@pytest.mark.parametrize(
    ("route", "place", "code"),
    [
        ("filters: [{name: edge, off: true}]", "filters[0].off", "nothing_to_switch_off"),
        (
            "filters: [{name: path_rewrite, id: edge, off: true}]",
            "filters[0].off",
            "nothing_to_switch_off",
        ),
        (
            "defaults: false, filters: [{name: header_rewrite, id: edge, off: true}]",
            "filters[0].off",
            "nothing_to_switch_off",
        ),
        (
            "filters: [{name: header_rewrite, id: edge, off: true, config: {request: {}}}]",
            "filters[0].config",
            "contradiction",
        ),
        ("version: 0", "version", "out_of_range"),
        ("version: '37'", "version", "wrong_type"),
        ("status: publisht", "status", "unknown_value"),
        ("exposure: private", "exposure", "unknown_value"),
    ],
)
def test_a_mistake_of_a_route_is_named_at_its_place(route: str, place: str, code: str) -> None:
    text = DEFAULTS + f"  - {{id: a, match: {{path: /a}}, upstream: orders, {route}}}\n"

    assert places(text) == [(9, f"routes[0].{place}", code)]


@pytest.mark.parametrize(
    ("match", "place", "code"),
    [
        ("path: []", "path", "too_short"),
        ("path: [/a, b]", "path[1]", "bad_template"),
        ("path: [/a, /a]", "path[1]", "bad_match"),
        ("path: 7", "path", "wrong_type"),
        ("path: [/a, 7]", "path[1]", "wrong_type"),
        ("path: /a, headers: [{name: X, value: []}]", "headers[0].value", "too_short"),
        ("path: /a, headers: [{name: X, value: [a, ' b']}]", "headers[0].value[1]", "bad_match"),
        (
            "path: /a, headers: [{name: X, value: [a], present: true}]",
            "headers[0]",
            "not_exactly_one",
        ),
        ("path: /a, listeners: [htp]", "listeners[0]", "unknown_listener"),
    ],
)
@pytest.mark.spec("CF-18", "RT-19")
def test_a_mistake_of_a_condition_is_named_at_its_place(match: str, place: str, code: str) -> None:
    text = f"routes:\n  - {{id: a, upstream: orders, match: {{{match}}}}}\n"

    assert places(text) == [(6, f"routes[0].match.{place}", code)]


@pytest.mark.parametrize(
    ("policy", "place", "code", "suggestion"),
    [
        ("networks: [10.0.0.1/8]", "networks[0]", "bad_network", "10.0.0.0/8"),
        ("networks: [localhost]", "networks[0]", "bad_network", None),
        ("networks: [10.0.0.0/255.0.0.0]", "networks[0]", "bad_network", None),
        ("networks: ['::ffff:10.0.0.0/104']", "networks[0]", "bad_network", None),
        ("hosts: ['a.*']", "hosts[0]", "bad_host", None),
        ("ports: [0]", "ports[0]", "bad_port", None),
        ("ports: [9000-8000]", "ports[0]", "bad_port", None),
        ("ports: [true]", "ports[0]", "bad_port", None),
        ("network: []", "network", "unknown_field", "networks"),
    ],
)
@pytest.mark.spec("SE-23")
def test_a_mistake_of_the_policy_is_named_at_its_place(
    policy: str, place: str, code: str, suggestion: str | None
) -> None:
    route = "{id: a, match: {path: /a}, upstream: orders}"
    text = f"upstream_policy: {{{policy}}}\nroutes: [{route}]\n"

    problems = found(text)

    named = [(one.line, one.written_path, one.code, one.suggestion) for one in problems]
    assert named == [(5, f"upstream_policy.{place}", code, suggestion)]


def test_what_is_sound_beside_a_mistake_is_checked_as_it_is() -> None:
    text = """\
listeners: [{id: in, address: "127.0.0.1:0", exposure: internal}]
upstream_policy: {networks: [10.0.0.0/8]}
route_defaults:
  filters: [{name: header_rewrite, id: edge, config: {response: {set: {X-Edge: a}}}}]
routes:
  - id: a
    match: {path: /a, listeners: [in]}
    upstream: orders
    filters: [{name: header_rewrite, id: edge, off: true}]
  - {id: b, match: {path: b}, upstream: orders}
"""
    assert places(text) == [
        (4, "upstreams[0].endpoints[0].address", "address_not_allowed"),
        (14, "routes[1].match.path", "bad_template"),
    ]


def test_paths_are_a_tuple_however_they_were_written() -> None:
    def paths(path: object) -> tuple[str, ...]:
        route = {"id": "a", "match": {"path": path}, "respond": {}}
        return Document.model_validate({"format": 1, "routes": [route]}).routes[0].match.paths

    assert paths("/a") == ("/a",)
    assert paths(["/a", "/b"]) == ("/a", "/b")
