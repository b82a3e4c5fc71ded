"""YAML and JSON texts as plain values with places."""

import json
from typing import Any

import pytest

from sluicegate.config import tree as tree_module
from sluicegate.config.source import Source
from sluicegate.config.tree import Mark, grow
from sluicegate.errors import Problem


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: no\nb: off\nc: yes\nd: on\n", {"a": "no", "b": "off", "c": "yes", "d": "on"}),
        ("a: true\nb: False\n", {"a": True, "b": False}),
        ("a: ~\nb:\nc: null\n", {"a": None, "b": None, "c": None}),
        ("a: 010\nb: 0o10\nc: 0x10\nd: 12:30\n", {"a": 10, "b": 8, "c": 16, "d": "12:30"}),
        ("a: 1.5\nb: 1e3\nc: .inf\nd: 1_000\n", {"a": 1.5, "b": 1000.0, "c": ".inf", "d": "1_000"}),
        ("a: 2020-01-01\n", {"a": "2020-01-01"}),
        ("a: '1'\nb: \"no\"\nc: !!str 5\n", {"a": "1", "b": "no", "c": "5"}),
        ("1: a\ntrue: b\n", {"1": "a", "true": "b"}),
        ("\ufeffa: 1\n", {"a": 1}),
        (
            "x: &x {p: 1}\ny: *x\nz: {<<: *x, q: 2}\n",
            {"x": {"p": 1}, "y": {"p": 1}, "z": {"p": 1, "q": 2}},
        ),
        ("x: &x {p: 1}\nz: {p: 9, <<: *x}\n", {"x": {"p": 1}, "z": {"p": 9}}),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}),
        ("", None),
        ("# nothing\n", None),
    ],
)
def test_yaml_1_2_has_no_surprising_booleans(text: str, value: object) -> None:
    tree = grow(text)

    assert tree.problems == []
    assert tree.value == value


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("a: 1\nb: 2\na: 3\n", "duplicate_key", 3, 1),
        ("a: [1, 2\n", "syntax", 2, 1),
        ("a: 'x\n", "syntax", 2, 1),
        ("a:\n\t- b\n", "syntax", 2, 1),
        ("a: {b: 1\nc: 2", "syntax", 2, 2),
        ("a: b: c\n", "syntax", 1, 5),
        ("a: @x\n", "syntax", 1, 4),
        ("a: 1\n---\nb: 2\n", "syntax", 2, 1),
        ("a: \x00\n", "syntax", 1, 4),
        ("a: 1\nb: \x07\n", "syntax", 2, 4),
        ("a: &x [*x]\n", "recursion", 1, 8),
        ("a: *nowhere\n", "unknown_anchor", 1, 4),
        ("a: !!python/object:os.system x\n", "bad_tag", 1, 4),
        ("a: !mine {b: 1}\n", "bad_tag", 1, 4),
        ("a: !!int x\n", "bad_tag", 1, 4),
        ("? [a]\n: b\n", "bad_key", 1, 3),
        ("a: {<<: 5}\n", "bad_merge", 1, 9),
        ("a: " + "[" * 100 + "]" * 100, "too_deep", 1, 67),
    ],
)
def test_a_text_that_cannot_be_read_says_where(
    text: str, code: str, line: int, column: int
) -> None:
    problem = grow(text).problems[0]

    assert (problem.code, problem.line, problem.column) == (code, line, column)


def test_aliases_cannot_blow_a_small_text_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_module, "MOST_VALUES", 10_000)
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]

    problem = grow("\n".join(lines)).problems[0]

    assert problem.code == "too_many"
    assert problem.line == 4


def test_many_values_are_refused_while_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_module, "MOST_VALUES", 100)

    assert grow("[" + "1," * 200 + "]").problems[0].code == "too_many"


def test_places_are_those_of_keys_and_values() -> None:
    tree = grow("routes:\n  - id: a\n    match: {path: /x}\n")

    assert tree.places["routes", 0, "id"].key == Mark(2, 5)
    assert tree.places["routes", 0, "match", "path"].value == Mark(3, 19)


@pytest.mark.parametrize(
    "value", [{"a": [1, {"b": None}], "c": "ü\n\t/ \U0001f600"}, [], {"x": {"y": 1.5}}, {"e": ""}]
)
@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_json_means_what_json_says(value: Any, indent: int | str | None) -> None:  # noqa: ANN401 - JSON
    text = json.dumps(value, indent=indent)

    source = Source.parse(text, file="x.json")

    assert source.problems == ()
    assert source.value == value


def test_a_key_that_stands_twice_in_json_is_refused() -> None:
    source = Source.parse('{\n  "a": 1,\n  "a": 2\n}', file="x.json")

    assert [(one.code, one.line) for one in source.problems] == [("duplicate_key", 3)]


@pytest.mark.parametrize("text", ['{"a": ', '{"a": NaN}', "[" * 100_000, '{"a" 1}', '{"a":1}}'])
def test_broken_json_is_a_problem_and_no_traceback(text: str) -> None:
    source = Source.parse(text, file="x.json")

    assert source.problems
    assert source.problems[0].line is not None


def test_a_problem_shows_its_source_line() -> None:
    source = Source.parse("a: 1\r\nb: 2\r\n", file="x.yaml")

    located = source.locate(Problem("wrong", ("b",)))

    assert (located.line, located.column, located.excerpt) == (2, 4, "b: 2")


def test_what_came_by_an_alias_is_shown_at_the_alias() -> None:
    source = Source.parse("x: &x {p: {q: 1}}\ny:\n  z: *x\n")

    located = source.locate(Problem("wrong", ("y", "z", "p", "q")))

    assert located.line == 3
