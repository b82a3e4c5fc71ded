"""`python benchmarks/hotspots.py nginx --scenario plain`: where a gateway's time goes.

Counts system calls per request (strace) and samples where the CPU is (perf), under the load of a
scenario. Both slow the gateway down: the figures say where, not how much.
"""

import argparse
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from engines import ENGINES
from kit import Kit
from processes import BenchError, Cores, family, tool
from scenarios import SCENARIOS
from stage import Gateway, Stage
from table import table

_SECONDS = 3.0
_START_SECONDS = 0.5


def main() -> int:
    """Print both for one gateway."""
    parser = argparse.ArgumentParser(description="Where a gateway's time goes.")
    parser.add_argument("engine", choices=[engine.name for engine in ENGINES])
    parser.add_argument("--scenario", default="plain", choices=[s.name for s in SCENARIOS])
    parser.add_argument("--top", type=int, default=25, help="lines of the list of functions")
    parser.add_argument("--keep", type=Path, help="keep what perf recorded in this file")
    options = parser.parse_args()
    engine = next(engine for engine in ENGINES if engine.name == options.engine)
    scenario = next(scenario for scenario in SCENARIOS if scenario.name == options.scenario)
    try:
        cores = Cores.choose()
        kit = Kit.build(cores.load)
        with (
            tempfile.TemporaryDirectory(prefix="sluicegate-bench-", dir="/dev/shm") as directory,
            Stage.of(scenario, kit=kit, cores=cores, directory=Path(directory)) as stage,
            stage.gateway(engine) as gateway,
        ):
            stage.load(gateway, seconds=1.0)
            print(f"{engine.name}, {scenario.about}\n")
            print(_system_calls(stage, gateway), end="\n\n")
            recorded = options.keep or stage.directory / "perf.data"
            print(_functions(stage, gateway, recorded, options.top))
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _system_calls(stage: Stage, gateway: Gateway) -> str:
    output = stage.directory / "strace"
    command = [tool("strace"), "-c", "-f", "-qq", "-o", str(output)]
    for pid in family(gateway.pid):
        command += ["-p", str(pid)]
    requests = _observed(stage, gateway, command)
    rows = []
    for line in output.read_text().splitlines():
        # `% time, seconds, usecs/call, calls, [errors], syscall`
        counted = re.match(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(\d*)\s*(\w+)$", line)
        if counted and counted[3] != "total":
            failed = int(counted[2] or 0) / requests
            rows.append((counted[3], int(counted[1]) / requests, failed))
    rows.sort(key=lambda row: row[1], reverse=True)
    shown = [(name, f"{calls:.3f}", f"{failed:.3f}") for name, calls, failed in rows[:12]]
    total = sum(calls for _, calls, _ in rows)
    shown.append(("all", f"{total:.3f}", ""))
    return table(("system call", "per request", "of it failed"), shown, names=1)


def _functions(stage: Stage, gateway: Gateway, recorded: Path, top: int) -> str:
    perf = tool("perf")
    pids = ",".join(map(str, family(gateway.pid)))
    command = [perf, "record", "-q", "-F", "1999", "-g", "-o", str(recorded), "-p", pids]
    _observed(stage, gateway, command)
    parts = []
    for sort, lines in (("dso", 6), ("sym", top)):
        flags = ["--no-children", "--stdio", "-g", "none", "--percent-limit", "0.3", "-s", sort]
        told = subprocess.run(
            [perf, "report", "-i", recorded, *flags], capture_output=True, text=True, check=False
        )
        found = re.findall(r"^ +\d+\.\d+%.*\S", told.stdout, re.MULTILINE)
        parts.append("\n".join(found[:lines]))
    return "\n\n".join(parts)


def _observed(stage: Stage, gateway: Gateway, command: list[str]) -> int:
    """Run an observer while the gateway works; gives the number of requests that it saw."""
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as observer:
        try:
            # It must have attached when the load begins: what it missed would still be divided by.
            time.sleep(_START_SECONDS)
            if observer.poll() is not None:
                said = observer.stderr.read() if observer.stderr else ""
                raise BenchError(f"`{command[0]}` ended at once: {said.strip()}")
            return stage.load(gateway, _SECONDS).requests
        finally:
            observer.send_signal(signal.SIGINT)
            observer.wait(30)


if __name__ == "__main__":
    sys.exit(main())
