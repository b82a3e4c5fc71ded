"""The engine's problems stand next to ours, at their lines."""

import json
from collections.abc import Callable

import pytest

from sluicegate.config.candidate import examine
from sluicegate.config.source import Source
from sluicegate.engine import check
from sluicegate.errors import ConfigError, Problem

TEXT = """\
format: 1
upstreams:
  - id: orders
    endpoints: [{address: "127.0.0.1:9001"}]
routes:
  - id: a
    match: {path: /a}
    upstream: orders
    filters:
      - name: path_rewrite
      - name: path_rewrit
        id: second
  - id: b
    match: {path: /b}
    upstream: orders
"""


def unknown_filters(snapshot: str) -> list[Problem]:
    content = json.loads(snapshot)
    return [
        Problem(
            f"there is no filter `{use['name']}`",
            ("routes", number, "filters", index, "name"),
            code="unknown_filter",
            expected="one of: path_rewrite, request_id",
        )
        for number, route in enumerate(content["routes"])
        for index, use in enumerate(route["filters"])
        if use["name"] not in {"path_rewrite", "request_id"}
    ]


@pytest.mark.spec("CF-19")
def test_a_filter_the_engine_refuses_is_named_at_its_line() -> None:
    candidate = examine(Source.parse(TEXT), unknown_filters)

    problem = candidate.errors[0]
    assert (problem.written_path, problem.line) == ("routes[0].filters[1].name", 11)
    assert problem.suggestion == "path_rewrite"
    with pytest.raises(ConfigError):
        _ = candidate.document


@pytest.mark.parametrize(
    "break_it",
    [
        lambda text: text.replace("9001", "99999"),
        lambda text: text.replace("path: /b", "path: b"),
        lambda text: text.replace("id: b", "id: a"),
        lambda text: text.replace(
            "    upstream: orders\n    filters", "    upstream: x\n    filters"
        ),
        lambda text: text.replace("path: /a", "path: a"),
        lambda text: text + "listners: []\n",
        lambda text: text + "listeners: 5\n",
        lambda text: text + "  - 5\n",
        lambda text: text + "metrics: []\n",
    ],
)
def test_mistakes_in_filters_show_next_to_others(break_it: Callable[[str], str]) -> None:
    candidate = examine(Source.parse(break_it(TEXT)), unknown_filters)

    codes = {problem.code for problem in candidate.errors}
    assert "unknown_filter" in codes
    assert len(codes) == 2


def test_the_engine_is_not_heard_twice_on_one_place() -> None:
    text = TEXT.replace("name: path_rewrit\n", "name: path_rewrite\n").replace("/b}", "b}")

    def check(_: str) -> list[Problem]:
        return [Problem("bad path", ("routes", 1, "match", "path")), Problem("bad", ("routes", 1))]

    candidate = examine(Source.parse(text), check)

    assert [problem.code for problem in candidate.errors] == ["bad_template"]


def test_the_engine_sees_defaults_and_the_users_own_fields() -> None:
    seen: list[str] = []

    def check(snapshot: str) -> list[Problem]:
        seen.append(snapshot)
        return []

    text = TEXT.replace("name: path_rewrit\n", "name: request_id\n        config: {a: null}\n")
    examine(Source.parse(text), check)

    content = json.loads(seen[0])
    assert content["version"] == 1
    assert content["upstreams"][0]["timeouts"]["response"] == "3s"
    assert content["listeners"][0]["address"] == "127.0.0.1:8080"
    assert content["routes"][0]["filters"][1]["config"] == {"a": None}


def test_an_unknown_field_of_a_filter_is_shown_at_its_key() -> None:
    text = TEXT.replace("name: path_rewrit\n", "name: request_id\n        config: {hedaer: a}\n")
    path = ("routes", 0, "filters", 1, "config", "hedaer")

    candidate = examine(Source.parse(text), lambda _: [Problem("there is no field `hedaer`", path)])

    problem = candidate.errors[0]
    assert (problem.code, problem.line, problem.column) == ("unknown_field", 12, 18)


def test_what_stands_in_for_a_broken_upstream_is_nobodys_mistake() -> None:
    text = """\
format: 1
upstream_policy: {networks: [10.0.0.0/8]}
upstreams:
  - {id: a, endpoints: [{address: "10.0.0.1:80"}], timeouts: {connect: 5}}
  - {id: b, endpoints: [{address: "192.168.0.1:80"}]}
routes:
  - {id: a, match: {path: /a}, upstream: a, websocket: {}}
  - {id: b, match: {path: /b}, upstream: b}
masking: {patterns: [{name: a, regex: "(["}]}
"""
    candidate = examine(Source.parse(text), check)

    assert [(one.line, one.written_path) for one in candidate.errors] == [
        (4, "upstreams[0].timeouts.connect"),
        (5, "upstreams[1].endpoints[0].address"),
        (9, "masking.patterns[0].regex"),
    ]
