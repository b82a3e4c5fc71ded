"""Writes the pages of docs/reference/ that follow from the code: nobody edits them by hand."""

import argparse
import sys
import tomllib
from pathlib import Path

from pages import commands, configuration, errors, filters, record
from sluicegate import engine
from sluicegate.config.schema import document_schema

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"
DICTIONARY = ROOT / "schema" / "codes.toml"
NOTE = "<!-- Written by tools/reference.py (`make schema`): edit what it is made from. -->\n\n"


def pages() -> dict[str, str]:
    """The text of every generated page, by the name of its file."""
    schema = document_schema(engine.filter_schemas())
    catalogue = engine.filter_catalogue()
    phases = schema["$defs"]["FilterUse"]["properties"]["phase"]["anyOf"][0]["enum"]
    dictionary = tomllib.loads(DICTIONARY.read_text(encoding="utf-8"))
    made = {
        "access-log.md": record.log_page(engine.log_field_sets()),
        "commands.md": commands.page(),
        "configuration.md": configuration.page(schema),
        "errors.md": errors.page(engine.reject_catalogue(), dictionary, catalogue),
        "filters.md": filters.index(catalogue, tuple(phases)),
        "metrics.md": record.metrics_page(engine.metric_sets()),
    }
    made |= {f"filters/{name}.md": filters.page(name, row) for name, row in catalogue.items()}
    return {name: NOTE + text for name, text in made.items()}


def left_over(expected: dict[str, str]) -> list[Path]:
    """Generated pages of what is no longer there."""
    return [
        path
        for path in sorted(REFERENCE.rglob("*.md"))
        if path.relative_to(REFERENCE).as_posix() not in expected
    ]


def main() -> int:
    """Writes the pages; with --check it only says which are out of date, and ends with 1."""
    parser = argparse.ArgumentParser(prog="reference.py", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check

    made = pages()
    stale = [path.relative_to(REFERENCE).as_posix() for path in left_over(made)]
    if not check:
        for name in stale:
            (REFERENCE / name).unlink()
    for name, text in made.items():
        page = REFERENCE / name
        if page.is_file() and page.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not check:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text, encoding="utf-8")
    if check and stale:
        print(f"out of date, run `make schema`: {', '.join(stale)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
