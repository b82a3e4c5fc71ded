"""A small strict reader of HTTP/1.1 messages: what it does not know for sure, it refuses."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,15}")


class NotHttp(AssertionError):
    """What came breaks the protocol: the gateway must never do that."""


class Fields:
    """Fields in the order they came."""

    def __init__(self, pairs: list[tuple[str, str]] | None = None) -> None:
        self.pairs = pairs or []

    def all(self, name: str) -> list[str]:
        """Every value of a field."""
        return [value for known, value in self.pairs if known.lower() == name.lower()]

    def __contains__(self, name: str) -> bool:
        return bool(self.all(name))

    def __getitem__(self, name: str) -> str:
        values = self.all(name)
        assert len(values) == 1, f"{name} came {len(values)} times: {values}"
        return values[0]

    def __repr__(self) -> str:
        return repr(self.pairs)


@dataclass
class Message:
    """A start line, fields, and the body once it has been read."""

    start: str
    fields: Fields
    raw_head: bytes
    body: bytes = b""
    trailers: Fields = field(default_factory=Fields)


class MessageReader:
    """Reads one message after another from whatever gives bytes; empty bytes are the end."""

    def __init__(self, receive: Callable[[], bytes]) -> None:
        self._receive = receive
        self._bytes = bytearray()

    def head(self) -> Message | None:
        """The next head; None when the stream ends before its first byte."""
        while (end := self._bytes.find(b"\r\n\r\n")) < 0:
            if not self._fill():
                if self._bytes:
                    raise NotHttp(f"ended inside a head: {bytes(self._bytes)!r}")
                return None
        raw = self._take(end + 4)
        start, *lines = raw[:-4].decode("latin-1").split("\r\n")
        return Message(start, _read_fields(lines), raw)

    def body(self, message: Message, *, until_close: bool) -> None:
        """The body that belongs to a head, by its framing."""
        for piece in self.pieces(message, until_close=until_close):
            message.body += piece

    def pieces(self, message: Message, *, until_close: bool) -> Iterator[bytes]:
        """The body piece by piece, for those too long to hold."""
        lengths = message.fields.all("Content-Length")
        codings = message.fields.all("Transfer-Encoding")
        if codings:
            if codings != ["chunked"] or lengths:
                raise NotHttp(f"ambiguous framing: {codings} {lengths}")
            yield from self._chunks(message)
        elif lengths:
            if len(lengths) != 1 or not lengths[0].isdigit():
                raise NotHttp(f"ambiguous framing: {lengths}")
            yield from self._exactly(int(lengths[0]))
        elif until_close:
            while self._bytes or self._fill():
                yield self._take(len(self._bytes))

    def take_rest(self) -> bytes:
        """What was received and not yet read."""
        return self._take(len(self._bytes))

    def has_rest(self) -> bool:
        """Something was received and not yet read."""
        return bool(self._bytes)

    def _exactly(self, length: int) -> Iterator[bytes]:
        while length:
            if not self._bytes and not self._fill():
                raise NotHttp(f"ended {length} bytes before the end of a body")
            piece = self._take(min(length, len(self._bytes)))
            length -= len(piece)
            yield piece

    def _chunks(self, message: Message) -> Iterator[bytes]:
        while True:
            size = self._line()
            if not CHUNK_SIZE.fullmatch(size):
                raise NotHttp(f"bad chunk size: {size!r}")
            length = int(size, 16)
            if not length:
                break
            yield from self._exactly(length)
            if self._line() != b"":
                raise NotHttp("a chunk is longer than it says")
        lines = []
        while line := self._line():
            lines.append(line.decode("latin-1"))
        message.trailers = _read_fields(lines)

    def _line(self) -> bytes:
        while (end := self._bytes.find(b"\r\n")) < 0:
            if not self._fill():
                raise NotHttp("ended inside a chunked body")
        return self._take(end + 2)[:-2]

    def _take(self, count: int) -> bytes:
        taken = bytes(self._bytes[:count])
        del self._bytes[:count]
        return taken

    def _fill(self) -> bool:
        data = self._receive()
        self._bytes += data
        return bool(data)


def _read_fields(lines: list[str]) -> Fields:
    pairs = []
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not TOKEN.fullmatch(name) or not VALUE.fullmatch(value):
            raise NotHttp(f"bad field line: {line!r}")
        pairs.append((name, value.strip(" \t")))
    return Fields(pairs)
