"""`debug_headers`: what callers on a list see of their request."""

import re

import pytest

from conftest import StartGateway, StartUpstream
from support.raw import get
from support.upstream import Request, response

NEAR = {"name": "debug_headers", "config": {"networks": ["127.0.0.0/8"]}}


@pytest.mark.spec("CF-06", "PX-39")
def test_a_caller_on_the_list_sees_times_route_and_snapshot(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    entry = [NEAR, {"name": "address_list", "config": {"deny": ["192.0.2.1"]}}]
    gateway = start_gateway(upstream, entry=entry)

    with gateway.connect() as client:
        answer = client.request(get())

    assert answer.header("X-Sluicegate-Route") == "all"
    assert answer.header("X-Sluicegate-Snapshot") == str(gateway.version)
    timing = answer.header("Server-Timing") or ""
    names = re.findall(r"(\w+);dur=\d+\.\d{3}", timing)
    assert names == ["admit", "upstream", "total"], timing


@pytest.mark.spec("RT-17")
def test_the_version_of_the_route_is_shown_when_it_has_one(start_gateway: StartGateway) -> None:
    routes = [
        {"id": "orders", "version": 37, "match": {"path": "/orders"}, "respond": {}},
        {"id": "plain", "match": {"path": "/plain"}, "respond": {}},
    ]
    gateway = start_gateway({"entry": [NEAR], "routes": routes})

    with gateway.connect() as client:
        versioned, plain = client.request(get("/orders")), client.request(get("/plain"))

    assert versioned.header("X-Sluicegate-Route-Version") == "37"
    assert plain.header("X-Sluicegate-Route-Version") is None
    assert [r.get("route_version") for r in gateway.records(2)] == [37, None]


@pytest.mark.spec("CF-06")
def test_nobody_else_does_not_even_from_the_upstream(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    def telling(_: Request) -> bytes:
        return response(b"", "X-Sluicegate-Route: inner", "X-Sluicegate-Route-Version: 1")

    upstream = start_upstream(telling)
    far = {"name": "debug_headers", "config": {"networks": ["10.0.0.0/8"]}}
    gateway = start_gateway(upstream, entry=[far])

    with gateway.connect() as client:
        answer = client.request(get())

    for name in (
        "X-Sluicegate-Route",
        "X-Sluicegate-Route-Version",
        "X-Sluicegate-Snapshot",
        "Server-Timing",
    ):
        assert answer.header(name) is None


@pytest.mark.spec("CF-06")
def test_a_key_is_a_secret_of_the_snapshot(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream)
    keyed = {"name": "debug_headers", "config": {"key": {"secret": "env:DEBUG_KEY"}}}
    document = {
        "entry": [keyed],
        "upstreams": [{"id": "origin", "endpoints": [{"address": upstream.authority}]}],
        "routes": [{"id": "all", "match": {"path": "/**"}, "upstream": "origin"}],
    }

    gateway.reload(document, {"env:DEBUG_KEY": b"open sesame"})

    with gateway.connect() as client:
        right = client.request(get("/", "X-Debug-Key: open sesame"))
        wrong = client.request(get("/", "X-Debug-Key: env:DEBUG_KEY"))
    assert right.header("X-Sluicegate-Route") == "all"
    assert wrong.header("X-Sluicegate-Route") is None
    assert all(not request.fields.all("X-Debug-Key") for request in upstream.requests)
