"""An address that neither accepts nor refuses connections."""

import socket
from types import TracebackType
from typing import Self


class Blackhole:
    """A listener whose queue is full: the kernel drops further connection requests silently."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=0)
        self._waiting: list[socket.socket] = []
        # The queue holds one more than the backlog; a few are tried so that it is full for sure.
        for _ in range(3):
            waiting = socket.socket()
            waiting.setblocking(False)  # noqa: FBT003 - that is what the socket calls it
            waiting.connect_ex(self._listener.getsockname())
            self._waiting.append(waiting)

    @property
    def authority(self) -> str:
        """Its address, as configurations say it."""
        host, port = self._listener.getsockname()
        return f"{host}:{port}"

    def close(self) -> None:
        """Free the address."""
        for waiting in self._waiting:
            waiting.close()
        self._listener.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
