"""`address_list`: who gets in by its address."""

from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from support.raw import get


def listed(**config: Any) -> dict[str, Any]:  # noqa: ANN401 - a filter's configuration
    return {"name": "address_list", "config": config}


@pytest.mark.spec("PL-30", "ER-09")
@pytest.mark.parametrize(
    ("config", "status"),
    [
        ({"deny": ["127.0.0.0/8"]}, 403),
        ({"deny": ["10.0.0.0/8", "::1"]}, 200),
        ({"allow": ["127.0.0.1"]}, 200),
        ({"allow": ["10.0.0.0/8"]}, 403),
        ({"allow": ["127.0.0.0/8"], "deny": ["127.0.0.1"]}, 403),
    ],
    ids=["denied", "not denied", "allowed", "not allowed", "both"],
)
def test_lists_decide(
    start_gateway: StartGateway, start_upstream: StartUpstream, config: dict[str, Any], status: int
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, entry=[listed(**config)])

    with gateway.connect() as client:
        answer = client.request(get())

    assert answer.status == status
    assert len(upstream.requests) == (status == 200)
    if status == 403:
        assert b"127.0.0.1" not in answer.body
        record = gateway.record()
        assert (record["code"], record["reason"]) == ("address_denied", "authorisation")


def test_one_route_can_have_a_list_of_its_own(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, route={"filters": [listed(allow=["10.0.0.0/8"])]})

    with gateway.connect() as client:
        assert client.request(get()).status == 403


@pytest.mark.spec("PL-30")
def test_a_hundred_thousand_entries_are_served(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    deny = [f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}" for i in range(100_000)]
    gateway = start_gateway(upstream, entry=[listed(deny=deny)])

    with gateway.connect() as client:
        assert client.request(get()).status == 200
