"""GitHub's whole API through the gateway and without it: the same answers, byte for byte."""

from pathlib import Path

from e2e.served import run
from integration.answers import ADDED, OF_THE_CONNECTION, REMOVED, ask, client
from integration.conftest import GitHub
from integration.github import TWIN, target

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "equal-to-upstream.md"
BODY = b'{"name": "a body of some bytes"}'
HAVE_BODIES = ("POST", "PUT", "PATCH")


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
            if found.without_added() != expected.without_added():
                different.append((method, path, expected.fields, found.fields))

    assert different == []
    assert len(requests) > 1500
    # nginx finds operations by expressions of its own: a witness of which route is right.
    records = github.gateway.records(before + len(requests))[before:]
    taken = {(one["method"], one["path"]): one["route_id"] for one in records}
    assert {key: name for key, name in taken.items() if name != witness[key]} == {}
    assert len(taken) == len(witness) == len(requests)
