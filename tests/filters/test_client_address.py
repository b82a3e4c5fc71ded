"""`client_address`: whose address lists, logs and upstreams see."""

import pytest

from conftest import StartGateway, StartUpstream
from support.raw import get

TRUSTING = {
    "name": "client_address",
    "config": {"source": "x_forwarded_for", "trusted": ["127.0.0.1/32", "10.0.0.0/8"]},
}
FORWARDED = {"name": "forwarded_headers"}


@pytest.mark.case("HD-04")
@pytest.mark.spec("SE-14", "SE-15")
@pytest.mark.parametrize(
    ("sent", "client"),
    [
        (["9.9.9.9"], "9.9.9.9"),
        (["9.9.9.9, 203.0.113.7, 10.0.0.4"], "203.0.113.7"),
        (["9.9.9.9, 10.0.0.4, 203.0.113.7"], "203.0.113.7"),
        (["10.1.1.1, 10.0.0.4"], "10.1.1.1"),
        (["junk, 203.0.113.7"], "203.0.113.7"),
        (["9.9.9.9, 203.0.113.7", "10.0.0.4"], "203.0.113.7"),
    ],
    ids=["one hop", "three hops", "untrusted last", "all trusted", "junk", "two lines"],
)
def test_one_address_feeds_list_log_and_header(
    start_gateway: StartGateway, start_upstream: StartUpstream, sent: list[str], client: str
) -> None:
    """The list lets this client in and nobody else: it sees what the log and the upstream see."""
    upstream = start_upstream()
    allowing = {"name": "address_list", "config": {"allow": [client]}}
    gateway = start_gateway(upstream, entry=[TRUSTING, FORWARDED, allowing])

    with gateway.connect() as connection:
        answer = connection.request(get("/", *(f"X-Forwarded-For: {line}" for line in sent)))

    assert answer.status == 200
    assert gateway.record()["client_ip"] == client
    (request,) = upstream.requests
    joined = ", ".join(sent)
    assert request.fields.all("X-Forwarded-For") == [f"{joined}, 127.0.0.1"]


@pytest.mark.case("HD-04")
@pytest.mark.spec("SE-16")
def test_a_stranger_is_believed_nothing(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    config = {"source": "x_forwarded_for", "trusted": ["10.0.0.0/8"]}
    denying = {"name": "address_list", "config": {"deny": ["9.9.9.9"]}}
    entry = [{"name": "client_address", "config": config}, FORWARDED, denying]
    gateway = start_gateway(upstream, entry=entry)

    with gateway.connect() as connection:
        forged = ["X-Forwarded-For: 9.9.9.9", "X-Forwarded-Proto: https"]
        answer = connection.request(get("/", *forged))

    assert answer.status == 200
    assert gateway.record()["client_ip"] == "127.0.0.1"
    (request,) = upstream.requests
    assert request.fields.all("X-Forwarded-For") == ["127.0.0.1"]
    assert request.fields.all("X-Forwarded-Proto") == ["http"]


@pytest.mark.spec("SE-18")
def test_forwarded_is_a_source_too(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    config = {"source": "forwarded", "trusted": ["127.0.0.1"]}
    gateway = start_gateway(
        upstream, entry=[{"name": "client_address", "config": config}, FORWARDED]
    )
    sent = 'Forwarded: for=9.9.9.9, for="[2001:db8::7]:4711";proto=https;host=shop.test'

    with gateway.connect() as connection:
        connection.request(get("/", sent))

    assert gateway.record()["client_ip"] == "2001:db8::7"
    (request,) = upstream.requests
    assert request.fields["X-Forwarded-Proto"] == "https"
    assert request.fields["X-Forwarded-Host"] == "shop.test"
