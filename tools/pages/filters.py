"""One page for each filter, and the list of them."""

from collections.abc import Mapping
from typing import Any

from pages.fields import Tables
from pages.introductions import introduction

Row = Mapping[str, Any]


def index(filters: Mapping[str, Row], phases: tuple[str, ...]) -> str:
    """The list of filters in the order in which a request meets their phases."""

    def order(name: str) -> tuple[int, str]:
        phase = filters[name]["phase"]
        return (phases.index(phase) if phase in phases else len(phases), name)

    lines = [
        introduction("filters"),
        "| Filter | Phase | What it does |",
        "|---|---|---|",
    ]
    for name in sorted(filters, key=order):
        row = filters[name]
        first = " ".join(row["docs"].strip().split("\n\n")[0].split()).replace("|", "\\|")
        lines.append(f"| [`{name}`](filters/{name}.md) | {_phase(row)} | {first} |")
    return "\n".join([*lines, ""])


def page(name: str, row: Row) -> str:
    """What one filter does, its fields, its rejects and its example."""
    schema: Row = row["schema"]
    lines = [f"# `{name}`", "", f"Phase: {_phase(row)}.", "", row["docs"].strip(), ""]
    lines += ["## Configuration", ""]
    tables = list(Tables(schema.get("$defs", {})).of({**schema, "description": ""}))
    for table in tables:
        lines += table.lines(level=3)
    if not tables:
        lines += ["It has no configuration.", ""]
    lines += ["## Rejects", ""]
    codes = [f"[`{code}`](../errors.md#{code})" for code in row["rejects"]]
    lines += [", ".join(codes) if codes else "It declares no code of its own.", ""]
    example = f"examples/filters/{name}.yaml"
    lines += ["## Example", "", f'```yaml title="{example}"', f'--8<-- "{example}"', "```", ""]
    requests = f"examples/filters/requests/{name}.yaml"
    lines += ["What these requests get is tested:", ""]
    lines += [f'```yaml title="{requests}"', f'--8<-- "{requests}"', "```", ""]
    return "\n".join(lines)


def _phase(row: Row) -> str:
    others = [f"`{phase}`" for phase in row["other_phases"] if phase != row["phase"]]
    own = f"`{row['phase']}`" if row["phase"] else "by its configuration"
    return f"{own}, or {' or '.join(others)} when `phase` says so" if others else own
