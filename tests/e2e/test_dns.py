"""Endpoints with names: every address of both families, asked for again."""

import pytest

from conftest import StartGateway, StartUpstream
from support.gateway import Gateway, forwarding
from support.raw import get


def addresses(gateway: Gateway) -> list[str]:
    """Where the upstream's requests go now."""
    found: list[str] = gateway.status()["upstreams"][0]["endpoints"]
    return found


def statuses(gateway: Gateway, count: int) -> list[int]:
    """The answers to so many requests."""
    with gateway.connect() as client:
        return [client.request(get()).status for _ in range(count)]


def test_a_name_stands_for_its_addresses_of_both_families(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    port = start_upstream().address[1]

    gateway = start_gateway(forwarding(f"localhost:{port}"))

    assert sorted(addresses(gateway)) == [f"127.0.0.1:{port}", f"[::1]:{port}"]


def test_requests_to_a_name_arrive(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    host = {"host": "endpoint"}
    gateway = start_gateway(forwarding(f"localhost:{upstream.address[1]}", upstream_settings=host))

    answers = statuses(gateway, 4)

    # The name has two addresses and only one of them listens: a refused connect goes to the other.
    assert answers == [200, 200, 200, 200]
    assert upstream.requests[0].fields["Host"] == f"localhost:{upstream.address[1]}"


def test_a_name_that_nobody_knows_is_503_and_the_rest_serves(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    good = start_upstream()
    upstreams = [
        {"id": "gone", "endpoints": [{"address": "nobody.invalid:80"}]},
        {"id": "good", "endpoints": [{"address": good.authority}]},
    ]
    routes = [
        {"id": "gone", "match": {"path": "/gone"}, "upstream": "gone"},
        {"id": "good", "match": {"path": "/good"}, "upstream": "good"},
    ]
    gateway = start_gateway({"upstreams": upstreams, "routes": routes})

    with gateway.connect() as client:
        lost = client.request(get("/gone"))
        fine = client.request(get("/good"))

    assert (lost.status, fine.status) == (503, 200)
    assert b'"no_endpoint"' in lost.body


@pytest.mark.spec("CF-05")
def test_a_reload_with_other_endpoints_moves_new_requests_only(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    first, second = start_upstream(), start_upstream()
    gateway = start_gateway(forwarding(first.authority))
    before = statuses(gateway, 3)

    gateway.reload(forwarding(second.authority))
    after = statuses(gateway, 3)

    assert before + after == [200] * 6
    assert (len(first.requests), len(second.requests)) == (3, 3)
    assert addresses(gateway) == [second.authority]
    assert first.wait_closed() is not None, "connections to an endpoint that has gone are closed"


def test_weights_share_requests_smoothly(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    heavy, light = start_upstream(), start_upstream()
    endpoints = [
        {"address": heavy.authority, "weight": 3},
        {"address": light.authority, "weight": 1},
    ]
    document = forwarding(heavy.authority, upstream_settings={"endpoints": endpoints})
    gateway = start_gateway(document)

    statuses(gateway, 40)

    assert (len(heavy.requests), len(light.requests)) == (30, 10)
