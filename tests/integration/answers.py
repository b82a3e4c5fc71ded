"""Answers of a service, with and without a gateway, in a form that can be compared."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from support.raw import Address

# What the page says of fields: these are the connection's own, or added, or removed.
OF_THE_CONNECTION = {"connection", "keep-alive"}
ADDED = {"x-request-id"}
REMOVED = {"server"}
HOST = {"Host": "api.github.test"}


@dataclass(frozen=True)
class Answer:
    """An answer as it came, but for what may differ: the second of `Date`, for one."""

    status: str
    fields: tuple[tuple[str, str], ...]
    body: bytes
    added: frozenset[str]

    def without_added(self) -> tuple[object, ...]:
        """What has to be the same."""
        return self.status, self.fields, self.body


def answer_of(status: str, fields: list[tuple[str, str]], body: bytes, *, direct: bool) -> Answer:
    """Leave out what the page says is changed, each on its side."""
    apart = OF_THE_CONNECTION | (REMOVED if direct else ADDED)
    kept = [
        (name, "now" if name == "Date" else value)
        for name, value in fields
        if name.lower() not in apart
    ]
    # The coding of the connection comes last.
    kept.sort(key=lambda field: field[0] == "Transfer-Encoding")
    added = frozenset(name.lower() for name, _ in fields) & ADDED
    return Answer(status, tuple(kept), body, added)


@contextmanager
def client(address: Address) -> Iterator[httpx.Client]:
    """An httpx client that sends the same Host to whom it asks."""
    with httpx.Client(
        base_url=f"http://{address[0]}:{address[1]}", headers=HOST, trust_env=False, timeout=10
    ) as asks:
        yield asks


def ask(
    asks: httpx.Client, method: str, path: str, *, direct: bool, body: bytes | None = None
) -> Answer:
    """One request; the body of the answer as it came over the wire."""
    with asks.stream(method, path, content=body) as got:
        content = b"".join(got.iter_raw())
    fields = [(name.decode(), value.decode()) for name, value in got.headers.raw]
    return answer_of(f"{got.status_code} {got.reason_phrase}", fields, content, direct=direct)
