"""The command `sluicegate`: its groups, and what holds for all of them."""

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from sluicegate.cli import block, check, drain, explain, reload, schema, serve, status, test, up

app = typer.Typer(
    name="sluicegate",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""An API gateway: routes, filters and limits before your services.

Start with `sluicegate up`. Exit codes of every command: **0** all is well, **1** something
did not work, **2** the configuration is wrong, or a check found differences.
""",
)


def _print_version(wanted: bool) -> None:
    if not wanted:
        return
    try:
        typer.echo(f"sluicegate {version('sluicegate')}")
    except PackageNotFoundError:
        typer.echo("sluicegate (not installed)")
    raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and end."
        ),
    ] = False,
) -> None:
    """Take the options before the command."""


app.command("up")(up.up)
app.add_typer(serve.app, name="serve")
app.command("check")(check.check)
app.command("schema")(schema.schema)
app.command("explain")(explain.explain)
app.command("test")(test.try_samples)
app.command("status")(status.status)
app.command("reload")(reload.reload)
app.command("block")(block.block)
app.command("unblock")(block.unblock)
app.command("drain")(drain.drain)
