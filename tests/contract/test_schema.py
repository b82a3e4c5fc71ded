"""The schema that editors use is the one that the product prints."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


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
