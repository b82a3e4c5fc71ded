"""The load generator and the cheap upstream, built from `load/` when they are not yet."""

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from processes import BenchError, pinned
from scenarios import Scenario

_PACKAGE = Path(__file__).resolve().parent / "load"


@dataclass(frozen=True)
class Answers:
    """What the load generator saw."""

    requests: int
    errors: int
    first_error: str | None
    seconds: float
    p50_us: int
    p99_us: int
    max_us: int


@dataclass(frozen=True)
class Upstream:
    """A running upstream, which knows how many requests it has answered."""

    address: str
    _process: subprocess.Popen[str]

    def answered(self) -> int:
        """The number of requests answered since it started."""
        if self._process.stdin is None or self._process.stdout is None:
            raise BenchError("the upstream was started without pipes")
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@dataclass(frozen=True)
class Kit:
    """Where the two programs are, and the core they share."""

    programs: Path
    core: int

    @classmethod
    def build(cls, core: int) -> "Kit":
        """Build both programs, optimised; at once when nothing has changed.

        Raises:
            BenchError: there is no cargo, or it failed (it has said why).
        """
        cargo = shutil.which("cargo")
        if cargo is None:
            raise BenchError("`cargo` is missing: https://rustup.rs installs it")
        target = Path(os.environ.get("CARGO_TARGET_DIR") or _PACKAGE.parents[1] / "target")
        target /= "benchmarks"
        built = subprocess.run(
            [cargo, "build", "--quiet", "--release", "--locked", "--target-dir", target],
            cwd=_PACKAGE,
            check=False,
        )
        if built.returncode != 0:
            raise BenchError("the load generator could not be built")
        return cls(programs=target / "release", core=core)

    @contextlib.contextmanager
    def upstream(self, answer_bytes: int) -> Iterator[Upstream]:
        """Run an upstream until the block ends."""
        command: list[str | Path] = [self.programs / "upstream", "--bytes", str(answer_bytes)]
        with subprocess.Popen(
            pinned(command, self.core),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            if process.stdout is None:
                raise BenchError("the upstream was started without pipes")
            address = process.stdout.readline().strip()
            if not address:
                raise BenchError("the upstream did not start")
            # Leaving closes its standard input, which ends it.
            yield Upstream(address, process)

    def load(self, scenario: Scenario, port: int, seconds: float, requests: Path) -> Answers:
        """Load a gateway and wait until the last answer.

        Raises:
            BenchError: the load generator itself failed.
        """
        command: list[str | Path] = [self.programs / "load"]
        command += ["--target", f"127.0.0.1:{port}", "--seconds", str(seconds)]
        command += ["--connections", str(scenario.connections)]
        command += ["--expect-bytes", str(scenario.answer_bytes), "--requests", requests]
        if scenario.rate is not None:
            command += ["--rate", str(scenario.rate)]
        if scenario.body_bytes is not None:
            command += ["--method", "POST", "--body-bytes", str(scenario.body_bytes)]
        ended = subprocess.run(
            pinned(command, self.core),
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds + 30,
        )
        if ended.returncode != 0:
            raise BenchError(f"the load generator failed: {ended.stderr.strip()}")
        return Answers(**json.loads(ended.stdout))
