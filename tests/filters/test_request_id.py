"""`request_id`: what client and upstream see."""

import re

import pytest

from conftest import StartGateway, StartUpstream
from support.raw import get

MADE = re.compile(r"[0-9a-f]{32}")
DEFAULT = {"name": "request_id"}


@pytest.mark.spec("PL-28", "OB-40")
def test_a_request_without_an_id_gets_one_and_both_sides_see_it(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, entry=[DEFAULT])

    with gateway.connect() as client:
        first = client.request(get())
        second = client.request(get())

    ids = [answer.header("X-Request-Id") or "" for answer in (first, second)]
    assert all(MADE.fullmatch(each) for each in ids), ids
    assert ids[0] != ids[1]
    assert [request.fields["X-Request-Id"] for request in upstream.requests] == ids
    assert [record["request_id"] for record in gateway.records(2)] == ids


@pytest.mark.spec("PL-28")
def test_a_harmless_id_of_the_client_is_kept(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, entry=[DEFAULT])
    longest = "a" * 64

    with gateway.connect() as client:
        answers = [
            client.request(get("/", f"x-request-id: {sent}")).header("X-Request-Id")
            for sent in ("abc-1.2_3", longest)
        ]

    assert answers == ["abc-1.2_3", longest]
    assert [request.fields["X-Request-Id"] for request in upstream.requests] == answers


@pytest.mark.spec("PL-28")
@pytest.mark.case("LG-01")
@pytest.mark.parametrize(
    "sent",
    ["a\tb", "a b", 'x" 200 "y', "a,b", "{}", "a" * 65, "x" * 10_000, ""],
    ids=["tab", "space", "quotes", "comma", "braces", "65 characters", "10 kB", "empty"],
)
def test_an_id_that_could_forge_a_log_line_is_replaced(
    start_gateway: StartGateway, start_upstream: StartUpstream, sent: str
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, entry=[DEFAULT])

    with gateway.connect() as client:
        shown = client.request(get("/", f"X-Request-Id: {sent}")).header("X-Request-Id")

    assert shown is not None
    assert MADE.fullmatch(shown)
    assert upstream.requests[0].fields.all("X-Request-Id") == [shown]
    assert gateway.record()["request_id"] == shown


def test_two_ids_are_replaced_by_one(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, entry=[DEFAULT])

    with gateway.connect() as client:
        shown = client.request(get("/", "X-Request-Id: a", "X-Request-Id: b"))

    assert MADE.fullmatch(shown.header("X-Request-Id") or "")
    assert len(upstream.requests[0].fields.all("X-Request-Id")) == 1


@pytest.mark.spec("OB-40")
def test_an_upstream_cannot_put_its_own_id_into_the_answer(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream(
        b"HTTP/1.1 200 OK\r\nX-Request-Id: other\r\nContent-Length: 0\r\n\r\n"
    )
    gateway = start_gateway(upstream, entry=[DEFAULT])

    with gateway.connect() as client:
        answer = client.request(get("/", "X-Request-Id: mine"))

    assert answer.fields.all("X-Request-Id") == ["mine"]


@pytest.mark.spec("OB-40")
def test_a_reject_carries_the_id_in_head_and_body(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    gateway = start_gateway(start_upstream(), entry=[DEFAULT], route={"match": {"path": "/only"}})

    with gateway.connect() as client:
        answer = client.request(get("/elsewhere", "X-Request-Id: mine"))

    assert answer.status == 404
    assert answer.header("X-Request-Id") == "mine"
    assert b'"request_id":"mine"' in answer.body.replace(b" ", b"")


def test_an_edge_to_strangers_keeps_none(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, entry=[DEFAULT | {"config": {"keep": False}}])

    with gateway.connect() as client:
        shown = client.request(get("/", "X-Request-Id: mine")).header("X-Request-Id")

    assert shown != "mine"
    assert upstream.requests[0].fields.all("X-Request-Id") == [shown]


def test_the_header_can_have_another_name_and_stay_inside(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    config = {"header": "X-Correlation-Id", "respond": False}
    gateway = start_gateway(upstream, entry=[DEFAULT | {"config": config}])

    with gateway.connect() as client:
        answer = client.request(get("/", "X-Correlation-Id: mine"))

    assert upstream.requests[0].fields["X-Correlation-Id"] == "mine"
    assert "X-Correlation-Id" not in answer.fields
    assert "X-Request-Id" not in answer.fields


@pytest.mark.spec("PX-21")
@pytest.mark.parametrize("name", ["X-Request-Id", "X-Request-ID", "x-request-id"])
def test_the_header_is_one_however_it_is_spelt(
    start_gateway: StartGateway, start_upstream: StartUpstream, name: str
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream)

    with gateway.connect() as client:
        answer = client.request(get("/", f"{name}: req-abc123"))

    sent = re.findall(rb"(?im)^x-request-id: *(\S+)", upstream.requests[0].raw_head)
    assert sent == [b"req-abc123"]
    assert answer.header("x-request-id") == "req-abc123"
    assert gateway.record()["request_id"] == "req-abc123"
