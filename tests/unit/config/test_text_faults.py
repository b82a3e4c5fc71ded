"""Whatever is wrong with the text of a document: it is refused in its line, in little memory."""

import tracemalloc
from pathlib import Path

import pytest

from unit.config.test_faults import judged
from unit.config.text_faults import HEAD, JSON, TEXT_FAULTS, TextFault

MEMORY = 100_000_000


@pytest.mark.spec("CF-17", "CF-18")
@pytest.mark.parametrize("fault", TEXT_FAULTS, ids=lambda fault: fault.name)
def test_a_text_is_refused_in_its_line(tmp_path: Path, fault: TextFault) -> None:
    candidate = judged(tmp_path / fault.file, fault.content)

    told = [str(one) for one in candidate.errors]
    assert [one.code for one in candidate.errors][:1] == [fault.code], told
    assert candidate.errors[0].line in fault.lines, told


@pytest.mark.parametrize("text", [HEAD, JSON], ids=["YAML", "JSON"])
def test_the_text_without_a_fault_is_sound(tmp_path: Path, text: str) -> None:
    for content in (text, text.replace("\n", "\r\n"), "\ufeff" + text, text.rstrip()):
        assert judged(tmp_path / "sluicegate.yaml", content.encode()).errors == []


@pytest.mark.parametrize(
    "name", ["a billion laughs", "nested lists", "lists without end", "more than 5 MB"]
)
def test_a_bomb_takes_little_memory(tmp_path: Path, name: str) -> None:
    (fault,) = (one for one in TEXT_FAULTS if one.name == name)
    tracemalloc.start()
    try:
        judged(tmp_path / fault.file, fault.content)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert most < MEMORY


def test_every_cut_of_a_document_is_refused_or_sound(tmp_path: Path) -> None:
    path = tmp_path / "sluicegate.yaml"

    for length in range(len(HEAD)):
        candidate = judged(path, HEAD[:length].encode())

        last = HEAD[:length].count("\n") + 1
        assert all((one.line or 0) <= last for one in candidate.errors)
        if "path" not in HEAD[:length] or not HEAD[:length].rstrip().endswith(("shop", "}")):
            assert candidate.errors or "routes" not in HEAD[:length], HEAD[:length]
