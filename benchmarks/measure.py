"""CPU per request: gateways in turn, under the same load, in the same minutes."""

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engines import Engine
from processes import CpuTime, busy_seconds
from scenarios import Scenario
from stage import Gateway, Stage

# After a run the kernel still has closed connections to clear away: not at the next one's expense.
_PAUSE_SECONDS = 0.1


@dataclass(frozen=True)
class Effort:
    """How long is measured."""

    rounds: int
    """Of a scenario that goals hang on."""
    reported_rounds: int
    """Of the others."""
    seconds: float
    """Of one measurement."""

    def rounds_of(self, scenario: Scenario) -> int:
        """The rounds that a scenario gets."""
        return self.rounds if scenario.binds else self.reported_rounds


@dataclass(frozen=True)
class Measurement:
    """One gateway in one round of one scenario."""

    scenario: str
    engine: str
    round: int
    requests: int
    seconds: float
    cpu_us: float
    """CPU time per request in microseconds, user and system."""
    user_us: float
    p50_us: int
    p99_us: int
    max_us: int
    others: float
    """The share of the gateway's core that other processes had: above a little it is noise."""

    def __str__(self) -> str:
        return (
            f"  round {self.round + 1:<3} {self.engine:<10} {self.cpu_us:7.2f} µs/request"
            f" {self.requests / self.seconds:8.0f} requests/s"
        )


def measure(
    stage: Stage, engines: Sequence[Engine], effort: Effort, tell: Callable[[str], None]
) -> list[Measurement]:
    """Measure every gateway once a round; who comes first changes from round to round.

    Raises:
        BenchError: a gateway did not start, or gave a wrong answer.
    """
    measurements = []
    with contextlib.ExitStack() as stack:
        gateways = [stack.enter_context(stage.gateway(engine)) for engine in engines]
        for engine, gateway in zip(engines, gateways, strict=True):
            stage.load(gateway, engine.warm_up)
        for turn in range(effort.rounds_of(stage.scenario)):
            first = turn % len(gateways)
            for gateway in gateways[first:] + gateways[:first]:
                time.sleep(_PAUSE_SECONDS)
                measurement = _once(stage, gateway, turn, effort.seconds)
                tell(str(measurement))
                measurements.append(measurement)
    return measurements


def _once(stage: Stage, gateway: Gateway, turn: int, seconds: float) -> Measurement:
    core = stage.cores.gateway
    before, busy = CpuTime.of(gateway.pid), busy_seconds(core)
    answers = stage.load(gateway, seconds)
    used, busy = CpuTime.of(gateway.pid) - before, busy_seconds(core) - busy
    return Measurement(
        scenario=stage.scenario.name,
        engine=gateway.name,
        round=turn,
        requests=answers.requests,
        seconds=answers.seconds,
        cpu_us=used.total / answers.requests * 1e6,
        user_us=used.user / answers.requests * 1e6,
        p50_us=answers.p50_us,
        p99_us=answers.p99_us,
        max_us=answers.max_us,
        others=max(0.0, busy - used.total) / answers.seconds,
    )
