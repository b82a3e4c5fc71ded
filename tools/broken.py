#!/usr/bin/env python3
"""Builds the gateway with faults put in on purpose and expects the tests that claim them to fail.

A test that cannot fail proves nothing. Each group of `tests/broken/faults.toml` is one build in a
copy of the repository; every bug case and every requirement that a fault names needs at least one
failing test there. Exit code 1 when one does not notice its fault.

`--choose 10 --draw 4` takes ten of the tested requirements of files 02 and 13 at random: the same
for the same draw, and nearly the same when tests are added.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import spec

ROOT = Path(__file__).resolve().parent.parent
FAULTS = ROOT / "tests" / "broken" / "faults.toml"
CHOSEN_FROM = ("02", "13")
FAILED = re.compile(r"^test (\S+) \.\.\. FAILED$", re.MULTILINE)
TEST_NAME = re.compile(r"\s*fn (\w+)")


@dataclass(frozen=True)
class Fault:
    """One place of the product, made wrong, and what should notice.

    With a `crate` it is that crate's own tests, else tests from outside.
    """

    group: str
    file: str
    was: str
    becomes: str
    cases: tuple[str, ...] = ()
    specs: tuple[str, ...] = ()
    crate: str = ""

    @property
    def claims(self) -> tuple[str, ...]:
        """What has to notice it, such as `case SM-01`."""
        return (*(f"case {one}" for one in self.cases), *(f"spec {one}" for one in self.specs))

    def put_into(self, root: Path) -> None:
        """Break the copy under `root`.

        Raises:
            ValueError: what is to be replaced does not stand there exactly once.
        """
        path = root / self.file
        text = path.read_text()
        if text.count(self.was) != 1:
            raise ValueError(f"{self.file}: the line to break for {self.claims} is not there once")
        path.write_text(text.replace(self.was, self.becomes))


def read_faults() -> list[Fault]:
    """Read all faults."""
    rows = tomllib.loads(FAULTS.read_text())["fault"]
    return [
        Fault(
            **{
                **row,
                "cases": tuple(row.get("cases", ())),
                "specs": tuple(row.get("specs", ())),
            }
        )
        for row in rows
    ]


def choose(report: spec.Report, count: int, draw: int) -> list[str]:
    """So many tested requirements of the files, by a hash of their ids and the draw."""
    tested = [
        name
        for number in CHOSEN_FROM
        for name in report.named(number)
        if report.states[name] in ("test", "part")
    ]
    return sorted(tested, key=lambda name: hashlib.sha256(f"{draw}:{name}".encode()).hexdigest())[
        :count
    ]


def main() -> int:
    """Play every group and say what noticed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("groups", nargs="*", help="only these groups")
    parser.add_argument("--choose", type=int, metavar="N", help="N requirements at random")
    parser.add_argument("--draw", type=int, default=4, help="which N (default: %(default)s)")
    parser.add_argument("--target", type=Path, help="a Cargo target folder to go on with")
    parser.add_argument("--list", action="store_true", help="build nothing")
    arguments = parser.parse_args()
    report = spec.read_report()
    faults = read_faults()
    wanted = {claim for fault in faults for claim in fault.claims}
    if arguments.choose:
        wanted = {f"spec {name}" for name in choose(report, arguments.choose, arguments.draw)}
        print(f"draw {arguments.draw}: {', '.join(sorted(wanted))}")
    groups = set(arguments.groups) or {fault.group for fault in faults}
    faults = [one for one in faults if one.group in groups and wanted & set(one.claims)]
    without = sorted(wanted - {claim for one in faults for claim in one.claims})
    if arguments.choose and without:
        print("no fault is written for these: " + ", ".join(without))
    if arguments.list:
        for fault in faults:
            print(f"{fault.group:10} {fault.file}: {', '.join(sorted(wanted & set(fault.claims)))}")
        return 1 if arguments.choose and without else 0

    missed = without if arguments.choose else []
    with tempfile.TemporaryDirectory(prefix="sluicegate-broken-") as folder:
        for group in sorted({fault.group for fault in faults}):
            played = [fault for fault in faults if fault.group == group]
            failures = _play(played, Path(folder), arguments.target, report)
            claims = {claim for fault in played for claim in fault.claims} & wanted
            for claim in sorted(claims):
                noticed = failures.get(claim, [])
                shown = f"noticed by {noticed[0]}" if noticed else "NOT NOTICED"
                print(f"{claim}  {shown}", flush=True)
                missed += [] if noticed else [claim]
    if missed:
        print("these pass on a broken build: " + ", ".join(missed))
    return 1 if missed else 0


def _play(
    faults: Sequence[Fault], folder: Path, target: Path | None, claimed: spec.Report
) -> dict[str, list[str]]:
    copy = folder / faults[0].group
    report = folder / "report.json"
    ignored = shutil.ignore_patterns("target", ".venv", ".git", "*.so", "__pycache__", "site")
    shutil.copytree(ROOT, copy, ignore=ignored)
    for fault in faults:
        fault.put_into(copy)
    target = (target or folder / "target").resolve()
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
    if faults[0].crate:
        return _play_in_rust(faults[0], copy, environment, claimed)
    cargo = ["cargo", "rustc", "--quiet", "--locked", "--lib", "-p", "sluicegate-python"]
    subprocess.run(cargo, cwd=copy, env=environment, check=True)
    built = target / "debug" / "lib_engine.so"
    shutil.copy(built, copy / "src" / "sluicegate" / "_engine.abi3.so")
    pytest = [sys.executable, "-m", "pytest", "-q", "-m", "case or spec", "-p", "case_report"]
    pytest += ["--case-report", str(report), "--timeout=30", *_places(faults, copy, claimed)]
    source = {**environment, "PYTHONPATH": str(copy / "src")}
    subprocess.run(pytest, cwd=copy, env=source, check=False, stdout=subprocess.DEVNULL)
    failures: dict[str, list[str]] = json.loads(report.read_text())
    return failures


def _play_in_rust(
    fault: Fault, copy: Path, environment: dict[str, str], claimed: spec.Report
) -> dict[str, list[str]]:
    cargo = ["cargo", "test", "--locked", "--no-fail-fast", "-p", fault.crate]
    done = subprocess.run(
        cargo, cwd=copy, env=environment, check=False, capture_output=True, text=True
    )
    failed = {name.rpartition("::")[2] for name in FAILED.findall(done.stdout)}
    return {
        claim: [place for place in claimed.tests[claim] if _test_below(copy, place) in failed]
        for claim in fault.claims
    }


def _test_below(root: Path, place: str) -> str:
    """The name of the Rust test below a marker."""
    file, _, line = place.partition(":")
    below = (root / file).read_text().splitlines()[int(line) :]
    found = next((match for text in below if (match := TEST_NAME.match(text))), None)
    return found[1] if found else ""


def _places(faults: Sequence[Fault], copy: Path, claimed: spec.Report) -> list[str]:
    """The files with the tests that should notice."""
    files = {
        place.partition(":")[0]
        for fault in faults
        for claim in fault.claims
        for place in claimed.tests.get(claim, ())
    }
    return sorted(file for file in files if file.endswith(".py") and (copy / file).exists())


if __name__ == "__main__":
    sys.exit(main())
