"""`sluicegate status`: what a running gateway does."""

from typing import Any

from rich.console import Console
from rich.text import Text

from sluicegate.cli.options import AsJson, StateDir
from sluicegate.cli.printing import console, ends_with_a_code, print_json
from sluicegate.config.loader import process_settings
from sluicegate.runtime.control import ask


@ends_with_a_code
def status(state_dir: StateDir = None, as_json: AsJson = False) -> None:
    """Show what a running gateway does, and what it last refused.

    Exit code 0: it runs. 1: none runs on this state directory.

    Example: `sluicegate status --json`
    """
    found = ask(process_settings({"state_dir": state_dir}).state_dir, "status")
    if as_json:
        print_json(found)
    else:
        print_status(console(), found)


def print_status(out: Console, found: dict[str, Any]) -> None:
    """Draw the answer of `status`."""
    colour = "green" if found["phase"] == "serving" else "yellow"
    out.print(
        Text.assemble((found["phase"], f"bold {colour}"), f"  process {found['pid']}").append(
            f", since {found['started']}"
        )
    )
    origin = "" if found["origin"] == "file" else "  (the last good one, not the document's!)"
    out.print(
        Text.assemble("snapshot        ", (str(found["version"]), "bold"), (origin, "bold yellow"))
        .append(f"  {str(found['digest'])[:12]}", "dim")
        .append(f"  of {found['config']}")
    )
    for name, value in found["engine"].items():
        if name not in {"version", "last_refusal"}:
            out.print(Text.assemble(f"{name:<16}", _shown(value)))
    for one in found["denylists"]:
        out.print(Text.assemble(f"{'denylist':<16}", (one["id"], "bold"), f"  {list_line(one)}"))
    rejection = found["rejection"]
    if rejection:
        out.print(Text.assemble(("refused         ", "bold red"), rejection["reason"]))
        out.print(Text(f"                at {rejection['time']}; nothing was changed", "dim"))
        for problem in rejection["problems"]:
            place = ":".join(str(problem[k]) for k in ("file", "line", "column") if k in problem)
            path = f"{problem['path']}: " if problem["path"] else ""
            out.print(f"  {place}: {path}{problem['message']}", markup=False)


def list_line(one: dict[str, Any]) -> str:
    """Say how long a denylist is, and where its entries come from."""
    of_commands = f", {len(one['commanded'])} by command" if one["commanded"] else ""
    of_file = f", file {one['file']}" if one["file"] else ""
    noun = "entry" if one["entries"] == 1 else "entries"
    return f"{one['entries']} {noun}{of_commands}{of_file}"


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_shown(one) for one in value) or "none"
    if isinstance(value, dict):
        return " ".join(f"{name}={_shown(one)}" for name, one in value.items()) or "none"
    return "none" if value is None else str(value)
