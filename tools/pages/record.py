"""The pages of the access log's fields and of the metrics."""

from collections.abc import Mapping, Sequence
from typing import Any

from pages.introductions import introduction

Row = Mapping[str, Any]


def log_page(fields: Sequence[Row]) -> str:
    """The keys of a record, in the order in which they are written."""
    lines = [introduction("access-log"), "| Key | Type | Present | Meaning |", "|---|---|---|---|"]
    for field in fields:
        present = "always" if field["always"] else "when known"
        lines.append(f"| `{field['name']}` | {field['type']} | {present} | {field['meaning']} |")
    return "\n".join([*lines, ""])


def metrics_page(metrics: Sequence[Row]) -> str:
    """One row for each metric."""
    lines = [introduction("metrics"), "| Metric | Kind | Labels | Meaning |", "|---|---|---|---|"]
    for metric in metrics:
        labels = ", ".join(f"`{label}`" for label in metric["labels"])
        lines.append(f"| `{metric['name']}` | {metric['type']} | {labels} | {metric['meaning']} |")
    return "\n".join([*lines, ""])
