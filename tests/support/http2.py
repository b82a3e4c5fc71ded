"""A client that speaks HTTP/2 frame by frame, and an upstream that does."""

import socket
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings

from support.raw import Address

Headers = list[tuple[str, str]]
FRAME_HEAD = 9


@dataclass
class Answer:
    """What has come on one stream so far."""

    headers: Headers = field(default_factory=list)
    interim: list[Headers] = field(default_factory=list)
    pieces: bytearray = field(default_factory=bytearray, repr=False)
    trailers: Headers | None = None
    is_complete: bool = False
    reset: int | None = None

    @property
    def body(self) -> bytes:
        """The body so far."""
        return bytes(self.pieces)

    @property
    def status(self) -> int:
        """The status, once the head has come."""
        return int(dict(self.headers)[":status"])

    def header(self, name: str) -> str | None:
        """The only value of a field; fails when there are two."""
        values = [value for known, value in self.headers if known == name]
        assert len(values) < 2, f"{name} came {len(values)} times: {values}"
        return values[0] if values else None


class Client:
    """One connection with prior knowledge. Whatever waits, waits at most `timeout` seconds."""

    def __init__(
        self,
        address: Address,
        *,
        timeout: float = 5,
        validates: bool = True,
        sock: socket.socket | None = None,
    ) -> None:
        self.socket = sock or socket.create_connection(address, timeout=timeout)
        self.socket.settimeout(timeout)
        config = h2.config.H2Configuration(
            client_side=True,
            header_encoding="utf-8",
            validate_outbound_headers=validates,
            normalize_outbound_headers=validates,
        )
        self.h2 = h2.connection.H2Connection(config)
        self.h2.initiate_connection()
        self.answers: dict[int, Answer] = {}
        self.goaway: h2.events.ConnectionTerminated | None = None
        self.end: str | None = None
        self.reads = True
        self._unread = b""
        self.flush()

    def flush(self) -> None:
        """Send what is waiting to be sent."""
        self.socket.sendall(self.h2.data_to_send())

    def begin(  # noqa: PLR0913 - the parts of a head
        self,
        path: str = "/x",
        *,
        method: str = "GET",
        authority: str | None = "a.test",
        headers: Iterable[tuple[str, str]] = (),
        end: bool = True,
        protocol: str | None = None,
    ) -> int:
        """Open a stream; its number."""
        stream: int = self.h2.get_next_available_stream_id()
        pseudo = [(":method", method), (":scheme", "http"), (":path", path)]
        if authority is not None:
            pseudo.append((":authority", authority))
        if protocol is not None:
            pseudo.append((":protocol", protocol))
        self.answers[stream] = Answer()
        self.h2.send_headers(stream, [*pseudo, *headers], end_stream=end)
        self.flush()
        return stream

    def connect_to(self, authority: str) -> int:
        """Ask for a tunnel by CONNECT."""
        stream: int = self.h2.get_next_available_stream_id()
        self.answers[stream] = Answer()
        self.h2.send_headers(stream, [(":method", "CONNECT"), (":authority", authority)])
        self.flush()
        return stream

    def send(self, stream: int, data: bytes, *, end: bool = False) -> None:
        """Send body bytes as far as the windows allow, waiting for them to open."""
        while data or end:
            room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)
            if data and room == 0:
                self.pump()
                continue
            piece, data = data[:room], data[room:]
            self.h2.send_data(stream, piece, end_stream=end and not data)
            self.flush()
            if not data:
                return

    def cancel(self, stream: int) -> None:
        """Give a stream up."""
        self.h2.reset_stream(stream, h2.errors.ErrorCodes.CANCEL)
        self.flush()

    def pump(self) -> bool:
        """Take in what comes next; false at the end of the connection."""
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionResetError:
            self.end = "rst"
            return False
        if not data:
            self.end = "fin"
            return False
        self._unread += data
        # One by one: this library takes nothing more after a GOAWAY, although what is open goes on.
        while len(self._unread) >= FRAME_HEAD:
            size = FRAME_HEAD + int.from_bytes(self._unread[:3])
            if len(self._unread) < size:
                break
            frame, self._unread = self._unread[:size], self._unread[size:]
            for event in self.h2.receive_data(frame):
                self._take(event)
        with suppress(BrokenPipeError, ConnectionResetError):
            # A peer that has closed is noticed by the next read.
            self.flush()
        return True

    def until(self, holds: Callable[[], object]) -> None:
        """Take in what comes until something is true, or fail when the connection ends."""
        while not holds():
            assert self.pump(), f"the connection ended: {self.end}, {self.goaway}"

    def answer(self, stream: int) -> Answer:
        """The whole answer of a stream, or how it was reset."""
        answer = self.answers[stream]
        while not (answer.is_complete or answer.reset is not None) and self.pump():
            pass
        assert answer.is_complete or answer.reset is not None or self.goaway, self.end
        return answer

    def request(self, path: str = "/x", *, body: bytes | None = None, **more: Any) -> Answer:  # noqa: ANN401 - as `begin`
        """One request and its whole answer."""
        stream = self.begin(path, end=body is None, **more)
        if body is not None:
            self.send(stream, body, end=True)
        return self.answer(stream)

    def until_end(self) -> None:
        """Take in what comes until the peer has closed."""
        while self.pump():
            pass

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

    def _take(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.InformationalResponseReceived():
                self.answers[event.stream_id].interim.append(_pairs(event.headers))
            case h2.events.ResponseReceived():
                self.answers[event.stream_id].headers = _pairs(event.headers)
            case h2.events.DataReceived():
                self.answers[event.stream_id].pieces += event.data
                if self.reads and event.flow_controlled_length:
                    self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case h2.events.TrailersReceived():
                self.answers[event.stream_id].trailers = _pairs(event.headers)
            case h2.events.StreamEnded():
                self.answers[event.stream_id].is_complete = True
            case h2.events.StreamReset():
                self.answers[event.stream_id].reset = event.error_code
            case h2.events.ConnectionTerminated():
                self.goaway = event
                if event.error_code == h2.errors.ErrorCodes.NO_ERROR:
                    self.h2.state_machine.state = h2.connection.ConnectionState.CLIENT_OPEN
            case _:
                pass


@dataclass
class Received:
    """A request as an upstream got it."""

    stream: int
    headers: dict[str, str]
    pieces: bytearray = field(default_factory=bytearray, repr=False)
    is_complete: bool = False
    reset: int | None = None

    @property
    def body(self) -> bytes:
        """The body so far."""
        return bytes(self.pieces)


def _pairs(headers: Iterable[Any]) -> Headers:
    """Names and values as text, which is what the configuration asks for."""
    return [(str(name), str(value)) for name, value in headers]


Handler = Callable[["Peer", Received], None]


class Peer:
    """The upstream's side of one connection."""

    def __init__(self, upstream: "Http2Upstream", sock: socket.socket) -> None:
        self.socket = sock
        self.requests: dict[int, Received] = {}
        self._upstream = upstream
        self._lock = threading.RLock()
        config = h2.config.H2Configuration(client_side=False, header_encoding="utf-8")
        self.h2 = h2.connection.H2Connection(config)
        self.is_open = True

    def answer(
        self,
        request: Received,
        body: bytes | None = b"ok",
        *,
        status: int = 200,
        headers: Iterable[tuple[str, str]] = (),
        trailers: Iterable[tuple[str, str]] = (),
    ) -> None:
        """Answer a request; `body=None` ends the stream with its head."""
        trailers = list(trailers)
        with self._lock:
            head = [(":status", str(status)), *headers]
            self.h2.send_headers(request.stream, head, end_stream=body is None)
            if body is not None:
                self.h2.send_data(request.stream, body, end_stream=not trailers)
                if trailers:
                    self.h2.send_headers(request.stream, trailers, end_stream=True)
            self.flush()

    def flush(self) -> None:
        """Send what is waiting to be sent."""
        with self._lock:
            self.socket.sendall(self.h2.data_to_send())

    def refuse(self, request: Received) -> None:
        """Say that nothing has been done with it."""
        with self._lock:
            self.h2.reset_stream(request.stream, h2.errors.ErrorCodes.REFUSED_STREAM)
            self.flush()

    def leave(self) -> None:
        """Say that no more streams are taken."""
        with self._lock:
            self.h2.close_connection(last_stream_id=max(self.requests, default=0))
            self.flush()

    def run(self) -> None:
        """Take in frames until the gateway closes."""
        with self._lock:
            self.h2.initiate_connection()
            most: dict[h2.settings.SettingCodes | int, int] = {
                h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: self._upstream.streams
            }
            self.h2.update_settings(most)
            self.flush()
        try:
            while data := self.socket.recv(1 << 16):
                with self._lock:
                    events = self.h2.receive_data(data)
                    for event in events:
                        self._take(event)
                    self.flush()
        except (OSError, h2.exceptions.ProtocolError):
            pass
        self.is_open = False
        self._upstream.note()

    def _take(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.RequestReceived():
                request = Received(event.stream_id, dict(_pairs(event.headers)))
                self.requests[event.stream_id] = request
                self._upstream.requests.append(request)
                if self._upstream.answers_heads:
                    self._upstream.handler(self, request)
            case h2.events.DataReceived():
                self.requests[event.stream_id].pieces += event.data
                if event.flow_controlled_length:
                    self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case h2.events.StreamEnded():
                request = self.requests[event.stream_id]
                request.is_complete = True
                if not self._upstream.answers_heads:
                    self._upstream.handler(self, request)
            case h2.events.StreamReset():
                self.requests[event.stream_id].reset = event.error_code
            case _:
                pass
        self._upstream.note()


class Http2Upstream:
    """Accepts connections and answers whole requests by a handler."""

    def __init__(
        self,
        handler: Handler = lambda peer, request: peer.answer(request),
        *,
        streams: int = 100,
        answers_heads: bool = False,
    ) -> None:
        self.handler = handler
        self.streams = streams
        self.answers_heads = answers_heads
        self.peers: list[Peer] = []
        self.requests: list[Received] = []
        self._changed = threading.Condition()
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def authority(self) -> str:
        """Host and port."""
        host, port = self._listener.getsockname()
        return f"{host}:{port}"

    def note(self) -> None:
        """Wake whoever waits for something."""
        with self._changed:
            self._changed.notify_all()

    def wait_until(self, holds: Callable[[], object], *, within: float = 5) -> None:
        """Wait until something is true of what was received."""
        with self._changed:
            assert self._changed.wait_for(lambda: bool(holds()), within), self.requests

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.close()
        for peer in self.peers:
            peer.socket.close()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            peer = Peer(self, sock)
            self.peers.append(peer)
            threading.Thread(target=peer.run, daemon=True).start()
