"""A busy interpreter delays no request: engine threads never take part in it."""

import sys
import threading
import time
from pathlib import Path
from typing import Self

import pytest

from conftest import StartGateway
from e2e.load import Load, QuickUpstream
from support.gateway import forwarding

RATE = 500
SECONDS = 10
THREADS = 2
SLOWEST_P99_MS = 20.0


def engine_threads() -> set[int]:
    """The kernel's numbers of the engine's threads, by the names they take once they run."""
    deadline = time.monotonic() + 5
    while True:
        tasks = Path("/proc/self/task").iterdir()
        named = {task for task in tasks if (task / "comm").read_text().startswith("sluice-")}
        if len(named) > THREADS:  # housekeeping is one more
            return {int(task.name) for task in named}
        assert time.monotonic() < deadline, f"{len(named)} threads of the engine have begun"
        time.sleep(0.01)


class Busy:
    """A thread that computes and never waits, for as long as the block lasts."""

    def __enter__(self) -> Self:
        self.rounds = 0
        self._ends = False
        self._thread = threading.Thread(target=self._compute)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends = True
        self._thread.join()

    @property
    def ident(self) -> int | None:
        """Its number in the interpreter."""
        return self._thread.ident

    def _compute(self) -> None:
        number = 1
        while not self._ends:
            number = number * 6364136223846793005 % (1 << 64) + 1
            self.rounds += 1


@pytest.mark.spec("PL-22")
@pytest.mark.timeout(60)
def test_a_python_thread_that_never_waits_delays_no_request(start_gateway: StartGateway) -> None:
    with QuickUpstream() as upstream:
        gateway = start_gateway(forwarding(upstream.authority), threads=THREADS)
        engine = engine_threads()
        seen_busy = looks = 0
        strangers: set[int] = set()

        with Busy() as busy, Load(gateway.address, "/", rate=RATE) as load:
            processor, until = time.process_time(), time.monotonic() + SECONDS
            while time.monotonic() < until:
                # Every thread that runs Python code, or waits in it, has a frame here.
                frames = sys._current_frames()  # noqa: SLF001 - the question itself
                known = {thread.ident: thread.native_id for thread in threading.enumerate()}
                strangers |= {
                    ident for ident in frames if ident not in known or known[ident] in engine
                }
                seen_busy += busy.ident in frames
                looks += 1
                time.sleep(0.02)
            computing = time.process_time() - processor
            report = load.report()

    print(  # noqa: T201 - the figures that are asked for
        f"{THREADS} engine threads, {report.rate:.0f} requests/s for {report.seconds:.1f} s beside "
        f"{busy.rounds:,} rounds of Python: p50 {report.p50} ms, p99 {report.p99} ms, "
        f"worst {report.worst} ms; {looks} looks, {computing:.1f} s of processor time"
    )
    assert seen_busy == looks, "the Python thread was busy throughout"
    assert busy.rounds > 100_000
    assert strangers == set(), "an engine thread took part in the interpreter"
    assert report.failures == []
    assert report.statuses == {"200": report.sent}
    assert report.rate > 0.95 * RATE
    assert report.p99 < SLOWEST_P99_MS
