"""A client that sends exact bytes, reads answers strictly, and sees how the peer closed."""

import socket
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self

from support.message import Fields, Message, MessageReader, NotHttp

Address = tuple[str, int]
End = Literal["fin", "rst"]

# A reset instead of a FIN: what a process that dies with unread bytes leaves behind.
ABORT = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Response:
    """One answer as it came, its body decoded; `interim` are the 1xx answers before it."""

    status: int
    reason: str
    version: str
    fields: Fields
    body: bytes
    trailers: Fields
    raw_head: bytes
    interim: tuple["Response", ...] = field(default=(), repr=False)

    def header(self, name: str) -> str | None:
        """The only value of a field; fails when there are two."""
        values = self.fields.all(name)
        assert len(values) < 2, f"{name} came {len(values)} times: {values}"
        return values[0] if values else None


class Connection:
    """One client connection. Whatever waits, waits at most `timeout` seconds."""

    def __init__(
        self, address: Address, *, timeout: float = 5, receive_buffer: int | None = None
    ) -> None:
        self.socket = socket.socket()
        self.socket.settimeout(timeout)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = MessageReader(self._receive)

    def send(self, data: bytes) -> None:
        """Send it all."""
        self.socket.sendall(data)

    def send_pieces(self, pieces: Iterable[bytes]) -> None:
        """Send each piece by a write of its own."""
        for piece in pieces:
            self.socket.sendall(piece)

    def response(self, method: str = "GET") -> Response:
        """Read the final answer to a request of this method, the interim ones before it too."""
        interim: list[Response] = []
        while True:
            response = self.any_response(method)
            if response.status >= 200 or response.status == 101:
                return Response(**{**vars(response), "interim": tuple(interim)})
            interim.append(response)

    def any_response(self, method: str = "GET") -> Response:
        """Read the next answer, interim or not."""
        message = self.reader.head()
        if message is None:
            raise NotHttp("the connection ended before an answer")
        version, status, reason = _status_line(message)
        code = int(status)
        has_no_body = method == "HEAD" or code < 200 or code in (204, 304)
        if not has_no_body:
            self.reader.body(message, until_close=True)
        return Response(
            code, reason, version, message.fields, message.body, message.trailers, message.raw_head
        )

    def request(self, data: bytes, method: str = "GET") -> Response:
        """Send it and read the final answer."""
        self.send(data)
        return self.response(method)

    def end(self) -> End:
        """How the peer closed, with nothing more before it."""
        rest, end = self.rest()
        assert rest == b"", f"more came before the end: {rest[:200]!r}"
        return end

    def rest(self) -> tuple[bytes, End]:
        """All that still comes, and how the peer closed."""
        got = self.reader.take_rest()
        while True:
            try:
                data = self._receive()
            except ConnectionResetError:
                return got, "rst"
            if not data:
                return got, "fin"
            got += data

    def is_silent(self, *, within: float) -> bool:
        """Nothing comes, not even an end, for this many seconds."""
        if self.reader.has_rest():
            return False
        before = self.socket.gettimeout()
        self.socket.settimeout(within)
        try:
            self.socket.recv(1, socket.MSG_PEEK)
        except TimeoutError:
            return True
        except ConnectionResetError:
            return False
        finally:
            self.socket.settimeout(before)
        return False

    def half_close(self) -> None:
        """Send a FIN and go on reading."""
        self.socket.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        """End with a reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
        self.socket.close()

    def close(self) -> None:
        """End as a client does that is done."""
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _receive(self) -> bytes:
        return self.socket.recv(1 << 16)


def _status_line(message: Message) -> tuple[str, str, str]:
    version, _, rest = message.start.partition(" ")
    status, space, reason = rest.partition(" ")
    if version != "HTTP/1.1" or not status.isdigit() or len(status) != 3 or not space:
        raise NotHttp(f"bad status line: {message.start!r}")
    return version, status, reason


def get(target: str = "/", *fields: str, host: str = "a.test") -> bytes:
    """The bytes of a GET."""
    lines = [f"GET {target} HTTP/1.1", f"Host: {host}", *fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def post(body: bytes, target: str = "/", *fields: str, host: str = "a.test") -> bytes:
    """The bytes of a POST with a Content-Length."""
    lines = [f"POST {target} HTTP/1.1", f"Host: {host}", f"Content-Length: {len(body)}", *fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def chunked(*chunks: bytes, trailers: str = "") -> bytes:
    """A body in chunked coding, to its end."""
    coded = b"".join(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n" for chunk in chunks)
    return coded + b"0\r\n" + trailers.encode() + b"\r\n"


def exchange(address: Address, data: bytes, *, timeout: float = 5) -> tuple[bytes, End]:
    """Send bytes on a connection of their own; all that comes back, and how it ended."""
    with Connection(address, timeout=timeout) as connection:
        connection.send(data)
        return connection.rest()
