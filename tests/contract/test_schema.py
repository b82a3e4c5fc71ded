"""What is generated from the engine is what the engine says now."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def test_the_schema_file_is_current(root: Path, engine_schema: dict[str, Any]) -> None:
    assert engine_schema["filters"], "the engine has no filters"
    file = root / "schema" / "sluicegate.schema.json"

    printed = subprocess.run(
        [sys.executable, "-m", "sluicegate", "schema"],
        cwd=root,
        capture_output=True,
        check=True,
        text=True,
    ).stdout

    assert file.is_file(), "schema/sluicegate.schema.json is missing: run `make schema`"
    assert json.loads(printed) == json.loads(file.read_text()), (
        "it is out of date: run `make schema`"
    )


@pytest.mark.usefixtures("engine_schema")
def test_the_generated_pages_are_current(root: Path) -> None:
    # It imports the engine, so it is imported only where there is one.
    reference = importlib.import_module("reference")
    made = reference.pages()

    stale = [
        name
        for name, text in made.items()
        if not (root / "docs" / "reference" / name).is_file()
        or (root / "docs" / "reference" / name).read_text() != text
    ]

    assert not stale, f"run `make schema`: {stale}"
    assert not reference.left_over(made), "run `make schema`"


@pytest.mark.usefixtures("engine_schema")
def test_every_field_of_a_document_says_what_it_means(root: Path) -> None:
    silent = [
        f"{page.name}: {line}"
        for page in sorted((root / "docs" / "reference").rglob("*.md"))
        for line in page.read_text().splitlines()
        if line.startswith("| ") and line.endswith("|  |")
    ]

    assert not silent, "give it a description:\n" + "\n".join(silent)
