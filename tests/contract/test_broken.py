"""The faults that are put in on purpose still fit the engine."""

from pathlib import Path

import pytest

import broken
import spec

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("fault", broken.read_faults(), ids=lambda fault: "-".join(fault.claims))
def test_the_line_to_break_stands_there_once(fault: broken.Fault) -> None:
    assert (ROOT / fault.file).read_text().count(fault.was) == 1


def test_a_fault_names_what_a_test_claims() -> None:
    claimed = spec.read_report(ROOT).tests

    unclaimed = {
        claim
        for fault in broken.read_faults()
        for claim in fault.claims
        if not any(_could_notice(fault, place) for place in claimed.get(claim, ()))
    }

    assert not unclaimed, f"no test that would be run claims these: {unclaimed}"


def _could_notice(fault: broken.Fault, place: str) -> bool:
    file = place.partition(":")[0]
    return file.endswith(".rs") if fault.crate else file.endswith(".py")


def test_the_same_draw_chooses_the_same_and_another_one_others() -> None:
    report = spec.read_report(ROOT)

    first = broken.choose(report, 10, 4)

    assert first == broken.choose(report, 10, 4)
    assert first != broken.choose(report, 10, 5)
    assert len(set(first)) == 10
