"""Whatever fault is put into whatever document: it is refused, and its true place is named."""

import copy
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sluicegate.config.candidate import Candidate
from sluicegate.config.loader import load
from sluicegate.engine import check
from support.sound import Sound, documents
from support.written import STYLES, Style, write
from unit.config.fault_kinds import KINDS as KINDS_OF_VALUES
from unit.config.faults import Fault
from unit.config.filter_faults import FILTER_KINDS

KINDS = (*KINDS_OF_VALUES, *FILTER_KINDS)
EACH = 2
SLOWEST = 5.0
LONGEST = 1001
seeded = settings(
    derandomize=True,
    max_examples=EACH,
    deadline=None,
    database=None,
    # A smaller document would not be easier to read: the fault has a name.
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def judged(path: Path, content: bytes) -> Candidate:
    """What `sluicegate check` says of a file: soon, and in words for people."""
    path.write_bytes(content)
    began = time.monotonic()

    candidate = load(path, check)

    assert time.monotonic() - began < SLOWEST
    for problem in candidate.problems:
        said = [problem.message, problem.expected or "", problem.suggestion or ""]
        assert problem.message
        assert problem.file == str(path)
        # Of a file that cannot be read, no line is wrong.
        assert problem.line is not None or problem.code in {"encoding", "too_large"}
        for text in said:
            assert len(text) <= LONGEST, (problem.code, len(text))
            assert text.isprintable(), (problem.code, text)
    return candidate


@pytest.mark.spec("CF-17", "CF-18", "CF-20", "CF-25")
@pytest.mark.parametrize("fault", KINDS, ids=lambda fault: fault.name)
@seeded
@given(data=st.data())
def test_a_fault_is_refused_at_its_place(tmp_path: Path, fault: Fault, data: st.DataObject) -> None:
    sound: Sound = data.draw(documents())
    style: Style = data.draw(st.sampled_from(STYLES))
    document: dict[str, Any] = copy.deepcopy(sound.value)
    path = fault.put(data.draw, document)
    written = write(document, style)

    candidate = judged(tmp_path / "sluicegate.yaml", written.text.encode())

    here = [one for one in candidate.errors if one.pointer == pointer(path)]
    elsewhere = [one for one in candidate.errors if one not in here]
    told = [str(one) for one in candidate.errors]
    assert here, f"not refused at {pointer(path)}: {told}"
    assert {one.code for one in here} & fault.codes, told
    assert {one.line for one in here} <= written.of(path), (told, written.of(path), written.text)
    assert {one.code for one in elsewhere} <= fault.consequences, told


def pointer(path: tuple[str | int, ...]) -> str:
    """A place as RFC 6901 writes it."""
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return "".join(f"/{step}" for step in steps)


def test_there_are_enough_kinds() -> None:
    assert len({fault.name for fault in KINDS}) == len(KINDS) > 40
    assert len(KINDS) * EACH > 200
