"""`sluicegate drain`: lets a running gateway end without losing a request."""

import time
from typing import Annotated

import typer

from sluicegate.cli.options import AsJson, StateDir
from sluicegate.cli.printing import console, ends_with_a_code, print_json
from sluicegate.config.loader import process_settings
from sluicegate.errors import NotRunning, Unavailable
from sluicegate.runtime.control import ask

_BETWEEN_LOOKS = 0.2
_ALLOWANCE = 5.0


@ends_with_a_code
def drain(
    wait: Annotated[bool, typer.Option("--wait", help="Come back when it has ended.")] = False,
    state_dir: StateDir = None,
    as_json: AsJson = False,
) -> None:
    """Let a running gateway end: readiness fails, listeners close, exchanges finish.

    Exit code 0: it drains, or has ended with `--wait`. 1: none runs, or it did not end.

    Example: `sluicegate drain --wait`
    """
    path = process_settings({"state_dir": state_dir}).state_dir
    found = ask(path, "drain")
    if wait:
        deadline = time.monotonic() + found["at_most"] + _ALLOWANCE
        while time.monotonic() < deadline:
            try:
                ask(path, "status")
            except NotRunning:
                found["phase"] = "ended"
                break
            time.sleep(_BETWEEN_LOOKS)
        else:
            raise Unavailable(f"process {found['pid']} has not ended yet")
    if as_json:
        print_json(found)
    else:
        console().print(f"process {found['pid']}: {found['phase']}")
