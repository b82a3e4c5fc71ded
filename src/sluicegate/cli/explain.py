"""`sluicegate explain`: what would happen to a request, and who decides it."""

from dataclasses import replace
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sluicegate import engine
from sluicegate.cli.options import AsJson, ConfigFile, StateDir
from sluicegate.cli.printing import console, ends_with_a_code, print_json
from sluicegate.config.complaints import problems_of
from sluicegate.config.loader import load, process_settings
from sluicegate.config.proof import REASONS
from sluicegate.config.samples import SampleRequest
from sluicegate.config.settings import ProcessSettings
from sluicegate.config.snapshot import snapshot_of
from sluicegate.engine import Considered, Explanation, Facts, Request
from sluicegate.errors import ConfigError, Problem
from sluicegate.runtime.control import ask
from sluicegate.runtime.gateway import request_as_json
from sluicegate.runtime.regression import as_request

_COLOURS = {"next": "green", "answer": "cyan", "reject": "red", "body": "yellow"}


@ends_with_a_code
def explain(  # noqa: PLR0913 - one per option
    method: Annotated[str, typer.Argument(help="Method of the request.")],
    url: Annotated[str, typer.Argument(help="URL, or only path and query.")],
    *,
    header: Annotated[
        list[str] | None, typer.Option("--header", "-H", help="A header: `-H 'X-Env: gray'`.")
    ] = None,
    body: Annotated[str | None, typer.Option("--body", "-d", help="Body of the request.")] = None,
    peer: Annotated[
        str, typer.Option("--peer", help="Address and port the request comes from.")
    ] = "127.0.0.1:40000",
    listener: Annotated[
        str | None, typer.Option("--listener", help="Id of the listener; the first by default.")
    ] = None,
    config: ConfigFile = None,
    live: Annotated[
        bool, typer.Option("--live", help="Ask the running gateway, with its own state.")
    ] = False,
    state_dir: StateDir = None,
    as_json: AsJson = False,
) -> None:
    """Show what would happen to a request: route, every filter's verdict, outcome.

    Nothing is sent, taken or counted. Exit code 0: explained, whatever the outcome.
    1: no gateway answers (`--live`). 2: the document or the request is wrong.

    Example: `sluicegate explain GET http://api.example.com/hello -H 'X-Env: gray'`
    """
    request = replace(_request(method, url, header or [], body), listener=listener)
    settings = process_settings({"config": config, "state_dir": state_dir})
    facts = Facts(peer=peer)
    explained = _ask_live(settings, request, facts) if live else _try(settings, request, facts)
    if as_json:
        print_json(explained.raw)
    else:
        print_explanation(console(), request, explained)


def _try(settings: ProcessSettings, request: Request, facts: Facts) -> Explanation:
    document = load(settings.config, engine.check).document
    return engine.explain(snapshot_of(document, version=1), request, facts)


def _ask_live(settings: ProcessSettings, request: Request, facts: Facts) -> Explanation:
    return Explanation.from_raw(
        ask(
            settings.state_dir,
            "explain",
            request=request_as_json(request),
            facts={"peer": facts.peer},
        )
    )


def _request(method: str, url: str, headers: list[str], body: str | None) -> Request:
    fields = [line.partition(":") for line in headers]
    for line, (name, colon, _) in zip(headers, fields, strict=True):
        if not (name and colon):
            expected = "-H 'Name: value'"
            raise ConfigError([Problem(f"`{line}` is not a header", expected=expected, file="-H")])
    try:
        sample = SampleRequest(method=method, url=url, body=body)
    except ValidationError as error:
        found = problems_of(error, SampleRequest)
        raise ConfigError(replace(one, file="request") for one in found) from None
    request = as_request(sample)
    pairs = tuple((name.strip(), value.strip()) for name, _, value in fields)
    host = next((value for name, value in pairs if name.lower() == "host"), request.host)
    others = tuple(pair for pair in pairs if pair[0].lower() != "host")
    return Request(request.method, request.target, host, others, request.body)


def print_explanation(out: Console, request: Request, explained: Explanation) -> None:
    """Draw the way of a request from top to bottom."""
    out.print(
        Text.assemble((f"{request.method} ", "bold"), request.target, f"  host {request.host}")
    )
    if explained.normal_path and explained.normal_path != request.target.partition("?")[0]:
        out.print(f"normal path  {explained.normal_path}")
    params = "  ".join(f"{name}={value}" for name, value in explained.params.items())
    route = Text(explained.route, "bold cyan") if explained.route else Text("none", "red")
    if explained.route_version is not None:
        route.append(f" version {explained.route_version}", "none")
    out.print(Text.assemble("route        ", route, f"  {params}" if params else ""))
    for considered in explained.candidates:
        if considered.route != explained.route:
            out.print(_not_taken(considered))
    if explained.steps:
        out.print(_steps(explained))
    out.print(_outcome(explained))
    if explained.upstream_request:
        sent = explained.upstream_request
        out.print(Text.assemble("upstream sees  ", (f"{sent.method} {sent.target}", "bold")))
        for name, value in sent.headers:
            out.print(Text(f"  {name}: {value}", "dim"))


def _not_taken(considered: Considered) -> Text:
    """Say of one route why another was taken, condition by condition."""
    if considered.matched and considered.lost_to:
        by = REASONS.get(considered.lost_by or "", "")
        why = f"matches too, `{considered.lost_to}` wins {by}"
    else:
        why = considered.why_not or "does not match"
    text = Text(f"             not {considered.route}", "dim")
    text.append(f"  {considered.template}" if considered.template else "", "dim cyan")
    return text.append(f": {why}", "dim")


def _steps(explained: Explanation) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("chain", "phase", "filter", "verdict", "notes"):
        table.add_column(column)
    for step in explained.steps:
        name = step.filter if step.id == step.filter else f"{step.filter} ({step.id})"
        verdict = f"{step.verdict} {step.code}" if step.code else step.verdict
        table.add_row(
            step.stage,
            step.phase,
            Text(name),
            Text(verdict, _COLOURS.get(step.verdict, "none")),
            Text("; ".join(step.notes)),
        )
    return table


def _outcome(explained: Explanation) -> Text:
    outcome = explained.outcome
    text = Text.assemble("outcome      ", (outcome.kind, "red" if outcome.code else "green"))
    if outcome.status is not None:
        text.append(f" {outcome.status}", "bold")
    if outcome.code:
        text.append(f" {outcome.code}", "red")
    if outcome.upstream:
        text.append(f" to {outcome.upstream}")
    if outcome.endpoints:
        text.append(f" at {' or '.join(outcome.endpoints)}")
    if outcome.location:
        text.append(f" to {outcome.location}")
    if outcome.cause:
        text.append(f"  ({outcome.cause})", "dim")
    return text
