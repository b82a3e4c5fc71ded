"""What the prover says of GitHub's API, beside a plain look at every pair of paths."""

import json
from itertools import combinations
from typing import Any

import pytest

from e2e.served import run
from integration.answers import client
from integration.conftest import GitHub
from integration.github import Operation

Template = tuple[list[str | None], bool]
"""Segments, None for a parameter; and whether anything may follow."""


def template(operation: Operation) -> Template:
    parts = [None if part.name else part.text for part in operation.segments]
    takes_the_rest = bool(operation.segments[-1].name and operation.segments[-1].holds_slashes)
    return (parts[:-1] if takes_the_rest else parts), takes_the_rest


def meet(one: Template, other: Template) -> bool:
    """Some path is in both."""
    (short, rest), (long, _) = sorted((one, other), key=lambda each: len(each[0]))
    agree = all(a is None or b is None or a == b for a, b in zip(short, long, strict=False))
    return agree and (len(short) == len(long) or rest)


def is_within(inner: Template, outer: Template) -> bool:
    """Every path of one is a path of the other."""
    (parts, rest), (wider, wider_rest) = inner, outer
    fits = len(parts) == len(wider) or (wider_rest and len(parts) > len(wider))
    agree = all(b is None or a == b for a, b in zip(parts, wider, strict=False))
    return fits and agree and (wider_rest or not rest)


@pytest.fixture(scope="module")
def proof(github: GitHub) -> dict[str, Any]:
    """The report of `check --all --json`."""
    checked = run("check", github.document, "--all", "--json")
    assert checked.returncode == 0, checked.stdout
    found: dict[str, Any] = json.loads(checked.stdout)["files"][0]["proof"]
    return found


@pytest.mark.spec("RT-37")
def test_the_prover_finds_every_pair_that_meets(github: GitHub, proof: dict[str, Any]) -> None:
    expected: dict[str, set[frozenset[str]]] = {
        "partial_overlap": set(),
        "precise_inside_broad": set(),
    }
    for one, other in combinations(github.operations, 2):
        first, second = template(one), template(other)
        if one.method != other.method or not meet(first, second):
            continue
        nested = is_within(first, second) or is_within(second, first)
        kind = "precise_inside_broad" if nested else "partial_overlap"
        expected[kind].add(frozenset((one.id, other.id)))

    found: dict[str, set[frozenset[str]]] = {kind: set() for kind in expected}
    for finding in proof["findings"]:
        names = (finding["route"], *(other["route"] for other in finding["others"]))
        found[finding["kind"]].add(frozenset(names))

    assert len(expected["precise_inside_broad"]) > 50
    assert len(expected["partial_overlap"]) > 20
    assert found == expected
    assert (proof["undecided"], proof["cut_short"], proof["left_out"]) == ([], 0, {})


def test_every_witness_takes_the_route_that_the_prover_names(
    github: GitHub, proof: dict[str, Any]
) -> None:
    before = len(github.gateway.records(0))
    named = {}

    with client(github.gateway.address) as gateway:
        for finding in proof["findings"]:
            witness = finding["witness"]
            gateway.request(witness["method"], witness["target"])
            named[witness["method"], witness["target"]] = finding["answered_by"]

    records = github.gateway.records(before + len(proof["findings"]))[before:]
    taken = {(one["method"], one["path"]): one["route_id"] for one in records}
    assert taken == named
