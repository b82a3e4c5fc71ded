"""Writes the pages of docs/reference/ that follow from the engine: errors and filters."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from sluicegate.engine import filter_catalogue, reject_catalogue

REFERENCE = Path(__file__).resolve().parents[1] / "docs" / "reference"

TYPE_NAMES = {"object": "mapping", "array": "list", "string": "text", "boolean": "true or false"}


def pages() -> dict[str, str]:
    """The text of every generated page, by the name of its file."""
    return {
        "errors.md": errors_page(reject_catalogue()),
        "filters.md": filters_page(filter_catalogue()),
    }


def errors_page(rejects: list[dict[str, Any]]) -> str:
    """One row for each code that a client or the access log may see."""
    rows = [
        f"| `{reject['code']}` | {reject['status']} | {reject['title']} | {reject['detail']} |"
        for reject in sorted(rejects, key=lambda reject: (reject["status"], reject["code"]))
    ]
    return "\n".join(
        [
            "# Errors",
            "",
            "Every answer that the gateway gives by itself when a request cannot go on. The code",
            "is the contract: it does not change within a release. Status, title and detail are",
            "defaults that `errors.codes` overrides; `errors.format` sets the shape.",
            "",
            "| Code | Status | Title | Detail |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def filters_page(filters: dict[str, dict[str, Any]]) -> str:
    """One section for each built-in filter: its phase, what it does, its configuration."""
    lines = [
        "# Filters",
        "",
        "The built-in filters. Each runs in its phase; within a phase the order of the",
        "configuration stands.",
        "",
    ]
    for name, row in sorted(filters.items()):
        lines += [f"## `{name}`", "", f"Phase: {row['phase']}", "", row["docs"].strip(), ""]
        lines += _fields(row["schema"])
        codes = [code if isinstance(code, str) else code["code"] for code in row["rejects"]]
        if codes:
            listed = ", ".join(f"[`{code}`](errors.md)" for code in codes)
            lines += [f"Rejects with: {listed}", ""]
    return "\n".join(lines)


def _fields(schema: dict[str, Any]) -> list[str]:
    properties: dict[str, dict[str, Any]] = schema.get("properties", {})
    if not properties:
        return ["It has no configuration.", ""]
    required = set(schema.get("required", ()))
    rows = []
    for name, field in properties.items():
        default = "required" if name in required else _default(field)
        rows.append(f"| `{name}` | {_type(field, schema)} | {default} | {_text(field)} |")
    return ["| Field | Type | Default | Meaning |", "|---|---|---|---|", *rows, ""]


def _type(field: dict[str, Any], schema: dict[str, Any]) -> str:
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return _type(schema.get("$defs", {}).get(name, {}), schema)
    if "enum" in field:
        return " or ".join(f"`{value}`" for value in field["enum"])
    for choice in ("anyOf", "oneOf"):
        if choice in field:
            names = dict.fromkeys(_type(part, schema) for part in field[choice])
            return " or ".join(name for name in names if name != "null")
    if "const" in field:
        return f"`{field['const']}`"
    kinds = field.get("type", "any")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return " or ".join(TYPE_NAMES.get(kind, kind) for kind in kinds if kind != "null")


def _default(field: dict[str, Any]) -> str:
    return f"`{json.dumps(field['default'])}`" if "default" in field else "none"


def _text(field: dict[str, Any]) -> str:
    return " ".join(field.get("description", "").split()).replace("|", "\\|")


def main() -> int:
    """Writes the pages; with --check it only says which are out of date, and ends with 1."""
    parser = argparse.ArgumentParser(prog="reference.py", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check

    stale = []
    for name, text in pages().items():
        page = REFERENCE / name
        if page.is_file() and page.read_text() == text:
            continue
        stale.append(name)
        if not check:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text)
    if check and stale:
        print(f"out of date, run `make schema`: {', '.join(stale)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
