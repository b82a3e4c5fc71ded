"""The control socket: how `status`, `drain`, `explain --live`, `block` and others reach a gateway.

A Unix socket in the state directory, for its owner only. One JSON object per line asks
(`{"command": "status"}`), one answers: `{"ok": true, "result": …}` or
`{"ok": false, "error": …}`.
"""

import asyncio
import json
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sluicegate.errors import NotRunning, SluicegateError, Unavailable

Handler = Callable[[dict[str, Any]], Awaitable[Any]]
_LONGEST_LINE = 1 << 20
_IDLE_SECONDS = 30.0
_LONGEST_SOCKET_PATH = 100


class ControlSocket:
    """Answers commands; a command that is malformed is answered, never fatal."""

    def __init__(self, path: Path, handlers: Mapping[str, Handler]) -> None:
        self._path = path
        self._handlers = handlers
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Listen. The caller holds the state directory, so an old socket file is nobody's.

        Raises:
            Unavailable: the path is too long for a Unix socket, or cannot be written.
        """
        if len(os.fsencode(self._path)) > _LONGEST_SOCKET_PATH:
            raise Unavailable(
                f"{self._path} is too long for a Unix socket; choose a shorter --state-dir"
            )
        self._path.unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # The mode has to be right from the first moment on, so it goes by the umask.
            before = os.umask(0o177)
            try:
                listening.bind(str(self._path))
            finally:
                os.umask(before)
            self._server = await asyncio.start_unix_server(
                self._converse, sock=listening, limit=_LONGEST_LINE
            )
        except OSError as error:
            listening.close()
            raise Unavailable(f"cannot open {self._path}: {error.strerror}") from error

    async def close(self) -> None:
        """Stop listening and remove the socket file."""
        if self._server:
            self._server.close()
        await asyncio.to_thread(self._path.unlink, missing_ok=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, asyncio.CancelledError):
            while line := await self._next_line(reader):
                answer = await self._answer(line)
                writer.write(json.dumps(answer, default=str).encode() + b"\n")
                async with asyncio.timeout(_IDLE_SECONDS):
                    await writer.drain()
        writer.close()

    async def _next_line(self, reader: asyncio.StreamReader) -> bytes:
        async with asyncio.timeout(_IDLE_SECONDS):
            try:
                return await reader.readline()
            except ValueError:
                return b""

    async def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            asked = json.loads(line)
            handler = self._handlers[asked["command"]]
        except (ValueError, KeyError, TypeError):
            known = ", ".join(sorted(self._handlers))
            return {"ok": False, "error": f"not a command; there are: {known}"}
        try:
            return {"ok": True, "result": await handler(asked)}
        except (SluicegateError, ValueError, KeyError, TypeError) as error:
            return {"ok": False, "error": str(error) or type(error).__name__}


def ask(state_dir: Path, command: str, *, seconds: float = 10.0, **fields: object) -> Any:  # noqa: ANN401 - JSON
    """Send one command to the gateway of a state directory and give its result.

    Raises:
        NotRunning: no gateway answers there.
        Unavailable: it refused, or did not answer in time.
    """
    path = state_dir / "control.sock"
    line = json.dumps({"command": command, **fields}).encode() + b"\n"
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(seconds)
            connection.connect(str(path))
            connection.sendall(line)
            with connection.makefile("rb") as stream:
                answer = json.loads(stream.readline() or b"null")
    except TimeoutError as error:
        raise Unavailable(f"the gateway did not answer within {seconds:g} s") from error
    except (OSError, ValueError) as error:
        raise NotRunning(
            f"no gateway runs on the state directory {state_dir} (see --state-dir)"
        ) from error
    if not isinstance(answer, dict):
        raise NotRunning("the gateway ended before it answered")
    if not answer["ok"]:
        raise Unavailable(answer["error"])
    return answer["result"]
