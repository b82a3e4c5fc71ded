"""From measurements to ratios, verdicts and tables."""

import datetime as dt
import json
import os
import platform
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

from engines import OURS
from measure import Measurement
from table import table

_FOLDER = Path(__file__).resolve().parent
_QUIET = 0.05
"""The share of the gateways' core that others may have without a word."""
_MARKS = ("<!-- results -->\n", "<!-- end of results -->\n")


@dataclass(frozen=True)
class Ratio:
    """CPU per request of this gateway over that of a peer, round by round."""

    scenario: str
    peer: str
    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class Goal:
    """A ratio that this gateway promises."""

    scenario: str
    peer: str
    at_most: float


@dataclass(frozen=True)
class Verdict:
    """A goal and the ratio that was measured for it."""

    goal: Goal
    ratio: Ratio

    @property
    def is_met(self) -> bool:
        """Whether the promise holds in this run."""
        return self.ratio.middle <= self.goal.at_most


@dataclass(frozen=True)
class Row:
    """Medians of one gateway in one scenario."""

    scenario: str
    engine: str
    cpu_us: float
    user_us: float
    requests_per_second: float
    p50_us: float
    p99_us: float


@dataclass(frozen=True)
class Report:
    """The outcome of a run."""

    measurements: Sequence[Measurement]
    versions: Mapping[str, str]
    goals: Sequence[Goal]
    missing: Mapping[str, str] = field(default_factory=dict)
    """The gateways that were to be measured and could not be, and why."""

    @property
    def scenarios(self) -> list[str]:
        """The scenarios measured, in order."""
        return list(dict.fromkeys(m.scenario for m in self.measurements))

    @property
    def engines(self) -> list[str]:
        """The gateways measured; the order turns during a run, so it is taken from the versions."""
        return list(self.versions)

    def rows(self) -> list[Row]:
        """A row per scenario and gateway."""
        return [self._row(s, e) for s in self.scenarios for e in self.engines]

    def ratios(self) -> list[Ratio]:
        """A ratio per scenario and peer; none if this gateway was not measured.

        The ratio is taken within each round, where both had the same machine, and then the median.
        """
        if OURS not in self.engines:
            return []
        return [self._ratio(s, e) for s in self.scenarios for e in self.engines if e != OURS]

    def verdicts(self) -> list[Verdict]:
        """The goals that this run can judge."""
        ratios = {(ratio.scenario, ratio.peer): ratio for ratio in self.ratios()}
        return [
            Verdict(goal, ratios[goal.scenario, goal.peer])
            for goal in self.goals
            if (goal.scenario, goal.peer) in ratios
        ]

    def last_line(self) -> str:
        """Which goals were missed, in one line."""
        verdicts = self.verdicts()
        missed = [
            f"{v.goal.scenario} over {v.goal.peer} is {v.ratio.middle:.2f}, not <= {v.goal.at_most}"
            for v in verdicts
            if not v.is_met
        ]
        if missed:
            return f"goals missed: {'; '.join(missed)}"
        if not verdicts:
            return "no goal was judged: the gateways or scenarios of the goals were left out"
        return f"{len(verdicts)} of {len(self.goals)} goals judged, all met"

    def as_json(self) -> str:
        """Everything, for machines."""
        verdicts = [
            {**asdict(v.goal), "measured": v.ratio.middle, "met": v.is_met} for v in self.verdicts()
        ]
        return json.dumps(
            {
                "date": f"{dt.datetime.now(dt.UTC):%Y-%m-%dT%H:%M:%SZ}",
                "machine": machine(),
                "versions": dict(self.versions),
                "missing": dict(self.missing),
                "goals": verdicts,
                "ratios": [asdict(ratio) for ratio in self.ratios()],
                "rows": [asdict(row) for row in self.rows()],
                "measurements": [asdict(m) for m in self.measurements],
            },
            indent=1,
        )

    def as_markdown(self) -> str:
        """The tables, which read well in a terminal too."""
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        parts = [
            f"{versions}; {machine()}.",
            table(_MEASURED, [_measured(row) for row in self.rows()], names=2),
        ]
        ratios = self.ratios()
        if ratios:
            at_most = {(goal.scenario, goal.peer): goal.at_most for goal in self.goals}
            lines = [_compared(r, at_most.get((r.scenario, r.peer))) for r in ratios]
            parts.append(table(_COMPARED, lines, names=2))
        parts += [f"{name} was left out: {why}." for name, why in self.missing.items()]
        others = median(m.others for m in self.measurements)
        if others > _QUIET:
            parts.append(f"Not a quiet machine: others had {others:.0%} of the gateways' core.")
        return "\n\n".join(parts) + "\n"

    def _of(self, scenario: str, engine: str) -> list[Measurement]:
        found = [m for m in self.measurements if (m.scenario, m.engine) == (scenario, engine)]
        return sorted(found, key=lambda m: m.round)

    def _row(self, scenario: str, engine: str) -> Row:
        found = self._of(scenario, engine)
        return Row(
            scenario=scenario,
            engine=engine,
            cpu_us=median(m.cpu_us for m in found),
            user_us=median(m.user_us for m in found),
            requests_per_second=median(m.requests / m.seconds for m in found),
            p50_us=median(m.p50_us for m in found),
            p99_us=median(m.p99_us for m in found),
        )

    def _ratio(self, scenario: str, peer: str) -> Ratio:
        pairs = zip(self._of(scenario, OURS), self._of(scenario, peer), strict=True)
        ratios = [ours.cpu_us / theirs.cpu_us for ours, theirs in pairs]
        return Ratio(scenario, peer, min(ratios), median(ratios), max(ratios))


def read_goals() -> list[Goal]:
    """The goals of `goals.toml`."""
    text = (_FOLDER / "goals.toml").read_text()
    return [Goal(**goal) for goal in tomllib.loads(text)["goal"]]


def save(report: Report) -> Path:
    """Write `results/latest.json`."""
    file = _FOLDER / "results" / "latest.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(report.as_json() + "\n")
    return file


def update_readme(report: Report) -> None:
    """Put the tables between the marks in `README.md`."""
    file = _FOLDER / "README.md"
    before, start, rest = file.read_text().partition(_MARKS[0])
    _, end, after = rest.partition(_MARKS[1])
    file.write_text(f"{before}{start}\n{report.as_markdown()}\n{end}{after}")


def machine() -> str:
    """What the figures were measured on."""
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    name = names[0] if names else platform.machine()
    return f"{name}, {os.cpu_count()} cores, Linux {platform.release()}"


_MEASURED = (
    "scenario",
    "gateway",
    "CPU µs/request",
    "of it user",
    "requests/s",
    "p50 µs",
    "p99 µs",
)
_COMPARED = ("scenario", "sluicegate over", "lowest", "median", "highest", "goal", "")


def _measured(row: Row) -> tuple[str, ...]:
    return (
        row.scenario,
        row.engine,
        f"{row.cpu_us:.2f}",
        f"{row.user_us:.2f}",
        f"{row.requests_per_second:.0f}",
        f"{row.p50_us:.0f}",
        f"{row.p99_us:.0f}",
    )


def _compared(ratio: Ratio, at_most: float | None) -> tuple[str, ...]:
    verdict = "" if at_most is None else "met" if ratio.middle <= at_most else "**missed**"
    return (
        ratio.scenario,
        ratio.peer,
        f"{ratio.low:.2f}",
        f"{ratio.middle:.2f}",
        f"{ratio.high:.2f}",
        "" if at_most is None else f"≤ {at_most:.2f}",
        verdict,
    )
