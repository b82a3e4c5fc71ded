"""Shows the state of every requirement in docs/spec/, and what the open ones wait for."""

import argparse
import ast
import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STATES = ("test", "part", "document", "not applicable", "waits", "open")

ID = r"[A-Z]{2,3}-\d+"
# An item is defined in bold (`- **PL-01** …`) or by the first cell of a table row.
DEFINED = re.compile(rf"\*\*({ID})\*\*|^\| *({ID}) *\|")
RUST_MARKER = re.compile(r"^\s*//+ *(spec|case): *(.+?)\s*$")
CASE_ROW = re.compile(rf"^\| *({ID}) *\|([^|]*)\|([^|]*)\| *(\w+) *\| *([^|]*?) *\|$")


@dataclass(frozen=True)
class Marker:
    """A test's claim to prove something: a requirement (`spec`) or a bug case (`case`)."""

    family: str
    id: str
    place: str


@dataclass(frozen=True)
class Case:
    """One row of cases.md; `waits_for` is empty when nothing is left for later."""

    state: str
    waits_for: str

    def expected(self, *, tested: bool) -> str:
        """The state that the row should show."""
        if not tested:
            return "open"
        return "part" if self.waits_for else "test"


@dataclass
class Report:
    """What the repository says about its requirements, and the mistakes in saying it."""

    files: dict[str, list[str]]
    states: dict[str, str]
    tests: dict[str, list[str]]
    cases: dict[str, Case]
    waits: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def named(self, number: str) -> list[str]:
        """The items of the files whose name begins with this number."""
        return [
            name for file, names in self.files.items() if file.startswith(number) for name in names
        ]

    def stale_cases(self) -> list[str]:
        """Cases whose row in cases.md does not show the state that the tests give it."""
        return [
            name
            for name, case in self.cases.items()
            if case.state != case.expected(tested=f"case {name}" in self.tests)
        ]


def read_report(root: Path = ROOT) -> Report:
    """Reads the requirements, what settles them, and every marker in the tests."""
    spec = root / "docs" / "spec"
    files = {path.name: _defined_ids(path) for path in sorted(spec.glob("[0-9][0-9]-*.md"))}
    known = {name for names in files.values() for name in names}
    cases = read_cases(spec / "cases.md")
    report = Report(files, dict.fromkeys(known, "open"), {}, cases)

    settled = tomllib.loads((spec / "state.toml").read_text())
    _settle(report, settled, root / "docs")
    _wait(report, settled)
    for marker in markers(root):
        family = cases if marker.family == "case" else known
        if marker.id not in family:
            report.problems.append(f"{marker.place}: there is no {marker.family} `{marker.id}`")
            continue
        report.tests.setdefault(f"{marker.family} {marker.id}", []).append(marker.place)
        if marker.family == "spec":
            report.states[marker.id] = "part" if marker.id in report.waits else "test"
    return report


def read_cases(path: Path) -> dict[str, Case]:
    """Reads the table of cases.md."""
    rows = (CASE_ROW.match(line) for line in path.read_text().splitlines())
    return {row[1]: Case(row[4], row[5].strip("-")) for row in rows if row}


def update_cases(report: Report, path: Path) -> None:
    """Writes into cases.md the state that follows from the tests."""
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines):
        row = CASE_ROW.match(line)
        if row:
            state = report.cases[row[1]].expected(tested=f"case {row[1]}" in report.tests)
            lines[number] = f"| {row[1]} |{row[2]}|{row[3]}| {state} | {row[5]} |"
    path.write_text("\n".join(lines) + "\n")


def markers(root: Path) -> Iterator[Marker]:
    """Finds the markers of Python tests and of Rust tests."""
    for path in sorted((root / "tests").rglob("*.py")):
        yield from _python_markers(path, path.relative_to(root))
    for folder in ("crates", "fuzz", "benchmarks"):
        for path in sorted((root / folder).rglob("*.rs")):
            if "target" not in path.parts:
                yield from _rust_markers(path, path.relative_to(root))


