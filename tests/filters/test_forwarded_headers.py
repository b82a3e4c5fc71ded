"""`forwarded_headers`: what the upstream learns of the client."""

import socket

import pytest

from conftest import StartGateway, StartUpstream
from support.raw import get

TRUSTING = {
    "name": "client_address",
    "config": {"source": "x_forwarded_for", "trusted": ["127.0.0.1"]},
}


@pytest.mark.case("HD-01", "HD-04")
def test_by_default_the_upstream_learns_the_truth(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    """Whatever the client claims or nominates away."""
    upstream = start_upstream()
    gateway = start_gateway(upstream)
    forged = [
        "Connection: close, X-Forwarded-For, X-Real-IP, X-Forwarded-Proto, X-Request-Id",
        "X-Forwarded-For: 9.9.9.9",
        "X-Forwarded-Proto: https",
        "X-Forwarded-Host: bank.test",
        "Forwarded: for=9.9.9.9",
        "X-Real-IP: 9.9.9.9",
    ]

    with gateway.connect() as connection:
        connection.request(get("/", *forged, host="shop.test"))

    (request,) = upstream.requests
    assert request.fields.all("X-Forwarded-For") == ["127.0.0.1"]
    assert request.fields.all("X-Forwarded-Proto") == ["http"]
    assert request.fields.all("X-Forwarded-Host") == ["shop.test"]
    assert len(request.fields.all("X-Request-Id")) == 1
    for gone in ("Forwarded", "X-Real-IP", "Connection"):
        assert not request.fields.all(gone), gone


@pytest.mark.case("HD-06")
def test_an_ipv6_client_is_written_as_rfc_7239_says(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(
        upstream,
        listener={"address": "[::1]:0"},
        entry=[{"name": "forwarded_headers", "config": {"forwarded": True}}],
    )
    host, port = gateway.address

    with socket.create_connection((host, port), timeout=5) as client:
        client.sendall(get(host="shop.test"))
        assert client.recv(4096).startswith(b"HTTP/1.1 200")

    (request,) = upstream.requests
    assert request.fields["Forwarded"] == 'for="[::1]";host="shop.test";proto=http'
    assert request.fields.all("X-Forwarded-For") == ["::1"]


@pytest.mark.case("HD-06")
def test_switched_off_nothing_is_added_and_nothing_forged_passes(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    off = dict.fromkeys(("x_forwarded_for", "x_forwarded_proto", "x_forwarded_host"), False)
    gateway = start_gateway(upstream, entry=[{"name": "forwarded_headers", "config": off}])

    with gateway.connect() as connection:
        connection.request(get("/", "X-Forwarded-For: 9.9.9.9", "Forwarded: for=9.9.9.9"))

    (request,) = upstream.requests
    for name in ("X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded"):
        assert not request.fields.all(name), name


@pytest.mark.case("HD-06")
def test_a_trusted_hop_is_appended_once(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    config = {"forwarded": True, "x_real_ip": True}
    gateway = start_gateway(
        upstream, entry=[TRUSTING, {"name": "forwarded_headers", "config": config}]
    )
    sent = ["X-Forwarded-For: 198.51.100.9", "Forwarded: for=198.51.100.9"]

    with gateway.connect() as connection:
        connection.request(get("/", *sent, host="shop.test"))

    (request,) = upstream.requests
    assert request.fields.all("X-Forwarded-For") == ["198.51.100.9, 127.0.0.1"]
    assert request.fields.all("X-Real-IP") == ["198.51.100.9"]
    expected = 'for=198.51.100.9, for=127.0.0.1;host="shop.test";proto=http'
    assert request.fields.all("Forwarded") == [expected]
