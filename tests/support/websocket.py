"""WebSocket by the byte: handshakes and frames for either side."""

import base64
import hashlib
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass

from support.gateway import Gateway
from support.raw import Response, get
from support.upstream import Visit

KEY = "AAAAAAAAAAAAAAAAAAAAAA=="
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def accept_for(key: str) -> str:
    """What proves that an answer is to this handshake (RFC 6455 section 1.3)."""
    digest = hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()  # noqa: S324 - the protocol's
    return base64.b64encode(digest).decode()


def opening(target: str = "/", *fields: str, key: str = KEY, version: str = "13") -> bytes:
    """The bytes of a handshake."""
    return get(
        target,
        "Connection: Upgrade",
        "Upgrade: websocket",
        f"Sec-WebSocket-Key: {key}",
        f"Sec-WebSocket-Version: {version}",
        *fields,
    )


def switching(*fields: str, key: str = KEY) -> bytes:
    """The bytes with which a server agrees."""
    lines = [
        "HTTP/1.1 101 Switching Protocols",
        "Connection: Upgrade",
        "Upgrade: websocket",
        f"Sec-WebSocket-Accept: {accept_for(key)}",
        *fields,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def frame(opcode: int, payload: bytes = b"", *, masked: bool = False, fin: bool = True) -> bytes:
    """One frame."""
    length = len(payload)
    first = (0x80 if fin else 0) | opcode
    if length < 126:
        head = struct.pack("!BB", first, length | 0x80 * masked)
    elif length <= 0xFFFF:
        head = struct.pack("!BBH", first, 126 | 0x80 * masked, length)
    else:
        head = struct.pack("!BBQ", first, 127 | 0x80 * masked, length)
    if not masked:
        return head + payload
    key = os.urandom(4)
    return head + key + bytes(byte ^ key[at % 4] for at, byte in enumerate(payload))


def closing(code: int | None = 1000, reason: str = "", *, masked: bool = False) -> bytes:
    """A close frame."""
    payload = b"" if code is None else struct.pack("!H", code) + reason.encode()
    return frame(CLOSE, payload, masked=masked)


@dataclass(frozen=True)
class Frame:
    """One frame as it came, its mask taken off."""

    opcode: int
    payload: bytes
    fin: bool
    masked: bool

    @property
    def code(self) -> int:
        """The code of a close frame."""
        assert self.opcode == CLOSE, self
        return int.from_bytes(self.payload[:2])


class Frames:
    """Reads frames from a stream."""

    def __init__(self, receive: Callable[[], bytes], rest: bytes = b"") -> None:
        self._receive = receive
        self._rest = rest

    def next(self) -> Frame | None:
        """The next frame; None when the stream ends before one, by FIN or RST."""
        head = self._take(2)
        if head is None:
            return None
        masked, length = bool(head[1] & 0x80), head[1] & 0x7F
        for short, size in ((126, 2), (127, 8)):
            if length == short:
                more = self._take(size)
                assert more is not None
                length = int.from_bytes(more)
                break
        key = self._take(4) if masked else b"\0\0\0\0"
        payload = self._take(length)
        assert key is not None
        assert payload is not None, "the stream ended inside a frame"
        plain = bytes(byte ^ key[at % 4] for at, byte in enumerate(payload)) if masked else payload
        return Frame(head[0] & 0x0F, plain, bool(head[0] & 0x80), masked)

    def must(self) -> Frame:
        """The next frame; there has to be one."""
        found = self.next()
        assert found is not None, "the stream ended"
        return found

    def _take(self, count: int) -> bytes | None:
        while len(self._rest) < count:
            try:
                data = self._receive()
            except ConnectionResetError:
                data = b""
            if not data:
                return None
            self._rest += data
        taken, self._rest = self._rest[:count], self._rest[count:]
        return taken


class Caller:
    """A client that has opened a WebSocket connection through the gateway."""

    def __init__(self, gateway: Gateway, *fields: str, target: str = "/") -> None:
        self.connection = gateway.connect()
        self.answer: Response = self.connection.request(opening(target, *fields))
        assert self.answer.status == 101, self.answer
        rest = self.connection.reader.take_rest()
        self.frames = Frames(lambda: self.connection.socket.recv(1 << 16), rest)

    def send(self, opcode: int, payload: bytes = b"") -> None:
        """Send a frame, masked as a client's must be."""
        self.connection.send(frame(opcode, payload, masked=True))

    def close(self, code: int = 1000) -> None:
        """Send a close frame."""
        self.connection.send(closing(code, masked=True))


def agree(visit: Visit, *fields: str) -> Frames:
    """Agree to the handshake that comes; the frames that follow."""
    request = visit.request()
    assert request is not None
    (key,) = request.fields.all("Sec-WebSocket-Key")
    visit.send(switching(*fields, key=key))
    return Frames(visit.receive, visit.take_rest())


def echoing(visit: Visit) -> None:
    """Sends messages back and answers pings, until the close handshake."""
    frames = agree(visit)
    while (came := frames.next()) is not None:
        if came.opcode == PING:
            visit.send(frame(PONG, came.payload))
        elif came.opcode != PONG:
            visit.send(frame(came.opcode, came.payload, fin=came.fin))
        if came.opcode == CLOSE:
            return
