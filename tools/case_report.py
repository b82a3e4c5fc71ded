"""A pytest plugin: writes which tests of which requirement or bug case passed and failed."""

import json
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

_failed: dict[str, list[str]] = defaultdict(list)
_seen: set[str] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Ask where to write."""
    parser.addoption("--case-report", type=Path, help="write the outcome of each claim here")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note the outcome under everything that the test claims, such as `case SM-01`."""
    del call
    report = yield
    for family in ("case", "spec"):
        for mark in item.iter_markers(family):
            for name in mark.args:
                claim = f"{family} {name}"
                _seen.add(claim)
                if report.failed:
                    _failed[claim].append(item.nodeid)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the report."""
    path = session.config.getoption("--case-report")
    if path:
        path.write_text(json.dumps({claim: _failed.get(claim, []) for claim in sorted(_seen)}))
