"""The page of the error dictionary."""

from collections.abc import Mapping, Sequence
from typing import Any

from pages.introductions import introduction

Row = Mapping[str, Any]

INTRODUCTION = introduction("errors")


def page(rejects: Sequence[Row], dictionary: Mapping[str, Row], filters: Mapping[str, Row]) -> str:
    """One section for each code that a client or the access log may see."""
    givers = {
        code: sorted(name for name, row in filters.items() if code in row["rejects"])
        for code in dictionary
    }
    ordered = sorted(rejects, key=lambda reject: (reject["status"], reject["code"]))
    lines = [
        INTRODUCTION,
        "## All codes",
        "",
        "| Code | Status | Title | Reason | Given by | Since |",
        "|---|---|---|---|---|---|",
    ]
    for reject in ordered:
        code, title, reason = (reject[key] for key in ("code", "title", "reason"))
        since = dictionary.get(code, {}).get("since", "")
        lines.append(
            f"| [`{code}`](#{code}) | {reject['status']} | {title} | `{reason}` "
            f"| {_givers(givers.get(code, []))} | {since} |"
        )
    lines.append("")
    for reject in ordered:
        row = dictionary.get(reject["code"], {})
        lines += [
            f"### `{reject['code']}` {{ #{reject['code']} }}",
            "",
            f"**{reject['status']} {reject['title']}.** {reject['detail']}",
            "",
            f"What a client can do: {row.get('client', '')}",
            "",
        ]
    return "\n".join(lines)


def _givers(names: Sequence[str]) -> str:
    return ", ".join(f"[`{name}`](filters/{name}.md)" for name in names) or "the engine"
