"""The markers of tests name requirements and cases that exist, and the documents agree."""

from pathlib import Path

import pytest

import spec

REQUIREMENTS = 787
CASES = 73


@pytest.fixture(scope="module")
def report(root: Path) -> spec.Report:
    """What the repository says about its requirements."""
    return spec.read_report(root)


def test_every_marker_names_something_that_exists(report: spec.Report) -> None:
    assert not report.problems, "\n".join(report.problems)


def test_no_requirement_and_no_case_has_got_lost(report: spec.Report) -> None:
    assert len(report.states) >= REQUIREMENTS
    assert len(report.cases) >= CASES


@pytest.mark.parametrize("number", ["02", "13"])
def test_whatever_is_open_in_a_finished_file_names_what_it_waits_for(
    report: spec.Report, number: str
) -> None:
    open_items = [name for name in report.named(number) if report.states[name] == "open"]

    assert not open_items, f"prove it, document it, or say in state.toml what waits: {open_items}"


def test_cases_show_the_state_that_their_tests_give_them(report: spec.Report) -> None:
    stale = report.stale_cases()

    assert not stale, f"run `tools/spec.py --update-cases`: {stale}"


def test_a_marker_of_something_unknown_and_a_wait_for_nothing_are_problems(tmp_path: Path) -> None:
    docs = tmp_path / "docs" / "spec"
    docs.mkdir(parents=True)
    (docs / "01-a.md").write_text(
        "- **PL-01** One.\n- **PL-03** Three.\n- **PL-04** Four.\n- **PL-05** Five.\n\n"
        "| Id |\n|---|\n| PL-02 | two |\n"
    )
    (docs / "cases.md").write_text("| SM-01 | both lengths | HTTP/1.1 | open | - |\n")
    (docs / "state.toml").write_text(
        '[not-applicable]\nPL-02 = "no such stack"\n'
        '[capabilities]\ntokens = "who calls"\n'
        '[waits]\nPL-01 = "tokens: half"\nPL-03 = "tokens: all"\nPL-04 = "spring: all"\n'
    )
    (tmp_path / "tests").mkdir()
    marked = '@pytest.mark.spec("PL-01", "PL-09")\ndef test_a(): ...\n'
    (tmp_path / "tests" / "test_a.py").write_text(marked)
    (tmp_path / "crates").mkdir()
    (tmp_path / "crates" / "a.rs").write_text("    // case: SM-01, SM-99\n    #[test]\n")

    report = spec.read_report(tmp_path)

    assert report.states == {
        "PL-01": "part",
        "PL-02": "not applicable",
        "PL-03": "waits",
        "PL-04": "open",
        "PL-05": "open",
    }
    assert report.stale_cases() == ["SM-01"]
    assert report.problems == [
        "state.toml: PL-04 waits for no capability: spring: all",
        "tests/test_a.py:1: there is no spec `PL-09`",
        "crates/a.rs:1: there is no case `SM-99`",
    ]
