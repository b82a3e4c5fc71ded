"""`sluicegate reload`: lets a running gateway read its document now."""

import typer
from rich.text import Text

from sluicegate.cli.options import AsJson, StateDir
from sluicegate.cli.printing import WRONG, console, ends_with_a_code, print_json
from sluicegate.cli.status import print_status
from sluicegate.config.loader import process_settings
from sluicegate.runtime.control import ask

_LONGEST_RELOAD = 60.0


@ends_with_a_code
def reload(state_dir: StateDir = None, as_json: AsJson = False) -> None:
    """Let a running gateway read its document now; it also does so by itself on a change.

    Exit code 0: in force. 1: no gateway runs. 2: the document was refused.

    Example: `sluicegate reload`
    """
    path = process_settings({"state_dir": state_dir}).state_dir
    found = ask(path, "reload", seconds=_LONGEST_RELOAD)
    if as_json:
        print_json(found)
    else:
        verdict = (
            Text("in force", "bold green") if found["applied"] else Text("refused", "bold red")
        )
        console().print(verdict)
        print_status(console(), found)
    if not found["applied"]:
        raise typer.Exit(WRONG)
