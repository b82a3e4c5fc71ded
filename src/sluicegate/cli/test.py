"""`sluicegate test`: tries sample requests against a document."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from sluicegate import engine
from sluicegate.cli.options import AsJson, ConfigFile
from sluicegate.cli.printing import WRONG, console, counted, ends_with_a_code, print_json
from sluicegate.config.loader import load, process_settings, read_source
from sluicegate.config.samples import Sample, read_samples
from sluicegate.config.snapshot import snapshot_of
from sluicegate.engine import Facts
from sluicegate.runtime.regression import Difference, as_request, differences


@ends_with_a_code
def try_samples(
    file: Annotated[Path, typer.Argument(help="YAML of requests and what is expected.")],
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Try sample requests against a document, and show where it does something else.

    Nothing is started or sent. Exit code 0: every expectation holds. 2: one does not, or
    a file is wrong.

    Example: `sluicegate test samples.yaml --config sluicegate.yaml`, with samples such as
    `requests: [{name: greets, request: {url: /hello}, expect: {route: hello}}]`
    """
    samples = read_samples(read_source(file)).requests
    settings = process_settings({"config": config})
    snapshot = snapshot_of(load(settings.config, engine.check).document, version=1)
    results = [
        (one, differences(one, engine.explain(snapshot, as_request(one.request), _facts(one))))
        for one in samples
    ]
    if as_json:
        print_json(_report(results))
    else:
        _print(results)
    if any(found for _, found in results):
        raise typer.Exit(WRONG)


def _facts(sample: Sample) -> Facts:
    return Facts(peer=str(sample.peer))


def _print(results: list[tuple[Sample, list[Difference]]]) -> None:
    out = console()
    for sample, found in results:
        mark = Text("differs ", "bold red") if found else Text("ok      ", "green")
        request = f"{sample.request.method} {sample.request.url}"
        out.print(Text.assemble(mark, (sample.name, "bold"), f"  {request}"))
        for difference in found:
            out.print(Text(f"        {difference.what}", "cyan"))
            out.print(Text(f"          - {difference.expected}", "red"), style="none")
            out.print(Text(f"          + {difference.actual}", "green"))
    wrong = sum(bool(found) for _, found in results)
    verdict = counted(len(results), "request")
    if wrong:
        out.print(Text.assemble(f"{verdict}, ", (f"{wrong} not as expected", "bold red")))
    else:
        out.print(Text.assemble(f"{verdict}, ", ("all as expected", "bold green")))


def _report(results: list[tuple[Sample, list[Difference]]]) -> dict[str, Any]:
    return {
        "ok": not any(found for _, found in results),
        "requests": [
            {
                "name": sample.name,
                "ok": not found,
                "differences": [
                    {"what": one.what, "expected": one.expected, "actual": one.actual}
                    for one in found
                ],
            }
            for sample, found in results
        ],
    }