def _defined_ids(path: Path) -> list[str]:
    found: dict[str, None] = {}
    for line in path.read_text().splitlines():
        if not path.name.startswith("18-"):  # an index of names: it defines nothing
            found.update((bold or cell, None) for bold, cell in DEFINED.findall(line))
    return list(found)


def _settle(report: Report, settled: dict[str, dict[str, str]], docs: Path) -> None:
    for table, state in (("document", "document"), ("not-applicable", "not applicable")):
        for name, text in settled.get(table, {}).items():
            if name not in report.states:
                report.problems.append(f"state.toml: there is no spec `{name}`")
            elif state == "document" and not (docs / text.partition("#")[0]).is_file():
                report.problems.append(f"state.toml: {name} names a page that is not there: {text}")
            else:
                report.states[name] = state


def _wait(report: Report, settled: dict[str, dict[str, str]]) -> None:
    for name, text in settled.get("waits", {}).items():
        if name not in report.states:
            report.problems.append(f"state.toml: there is no spec `{name}`")
        elif text.partition(":")[0] not in settled.get("capabilities", {}):
            report.problems.append(f"state.toml: {name} waits for no capability: {text}")
        elif report.states[name] != "open":
            report.problems.append(f"state.toml: {name} is settled and waits")
        else:
            report.states[name] = "waits"
            report.waits[name] = text


def _python_markers(path: Path, shown: Path) -> Iterator[Marker]:
    for node in ast.walk(ast.parse(path.read_text(), filename=str(path))):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="mark"), attr="spec" | "case" as family)
            ):
                for argument in node.args:
                    # A computed id cannot be checked here; written out, it is shown as unknown.
                    name = argument.value if isinstance(argument, ast.Constant) else "…"
                    yield Marker(family, str(name), f"{shown}:{node.lineno}")


def _rust_markers(path: Path, shown: Path) -> Iterator[Marker]:
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        marker = RUST_MARKER.match(line)
        if marker:
            for name in marker[2].split(","):
                yield Marker(marker[1], name.strip(), f"{shown}:{number}")


def _print_table(report: Report, files: dict[str, list[str]]) -> None:
    print(f"{'':56}{'items':>6}" + "".join(f"{state:>15}" for state in STATES))
    total: Counter[str] = Counter()
    for file, names in files.items():
        counts = Counter(report.states[name] for name in names)
        total += counts
        print(f"{file:56}{len(names):6}" + "".join(f"{counts[state]:15}" for state in STATES))
    print(f"{'total':56}{total.total():6}" + "".join(f"{total[state]:15}" for state in STATES))
    counts = Counter(
        case.expected(tested=f"case {name}" in report.tests) for name, case in report.cases.items()
    )
    print(
        f"\nbug cases: {len(report.cases)}, "
        f"{counts['test']} test, {counts['part']} part, {counts['open']} open"
    )


def _unsettled(report: Report, names: list[str]) -> Iterator[str]:
    for name in names:
        if name in report.waits:
            beginning = "tested in part; " if report.states[name] == "part" else ""
            yield f"{name}  {beginning}waits for {report.waits[name]}"
        elif report.states[name] == "open":
            yield name


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="spec.py", description=__doc__)
    parser.add_argument(
        "--open", action="store_true", help="list what is not settled, and what it waits for"
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--file", metavar="NN", help="only the file with this number, such as 03")
    parser.add_argument(
        "--update-cases", action="store_true", help="write the states into docs/spec/cases.md"
    )
    return parser.parse_args()


def main() -> int:
    """Prints the report; 1 when a marker or state.toml names something that is not there."""
    arguments = _arguments()
    report = read_report()
    files = {
        file: names
        for file, names in report.files.items()
        if arguments.file is None or file.startswith(arguments.file)
    }
    shown = [name for names in files.values() for name in names]

    if arguments.update_cases:
        update_cases(report, ROOT / "docs" / "spec" / "cases.md")
    if arguments.json:
        states = {name: report.states[name] for name in shown}
        print(json.dumps({"states": states, "tests": report.tests, "problems": report.problems}))
    elif arguments.open:
        print("\n".join(_unsettled(report, shown)))
    else:
        _print_table(report, files)
    for problem in report.problems:
        print(problem, file=sys.stderr)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
