"""A gateway's life: serve, follow, drain in order."""

import asyncio
import io
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sluicegate.config.settings import ProcessSettings
from sluicegate.errors import ConfigError
from sluicegate.runtime.control import ask
from sluicegate.runtime.gateway import DONE, FAILED, Gateway
from sluicegate.runtime.log import Log
from sluicegate.runtime.publisher import Publisher
from sluicegate.runtime.state import StateDirectory

if TYPE_CHECKING:
    from unit.conftest import FakeDataPlane

Act = Callable[[Gateway], Awaitable[None]]


def rewrite(path: Path, old: str, new: str) -> None:
    """Change the document in place."""
    path.write_text(path.read_text().replace(old, new))


class Stage:
    """A gateway on a fake data plane, and what acts on it."""

    def __init__(
        self, publisher: Publisher, state: StateDirectory, data_plane: "FakeDataPlane", log: Log
    ) -> None:
        self.publisher = publisher
        self.state = state
        self.data_plane = data_plane
        self.log = log

    def run(self, act: Act, **settings: str) -> int:
        """Serve, act once it serves, and give the exit code."""
        read = ProcessSettings.model_validate({"drain_delay": "0s", "grace": "1s", **settings})

        async def run() -> int:
            serving = asyncio.Event()
            gateway = Gateway(
                read,
                self.publisher,
                start_engine=lambda _: self.data_plane,
                log=self.log,
                when_serving=lambda _: serving.set(),
            )
            running = asyncio.create_task(gateway.run(self.state))
            async with asyncio.timeout(20):
                await asyncio.wait(
                    {running, asyncio.create_task(serving.wait())},
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if not running.done():
                    await act(gateway)
                    gateway.end()
                return await running

        return asyncio.run(run())


@pytest.fixture
def stage(
    publisher: Publisher, state: StateDirectory, data_plane: "FakeDataPlane", log: Log
) -> Stage:
    return Stage(publisher, state, data_plane, log)


async def nothing(_: Gateway) -> None:
    """Only start and end."""


@pytest.mark.spec("AV-03")
def test_the_end_comes_in_order(stage: Stage, data_plane: "FakeDataPlane") -> None:
    assert stage.run(nothing) == DONE
    assert data_plane.happened == ["ready", "not ready", "drain 1", "stop"]


def test_exchanges_that_take_too_long_are_named(
    stage: Stage, data_plane: "FakeDataPlane", log_stream: io.StringIO
) -> None:
    data_plane.drains_in_time = False

    assert stage.run(nothing) == DONE
    assert "grace_over" in log_stream.getvalue()


def test_asked_a_second_time_it_ends_at_once(stage: Stage, data_plane: "FakeDataPlane") -> None:
    async def twice(gateway: Gateway) -> None:
        gateway.end()
        await asyncio.sleep(0)

    assert stage.run(twice, drain_delay="1h") == FAILED
    assert "drain 1" not in data_plane.happened


def test_a_broken_document_at_the_first_start_starts_nothing(
    stage: Stage, document: Path, data_plane: "FakeDataPlane"
) -> None:
    document.write_text("format: 2\n")

    with pytest.raises(ConfigError):
        stage.run(nothing)

    assert data_plane.happened == []


def test_a_change_of_the_file_is_followed(
    stage: Stage, document: Path, data_plane: "FakeDataPlane"
) -> None:
    async def change(_: Gateway) -> None:
        rewrite(document, "/api/orders", "/changed")
        while len(data_plane.applied) < 2:  # noqa: ASYNC110 - a test
            await asyncio.sleep(0.01)

    assert stage.run(change) == DONE
    assert data_plane.current["routes"][0]["match"]["path"] == "/changed"


@pytest.mark.case("CF-01")
def test_a_refused_document_shows_in_status(
    stage: Stage, document: Path, data_plane: "FakeDataPlane"
) -> None:
    seen: dict[str, Any] = {}

    async def break_it(_: Gateway) -> None:
        rewrite(document, "upstream: orders", "upstream: order")
        while not data_plane.told:  # noqa: ASYNC110 - a test
            await asyncio.sleep(0.01)
        seen.update(await asyncio.to_thread(ask, stage.state.path, "status"))

    stage.run(break_it)

    assert seen["version"] == 1
    assert seen["phase"] == "serving"
    assert seen["rejection"]["problems"][0]["suggestion"] == "orders"
    json.dumps(seen)


def test_commands_come_over_the_control_socket(stage: Stage, data_plane: "FakeDataPlane") -> None:
    answers: list[Any] = []

    async def talk(_: Gateway) -> None:
        request = {"method": "GET", "target": "/x", "host": "a", "headers": [["A", "b"]]}
        facts = {"peer": "10.0.0.1:5"}
        answers.append(
            await asyncio.to_thread(ask, stage.state.path, "explain", request=request, facts=facts)
        )
        answers.append(await asyncio.to_thread(ask, stage.state.path, "reload"))
        answers.append(await asyncio.to_thread(ask, stage.state.path, "drain"))

    stage.run(talk, drain_delay="1h")

    explained, reloaded, drained = answers
    assert explained["peer"] == "10.0.0.1:5"
    assert reloaded["applied"] is True
    assert drained["phase"] == "draining"
    assert data_plane.happened[-1] == "stop"
