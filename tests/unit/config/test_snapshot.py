"""A snapshot is a value: the same content gives the same bytes."""

import json

import pytest
from pydantic import ValidationError

from sluicegate.config.candidate import examine
from sluicegate.config.document import Document
from sluicegate.config.snapshot import snapshot_from, snapshot_of
from sluicegate.config.source import Source

TEXT = """\
format: 1
routes:
  - {id: a, match: {path: /a, host: a.example}, respond: {headers: {B: x, A: y}}, labels: {z: 1s}}
"""
SAME = """\
routes:
  - labels: {z: 1s}
    respond: {headers: {A: y, B: x}, status: 200}
    match: {host: [a.example], path: /a}
    id: a
format: 1
listeners: [{id: http, address: "127.0.0.1:8080"}]
"""


def read(text: str) -> Document:
    return examine(Source.parse(text)).document


@pytest.mark.spec("CF-04")
def test_a_snapshot_is_whole_and_has_every_default() -> None:
    content = json.loads(snapshot_of(read(TEXT), version=12).text)

    assert content["version"] == 12
    assert set(content) == {*Document.model_fields, "version"}
    assert content["entry"][0] == {"name": "request_id", "config": {}}
    assert content["listeners"][0]["limits"]["body"] == "2MiB"


def test_what_means_the_same_has_the_same_digest() -> None:
    one, other = snapshot_of(read(TEXT), version=1), snapshot_of(read(SAME), version=2)

    assert one.digest == other.digest
    assert one.text != other.text


def test_another_meaning_has_another_digest() -> None:
    one, other = read(TEXT), read(TEXT.replace("/a,", "/b,"))

    assert snapshot_of(one, version=1).digest != snapshot_of(other, version=1).digest


def test_a_snapshot_can_be_numbered_again() -> None:
    first = snapshot_of(read(TEXT), version=1)

    again = snapshot_from(json.loads(first.text), version=7)

    assert again.digest == first.digest
    assert json.loads(again.text)["version"] == 7


def test_a_document_cannot_be_changed_in_place() -> None:
    document = read(TEXT)

    with pytest.raises(ValidationError, match="frozen"):
        document.routes[0].id = "b"
    with pytest.raises(AttributeError):
        document.routes.append(document.routes[0])  # type: ignore[attr-defined]  # the point


def test_what_a_snapshot_holds_is_read_as_the_same_document() -> None:
    document = read(TEXT)
    content = json.loads(snapshot_of(document, version=1).text)
    del content["version"]

    assert Document.model_validate(content) == document
