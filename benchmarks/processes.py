"""Processes of a run: pinned to a core, observed in /proc, and gone when the run is."""

import contextlib
import http.client
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_START_LIMIT = 30.0
_STOP_LIMIT = 10.0
_PACKAGES = {
    "setpriv": "util-linux",
    "taskset": "util-linux",
    "nice": "coreutils",
    "perf": "linux-perf",
    "callgrind_control": "valgrind",
    "callgrind_annotate": "valgrind",
}
"""In which Debian package a program is, where the name differs."""


class BenchError(Exception):
    """The run cannot go on, or its figures would not be true."""


@dataclass(frozen=True)
class Cores:
    """The gateway has one core; load generator and upstream share the other."""

    gateway: int
    load: int

    @classmethod
    def choose(cls) -> "Cores":
        """Take two of the cores that this process may use.

        Raises:
            BenchError: there is only one.
        """
        usable = sorted(os.sched_getaffinity(0))
        if len(usable) < 2:  # noqa: PLR2004
            raise BenchError(
                "the comparison needs two cores: one for the gateway, one for the load"
            )
        return cls(gateway=usable[0], load=usable[1])


@dataclass(frozen=True)
class CpuTime:
    """Seconds on a CPU, in our code and in the kernel."""

    user: float
    system: float

    def __sub__(self, earlier: "CpuTime") -> "CpuTime":
        return CpuTime(self.user - earlier.user, self.system - earlier.system)

    @property
    def total(self) -> float:
        """Both together."""
        return self.user + self.system

    @classmethod
    def of(cls, pid: int) -> "CpuTime":
        """Add up what a process and its living descendants have used, all threads included."""
        ticks = os.sysconf("SC_CLK_TCK")
        user = system = 0
        for member in family(pid):
            # The name in brackets may hold spaces; utime and stime are fields 14 and 15 of proc(5).
            fields = Path(f"/proc/{member}/stat").read_text().rpartition(")")[2].split()
            user += int(fields[11])
            system += int(fields[12])
        return cls(user / ticks, system / ticks)


def busy_seconds(core: int) -> float:
    """How long a core has worked since the machine started, for whomever."""
    line = next(
        line
        for line in Path("/proc/stat").read_text().splitlines()
        if line.startswith(f"cpu{core} ")
    )
    # user, nice, system, idle, iowait, irq, softirq, steal: see proc(5).
    user, nice, system, _, _, irq, softirq, steal = map(int, line.split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """A process and all its descendants."""
    members = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            members += family(int(child))
    return members


def pinned(command: Sequence[str | Path], core: int) -> list[str]:
    """The command, bound to a core, with what is needed to outlive neither us nor the noise."""
    prefix = [tool("setpriv"), "--pdeathsig", "TERM", tool("taskset"), "-c", str(core)]
    if os.geteuid() == 0:
        # Everybody gets the same advantage over whatever else the machine is doing.
        prefix += [tool("nice"), "-n", "-10"]
    return [*prefix, *map(str, command)]


@contextlib.contextmanager
def running(
    command: Sequence[str | Path],
    *,
    core: int,
    port: int,
    log: Path,
    within: float = _START_LIMIT,
) -> Iterator[int]:
    """Run a gateway until the block ends; gives its process id once it accepts connections.

    Raises:
        BenchError: it did not, `within` these seconds; the end of its log is in the message.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            pinned(command, core),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=log.parent,
            start_new_session=True,
        )
    try:
        _wait_for_port(process, port, log, within)
        yield process.pid
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process kindly, and its whole family without asking when that does not help."""
    if process.poll() is not None:
        return
    members = family(process.pid)
    process.terminate()
    try:
        process.wait(_STOP_LIMIT)
    except subprocess.TimeoutExpired:
        for member in members:
            with contextlib.suppress(ProcessLookupError):
                os.kill(member, 9)
        process.wait()


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def get(port: int, path: str) -> http.client.HTTPResponse:
    """Ask once, on a connection of its own; the body has been read."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
    finally:
        connection.close()
    return answer


def _wait_for_port(process: subprocess.Popen[bytes], port: int, log: Path, within: float) -> None:
    limit = time.monotonic() + within
    while time.monotonic() < limit and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
            return
        time.sleep(0.05)
    end_of_log = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
    raise BenchError(f"`{' '.join(map(str, process.args))}` does not listen:\n{end_of_log}")  # type: ignore[arg-type]  # args is what we passed: a list


def tool(name: str) -> str:
    """Where a program is.

    Raises:
        BenchError: it is not installed; the message says how to install it.
    """
    path = shutil.which(name)
    if path is None:
        raise BenchError(f"`{name}` is missing: `apt-get install {_PACKAGES.get(name, name)}`")
    return path
