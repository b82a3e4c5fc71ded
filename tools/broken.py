#!/usr/bin/env python3
"""Builds the gateway with faults put in on purpose and expects the tests of the bug cases to fail.

A test that cannot fail proves nothing. Each group of `tests/broken/faults.toml` is one build in a
copy of the repository; every case a fault names needs at least one failing test there.
Exit code 1 when a case does not notice its fault.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FAULTS = ROOT / "tests" / "broken" / "faults.toml"
TESTS = ("tests/conformance", "tests/e2e/test_metrics.py", "tests/filters")


@dataclass(frozen=True)
class Fault:
    """One line of the engine, made wrong."""

    group: str
    cases: tuple[str, ...]
    file: str
    was: str
    becomes: str

    def put_into(self, root: Path) -> None:
        """Break the copy under `root`.

        Raises:
            ValueError: what is to be replaced does not stand there exactly once.
        """
        path = root / self.file
        text = path.read_text()
        if text.count(self.was) != 1:
            raise ValueError(f"{self.file}: the line to break for {self.cases} is not there once")
        path.write_text(text.replace(self.was, self.becomes))


def read_faults() -> list[Fault]:
    """Read all faults."""
    rows = tomllib.loads(FAULTS.read_text())["fault"]
    return [Fault(**{**row, "cases": tuple(row["cases"])}) for row in rows]


def main() -> int:
    """Play every group and say which cases noticed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("groups", nargs="*", help="only these groups")
    groups = parser.parse_args().groups
    faults = [fault for fault in read_faults() if not groups or fault.group in groups]
    missed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="sluicegate-broken-") as folder:
        for group in sorted({fault.group for fault in faults}):
            failures = _play([fault for fault in faults if fault.group == group], Path(folder))
            for case in sorted({case for f in faults if f.group == group for case in f.cases}):
                noticed = failures.get(case, [])
                print(f"{case}  {'noticed by ' + noticed[0] if noticed else 'NOT NOTICED'}")
                missed += [] if noticed else [case]
    if missed:
        print("these cases pass on a broken build: " + ", ".join(missed))
    return 1 if missed else 0


def _play(faults: list[Fault], folder: Path) -> dict[str, list[str]]:
    copy = folder / faults[0].group
    report = folder / "report.json"
    ignored = shutil.ignore_patterns("target", ".venv", ".git", "*.so", "__pycache__")
    shutil.copytree(ROOT, copy, ignore=ignored)
    for fault in faults:
        fault.put_into(copy)
    environment = {**os.environ, "CARGO_TARGET_DIR": str(folder / "target")}
    cargo = ["cargo", "rustc", "--quiet", "--locked", "--lib", "-p", "sluicegate-python"]
    subprocess.run(cargo, cwd=copy, env=environment, check=True)
    built = folder / "target" / "debug" / "lib_engine.so"
    shutil.copy(built, copy / "src" / "sluicegate" / "_engine.abi3.so")
    tests = [path for path in TESTS if (copy / path).exists()]
    pytest = [sys.executable, "-m", "pytest", "-q", "-m", "case", "-p", "case_report"]
    pytest += ["--case-report", str(report), "--timeout=30", *tests]
    source = {**environment, "PYTHONPATH": str(copy / "src")}
    subprocess.run(pytest, cwd=copy, env=source, check=False, stdout=subprocess.DEVNULL)
    failures: dict[str, list[str]] = json.loads(report.read_text())
    return failures


if __name__ == "__main__":
    sys.exit(main())
