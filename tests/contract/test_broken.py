"""The faults that are put in on purpose still fit the engine."""

from pathlib import Path

import pytest

import broken

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("fault", broken.read_faults(), ids=lambda fault: "-".join(fault.cases))
def test_the_line_to_break_stands_there_once(fault: broken.Fault) -> None:
    assert (ROOT / fault.file).read_text().count(fault.was) == 1
