"""An upstream on threads that records every byte and answers by a script."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

from support.message import Fields, Message, MessageReader, NotHttp
from support.raw import ABORT, Address

# The first byte of TCP_INFO, from linux/tcp_states.h.
ESTABLISHED = b"\x01"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Request:
    """A request as the upstream got it."""

    def __init__(self, message: Message) -> None:
        self.method, self.target, self.version = message.start.split(" ")
        self._message = message

    @property
    def fields(self) -> Fields:
        """The fields of its head."""
        return self._message.fields

    @property
    def trailers(self) -> Fields:
        """The fields after a chunked body."""
        return self._message.trailers

    @property
    def body(self) -> bytes:
        """Its body, decoded, as far as it was read."""
        return self._message.body

    @property
    def raw_head(self) -> bytes:
        """Its head, byte for byte."""
        return self._message.raw_head

    def __repr__(self) -> str:
        return f"{self.method} {self.target}"


class Visit:
    """One connection from the gateway: what came in, and the calls of a script."""

    def __init__(self, upstream: "Upstream", peer: socket.socket, number: int) -> None:
        self.number = number
        self.received = b""
        self.requests: list[Request] = []
        self.is_open = True
        self.end: str | None = None
        self.socket = peer
        self._upstream = upstream
        self._reader = MessageReader(self.receive)
        self._may_go_on = threading.Semaphore(0)

    def is_established(self) -> bool:
        """Neither side has closed, as the kernel sees it: it knows before any thread of ours."""
        try:
            state = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)
        except OSError:
            return False
        return state == ESTABLISHED

    def receive(self) -> bytes:
        """Whatever comes next; empty at the gateway's FIN, and noted as `end`."""
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionResetError:
            self._note(end="rst")
            return b""
        if not data:
            self._note(end="fin")
        elif self._upstream.keeps_bytes:
            with self._upstream.changed:
                self.received += data
                self._upstream.changed.notify_all()
        return data

    def head(self) -> Request | None:
        """The next request's head; None when the gateway closes instead."""
        message = self._reader.head()
        if message is None:
            return None
        request = Request(message)
        with self._upstream.changed:
            self.requests.append(request)
            self._upstream.changed.notify_all()
        return request

    def body(self, request: Request) -> bytes:
        """The body of a request."""
        self._reader.body(request._message, until_close=False)  # noqa: SLF001 - of this file
        return request.body

    def pieces(self, request: Request) -> Iterator[bytes]:
        """The body piece by piece."""
        yield from self._reader.pieces(request._message, until_close=False)  # noqa: SLF001 - of this file

    def request(self) -> Request | None:
        """The next request with its body; None when the gateway closes instead."""
        request = self.head()
        if request is not None:
            self.body(request)
        return request

    def take_rest(self) -> bytes:
        """What was read beyond the last request."""
        return self._reader.take_rest()

    def send(self, data: bytes) -> None:
        """Send it all."""
        self.socket.sendall(data)

    def fin(self) -> None:
        """Close as a server does: what comes afterwards is answered by a reset."""
        self.socket.shutdown(socket.SHUT_RDWR)

    def rst(self) -> None:
        """Close by a reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
        self.socket.close()

    def pause(self, within: float = 5) -> None:
        """Wait until the test says `go_on`."""
        self._may_go_on.acquire(timeout=within)

    def go_on(self) -> None:
        """Let a script that pauses, or the next one that would, go on."""
        self._may_go_on.release()

    def wait_closed(self) -> str:
        """Read on until the gateway closes: `fin` or `rst`."""
        while self.receive():
            pass
        assert self.end is not None
        return self.end

    def run(self, script: Callable[["Visit"], None]) -> None:
        """Let the script have the connection, to its end."""
        try:
            script(self)
        except (OSError, NotHttp) as error:
            self._upstream.failures.append(error)
        finally:
            self.socket.close()
            self._note(is_open=False)

    def _note(self, *, end: str | None = None, is_open: bool = True) -> None:
        with self._upstream.changed:
            self.end = self.end or end
            self.is_open = self.is_open and is_open
            self._upstream.changed.notify_all()


Script = Callable[[Visit], None]
Answer = bytes | Callable[[Request], bytes]


class Upstream:
    """Listens on a free port. `answer` serves every request; `script` has whole connections."""

    def __init__(
        self, answer: Answer = OK, *, script: Script | None = None, keeps_bytes: bool = True
    ) -> None:
        self.changed = threading.Condition()
        self.visits: list[Visit] = []
        self.failures: list[Exception] = []
        self.most_open = 0
        self.keeps_bytes = keeps_bytes
        self._script = script or answering(answer)
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    @property
    def address(self) -> Address:
        """Where it listens."""
        host, port = self._listener.getsockname()
        return host, port

    @property
    def authority(self) -> str:
        """Where it listens, as configurations say it."""
        host, port = self.address
        return f"{host}:{port}"

    @property
    def requests(self) -> list[Request]:
        """All requests, connection by connection."""
        return [request for visit in list(self.visits) for request in list(visit.requests)]

    @property
    def received(self) -> bytes:
        """All bytes, connection by connection."""
        return b"".join(visit.received for visit in list(self.visits))

    def wait_until(self, holds: Callable[[], bool], *, within: float = 5) -> None:
        """Wait until something is true of what was received; fails when it does not become so."""
        with self.changed:
            assert self.changed.wait_for(holds, within), (
                f"it did not come: {[(v.number, v.requests, v.end) for v in self.visits]}"
            )

    def wait_for_requests(self, count: int, *, within: float = 5) -> list[Request]:
        """Wait for so many requests."""
        self.wait_until(lambda: len(self.requests) >= count, within=within)
        return self.requests

    def wait_for_bytes(self, tail: bytes, *, within: float = 5) -> None:
        """Wait until these bytes are the last that came."""
        self.wait_until(lambda: self.received.endswith(tail), within=within)

    def wait_closed(self, number: int = 0, *, within: float = 5) -> str | None:
        """Wait until a connection is over; how the gateway ended it, if it did."""
        self.wait_until(
            lambda: len(self.visits) > number and not self.visits[number].is_open, within=within
        )
        return self.visits[number].end

    def close(self) -> None:
        """End it all."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for visit in list(self.visits):
            try:
                visit.socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
            finally:
                visit.go_on()
        self._accepting.join(5)
        for thread in self._threads:
            thread.join(5)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.changed:
                visit = Visit(self, peer, len(self.visits))
                self.visits.append(visit)
                now_open = self._established()
                if now_open > self.most_open:
                    # On a busy machine a FIN that was sent first may still be on its way.
                    time.sleep(0.005)
                    now_open = min(now_open, self._established())
                self.most_open = max(self.most_open, now_open)
                self.changed.notify_all()
            thread = threading.Thread(target=visit.run, args=(self._script,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _established(self) -> int:
        return sum(known.is_established() for known in self.visits)


def answering(answer: Answer, *, delay: float = 0) -> Script:
    """Serves requests on a connection until the gateway closes it."""

    def script(visit: Visit) -> None:
        while (request := visit.request()) is not None:
            if delay:
                time.sleep(delay)
            visit.send(answer if isinstance(answer, bytes) else answer(request))

    return script


def echo(request: Request) -> bytes:
    """Answers with what came, as JSON."""
    body = json.dumps(
        {
            "method": request.method,
            "target": request.target,
            "fields": request.fields.pairs,
            "body": request.body.decode("latin-1"),
            "trailers": request.trailers.pairs,
        }
    ).encode()
    return response(body, "Content-Type: application/json")


def response(body: bytes = b"", *fields: str, status: str = "200 OK") -> bytes:
    """The bytes of an answer with a Content-Length."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body
