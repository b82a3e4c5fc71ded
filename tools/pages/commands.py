"""The page of the command line, from the command line."""

import re
from collections.abc import Iterator
from typing import Any

import typer

from pages.introductions import introduction
from sluicegate.cli.app import app

INTRODUCTION = introduction("commands")


def page() -> str:
    """Every command with its arguments and options."""
    lines = [INTRODUCTION]
    for path, command in sorted(_commands(typer.main.get_command(app), "sluicegate")):
        lines += [f"## `{path}`", "", f"```text\n{_usage(path, command)}\n```", ""]
        lines += [_text(command.help or ""), ""]
        rows = [_row(one) for one in command.params if not getattr(one, "hidden", False)]
        if rows:
            lines += ["| Argument or option | Meaning |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def _commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - Typer's own copy of Click
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name, one in inner.items():
        yield from _commands(one, f"{path} {name}")


def _usage(path: str, command: Any) -> str:  # noqa: ANN401 - Typer's own copy of Click
    words = [path]
    if any(one.param_type_name == "option" for one in command.params):
        words.append("[OPTIONS]")
    for one in command.params:
        if one.param_type_name == "argument":
            name = (one.metavar or one.name).upper()
            many = "..." if one.nargs == -1 and not name.endswith("…") else ""
            words.append(f"{name}{many}" if one.required else f"[{name}]{many}")
    return " ".join(words)


def _row(one: Any) -> str:  # noqa: ANN401 - Typer's own copy of Click
    if one.param_type_name == "argument":
        names = f"`{(one.metavar or one.name).upper()}`"
    else:
        value = "" if one.is_flag else f" {one.metavar or one.name.upper()}"
        names = ", ".join(f"`{name}{value}`" for name in (*one.opts, *one.secondary_opts))
    return f"| {names} | {_cell(one.help or '')} |"


def _text(text: str) -> str:
    """A help text as Markdown; its example as a block."""
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    return "\n\n".join(
        re.sub(r"^Example: `(.+)`$", r"```sh\n\1\n```", paragraph) for paragraph in paragraphs
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("[", "\\[")
