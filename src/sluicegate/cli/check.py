"""`sluicegate check`: says whether documents are fine, and everything that is not."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
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
from sluicegate.config.proof import Finding, Proof
from sluicegate.config.snapshot import snapshot_of
from sluicegate.errors import Problem


@dataclass(frozen=True, slots=True)
class _Checked:
    """A document with what is wrong in it and what its routes do."""

    candidate: Candidate
    proof: Proof
    strict: bool

    @property
    def problems(self) -> list[Problem]:
        """Mistakes and warnings, those of the prover behind the others."""
        source = self.candidate.source
        found = [one.located(source, strict=self.strict) for one in self.proof.of("warning")]
        return [*self.candidate.problems, *found]

    @property
    def is_fine(self) -> bool:
        """Whether there is no error."""
        return all(problem.severity != "error" for problem in self.problems)


@ends_with_a_code
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Documents, YAML or JSON.")],
    *,
    everything: Annotated[
        bool,
        typer.Option("--all", help="List what is normal too: which routes meet, and who wins."),
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Take what the prover warns of for a mistake.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say whether documents are fine, and everything that is not; starts nothing.

    The routes are proven, not tried: a route that no request reaches, a broad one that
    hides a precise one and a slip of the pen are shown with a request.

    Exit code 0: fine, perhaps with warnings. 2: at least one mistake.

    Example: `sluicegate check sluicegate.yaml`
    """
    checked = [_check(path, strict=strict) for path in files]
    if as_json:
        print_json(_report(checked))
    else:
        for one in checked:
            _print(one, everything=everything)
    if not all(one.is_fine for one in checked):
        raise typer.Exit(WRONG)


def _check(path: Path, *, strict: bool) -> _Checked:
    candidate = load_with_files(path, engine.check)
    if candidate.errors:
        return _Checked(candidate, Proof(), strict)
    snapshot = snapshot_of(candidate.document, version=1)
    return _Checked(candidate, engine.prove(snapshot), strict)


def _print(checked: _Checked, *, everything: bool) -> None:
    out = console()
    candidate, proof = checked.candidate, checked.proof
    for problem in candidate.problems:
        out.print(rendered(problem))
    for finding in proof.of("warning"):
        _print_warning(out, finding, checked)
    notes = proof.of("note")
    if everything:
        for finding in notes:
            _print_note(out, finding, candidate)
    for remark in proof.remarks:
        out.print(Text.assemble(("note", "bold cyan"), f": {remark}\n"))
    verdict = Text(candidate.source.file, "bold").append(": ", "none")
    if not checked.is_fine:
        out.print(verdict.append_text(summary(checked.problems)))
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
    if checked.problems:
        verdict.append(", ").append_text(summary(checked.problems))
    _append_rest(verdict, proof, notes, everything=everything)
    out.print(verdict)


def _not_served(candidate: Candidate) -> dict[str, str]:
    """Routes that are checked and take no requests, with their status."""
    routes = candidate.parsed.routes if candidate.parsed else ()
    return {route.id: route.status for route in routes if not route.is_served}


def _append_rest(verdict: Text, proof: Proof, notes: list[Finding], *, everything: bool) -> None:
    """Say how much is not listed."""
    left_out = sum(proof.left_out.values())
    if left_out:
        verdict.append(f", {counted(left_out, 'finding')} more not listed", "dim")
    if notes and not everything:
        verdict.append(f", {counted(len(notes), 'note')} (--all lists them)", "dim")


def _print_warning(out: Console, finding: Finding, checked: _Checked) -> None:
    problem = finding.located(checked.candidate.source, strict=checked.strict)
    text = rendered(problem)
    text.rstrip()
    _append_evidence(text, finding, checked.candidate, gutter=len(str(problem.line or 1)))
    out.print(text.append("\n"))


def _print_note(out: Console, finding: Finding, candidate: Candidate) -> None:
    text = Text.assemble(
        ("note", "bold cyan"),
        (f"[{finding.kind}]", "cyan"),
        f": {finding.message}",
        ("\n --> ", "blue"),
        finding.located(candidate.source).place,
    )
    _append_evidence(text, finding, candidate, gutter=1)
    out.print(text.append("\n"))


def _append_evidence(text: Text, finding: Finding, candidate: Candidate, *, gutter: int) -> None:
    """Say where the other routes stand, and give a command that shows who answers."""
    source = candidate.source
    margin = f"\n{' ' * gutter} = "
    for other in finding.others:
        text.append(margin, "blue").append(f"{other.id}: ", "bold")
        text.append(f"{finding.place_of(other, source)}  {other.template}")
    if finding.witness is None:
        if finding.others:
            text.append(margin, "blue").append("no example: ", "bold")
            text.append("their patterns may or may not meet")
        return
    who = f"`{finding.answered_by}` answers" if finding.answered_by else "nobody answers"
    text.append(margin, "blue").append(f"{who}: ", "bold")
    text.append(finding.witness.command(source.file), "green")


def _report(checked: list[_Checked]) -> dict[str, object]:
    return {
        "ok": all(one.is_fine for one in checked),
        "files": [
            {
                "file": one.candidate.source.file,
                "ok": one.is_fine,
                "not_served": _not_served(one.candidate),
                "problems": [problem.as_json() for problem in one.problems],
                "proof": one.proof.as_json(one.candidate.source),
            }
            for one in checked
        ],
    }
