"""A small upstream to try the gateway with: a greeting, and an echo of what arrived."""

import asyncio
import json
from types import TracebackType
from typing import Self

_IDLE_SECONDS = 75.0
_SLOWEST_REQUEST = 30.0
_LARGEST_BODY = 1 << 20
_LARGEST_HEAD = 64 << 10


class ExampleUpstream:
    """An HTTP/1.1 server on the loopback interface, kept alive; for trying out, not for work."""

    def __init__(self, host: str = "127.0.0.1", port: int = 9000) -> None:
        self._host = host
        self._port = port
        self._server: asyncio.Server | None = None
        self._conversations: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._converse, self._host, self._port, limit=_LARGEST_HEAD
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._server:
            self._server.close()
        for conversation in self._conversations:
            conversation.cancel()

    @property
    def address(self) -> str:
        """Where it listens."""
        if not self._server:
            return f"{self._host}:{self._port}"
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"{host}:{port}"

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task:
            self._conversations.add(task)
            task.add_done_callback(self._conversations.discard)
        try:
            while await _answer_one(reader, writer):
                pass
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            # The peer has gone, or does not speak HTTP: there is nobody to tell.
            return
        finally:
            writer.close()


async def _answer_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Answer one request; False when the connection is over."""
    async with asyncio.timeout(_IDLE_SECONDS):
        head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, target, _ = first.split(" ", 2)
    fields = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    by_name = {name.lower(): value for name, value in fields}
    async with asyncio.timeout(_SLOWEST_REQUEST):
        body = await _read_body(reader, by_name)
    status, content = _content(method, target, fields, body)
    keep = by_name.get("connection", "").lower() != "close"
    answer = (
        f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n"
        f"Connection: {'keep-alive' if keep else 'close'}\r\n\r\n"
    ).encode()
    writer.write(answer if method == "HEAD" else answer + content)
    async with asyncio.timeout(_SLOWEST_REQUEST):
        await writer.drain()
    return keep


async def _read_body(reader: asyncio.StreamReader, fields: dict[str, str]) -> bytes:
    if fields.get("transfer-encoding", "").lower() != "chunked":
        return await reader.readexactly(_bounded(int(fields.get("content-length", "0"))))
    body = b""
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        body += await reader.readexactly(_bounded(size + len(body)) - len(body))
        await reader.readexactly(2)
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass
    return body


def _bounded(size: int) -> int:
    if not 0 <= size <= _LARGEST_BODY:
        raise ValueError("the example upstream reads at most 1 MiB")
    return size


def _content(
    method: str, target: str, fields: list[tuple[str, str]], body: bytes
) -> tuple[str, bytes]:
    if target.partition("?")[0] == "/hello" and method in {"GET", "HEAD"}:
        return "200 OK", b'{"message": "hello from the example upstream"}\n'
    echo = {
        "method": method,
        "target": target,
        "headers": fields,
        "body": body.decode("utf-8", errors="replace"),
    }
    return "200 OK", json.dumps(echo, indent=2).encode() + b"\n"
