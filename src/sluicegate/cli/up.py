"""`sluicegate up`: a gateway and something behind it, in one process."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from sluicegate import engine
from sluicegate.cli.options import ConfigFile, Operations, StateDir, Threads
from sluicegate.cli.printing import counted, ends_with_a_code, error_console
from sluicegate.cli.serve import run_gateway
from sluicegate.cli.starter import EXAMPLE_ADDRESS, STARTER
from sluicegate.config.loader import load, process_settings
from sluicegate.config.settings import ProcessSettings
from sluicegate.errors import Unavailable
from sluicegate.runtime.example_upstream import ExampleUpstream
from sluicegate.runtime.log import Log


@ends_with_a_code
def up(
    config: ConfigFile = None,
    state_dir: StateDir = None,
    threads: Threads = None,
    operations: Operations = None,
    example: Annotated[
        bool, typer.Option(help="Start the example upstream when the document goes there.")
    ] = True,
) -> None:
    """Start a gateway to try; writes sluicegate.yaml when there is none.

    The file is followed: change it and the gateway changes. Ctrl-C ends it.

    Exit code 0: ended. 1: a port or the state directory is taken. 2: the document is wrong.

    Example: `sluicegate up`, then `curl -i http://127.0.0.1:8080/hello`
    """
    given = {
        "config": config,
        "state_dir": state_dir,
        "threads": threads,
        "operations": operations,
        # Nobody balances requests to a gateway on somebody's desk.
        "drain_delay": "0s",
        "grace": "5s",
    }
    settings = process_settings(given)
    out = error_console()
    if not settings.config.exists():
        _write_starter(settings.config)
        out.print(Text.assemble(("wrote ", "green"), str(settings.config)))
    raise typer.Exit(asyncio.run(_run(settings, out, example=example)))


async def _run(settings: ProcessSettings, out: Console, *, example: bool) -> int:
    async with AsyncExitStack() as stack:
        path = "/"
        if example and await asyncio.to_thread(_goes_to_example, settings.config):
            path = "/hello"
            try:
                await stack.enter_async_context(ExampleUpstream())
                out.print(f"example upstream on http://{EXAMPLE_ADDRESS}")
            except OSError:
                out.print(f"{EXAMPLE_ADDRESS} is in use: what is there answers as the example")

        def welcome(status: dict[str, Any]) -> None:
            _welcome(out, settings, status, path)

        return await run_gateway(settings, Log(), welcome)


def _goes_to_example(path: Path) -> bool:
    parsed = load(path, engine.check).parsed
    return parsed is not None and any(
        str(endpoint.address) == EXAMPLE_ADDRESS
        for upstream in parsed.upstreams
        for endpoint in upstream.endpoints
    )


def _write_starter(path: Path) -> None:
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(STARTER)
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}") from error


def _welcome(out: Console, settings: ProcessSettings, status: dict[str, Any], path: str) -> None:
    addresses = [one["address"] for one in status["engine"].get("listeners", ())]
    out.print(Text.assemble(("Sluicegate is up", "bold green"), f" on {', '.join(addresses)}"))
    if addresses:
        out.print(f"  try it      curl -i http://{addresses[0]}{path}")
    out.print(f"  change it   {settings.config}  (followed: save and it is in force)")
    if settings.operations:
        out.print(f"  watch it    http://{settings.operations}/metrics and /readyz")
    out.print(f"  ask it      sluicegate explain GET {path}; sluicegate status")
    out.print("  end it      Ctrl-C")
    count = counted(len(addresses), "listener")
    out.print(Text(f"  snapshot {status['version']}, {count}", "dim"))
