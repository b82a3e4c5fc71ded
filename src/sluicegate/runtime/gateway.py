"""One gateway process from its first snapshot to its last exchange."""

import asyncio
import os
import signal
import traceback
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, Literal

from sluicegate.config.candidate import Candidate
from sluicegate.config.denylist import Entry
from sluicegate.config.loader import content_digest
from sluicegate.config.settings import ProcessSettings
from sluicegate.engine import DataPlane, Facts, Request
from sluicegate.errors import ConfigError, Unavailable
from sluicegate.runtime.control import ControlSocket
from sluicegate.runtime.events import log_events
from sluicegate.runtime.log import Log, utc_now
from sluicegate.runtime.publisher import Publisher
from sluicegate.runtime.state import StateDirectory
from sluicegate.runtime.watch import INTERVAL, changes

DONE, FAILED = 0, 1
StartEngine = Callable[[ProcessSettings], DataPlane]


class Gateway:
    """Follows one document and runs one data plane until it is told to end."""

    def __init__(
        self,
        settings: ProcessSettings,
        publisher: Publisher,
        *,
        start_engine: StartEngine,
        log: Log,
        when_serving: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> None:
        self._settings = settings
        self._publisher = publisher
        self._start_engine = start_engine
        self._log = log
        self._when_serving = when_serving
        self._phase: Literal["starting", "serving", "draining", "stopped"] = "starting"
        self._started: datetime = utc_now()
        self._seen: str | None = None
        self._asked_to_end = asyncio.Event()
        self._asked_twice = asyncio.Event()
        self._reload_asked = asyncio.Event()

    async def run(self, state: StateDirectory) -> int:
        """Serve until SIGTERM or SIGINT; give the exit code.

        Raises:
            ConfigError: the document is broken and there is no last good snapshot.
            Unavailable: a port, the state directory or a thread could not be had.
        """
        with state.locked():
            self._seen = await asyncio.to_thread(content_digest, self._publisher.path)
            candidate = await asyncio.to_thread(self._publisher.examine)
            if candidate.errors and state.last_good() is None:
                # Nothing was started yet: the caller prints the problems and ends.
                raise ConfigError(candidate.errors)
            engine = await asyncio.to_thread(self._start_engine, self._settings)
            try:
                return await self._serve(state, engine, candidate)
            finally:
                engine.stop()
                self._phase = "stopped"
                self._log.info("stopped", "the gateway has ended")

    async def _serve(self, state: StateDirectory, engine: DataPlane, candidate: Candidate) -> int:
        self._catch_signals(engine)
        await asyncio.to_thread(self._publisher.begin, engine, candidate)
        control = ControlSocket(state.socket_path, self._handlers(engine))
        await control.open()
        engine.set_ready(ready=True)
        self._phase = "serving"
        status = self.status(engine)
        self._log.info("serving", "the gateway serves", pid=os.getpid(), engine=status["engine"])
        self._when_serving(status)
        try:
            async with asyncio.TaskGroup() as group:
                following = [
                    group.create_task(self._follow_file()),
                    group.create_task(self._reload_when_asked(engine)),
                    group.create_task(log_events(engine, self._log)),
                    group.create_task(self._follow_denylists(engine)),
                ]
                await self._asked_to_end.wait()
                for task in following:
                    task.cancel()
            return await self._drain(engine)
        finally:
            await control.close()

    def status(self, engine: DataPlane) -> dict[str, Any]:
        """What `sluicegate status` shows."""
        publisher = self._publisher
        in_force = publisher.in_force
        return {
            "phase": self._phase,
            "pid": os.getpid(),
            "started": self._started.isoformat(timespec="seconds"),
            "config": str(publisher.path),
            "version": in_force.snapshot.version if in_force else None,
            "digest": in_force.snapshot.digest if in_force else None,
            "origin": in_force.origin if in_force else None,
            "rejection": publisher.rejection.as_json() if publisher.rejection else None,
            "denylists": publisher.denylists.status(),
            "engine": engine.status(),
        }

    def end(self) -> None:
        """Ask for a drain; asked again, end at once."""
        if self._asked_to_end.is_set():
            self._asked_twice.set()
        self._asked_to_end.set()

    async def _follow_file(self) -> None:
        async for _ in changes(self._publisher.path, seen=self._seen):
            self._reload_asked.set()

    async def _follow_denylists(self, engine: DataPlane) -> None:
        while True:
            await asyncio.sleep(INTERVAL)
            try:
                await asyncio.to_thread(self._publisher.denylists.follow, engine)
            except Exception as error:  # noqa: BLE001 - as for a reload
                trace = traceback.format_exc()
                self._log.error("follow_failed", f"a denylist: {error!r}", trace=trace)

    async def _reload_when_asked(self, engine: DataPlane) -> None:
        while True:
            await self._reload_asked.wait()
            self._reload_asked.clear()
            try:
                await asyncio.to_thread(self._publisher.reload, engine)
            except Exception as error:  # noqa: BLE001 - a bug in reading must not end the serving
                trace = traceback.format_exc()
                self._log.error("reload_failed", f"this is a bug: {error!r}", trace=trace)

    async def _drain(self, engine: DataPlane) -> int:
        """End in the order of AV-03: readiness, propagation, no new work, drain, close."""
        self._phase = "draining"
        delay, grace = self._settings.drain_delay, self._settings.grace
        self._log.info(
            "draining",
            "readiness fails from now on; listeners close after the delay",
            delay_seconds=delay.total_seconds(),
            grace_seconds=grace.total_seconds(),
        )
        engine.set_ready(ready=False)
        if await self._is_asked_twice_within(delay.total_seconds()):
            return self._end_at_once()
        draining = asyncio.create_task(asyncio.to_thread(engine.drain, grace.total_seconds()))
        twice = asyncio.create_task(self._asked_twice.wait())
        await asyncio.wait({draining, twice}, return_when=asyncio.FIRST_COMPLETED)
        twice.cancel()
        if not draining.done():
            # Stopping the engine is what lets its drain return.
            engine.stop()
            return self._end_at_once()
        if draining.result():
            self._log.info("drained", "every exchange has ended")
        else:
            self._log.warning("grace_over", "exchanges were cut: they took longer than the grace")
        return DONE

    async def _is_asked_twice_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                return await self._asked_twice.wait()
        except TimeoutError:
            return False

    def _end_at_once(self) -> int:
        self._log.warning("ended_at_once", "asked a second time: running exchanges were cut")
        return FAILED

    def _catch_signals(self, engine: DataPlane) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.end)
        loop.add_signal_handler(signal.SIGHUP, self._hang_up, engine)

    def _hang_up(self, engine: DataPlane) -> None:
        """Read the document again, and open log files anew: somebody may have moved them away."""
        engine.tell({"kind": "reopen_logs"})
        self._reload_asked.set()

    def _handlers(self, engine: DataPlane) -> dict[str, Any]:
        async def status(_: dict[str, Any]) -> dict[str, Any]:
            return self.status(engine)

        async def drain(_: dict[str, Any]) -> dict[str, Any]:
            self.end()
            wait = self._settings.drain_delay + self._settings.grace
            return {"phase": "draining", "pid": os.getpid(), "at_most": wait.total_seconds()}

        async def reload(_: dict[str, Any]) -> dict[str, Any]:
            applied = await asyncio.to_thread(self._publisher.reload, engine)
            return {"applied": applied, **self.status(engine)}

        async def explain(asked: dict[str, Any]) -> dict[str, Any]:
            request, facts = _request(asked["request"]), Facts(**asked["facts"])
            explained = await asyncio.to_thread(engine.explain_live, request, facts)
            return explained.raw

        denylists = self._publisher.denylists

        async def block(asked: dict[str, Any]) -> list[dict[str, Any]]:
            return await asyncio.to_thread(_denied_by, denylists.block, engine, asked)

        async def unblock(asked: dict[str, Any]) -> list[dict[str, Any]]:
            return await asyncio.to_thread(_denied_by, denylists.unblock, engine, asked)

        return {
            "status": status,
            "drain": drain,
            "reload": reload,
            "explain": explain,
            "block": block,
            "unblock": unblock,
        }


def request_as_json(request: Request) -> dict[str, Any]:
    """A request as it travels over the control socket."""
    return asdict(request)


def _denied_by(
    change: Callable[..., list[dict[str, Any]]], engine: DataPlane, asked: dict[str, Any]
) -> list[dict[str, Any]]:
    """Change the denylists as a command asks; what is wrong stands in no document."""
    entries = [Entry.from_json(entry) for entry in asked["entries"]]
    try:
        return change(engine, entries, only=asked["list"])
    except ConfigError as error:
        said = (str(replace(one, path=())).removeprefix("document: ") for one in error.problems)
        raise Unavailable("\n".join(said)) from error


def _request(value: dict[str, Any]) -> Request:
    headers = tuple((str(name), str(text)) for name, text in value.pop("headers"))
    return Request(**value, headers=headers)
