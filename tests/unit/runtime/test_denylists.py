"""Denylists in the data plane are what their files and commands say, whatever happens."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sluicegate.config.denylist import Entry
from sluicegate.errors import ConfigError, Problem, Unavailable
from sluicegate.runtime.denylists import Denylists
from sluicegate.runtime.log import Log
from sluicegate.runtime.publisher import Publisher
from sluicegate.runtime.state import StateDirectory

if TYPE_CHECKING:
    from unit.conftest import FakeDataPlane

WITH_A_FILE = "entry: [{name: denylist, config: {by: [address, user], file: denied.txt}}]\n"
Life = Callable[[], Publisher]
ONE = {"address": "192.0.2.1"}


@pytest.fixture
def denied(document: Path) -> Path:
    """The file of a document with a denylist."""
    document.write_text(document.read_text() + WITH_A_FILE)
    path = document.with_name("denied.txt")
    path.write_text("192.0.2.1\n")
    return path


@pytest.fixture
def life(document: Path, state: StateDirectory, log: Log) -> Life:
    """A publisher as it is after a restart."""
    return lambda: Publisher(document, state, engine_check=lambda _: [], schemas={}, log=log)


def begun(publisher: Publisher, data_plane: "FakeDataPlane") -> Publisher:
    publisher.begin(data_plane, publisher.examine())
    return publisher


def on_the_list(data_plane: "FakeDataPlane") -> Any:  # noqa: ANN401 - JSON
    """What came with the last snapshot."""
    (fact,) = data_plane.facts
    return fact["event"]["set"]


def followed(denylists: Denylists, data_plane: "FakeDataPlane") -> None:
    """A change is believed once it has stopped."""
    for _ in range(3):
        denylists.follow(data_plane)


def events(log_stream: io.StringIO) -> list[str]:
    return [json.loads(line)["event"] for line in log_stream.getvalue().splitlines()]


@pytest.mark.spec("SE-26")
@pytest.mark.usefixtures("denied")
def test_the_file_comes_with_the_snapshot(life: Life, data_plane: "FakeDataPlane") -> None:
    begun(life(), data_plane)

    assert on_the_list(data_plane) == [ONE]
    assert data_plane.told == []


@pytest.mark.spec("SE-26")
def test_a_change_of_the_file_is_told_without_a_snapshot(
    life: Life, denied: Path, data_plane: "FakeDataPlane"
) -> None:
    publisher = begun(life(), data_plane)
    denied.write_text("192.0.2.1\nuser u-1\n")

    followed(publisher.denylists, data_plane)

    (fact,) = data_plane.told
    assert fact["event"] == {"set": [ONE, {"user": "u-1"}]}
    assert len(data_plane.applied) == 1


@pytest.mark.spec("SE-26")
@pytest.mark.parametrize("text", ["192.0.2.1\n10.0.0.1/8\n", "192.0.2.1\nuser a b\n", None])
def test_a_file_that_is_wrong_or_away_changes_nothing(
    life: Life,
    denied: Path,
    data_plane: "FakeDataPlane",
    document: Path,
    text: str | None,
) -> None:
    publisher = begun(life(), data_plane)
    if text is None:
        denied.unlink()
    else:
        denied.write_text(text)

    followed(publisher.denylists, data_plane)
    document.write_text(document.read_text().replace("/api/orders", "/new"))

    assert data_plane.told == []
    assert publisher.reload(data_plane)
    assert on_the_list(data_plane) == [ONE]


@pytest.mark.spec("SE-26")
def test_a_wrong_file_is_named_with_its_lines(
    life: Life, denied: Path, data_plane: "FakeDataPlane", log_stream: io.StringIO
) -> None:
    publisher = begun(life(), data_plane)
    denied.write_text("192.0.2.1\n10.0.0.1/8\n\nuser a b\n")

    followed(publisher.denylists, data_plane)

    refused = json.loads(log_stream.getvalue().splitlines()[-1])
    assert refused["event"] == "denylist_refused"
    assert [problem["line"] for problem in refused["problems"]] == [2, 4]


@pytest.mark.spec("SE-26")
def test_after_a_restart_the_last_good_entries_are_in_force(
    life: Life, denied: Path, data_plane: "FakeDataPlane"
) -> None:
    begun(life(), data_plane)
    denied.write_text("nonsense\n")

    begun(life(), type(data_plane)())
    again = type(data_plane)()
    begun(life(), again)

    assert on_the_list(again) == [ONE]


@pytest.mark.spec("SE-26")
def test_without_any_good_entries_the_document_is_refused(
    life: Life, denied: Path, data_plane: "FakeDataPlane"
) -> None:
    denied.write_text("192.0.2.1\nnonsense\n")

    with pytest.raises(ConfigError) as refused:
        begun(life(), data_plane)

    (problem,) = refused.value.problems
    assert (problem.file, problem.line) == (str(denied), 2)
    assert data_plane.applied == []


@pytest.mark.spec("SE-26")
@pytest.mark.usefixtures("denied")
def test_a_command_is_told_at_once_and_outlives_snapshots_and_restarts(
    life: Life, document: Path, data_plane: "FakeDataPlane"
) -> None:
    publisher = begun(life(), data_plane)

    (status,) = publisher.denylists.block(data_plane, [Entry("address", "2001:DB8::7")])

    blocked = {"address": "2001:db8::/64"}
    assert data_plane.told[0]["event"] == {"add": [blocked]}
    assert status["entries"] == 2
    document.write_text(document.read_text().replace("/api/orders", "/new"))
    publisher.reload(data_plane)
    assert on_the_list(data_plane) == [ONE, blocked]
    reborn = type(data_plane)()
    begun(life(), reborn)
    assert on_the_list(reborn) == [ONE, blocked]

    publisher.denylists.unblock(data_plane, [Entry("address", "2001:db8::/64")])

    assert data_plane.told[1]["event"] == {"set": [ONE]}
    reborn = type(data_plane)()
    begun(life(), reborn)
    assert on_the_list(reborn) == [ONE]


def test_what_has_ended_is_not_kept(
    document: Path, state: StateDirectory, log: Log, data_plane: "FakeDataPlane"
) -> None:
    document.write_text(document.read_text() + "entry: [{name: denylist}]\n")
    publisher = Publisher(document, state, engine_check=lambda _: [], schemas={}, log=log)
    time = [1_000.0]
    publisher.denylists = Denylists(document.parent, state, log, clock=lambda: time[0])
    begun(publisher, data_plane)
    publisher.denylists.block(data_plane, [Entry("address", "192.0.2.1", until=1_010)])
    publisher.denylists.block(data_plane, [Entry("address", "192.0.2.1", until=1_005)])
    publisher.denylists.block(data_plane, [Entry("address", "192.0.2.2", until=2_000)])
    (status,) = publisher.denylists.status()
    assert status["commanded"][0] == {"address": "192.0.2.1", "until": 1_010}, "the later end"

    time[0] = 1_020
    publisher.denylists.block(data_plane, [Entry("address", "192.0.2.3")])

    kept = state.denied()
    assert kept
    assert kept["commanded"]["denylist"] == [
        {"address": "192.0.2.2", "until": 2_000},
        {"address": "192.0.2.3"},
    ]


@pytest.mark.usefixtures("denied")
@pytest.mark.parametrize(
    ("entry", "only", "message"),
    [
        (Entry("address", "10.0.0.1/8"), None, "10.0.0.1/8"),
        (Entry("address", "192.0.2.9"), "denylst", "there is no denylist `denylst`"),
        (Entry("device", "d-1"), None, "no denylist looks at: device"),
    ],
)
def test_a_command_that_could_not_work_is_refused(
    life: Life, data_plane: "FakeDataPlane", entry: Entry, only: str | None, message: str
) -> None:
    publisher = begun(life(), data_plane)

    with pytest.raises(ConfigError, match=message):
        publisher.denylists.block(data_plane, [entry], only=only)

    assert data_plane.told == []


def test_without_a_denylist_nobody_can_be_blocked(
    publisher: Publisher, data_plane: "FakeDataPlane"
) -> None:
    begun(publisher, data_plane)

    with pytest.raises(ConfigError, match="no denylist"):
        publisher.denylists.block(data_plane, [Entry("address", "192.0.2.1")])


@pytest.mark.usefixtures("denied")
def test_what_a_file_says_a_command_cannot_take_back(
    life: Life, data_plane: "FakeDataPlane"
) -> None:
    publisher = begun(life(), data_plane)

    with pytest.raises(ConfigError, match="take it out there"):
        publisher.denylists.unblock(data_plane, [Entry("address", "192.0.2.1")])
    with pytest.raises(ConfigError, match="is on no list"):
        publisher.denylists.unblock(data_plane, [Entry("user", "u-9")])

    assert data_plane.told == []


@pytest.mark.spec("SE-26")
def test_what_only_the_engine_finds_wrong_names_the_entry(
    life: Life,
    denied: Path,
    data_plane: "FakeDataPlane",
    log_stream: io.StringIO,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    publisher = begun(life(), data_plane)
    denied.write_text("192.0.2.1\n192.0.2.9\n")

    def refuse(_: object) -> None:
        raise ConfigError([Problem("not this one", ("event", "set", 1))])

    monkeypatch.setattr(data_plane, "tell", refuse)
    followed(publisher.denylists, data_plane)

    refused = json.loads(log_stream.getvalue().splitlines()[-1])
    assert refused["event"] == "denylist_refused"
    assert refused["problems"][0]["message"] == "not this one (`192.0.2.9`)"
    assert [one["entries"] for one in publisher.denylists.status()] == [1]


@pytest.mark.spec("SE-26")
@pytest.mark.usefixtures("denied")
def test_what_was_kept_and_is_damaged_is_not_forgotten_silently(
    life: Life, state: StateDirectory, data_plane: "FakeDataPlane"
) -> None:
    (state.path / "denied.json").write_text("{")

    with pytest.raises(Unavailable, match="who is denied"):
        begun(life(), data_plane)

    assert data_plane.applied == []


def test_entries_that_no_filter_looks_at_are_warned_of(
    life: Life, denied: Path, data_plane: "FakeDataPlane", log_stream: io.StringIO
) -> None:
    denied.write_text("device d-1\n")

    begun(life(), data_plane)

    assert "denylist_idle" in events(log_stream)
