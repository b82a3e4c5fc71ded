"""The dictionary of error codes is closed: engine, schema/codes.toml and page agree."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

SECTION = re.compile(r"^### `([a-z0-9_]+)` \{ #([a-z0-9_]+) \}$", re.MULTILINE)
FACTS = {"status", "reason", "since", "client"}

Dictionary = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def dictionary(root: Path) -> Dictionary:
    """The codes as the releases have given them."""
    return tomllib.loads((root / "schema" / "codes.toml").read_text())


@pytest.mark.spec("ER-04")
def test_no_code_comes_or_goes_without_the_dictionary(
    engine_schema: dict[str, Any], dictionary: Dictionary
) -> None:
    given = {reject["code"] for reject in engine_schema["rejects"]}

    missing, gone = sorted(given - set(dictionary)), sorted(set(dictionary) - given)

    assert not missing, f"schema/codes.toml needs a table for {missing}, as its neighbours have one"
    assert not gone, f"clients may know these codes, and nobody gives them any more: {gone}"


@pytest.mark.spec("ER-04")
def test_a_code_keeps_its_status_and_its_reason(
    engine_schema: dict[str, Any], dictionary: Dictionary
) -> None:
    given = {one["code"]: (one["status"], one["reason"]) for one in engine_schema["rejects"]}
    agreed = {code: (row["status"], row["reason"]) for code, row in dictionary.items()}

    changed = {code: given[code] for code in agreed.keys() & given if given[code] != agreed[code]}

    assert not changed, f"clients and dashboards rely on what schema/codes.toml says: {changed}"


@pytest.mark.spec("ER-15")
def test_500_is_for_what_nobody_has_classified(dictionary: Dictionary) -> None:
    unclassified = [code for code, row in dictionary.items() if row["status"] == 500]

    assert unclassified == ["internal_error"], "whatever is known has a status that says so"


def test_a_code_says_since_when_and_what_a_client_can_do(dictionary: Dictionary) -> None:
    for code, row in dictionary.items():
        assert set(row) == FACTS, code
        assert re.fullmatch(r"\d+\.\d+\.\d+", row["since"]), code
        assert row["client"].endswith("."), code


def test_every_code_has_a_section_with_an_anchor_of_its_name(
    root: Path, engine_schema: dict[str, Any]
) -> None:
    page = (root / "docs" / "reference" / "errors.md").read_text()

    sections = SECTION.findall(page)

    assert all(title == anchor for title, anchor in sections)
    assert {title for title, _ in sections} == {one["code"] for one in engine_schema["rejects"]}


def test_a_filter_gives_declared_codes_only(engine_schema: dict[str, Any]) -> None:
    declared = {reject["code"] for reject in engine_schema["rejects"]}
    given = {code for row in engine_schema["filters"].values() for code in row["rejects"]}

    assert given <= declared, f"not in the list of rejects: {sorted(given - declared)}"
