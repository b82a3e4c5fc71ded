"""The pages of the access log's fields and of the metrics."""

from collections.abc import Mapping, Sequence
from typing import Any

from pages.introductions import introduction

Row = Mapping[str, Any]
Sets = Mapping[str, Sequence[Row]]
OURS = "sluicegate"


def log_page(sets: Sets) -> str:
    """The keys of a record, in the order in which they are written, for each name set."""
    lines = [introduction("access-log")]
    for name, fields in _ours_first(sets):
        if name != OURS:
            lines += ["", f"## The name set `{name}`", "", f"With `access_log.fields: {name}`.", ""]
        lines += ["| Key | Type | Present | Meaning |", "|---|---|---|---|"]
        for field in fields:
            present = "always" if field["always"] else "when known"
            lines.append(
                f"| `{field['name']}` | {field['type']} | {present} | {field['meaning']} |"
            )
    return "\n".join([*lines, ""])


def metrics_page(sets: Sets) -> str:
    """One row for each metric, for each name set."""
    lines = [introduction("metrics")]
    for name, metrics in _ours_first(sets):
        if name != OURS:
            asked = f"With `{name}` in `metrics.names`."
            lines += ["", f"## The name set `{name}`", "", asked, ""]
        lines += ["| Metric | Kind | Labels | Meaning |", "|---|---|---|---|"]
        for metric in metrics:
            labels = ", ".join(f"`{label}`" for label in metric["labels"])
            kind, meaning = metric["type"], metric["meaning"]
            lines.append(f"| `{metric['name']}` | {kind} | {labels} | {meaning} |")
    return "\n".join([*lines, ""])


def _ours_first(sets: Sets) -> list[tuple[str, Sequence[Row]]]:
    return sorted(sets.items(), key=lambda entry: (entry[0] != OURS, entry[0]))
