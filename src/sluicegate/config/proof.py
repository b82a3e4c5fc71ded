"""What the engine's prover says of a document's routes, in sentences with places."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from sluicegate.config.source import Source
from sluicegate.errors import Path, Problem


@dataclass(frozen=True, slots=True)
class ProvenRoute:
    """A route that a finding is about."""

    index: int
    id: str
    path: int
    """Which of its paths."""
    template: str

    def problem(self, source: Source, message: str = "") -> Problem:
        """Give a problem at the path."""
        at: Path = ("routes", self.index, "match", "path")
        one_of_many = (*at, self.path)
        return Problem(message, one_of_many if one_of_many in source.places else at)


@dataclass(frozen=True, slots=True)
class Witness:
    """A request that shows a finding."""

    method: str
    host: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    repeats: bool = False
    """Something is said twice in it, which no usual client does."""
    listener: str | None = None
    """Where it enters, when listeners see different routes."""

    def command(self, file: str) -> str:
        """Give a line for a shell that shows who answers."""
        words = ["sluicegate", "explain", self.method, f"http://{self.host}{self.target}"]
        for name, value in self.headers:
            words += ["-H", f"{name}: {value}"]
        if self.listener:
            words += ["--listener", self.listener]
        return shlex.join([*words, "--config", file])


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is so, alone or beside other routes."""

    kind: str
    level: Literal["warning", "note"]
    route: ProvenRoute
    others: tuple[ProvenRoute, ...]
    decided: str | None
    witness: Witness | None
    answered_by: str | None
    expected: str | None

    @property
    def message(self) -> str:
        """The finding as one sentence."""
        return _SENTENCES[self.kind].format(
            id=self.route.id,
            template=self.route.template,
            others=_listed([f"`{other.id}`" for other in self.others]),
            take="take" if len(self.others) > 1 else "takes",
            win="win" if len(self.others) > 1 else "wins",
            other_template=self.others[0].template if self.others else "",
            by=REASONS.get(self.decided or "", ""),
        )

    def located(self, source: Source, *, strict: bool = False) -> Problem:
        """Make it a problem at the route's place; with `strict` a warning is an error."""
        problem = replace(
            self.route.problem(source, self.message),
            code=self.kind,
            expected=self.expected or _WAYS_OUT.get(self.kind),
            severity="error" if strict and self.level == "warning" else "warning",
        )
        return source.locate(problem)

    def place_of(self, other: ProvenRoute, source: Source) -> str:
        """Where a route of it stands: `file:line:column`."""
        return source.locate(other.problem(source)).place

    def as_json(self, source: Source) -> dict[str, Any]:
        """Return what `--json` prints of it."""
        witness = self.witness
        return {
            "kind": self.kind,
            "level": self.level,
            "message": self.message,
            "route": self.route.id,
            "template": self.route.template,
            "place": self.place_of(self.route, source),
            "others": [
                {
                    "route": other.id,
                    "template": other.template,
                    "place": self.place_of(other, source),
                }
                for other in self.others
            ],
            "decided": self.decided,
            "expected": self.expected or _WAYS_OUT.get(self.kind),
            "answered_by": self.answered_by,
            "witness": witness
            and {
                "method": witness.method,
                "host": witness.host,
                "target": witness.target,
                "headers": [list(pair) for pair in witness.headers],
                "repeats": witness.repeats,
                "listener": witness.listener,
                "command": witness.command(source.file),
            },
        }


