"""Every code that a client may see has its row in the error reference, and no row is left over."""

import re
from pathlib import Path
from typing import Any

import pytest

CODE_ROW = re.compile(r"^\| *`([a-z0-9_]+)` *\|", re.MULTILINE)


@pytest.fixture
def documented(root: Path) -> set[str]:
    """The codes that docs/reference/errors.md has a row for."""
    page = root / "docs" / "reference" / "errors.md"
    return set(CODE_ROW.findall(page.read_text())) if page.is_file() else set()


def _declared(schema: dict[str, Any]) -> set[str]:
    return {reject["code"] for reject in schema["rejects"]}


def test_every_reject_is_in_the_error_reference(
    engine_schema: dict[str, Any], documented: set[str]
) -> None:
    missing = sorted(_declared(engine_schema) - documented)

    assert not missing, f"docs/reference/errors.md has no row for {missing}"


def test_the_error_reference_has_no_code_that_nobody_gives(
    engine_schema: dict[str, Any], documented: set[str]
) -> None:
    left_over = sorted(documented - _declared(engine_schema))

    assert not left_over, f"docs/reference/errors.md has rows for codes that are gone: {left_over}"


def test_a_filter_gives_declared_codes_only(engine_schema: dict[str, Any]) -> None:
    declared = _declared(engine_schema)
    given = {
        reject if isinstance(reject, str) else reject["code"]
        for row in engine_schema["filters"].values()
        for reject in row["rejects"]
    }

    assert given <= declared, f"not in the list of rejects: {sorted(given - declared)}"
