"""Documents reach the data plane whole, in order, or not at all."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sluicegate.errors import ConfigError, PortTaken
from sluicegate.runtime.log import Log
from sluicegate.runtime.publisher import Publisher
from sluicegate.runtime.state import StateDirectory

if TYPE_CHECKING:
    from unit.conftest import FakeDataPlane

BAD: dict[str, Callable[[str], str]] = {
    "bad regex": lambda t: t.replace(
        "path: /api/orders", 'path: /a, headers: [{name: A, regex: "(["}]'
    ),
    "unknown filter": lambda t: t + "    filters: [{name: nope}]\n",
    "missing upstream": lambda t: t.replace("    upstream: orders", "    upstream: order"),
    "duplicate id": lambda t: t + "  - {id: order-create, match: {path: /x}, respond: {}}\n",
    "port 70000": lambda t: t.replace("9001", "70000"),
    "template {a}{a}": lambda t: t.replace("/api/orders", '"/{a}{a}"'),
    "include": lambda t: t + "include: [sluicegate.yaml]\n",
    "alias to itself": lambda t: t + "metrics: &m {prefix: *m}\n",
    "above 5 MB": lambda t: t + "# " + "x" * 5_000_000,
    "invalid UTF-8": lambda t: t + "# \udcff\n",
    "truncated": lambda t: t + "  - {id: x, match: {pa",
    "unknown version": lambda t: t.replace("format: 1", "format: 9"),
    "empty": lambda _: "",
    "empty mapping": lambda _: "{}",
}


NextLife = Callable[[], Publisher]


@pytest.fixture
def next_life(document: Path, state: StateDirectory, log: Log) -> NextLife:
    """A publisher as it is after a restart."""
    return lambda: Publisher(document, state, engine_check=lambda _: [], schemas={}, log=log)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", errors="surrogateescape"))


@pytest.mark.spec("CF-09")
@pytest.mark.case("CF-01")
@pytest.mark.parametrize("name", BAD)
def test_a_bad_document_changes_nothing_and_is_seen_everywhere(
    name: str,
    publisher: Publisher,
    document: Path,
    data_plane: "FakeDataPlane",
    log_stream: io.StringIO,
) -> None:
    publisher.begin(data_plane, publisher.examine())
    good = document.read_text()
    write(document, BAD[name](good))

    assert publisher.reload(data_plane) is False

    assert [one.version for one in data_plane.applied] == [1]
    assert publisher.rejection is not None
    assert publisher.rejection.problems
    assert (publisher.rejection.problems[0].code == "bad_regex") == (name == "bad regex")
    assert data_plane.told[0]["kind"] == "config_rejected"
    logged = lines(log_stream)[-1]
    assert (logged["event"], logged["level"], logged["version"]) == ("config_rejected", "error", 1)
    assert logged["problems"]

    document.write_text(good.replace("/api/orders", "/api/v2/orders"))

    assert publisher.reload(data_plane) is True
    assert data_plane.current["routes"][0]["match"]["path"] == "/api/v2/orders"
    assert publisher.rejection is None


@pytest.mark.spec("CF-07")
def test_every_content_gets_a_greater_number_also_an_old_one(
    publisher: Publisher, document: Path, data_plane: "FakeDataPlane"
) -> None:
    old = document.read_text()
    publisher.begin(data_plane, publisher.examine())
    document.write_text(old.replace("/api/orders", "/new"))
    publisher.reload(data_plane)
    document.write_text(old)

    publisher.reload(data_plane)

    assert [one.version for one in data_plane.applied] == [1, 2, 3]
    assert data_plane.applied[0].digest == data_plane.applied[2].digest


def test_a_comment_is_no_change(
    publisher: Publisher, document: Path, data_plane: "FakeDataPlane"
) -> None:
    publisher.begin(data_plane, publisher.examine())
    document.write_text("# more words\n" + document.read_text())

    assert publisher.reload(data_plane) is True
    assert len(data_plane.applied) == 1


@pytest.mark.spec("CF-10")
def test_what_was_applied_is_kept_and_serves_when_the_document_is_broken(
    publisher: Publisher,
    next_life: NextLife,
    document: Path,
    data_plane: "FakeDataPlane",
    log_stream: io.StringIO,
) -> None:
    publisher.begin(data_plane, publisher.examine())
    good = data_plane.applied[0]
    document.write_text("format: [")

    data_plane.applied.clear()
    publisher = next_life()
    publisher.begin(data_plane, publisher.examine())

    assert data_plane.applied == [good]
    assert publisher.in_force is not None
    assert publisher.in_force.origin == "last-good"
    assert publisher.rejection is not None
    assert "serving_last_good" in [line["event"] for line in lines(log_stream)]


def test_a_mended_document_ends_the_serving_of_the_last_good(
    publisher: Publisher, next_life: NextLife, document: Path, data_plane: "FakeDataPlane"
) -> None:
    good = document.read_text()
    publisher.begin(data_plane, publisher.examine())
    data_plane.applied.clear()
    document.write_text("format: [")
    publisher = next_life()
    publisher.begin(data_plane, publisher.examine())

    document.write_text(good)

    assert publisher.reload(data_plane)
    assert publisher.in_force is not None
    assert publisher.in_force.origin == "file"
    assert publisher.rejection is None


def test_without_a_last_good_snapshot_a_broken_document_is_an_error(
    publisher: Publisher, document: Path, data_plane: "FakeDataPlane"
) -> None:
    document.write_text("format: 2\nroutse: []\n")

    with pytest.raises(ConfigError) as caught:
        publisher.begin(data_plane, publisher.examine())

    assert len(caught.value.problems) == 2
    assert data_plane.applied == []


def test_a_restart_with_the_same_content_keeps_its_number(
    publisher: Publisher, next_life: NextLife, data_plane: "FakeDataPlane"
) -> None:
    publisher.begin(data_plane, publisher.examine())
    data_plane.applied.clear()

    publisher = next_life()
    publisher.begin(data_plane, publisher.examine())

    assert data_plane.applied[0].version == 1


def test_a_changed_secret_is_a_change(
    document: Path,
    state: StateDirectory,
    log: Log,
    data_plane: "FakeDataPlane",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    document.write_text(
        document.read_text() + "    filters: [{name: request_id, config: {key: 'env:A_KEY'}}]\n"
    )
    schemas = {"request_id": {"properties": {"key": {"format": "secret"}}}}
    publisher = Publisher(document, state, engine_check=lambda _: [], schemas=schemas, log=log)
    monkeypatch.setenv("A_KEY", "one")
    publisher.begin(data_plane, publisher.examine())
    monkeypatch.setenv("A_KEY", "second-key")

    assert publisher.reload(data_plane)

    assert data_plane.secrets == {"env:A_KEY": b"second-key"}
    assert [one.version for one in data_plane.applied] == [1, 2]
    assert "second-key" not in (state.path / "last-good.json").read_text()
    assert "second-key" not in data_plane.applied[1].text


def test_a_listener_that_cannot_be_opened_is_a_rejection(
    publisher: Publisher,
    document: Path,
    data_plane: "FakeDataPlane",
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    publisher.begin(data_plane, publisher.examine())
    document.write_text(document.read_text().replace("/api/orders", "/x"))

    def refuse(*_: object) -> None:
        raise PortTaken("127.0.0.1:8080 is in use")

    monkeypatch.setattr(data_plane, "apply", refuse)

    assert publisher.reload(data_plane) is False
    assert publisher.rejection is not None
    assert publisher.rejection.reason == "127.0.0.1:8080 is in use"
