"""What a scenario plays on: an upstream, gateways in front of it, and their load."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engines import OURS, Engine, Place
from kit import Answers, Kit, Upstream
from processes import BenchError, Cores, free_port, get, running
from scenarios import Probe, Scenario


@dataclass(frozen=True)
class Gateway:
    """A gateway that is up and does the work of the scenario."""

    name: str
    pid: int
    port: int


@dataclass(frozen=True)
class Stage:
    """One scenario, ready to be played."""

    scenario: Scenario
    kit: Kit
    cores: Cores
    upstream: Upstream
    directory: Path
    """In memory."""
    requests: Path

    @classmethod
    @contextlib.contextmanager
    def of(
        cls, scenario: Scenario, *, kit: Kit, cores: Cores, directory: Path
    ) -> Iterator["Stage"]:
        """Set a stage up until the block ends."""
        folder = directory / scenario.name
        folder.mkdir()
        requests = folder / "requests"
        requests.write_text("\n".join(scenario.work.paths))
        with kit.upstream(scenario.answer_bytes) as upstream:
            yield cls(scenario, kit, cores, upstream, folder, requests)

    @contextlib.contextmanager
    def gateway(self, engine: Engine) -> Iterator[Gateway]:
        """Run a gateway until the block ends.

        Raises:
            BenchError: it did not start, or it is ours and does not do the work.
        """
        place = Place(
            directory=self.directory / engine.name,
            port=free_port(),
            operations_port=free_port(),
            upstream=self.upstream.address,
            work=self.scenario.work,
        )
        place.directory.mkdir()
        command = engine.command(engine.program(), place)
        log = place.directory / "output.log"
        with running(command, core=self.cores.gateway, port=place.port, log=log) as pid:
            if engine.name == OURS:
                for probe in self.scenario.work.probes:
                    _check(probe, place.port)
            yield Gateway(engine.name, pid, place.port)

    def load(self, gateway: Gateway, seconds: float) -> Answers:
        """Load a gateway.

        Raises:
            BenchError: an answer was wrong, or did not come from the upstream.
        """
        before = self.upstream.answered()
        answers = self.kit.load(self.scenario, gateway.port, seconds, self.requests)
        asked = self.upstream.answered() - before
        where = f"{gateway.name} in {self.scenario.name}"
        if answers.errors or not answers.requests:
            raise BenchError(f"{where}: {answers.errors} wrong answers; {answers.first_error}")
        if asked != answers.requests:
            raise BenchError(f"{where}: {answers.requests} answers, {asked} from the upstream")
        return answers


def _check(probe: Probe, port: int) -> None:
    answer = get(port, probe.path)
    if answer.status != probe.status:
        raise BenchError(f"{OURS}: {probe.path} gave {answer.status}, not {probe.status}")
    for name, expected in probe.headers.items():
        found = answer.headers[name]
        if found is None or expected not in {None, found}:
            raise BenchError(f"{OURS}: {probe.path} came back with `{name}: {found}`")
