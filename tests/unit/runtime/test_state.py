"""The state directory: one owner, growing numbers, a file that is whole or not there."""

import json
import stat

import pytest

from sluicegate.config.candidate import examine
from sluicegate.config.snapshot import Snapshot, snapshot_of
from sluicegate.config.source import Source
from sluicegate.errors import StateDirectoryTaken, Unavailable
from sluicegate.runtime.state import StateDirectory


def snapshot(version: int = 1) -> Snapshot:
    return snapshot_of(examine(Source.parse("format: 1")).document, version=version)


@pytest.mark.spec("CF-10")
def test_a_snapshot_comes_back_as_it_was(state: StateDirectory) -> None:
    state.save(snapshot(7))

    assert state.last_good() == snapshot(7)


def test_what_is_kept_is_for_its_owner_only(state: StateDirectory) -> None:
    state.save(snapshot())
    state.next_version()
    with state.locked():
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in state.path.iterdir()}

    assert modes == {"last-good.json": 0o600, "version": 0o600, "lock": 0o600}


@pytest.mark.parametrize(
    "damage",
    ["", "{", "[]", "null", '{"snapshot": 5}', '{"digest": "x", "snapshot": {"version": 1}}'],
)
def test_a_damaged_snapshot_is_none(state: StateDirectory, damage: str) -> None:
    (state.path / "last-good.json").write_text(damage)

    assert state.last_good() is None


def test_a_snapshot_that_somebody_edited_is_none(state: StateDirectory) -> None:
    state.save(snapshot())
    path = state.path / "last-good.json"
    kept = json.loads(path.read_text())
    kept["snapshot"]["metrics"]["prefix"] = "other"
    path.write_text(json.dumps(kept))

    assert state.last_good() is None


def test_numbers_grow_across_restarts(state: StateDirectory) -> None:
    assert [state.next_version(), StateDirectory(state.path).next_version()] == [1, 2]


def test_a_lost_counter_starts_behind_the_last_good_snapshot(state: StateDirectory) -> None:
    state.save(snapshot(41))
    (state.path / "version").write_text("damaged")

    assert state.next_version() == 42


def test_a_second_gateway_is_refused_with_a_sentence(state: StateDirectory) -> None:
    other = StateDirectory(state.path)

    with state.locked(), pytest.raises(StateDirectoryTaken, match="--state-dir"), other.locked():
        pytest.fail("two gateways on one state directory")


def test_the_lock_goes_with_its_owner(state: StateDirectory) -> None:
    with state.locked():
        pass

    with StateDirectory(state.path).locked():
        assert (state.path / "lock").read_text().strip().isdigit()


def test_a_directory_that_cannot_be_made_is_a_sentence(state: StateDirectory) -> None:
    (state.path / "file").write_text("")

    with (
        pytest.raises(Unavailable, match="state directory"),
        StateDirectory(state.path / "file" / "x").locked(),
    ):
        pytest.fail("a directory below a file")
