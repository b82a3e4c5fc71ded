"""What the engine has to say, as lines of the log."""

import asyncio

from sluicegate.engine import DataPlane, Event
from sluicegate.runtime.log import Log

INTERVAL = 1.0
_MESSAGES = {
    "upstream_address_refused": "a name of an upstream stands for an address that is not allowed",
}


async def log_events(engine: DataPlane, log: Log, *, interval: float = INTERVAL) -> None:
    """Log every event of the engine; runs until it is cancelled."""
    while True:
        for event in await asyncio.to_thread(engine.take_events):
            log_event(event, log)
        await asyncio.sleep(interval)


def log_event(event: Event, log: Log) -> None:
    """Log one event, also one of a newer engine."""
    message = _MESSAGES.get(event.kind, "the engine tells something")
    log.warning(event.kind, message, detail=event.fields)
