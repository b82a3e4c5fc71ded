"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        help="The document, YAML or JSON. [default: sluicegate.yaml, or SLUICEGATE_CONFIG]",
        show_default=False,
    ),
]
StateDir = Annotated[
    Path | None,
    typer.Option(
        "--state-dir",
        help="The gateway's state directory. [default: .sluicegate, or SLUICEGATE_STATE_DIR]",
        show_default=False,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        help="Engine threads. [default: one per usable core, or SLUICEGATE_THREADS]",
        show_default=False,
    ),
]
Operations = Annotated[
    str | None,
    typer.Option(
        "--operations",
        help="Address of /livez, /readyz and /metrics. "
        "[default: 127.0.0.1:9090, or SLUICEGATE_OPERATIONS]",
        show_default=False,
    ),
]
DrainDelay = Annotated[
    str | None,
    typer.Option(
        "--drain-delay",
        help="From failing readiness to closing listeners. "
        "[default: 5s, or SLUICEGATE_DRAIN_DELAY]",
        show_default=False,
    ),
]
Grace = Annotated[
    str | None,
    typer.Option(
        "--grace",
        help="Time running exchanges get to end. [default: 30s, or SLUICEGATE_GRACE]",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
