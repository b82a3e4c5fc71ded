"""`sluicegate block` and `unblock`: keep somebody out of a running gateway, at once."""

import time
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError
from rich.text import Text

from sluicegate.cli.options import AsJson, StateDir
from sluicegate.cli.printing import console, ends_with_a_code, print_json
from sluicegate.cli.status import list_line
from sluicegate.config.denylist import Entry
from sluicegate.config.loader import process_settings
from sluicegate.config.units import Duration
from sluicegate.errors import ConfigError, Problem
from sluicegate.runtime.control import ask

Addresses = Annotated[
    list[str] | None,
    typer.Argument(metavar="ADDRESS…", help="Addresses and networks.", show_default=False),
]
Devices = Annotated[list[str] | None, typer.Option("--device", help="A device; repeatable.")]
Users = Annotated[list[str] | None, typer.Option("--user", help="A user; repeatable.")]
Apps = Annotated[list[str] | None, typer.Option("--app", help="An app; repeatable.")]
OnlyList = Annotated[
    str | None,
    typer.Option("--list", help="The id of one denylist. [default: every one]", show_default=False),
]


@ends_with_a_code
def block(  # noqa: PLR0913 - one per option
    *,
    address: Addresses = None,
    device: Devices = None,
    user: Users = None,
    app: Apps = None,
    lasting: Annotated[
        str | None,
        typer.Option(
            "--for", help="How long, such as 10m. [default: for good]", show_default=False
        ),
    ] = None,
    only: OnlyList = None,
    state_dir: StateDir = None,
    as_json: AsJson = False,
) -> None:
    """Keep addresses, devices, users or apps out, at once and across restarts.

    The document needs a `denylist` filter that looks at them. Exit code 0: kept out from now
    on. 1: no gateway runs, or it refused; then nothing has changed.

    Example: `sluicegate block 203.0.113.7 --for 10m`
    """
    until = None if lasting is None else time.time() + _duration(lasting).total_seconds()
    entries = _entries(address, device, user, app, until=until)
    _change("block", entries, only, state_dir, as_json=as_json)


@ends_with_a_code
def unblock(  # noqa: PLR0913 - one per option
    *,
    address: Addresses = None,
    device: Devices = None,
    user: Users = None,
    app: Apps = None,
    only: OnlyList = None,
    state_dir: StateDir = None,
    as_json: AsJson = False,
) -> None:
    """Let in again whom `block` keeps out.

    What stands in a file is taken out there. Exit code 0: let in. 1: no gateway runs, or it
    refused, because an entry is on no list; then nothing has changed.

    Example: `sluicegate unblock 203.0.113.7`
    """
    entries = _entries(address, device, user, app, until=None)
    _change("unblock", entries, only, state_dir, as_json=as_json)


def _change(
    command: str,
    entries: list[Entry],
    only: str | None,
    state_dir: Path | None,
    *,
    as_json: bool,
) -> None:
    path = process_settings({"state_dir": state_dir}).state_dir
    lists = ask(path, command, entries=[entry.as_json() for entry in entries], list=only)
    if as_json:
        print_json(lists)
        return
    out = console()
    for one in lists:
        out.print(Text.assemble((one["id"], "bold"), f": {list_line(one)}"))


def _entries(
    addresses: list[str] | None,
    devices: list[str] | None,
    users: list[str] | None,
    apps: list[str] | None,
    *,
    until: float | None,
) -> list[Entry]:
    entries = [
        *(Entry("address", name, until) for name in addresses or ()),
        *(Entry("device", name, until) for name in devices or ()),
        *(Entry("user", name, until) for name in users or ()),
        *(Entry("app", name, until) for name in apps or ()),
    ]
    if not entries:
        raise typer.BadParameter("nobody is named: give an address, --device, --user or --app")
    return entries


def _duration(text: str) -> timedelta:
    try:
        return TypeAdapter(Duration).validate_python(text)
    except ValidationError as error:
        message = error.errors()[0]["msg"]
        problem = Problem(
            message, code="duration", expected="such as 30s, 10m or 12h", file="--for"
        )
        raise ConfigError([problem]) from None
