"""What the engine tells becomes lines of the log."""

import asyncio
import io
import json
from typing import TYPE_CHECKING

from sluicegate.engine import Event
from sluicegate.runtime.events import log_events
from sluicegate.runtime.log import Log

if TYPE_CHECKING:
    from unit.conftest import FakeDataPlane


def test_every_event_is_logged_once(data_plane: "FakeDataPlane") -> None:
    stream = io.StringIO()
    data_plane.events = [
        Event("upstream_address_refused", {"upstream": "orders"}),
        Event("of_a_newer_engine", {"message": "anything"}),
    ]

    async def some_rounds() -> None:
        task = asyncio.create_task(log_events(data_plane, Log(stream), interval=0.001))
        async with asyncio.timeout(5):
            while stream.getvalue().count("\n") < 2:  # noqa: ASYNC110 - the log has no event to wait for
                await asyncio.sleep(0.001)
        task.cancel()

    asyncio.run(some_rounds())

    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(one["event"], one["level"]) for one in lines] == [
        ("upstream_address_refused", "warning"),
        ("of_a_newer_engine", "warning"),
    ]
    assert lines[0]["detail"] == {"upstream": "orders"}