@dataclass(frozen=True, slots=True)
class Proof:
    """All that is found, the worst first, and what was left out."""

    routes: int = 0
    pairs: int = 0
    pairs_by_repetition: int = 0
    findings: tuple[Finding, ...] = ()
    totals: Mapping[str, int] | None = None
    """How many there are of each kind, those left out of `findings` among them."""
    undecided: tuple[ProvenRoute, ...] = ()
    undecided_total: int = 0
    cut_short: int = 0

    @classmethod
    def from_raw(cls, raw: dict[str, Any]) -> Self:
        """Read the engine's answer; kinds of a newer engine are left out."""
        return cls(
            routes=raw["routes"],
            pairs=raw["pairs"],
            pairs_by_repetition=raw["pairs_by_repetition"],
            findings=tuple(_finding(one) for one in raw["findings"] if one["kind"] in _SENTENCES),
            totals=dict(raw["totals"]),
            undecided=tuple(ProvenRoute(**one) for one in raw["undecided"]),
            undecided_total=raw["undecided_total"],
            cut_short=raw["cut_short"],
        )

    def of(self, level: Literal["warning", "note"]) -> list[Finding]:
        """Findings of one level."""
        return [finding for finding in self.findings if finding.level == level]

    @property
    def left_out(self) -> dict[str, int]:
        """How many findings of a kind are not listed, where there are any."""
        listed = [finding.kind for finding in self.findings]
        rest = {kind: total - listed.count(kind) for kind, total in (self.totals or {}).items()}
        return {kind: count for kind, count in rest.items() if count > 0}

    @property
    def remarks(self) -> list[str]:
        """What was not examined, and why."""
        said = []
        if self.undecided_total:
            names = _listed([f"`{route.id}`" for route in self.undecided[:3]])
            more = " among them" if self.undecided_total > len(self.undecided[:3]) else ""
            said.append(
                f"not decided for {self.undecided_total} of {self.routes} routes ({names}{more}): "
                "whether a request reaches them depends on patterns that were tried and not "
                "solved, or would have taken too long"
            )
        if self.cut_short:
            said.append(
                f"{self.cut_short} of {self.routes} routes meet so many others that they were "
                "compared with the first of these only; the rest was not examined"
            )
        return said

    def as_json(self, source: Source) -> dict[str, Any]:
        """Return what `--json` prints."""
        return {
            "routes": self.routes,
            "pairs": self.pairs,
            "pairs_by_repetition": self.pairs_by_repetition,
            "totals": dict(self.totals or {}),
            "left_out": self.left_out,
            "undecided": [route.id for route in self.undecided],
            "undecided_total": self.undecided_total,
            "cut_short": self.cut_short,
            "findings": [finding.as_json(source) for finding in self.findings],
        }


def _finding(raw: dict[str, Any]) -> Finding:
    witness = raw["witness"]
    return Finding(
        kind=raw["kind"],
        level=raw["level"],
        route=ProvenRoute(**raw["route"]),
        others=tuple(ProvenRoute(**other) for other in raw["others"]),
        decided=raw["decided"],
        witness=Witness(
            method=witness["method"],
            host=witness["host"],
            target=witness["target"],
            headers=tuple((str(name), str(value)) for name, value in witness["headers"]),
            repeats=witness["repeats"],
            listener=witness["listener"],
        )
        if witness
        else None,
        answered_by=raw["answered_by"],
        expected=raw["expected"],
    )


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


_SENTENCES = {
    "impossible_route": "no request meets the conditions of `{id}`: they exclude each other",
    "equal_route": "`{id}` is never reached: {others} takes exactly the same requests "
    "and comes first {by}",
    "shadowed_route": "`{id}` is never reached: {others} {take} all its requests and {win} {by}",
    "hidden_route": "the broader {others} takes requests of the more precise `{id}` {by}",
    "slash_twin": "`{template}` of `{id}` and `{other_template}` of {others} differ by a slash "
    "only and go to different upstreams",
    "slash_only": "`{template}` of `{id}` takes this one path: neither what is below it nor the "
    "path without the slash",
    "no_rest": "`{template}` of `{id}` takes this one path and nothing below it",
    "case_twin": "`{template}` of `{id}` and `{other_template}` of {others} differ by capitals "
    "only",
    "looks_like_parameter": "`{template}` of `{id}` is taken word for word: a segment of it looks "
    "like a parameter and is none",
    "partial_overlap": "`{id}` and {others} meet, and neither is within the other; {others} "
    "wins there {by}",
    "precise_inside_broad": "{others} is within `{id}` and wins {by}",
}
REASONS = {
    "priority": "by priority",
    "host": "by a more precise host",
    "path": "by a more precise path",
    "conditions": "by more conditions",
    "head": "by naming HEAD itself",
    "place": "by standing first",
}
_WAYS_OUT = {
    "impossible_route": "conditions that one request can meet together",
    "equal_route": "one of the two, or another condition",
    "shadowed_route": "no such route, other conditions, or another priority",
    "hidden_route": "a priority for the broader route that is not above this one's",
}
