"""GitHub's whole API through the gateway and without it: the same answers, byte for byte."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from e2e.served import run
from integration.conftest import GitHub
from integration.github import TWIN, patterns, target
from support.raw import Address
from support.services import require_command

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "equal-to-upstream.md"
# What the page says of fields: these are the connection's own, or added, or removed.
OF_THE_CONNECTION = {"connection", "keep-alive"}
ADDED = {"x-request-id"}
REMOVED = {"server"}
HOST = {"Host": "api.github.test"}
BODY = b'{"name": "a body of some bytes"}'
HAVE_BODIES = ("POST", "PUT", "PATCH")


@dataclass(frozen=True)
class Answer:
    """An answer as it came, but for what may differ: the second of `Date`, for one."""

    status: str
    fields: tuple[tuple[str, str], ...]
    body: bytes
    added: frozenset[str]


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


def test_the_fields_that_may_differ_are_documented() -> None:
    page = PAGE.read_text().lower()

    assert [one for one in OF_THE_CONNECTION | ADDED | REMOVED if f"`{one}`" not in page] == []


def test_the_api_is_whole(github: GitHub) -> None:
    checked = run("check", github.document)

    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert len({one.path for one in github.operations}) > 700
    assert len({one.id for one in github.operations}) > 1000
    assert github.left_out.splitlines()[:-1] == [
        f"left out {twin}: /repos/{{owner}}/{{repo}}/compare/{{base}}...{{head}} "
        "matches the same as /repos/{owner}/{repo}/compare/{basehead}"
        for twin in TWIN
    ]


def test_every_operation_answers_as_without_the_gateway(github: GitHub) -> None:
    requests = [
        (method, operation)
        for operation in github.operations
        for method in ({"GET": ["GET", "HEAD"]}.get(operation.method, [operation.method]))
    ]
    before = len(github.gateway.records(0))
    different = []
    witness: dict[tuple[str, str], str] = {}

    with client(github.direct) as direct, client(github.gateway.address) as gateway:
        for method, operation in requests:
            path = target(operation) + "?per_page=2&q=a+b%2F"
            body = BODY if method in HAVE_BODIES else None
            expected = ask(direct, method, path, direct=True, body=body)
            found = ask(gateway, method, path, direct=False, body=body)
            fields = dict(expected.fields)
            name = fields.get("X-Operation", "")
            witness[method, path] = TWIN.get(name, name)
            assert int(expected.status[:3]) == operation.status, (path, expected)
            assert fields.get("X-Asked", "") == f"{method} {path}"
            assert found.added == ADDED
            if (found.status, found.fields, found.body) != (
                expected.status,
                expected.fields,
                expected.body,
            ):
                different.append((method, path, expected.fields, found.fields))

    assert different == []
    assert len(requests) > 1500
    # nginx finds operations by expressions of its own: a witness of which route is right.
    records = github.gateway.records(before + len(requests))[before:]
    taken = {(one["method"], one["path"]): one["route_id"] for one in records}
    assert {key: name for key, name in taken.items() if name != witness[key]} == {}
    assert len(taken) == len(witness) == len(requests)
