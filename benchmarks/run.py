"""`python benchmarks/run.py`: CPU per request of this gateway beside those of its peers.

Ends with 0 when all goals that could be judged are met, with 1 when one is missed (the last line
says which), with 2 when nothing true could be measured.
"""

import argparse
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn, Protocol, TypeVar

from engines import ENGINES, Engine
from kit import Kit
from measure import Effort, measure
from processes import BenchError, Cores
from report import Report, read_goals, save, update_readme
from scenarios import SCENARIOS
from stage import Stage


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_Choice = TypeVar("_Choice", bound=_Named)


def main() -> int:
    """Measure, print, keep, judge."""
    options = _options()
    # A kill must not leave a gateway behind: it becomes an exit, which unwinds.
    signal.signal(signal.SIGTERM, _leave)
    # Many short rounds: what else the machine does then hits all gateways of a round alike.
    effort = Effort(rounds=15, reported_rounds=5, seconds=1.0)
    if options.quick:
        effort = Effort(rounds=5, reported_rounds=3, seconds=0.5)
    if options.rounds:
        effort = replace(effort, rounds=options.rounds, reported_rounds=options.rounds)
    try:
        engines, missing = _present(_chosen(options.engines, ENGINES))
        scenarios = _chosen(options.scenarios, SCENARIOS)
        versions = {engine.name: engine.version() for engine in engines}
        cores = Cores.choose()
        kit = Kit.build(cores.load)
        measurements = []
        with tempfile.TemporaryDirectory(prefix="sluicegate-bench-", dir="/dev/shm") as directory:
            for scenario in scenarios:
                _tell(f"{scenario.name}: {scenario.about}")
                with Stage.of(scenario, kit=kit, cores=cores, directory=Path(directory)) as stage:
                    measurements += measure(stage, engines, effort, _tell)
    except BenchError as error:
        _tell(f"error: {error}")
        return 2

    report = Report(measurements, versions, read_goals(), missing)
    save(report)
    if options.update_readme:
        update_readme(report)
    print(report.as_json() if options.json else "\n" + report.as_markdown())
    print(report.last_line(), file=sys.stderr if options.json else sys.stdout)
    return 0 if all(verdict.is_met for verdict in report.verdicts()) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="short rounds, for a first look")
    parser.add_argument("--rounds", type=int, help="rounds of every scenario")
    parser.add_argument("--engines", help=f"some of {_names(ENGINES)}")
    parser.add_argument("--scenarios", help=f"some of {_names(SCENARIOS)}")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument(
        "--update-readme", action="store_true", help="put the tables into benchmarks/README.md"
    )
    return parser.parse_args()


def _chosen(names: str | None, choices: Sequence[_Choice]) -> list[_Choice]:
    if names is None:
        return list(choices)
    wanted = names.split(",")
    unknown = set(wanted) - {choice.name for choice in choices}
    if unknown:
        raise BenchError(f"there is no {', '.join(sorted(unknown))}; there are {_names(choices)}")
    return [choice for choice in choices if choice.name in wanted]


def _present(engines: list[Engine]) -> tuple[list[Engine], dict[str, str]]:
    """The engines that can be measured, and why the others cannot."""
    missing = {
        engine.name: engine.install
        for engine in engines
        if engine.optional and engine.find() is None
    }
    for name, reason in missing.items():
        _tell(f"{name} is left out: {reason}")
    return [engine for engine in engines if engine.name not in missing], missing


def _names(choices: Sequence[_Named]) -> str:
    return ",".join(choice.name for choice in choices)


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _leave(_signal: int, _frame: object) -> NoReturn:
    sys.exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
