"""Many small requests on one connection, without waiting for each."""

from collections.abc import Iterable

from support.raw import Connection

BATCH = 100


def send_all(client: Connection, requests: Iterable[bytes]) -> None:
    """Send requests in batches and see that all are answered, by nothing or by a problem."""
    pending = list(requests)
    for start in range(0, len(pending), BATCH):
        batch = pending[start : start + BATCH]
        client.send(b"".join(batch))
        got = b""
        while got.count(b"HTTP/1.1 ") < len(batch) or not got.endswith((b"\r\n\r\n", b"}")):
            data = client.socket.recv(1 << 18)
            assert data, f"the connection ended after {got[-200:]!r}"
            got += data


def request(target: str = "/u/1", *, method: str = "GET", host: str = "a.test") -> bytes:
    """A small request."""
    return f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
