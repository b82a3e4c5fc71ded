"""Two hundred sound documents, one after the other on one engine: each is served as it says."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.gateway import Gateway
from support.raw import Connection
from support.sound import Sample, Sound, documents
from support.upstream import Upstream, echo
from support.written import STYLES, Style, write

DOCUMENTS = 200


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with Upstream(echo, keeps_bytes=False) as found:
        yield found


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    log = tmp_path_factory.mktemp("sound") / "access.log"
    with Gateway({"routes": []}, log) as found:
        yield found


@pytest.mark.spec("CF-01", "RT-37")
@settings(derandomize=True, max_examples=DOCUMENTS, deadline=None, database=None)
@given(data=st.data())
def test_a_sound_document_is_served_as_it_says(
    gateway: Gateway, upstream: Upstream, data: st.DataObject
) -> None:
    sound: Sound = data.draw(documents(upstream.authority))
    style: Style = data.draw(st.sampled_from(STYLES))
    before = gateway.version

    gateway.reload(write(sound.value, style).text)

    assert gateway.status()["version"] == before + 1
    with Connection(gateway.address_of("http")) as client:
        for sample in sound.samples:
            served_as_it_says(client, sample)


def served_as_it_says(client: Connection, sample: Sample) -> None:
    answer = client.request(sample.request, sample.method)

    assert answer.status == sample.status, (sample, answer)
    for name, value in sample.answer_fields.items():
        assert answer.fields[name] == value
    if sample.body is not None:
        assert answer.body == sample.body
    if sample.upstream_target is None:
        return
    asked = json.loads(answer.body)
    assert (asked["method"], asked["target"]) == (sample.method, sample.upstream_target)
    got = dict(asked["fields"])
    assert {name: got.get(name) for name in sample.upstream_fields} == sample.upstream_fields
