"""A pytest plugin: writes which tests of which bug case passed and failed."""

import json
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

_failed: dict[str, list[str]] = defaultdict(list)
_seen: set[str] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Ask where to write."""
    parser.addoption("--case-report", type=Path, help="write the outcome of each bug case here")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note the outcome under every case that the test carries."""
    del call
    report = yield
    for mark in item.iter_markers("case"):
        for case in mark.args:
            _seen.add(case)
            if report.failed:
                _failed[case].append(item.nodeid)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the report."""
    path = session.config.getoption("--case-report")
    if path:
        path.write_text(json.dumps({case: _failed.get(case, []) for case in sorted(_seen)}))
