"""`python benchmarks/instructions.py --scenario chain`: instructions of a request, counted.

Runs this gateway under callgrind with the load of a scenario. What comes out does not depend on
what else the machine does, so it can tell two commits apart where time cannot. Only our own code
is counted, not the kernel's; and what misses the cache counts like what does not.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from engines import ENGINES, OURS, Place
from kit import Kit
from processes import BenchError, Cores, free_port, running, tool
from scenarios import SCENARIOS, Scenario
from table import table

_START_SECONDS = 60.0
_CONNECTIONS = 16
_WARM_UP_SECONDS = 2.0
_SECONDS = 6.0


def main() -> int:
    """Print the count, and the functions that make it up."""
    parser = argparse.ArgumentParser(description="Instructions of a request, counted.")
    parser.add_argument("--scenario", default="plain", choices=[s.name for s in SCENARIOS])
    parser.add_argument("--top", type=int, default=40, help="lines of the list of functions")
    options = parser.parse_args()
    scenario = next(scenario for scenario in SCENARIOS if scenario.name == options.scenario)
    try:
        with tempfile.TemporaryDirectory(prefix="sluicegate-bench-", dir="/dev/shm") as directory:
            requests, counts = _count(scenario, Path(directory))
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    functions = Counter[str]()
    for name, count in counts:
        functions[name] += count
    rows = [(name, f"{count / requests:.0f}") for name, count in functions.most_common(options.top)]
    rows.append(("all", f"{functions.total() / requests:.0f}"))
    print(f"{scenario.about}; {requests} requests\n")
    print(table(("function", "instructions per request"), rows, names=1))
    return 0


def _count(scenario: Scenario, directory: Path) -> tuple[int, list[tuple[str, int]]]:
    """The requests counted, and what each function of the engine's thread took for them."""
    cores = Cores.choose()
    kit = Kit.build(cores.load)
    engine = next(engine for engine in ENGINES if engine.name == OURS)
    requests = directory / "requests"
    requests.write_text("\n".join(scenario.work.paths))
    counts = directory / "counts"
    valgrind = [tool("valgrind"), "--tool=callgrind", "--separate-threads=yes", "-q"]
    valgrind += ["--instr-atstart=no", f"--callgrind-out-file={counts}"]
    # Waiting on one connection for its turn behind many others would be counted as idle time only.
    load = replace(scenario, connections=min(scenario.connections, _CONNECTIONS), rate=None)
    with kit.upstream(scenario.answer_bytes) as upstream:
        place = Place(directory, free_port(), free_port(), upstream.address, scenario.work)
        command = [*valgrind, sys.executable, *engine.command(engine.program(), place)]
        log = directory / "output.log"
        with running(
            command, core=cores.gateway, port=place.port, log=log, within=_START_SECONDS
        ) as pid:
            kit.load(load, place.port, _WARM_UP_SECONDS, requests)
            _switch("on", pid)
            answered = kit.load(load, place.port, _SECONDS, requests).requests
            _switch("off", pid)
    return answered, max(map(_functions, directory.glob("counts-*")), key=_sum)


def _switch(state: str, pid: int) -> None:
    control = [tool("callgrind_control"), "-i", state, str(pid)]
    subprocess.run(control, capture_output=True, check=True)
    time.sleep(0.2)


def _functions(counts: Path) -> list[tuple[str, int]]:
    annotate: list[str | Path] = [
        tool("callgrind_annotate"),
        "--show-percs=no",
        "--threshold=100",
        counts,
    ]
    told = subprocess.run(annotate, capture_output=True, text=True, check=False).stdout
    # `1,234  file:function [object]`, recursion as `function'2`.
    lines = re.findall(r"^\s*([\d,]+)\s+\S*?:(.+?)(?:'\d+)?(?: \[[^\]]*\])?$", told, re.MULTILINE)
    return [(name, int(count.replace(",", ""))) for count, name in lines]


def _sum(functions: list[tuple[str, int]]) -> int:
    return sum(count for _, count in functions)


if __name__ == "__main__":
    sys.exit(main())
