"""A fixed rate of requests from a process of its own, and what became of every one.

As a program: `load.py upstream` answers, `load.py send …` asks until standard input ends.
"""

import argparse
import asyncio
import json
import subprocess
import sys
from collections import Counter, deque
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from support.raw import Address

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
FIRST_FAILURES = 20


@dataclass(frozen=True)
class Report:
    """What became of the requests; times in milliseconds from sending to the whole answer.

    `again`: requests whose kept-alive connection was closed before they could be answered, and
    that were sent once more on a new one, as every client does (RFC 9112, section 9.3.1).
    """

    sent: int
    seconds: float
    statuses: dict[str, int]
    failures: list[str]
    again: int
    p50: float
    p99: float
    worst: float

    @property
    def rate(self) -> float:
        """Requests per second."""
        return self.sent / self.seconds


class Program:
    """This file as a process; `first_line` is what it says when it is ready."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": str(Path(__file__).parents[1])},
        )
        assert self.process.stdout is not None
        self.first_line = self.process.stdout.readline().strip()

    def stop(self) -> str:
        """End it; what it still said."""
        rest, _ = self.process.communicate(timeout=20)
        return rest

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


class Load(Program):
    """Requests at a fixed rate from now until `report` is asked for."""

    def __init__(
        self, to: Address, target: str, *, rate: int, connections: int = 32, host: str = "a.test"
    ) -> None:
        options = f"--rate={rate} --connections={connections} --host={host}".split()
        super().__init__("send", f"{to[0]}:{to[1]}", target, *options)

    def report(self) -> Report:
        """End it and say what became of the requests."""
        return Report(**json.loads(self.stop()))


class QuickUpstream(Program):
    """Answers every request with 200, quickly."""

    def __init__(self) -> None:
        super().__init__("upstream")

    @property
    def authority(self) -> str:
        """Where it listens, as configurations say it."""
        return self.first_line


class _Asking(asyncio.Protocol):
    """One kept-alive connection that has one request under way at most."""

    def __init__(self, tally: "_Tally", request: bytes) -> None:
        self.tally = tally
        self.request = request
        self.begun = 0.0
        self.is_busy = False
        self.has_served = False
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def send(self) -> None:
        self.is_busy = True
        self.begun = self.tally.loop.time()
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, end, body = self.received.partition(b"\r\n\r\n")
        if not end:
            return
        fields = head.lower()
        length = int(fields.partition(b"content-length:")[2].split(b"\r\n")[0])
        if len(body) < length:
            return
        self.received = b""
        self.is_busy = False
        self.has_served = True
        self.tally.answered(head[9:12].decode(), self.tally.loop.time() - self.begun)
        if b"connection: close" in fields:
            self.transport.close()
        else:
            self.tally.free.append(self)

    def connection_lost(self, error: Exception | None) -> None:
        self.tally.open -= 1
        if self in self.tally.free:
            self.tally.free.remove(self)
        if self.is_busy and self.has_served and not self.received:
            self.tally.unanswered.append(self)
        elif self.is_busy:
            self.tally.failed(f"the connection ended: {error!r}, after {self.received[:100]!r}")


class _Tally:
    """Connections, and what became of the requests on them."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.free: deque[_Asking] = deque()
        self.unanswered: deque[_Asking] = deque()
        self.open = 0
        self.sent = 0
        self.again = 0
        self.statuses: Counter[str] = Counter()
        self.failures: list[str] = []
        self.took: list[float] = []

    def answered(self, status: str, took: float) -> None:
        self.statuses[status] += 1
        self.took.append(took)

    def failed(self, why: str) -> None:
        self.failures.append(why)

    def report(self, seconds: float) -> Report:
        took = sorted(self.took) or [0.0]

        def part(share: float) -> float:
            return round(1000 * took[min(int(share * len(took)), len(took) - 1)], 3)

        failures = self.failures[:FIRST_FAILURES]
        if len(self.failures) > FIRST_FAILURES:
            failures.append(f"… {len(self.failures)} in all")
        times = (part(0.5), part(0.99), part(1))
        return Report(self.sent, seconds, dict(self.statuses), failures, self.again, *times)


async def send(options: argparse.Namespace) -> None:
    """Send by the clock until standard input ends; no answer is waited for before the next."""
    tally = _Tally()
    host, _, port = options.to.rpartition(":")
    request = f"GET {options.target} HTTP/1.1\r\nHost: {options.host}\r\n\r\n".encode()

    async def connect() -> _Asking:
        tally.open += 1
        _, asking = await tally.loop.create_connection(
            lambda: _Asking(tally, request), host, int(port)
        )
        return asking

    tally.free.extend([await connect() for _ in range(options.connections)])
    print("sending", flush=True)  # noqa: T201 - the other process waits for it
    ended = tally.loop.create_task(asyncio.to_thread(sys.stdin.read))
    begun = due = tally.loop.time()

    async def send_again() -> None:
        while tally.unanswered:
            tally.unanswered.popleft()
            tally.again += 1
            try:
                asking = await connect()
            except OSError as error:
                tally.failed(f"no connection: {error}")
            else:
                asking.send()

    while not ended.done():
        await send_again()
        due += 1 / options.rate
        await asyncio.sleep(max(0.0, due - tally.loop.time()))
        tally.sent += 1
        try:
            asking = tally.free.popleft() if tally.free else await connect()
        except OSError as error:
            tally.failed(f"no connection: {error}")
            continue
        asking.send()
    seconds = tally.loop.time() - begun
    deadline = tally.loop.time() + 5
    while sum(tally.statuses.values()) + len(tally.failures) < tally.sent:
        await send_again()
        if tally.loop.time() > deadline:
            missing = tally.sent - sum(tally.statuses.values()) - len(tally.failures)
            tally.failed(f"{missing} requests were never answered")
            break
        await asyncio.sleep(0.01)
    print(json.dumps(asdict(tally.report(seconds))), flush=True)  # noqa: T201 - the result


class _Answering(asyncio.Protocol):
    """Answers each head that ends; requests have no bodies here."""

    def __init__(self) -> None:
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        while b"\r\n\r\n" in self.received:
            self.received = self.received.partition(b"\r\n\r\n")[2]
            self.transport.write(ANSWER)


async def answer() -> None:
    """Answer until standard input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Answering, "127.0.0.1", 0, backlog=1024)
    host, port = server.sockets[0].getsockname()
    print(f"{host}:{port}", flush=True)  # noqa: T201 - the other process waits for it
    await asyncio.to_thread(sys.stdin.read)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser()
    commands: Any = parser.add_subparsers(dest="command", required=True)
    sending = commands.add_parser("send")
    sending.add_argument("to")
    sending.add_argument("target")
    sending.add_argument("--rate", type=int, required=True)
    sending.add_argument("--connections", type=int, required=True)
    sending.add_argument("--host", required=True)
    commands.add_parser("upstream")
    options = parser.parse_args()
    asyncio.run(answer() if options.command == "upstream" else send(options))


if __name__ == "__main__":
    main()
