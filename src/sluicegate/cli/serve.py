"""`sluicegate serve gateway`: one role of production, alone in its process."""

import asyncio
from collections.abc import Callable
from typing import Any

import typer

from sluicegate import engine
from sluicegate.cli.options import ConfigFile, DrainDelay, Grace, Operations, StateDir, Threads
from sluicegate.cli.printing import ends_with_a_code
from sluicegate.config.loader import process_settings
from sluicegate.config.settings import ProcessSettings
from sluicegate.engine import Engine
from sluicegate.runtime.gateway import Gateway
from sluicegate.runtime.log import Log
from sluicegate.runtime.publisher import Publisher
from sluicegate.runtime.state import StateDirectory

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Run one role of production; every option is also an environment variable.",
)


@app.callback()
def _group() -> None:
    """Run one role of production."""


@app.command("gateway")
@ends_with_a_code
def gateway(  # noqa: PLR0913 - one per option
    *,
    config: ConfigFile = None,
    state_dir: StateDir = None,
    threads: Threads = None,
    operations: Operations = None,
    drain_delay: DrainDelay = None,
    grace: Grace = None,
) -> None:
    """Serve a document, follow its changes, drain on SIGTERM; logs go to standard error.

    SIGHUP reads the document again. A second SIGTERM ends at once. Exit code 0: drained.
    1: a port or the state directory is taken, or ended at once. 2: the document is wrong and
    there is no last good snapshot.

    Example: `sluicegate serve gateway -c /etc/sluicegate.yaml --state-dir /var/lib/sluicegate`
    """
    given = {
        "config": config,
        "state_dir": state_dir,
        "threads": threads,
        "operations": operations,
        "drain_delay": drain_delay,
        "grace": grace,
    }
    settings = process_settings(given)
    raise typer.Exit(asyncio.run(run_gateway(settings, Log())))


async def run_gateway(
    settings: ProcessSettings,
    log: Log,
    when_serving: Callable[[dict[str, Any]], None] = lambda _: None,
) -> int:
    """Run a gateway on the real engine until it is told to end; give the exit code."""
    state = StateDirectory(settings.state_dir)
    publisher = Publisher(
        settings.config,
        state,
        engine_check=engine.check,
        schemas=engine.filter_schemas(),
        log=log,
    )
    running = Gateway(
        settings, publisher, start_engine=Engine.start, log=log, when_serving=when_serving
    )
    return await running.run(state)
