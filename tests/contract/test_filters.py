"""Every filter is specified from outside, has an example, and says what it is for."""

from pathlib import Path
from typing import Any


def test_every_filter_has_a_specification(root: Path, engine_schema: dict[str, Any]) -> None:
    missing = [
        f"tests/filters/test_{name}.py"
        for name in engine_schema["filters"]
        if not (root / "tests" / "filters" / f"test_{name}.py").is_file()
    ]

    assert not missing, f"a filter is specified by what client and upstream see; write {missing}"


def test_every_filter_has_an_example(root: Path, engine_schema: dict[str, Any]) -> None:
    missing = [
        f"examples/filters/{name}.yaml"
        for name in engine_schema["filters"]
        if not (root / "examples" / "filters" / f"{name}.yaml").is_file()
    ]

    assert not missing, f"a filter has a complete configuration that uses it; write {missing}"


def test_every_filter_is_described(engine_schema: dict[str, Any]) -> None:
    silent = [name for name, row in engine_schema["filters"].items() if not row.get("docs")]

    assert not silent, f"the doc comment of a filter is its reference page; write one for {silent}"


def test_every_specification_belongs_to_a_filter(root: Path, engine_schema: dict[str, Any]) -> None:
    orphans = [
        str(path.relative_to(root))
        for path in (root / "examples" / "filters").glob("*.yaml")
        if path.stem not in engine_schema["filters"]
    ]

    assert not orphans, f"there is no such filter: {orphans}"
