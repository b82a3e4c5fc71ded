"""`sluicegate check`: says whether documents are fine, and everything that is not."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from sluicegate import engine
from sluicegate.cli.options import AsJson
from sluicegate.cli.printing import (
    WRONG,
    console,
    counted,
    ends_with_a_code,
    print_json,
    rendered,
    summary,
)
from sluicegate.config.candidate import Candidate
from sluicegate.config.loader import load_with_files


@ends_with_a_code
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Documents, YAML or JSON.")],
    as_json: AsJson = False,
) -> None:
    """Say whether documents are fine, and everything that is not; starts nothing.

    Exit code 0: fine, perhaps with warnings. 2: at least one mistake.

    Example: `sluicegate check sluicegate.yaml`
    """
    candidates = [load_with_files(path, engine.check) for path in files]
    if as_json:
        print_json(_report(candidates))
    else:
        for candidate in candidates:
            _print(candidate)
    if any(candidate.errors for candidate in candidates):
        raise typer.Exit(WRONG)


def _print(candidate: Candidate) -> None:
    out = console()
    for problem in candidate.problems:
        out.print(rendered(problem))
    verdict = Text(candidate.source.file, "bold").append(": ", "none")
    if candidate.errors:
        out.print(verdict.append_text(summary(candidate.problems)))
        return
    document = candidate.document
    contents = ", ".join(
        counted(len(found), noun)
        for found, noun in (
            (document.listeners, "listener"),
            (document.routes, "route"),
            (document.upstreams, "upstream"),
        )
    )
    verdict.append("fine", "bold green").append(f" ({contents})")
    if idle := _not_served(candidate):
        said = ", ".join(f"{name} ({status})" for name, status in idle.items())
        verdict.append(", not served: ").append(said, "yellow")
    if candidate.warnings:
        verdict.append(", ").append_text(summary(candidate.problems))
    out.print(verdict)


def _not_served(candidate: Candidate) -> dict[str, str]:
    """Routes that are checked and take no requests, with their status."""
    routes = candidate.parsed.routes if candidate.parsed else ()
    return {route.id: route.status for route in routes if not route.is_served}


def _report(candidates: list[Candidate]) -> dict[str, object]:
    return {
        "ok": not any(candidate.errors for candidate in candidates),
        "files": [
            {
                "file": candidate.source.file,
                "ok": not candidate.errors,
                "not_served": _not_served(candidate),
                "problems": [problem.as_json() for problem in candidate.problems],
            }
            for candidate in candidates
        ],
    }
