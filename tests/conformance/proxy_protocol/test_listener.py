"""The PROXY protocol on a listener ("The PROXY protocol, Versions 1 & 2", sections 2.1 and 2.2)."""

import time

import pytest

from conftest import StartGateway, StartUpstream
from support.gateway import Gateway
from support.raw import exchange, get
from support.upstream import Upstream

SIGNATURE = bytes.fromhex("0d0a0d0a000d0a515549540a")
IPV4 = bytes.fromhex("c0000201c000020230390050")  # 192.0.2.1:12345 to 192.0.2.2:80
V1 = b"PROXY TCP4 192.0.2.1 192.0.2.2 12345 80\r\n"
REQUEST = get("/", "Connection: close")


def v2(command: int, family: int, payload: bytes) -> bytes:
    return SIGNATURE + bytes([command, family]) + len(payload).to_bytes(2) + payload


@pytest.fixture
def upstream(start_upstream: StartUpstream) -> Upstream:
    return start_upstream()


@pytest.fixture
def gateway(start_gateway: StartGateway, upstream: Upstream) -> Gateway:
    """Its listener expects headers, from this machine."""
    return start_gateway(upstream, listener={"proxy_protocol": {"trusted": ["127.0.0.0/8"]}})


@pytest.mark.case("PP-01")
@pytest.mark.spec("SE-19")
@pytest.mark.parametrize(
    ("header", "client"),
    [
        (V1, "192.0.2.1"),
        (v2(0x21, 0x11, IPV4), "192.0.2.1"),
        (v2(0x21, 0x11, IPV4 + b"\x04\x00\x01\x00"), "192.0.2.1"),
        (b"PROXY UNKNOWN\r\n", "127.0.0.1"),
        (v2(0x20, 0x11, IPV4), "127.0.0.1"),
        (v2(0x20, 0x00, b""), "127.0.0.1"),
        (v2(0x21, 0x00, b""), "127.0.0.1"),
    ],
    ids=["text", "binary", "binary with more", "unknown", "local", "bare local", "unspecified"],
)
def test_the_balancer_says_who_calls(
    gateway: Gateway, upstream: Upstream, header: bytes, client: str
) -> None:
    got, _ = exchange(gateway.address, header + REQUEST)

    assert got.startswith(b"HTTP/1.1 200")
    assert gateway.record()["client_ip"] == client
    (request,) = upstream.requests
    assert request.fields.all("X-Forwarded-For") == [client]


@pytest.mark.case("PP-01")
@pytest.mark.parametrize(
    "data",
    [
        REQUEST,
        V1.replace(b"\r\n", b"\n") + REQUEST,
        V1.replace(b"12345", b"99999") + REQUEST,
        b"PROXY TCP4 " + b"1" * 108,
        v2(0x31, 0x11, IPV4) + REQUEST,
        v2(0x22, 0x11, IPV4) + REQUEST,
        SIGNATURE + b"\x21\x11\xff\xff" + REQUEST,
    ],
    ids=["none", "bare LF", "port", "no end", "version 3", "command", "length"],
)
def test_nothing_is_guessed(gateway: Gateway, upstream: Upstream, data: bytes) -> None:
    got, _ = exchange(gateway.address, data)

    assert got == b""
    assert not upstream.visits
    assert gateway.metric("sluicegate_proxy_headers_refused_total", listener="http") == 1


@pytest.mark.case("PP-01")
def test_a_header_may_come_in_pieces_but_not_for_ever(gateway: Gateway) -> None:
    with gateway.connect() as slow:
        for byte in V1:
            slow.send(bytes([byte]))
            time.sleep(0.002)
        assert slow.request(get()).status == 200
    assert gateway.record()["client_ip"] == "192.0.2.1"

    with gateway.connect() as late:
        late.send(V1[:10])
        gateway.advance(3_500)
        assert late.rest()[0] == b""


@pytest.mark.case("PP-01")
def test_a_stranger_does_not_get_in(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, listener={"proxy_protocol": {"trusted": ["10.0.0.0/8"]}})

    got, _ = exchange(gateway.address, V1 + REQUEST)

    assert got == b""
    assert not upstream.visits


@pytest.mark.case("PP-01")
def test_where_none_is_expected_a_header_is_no_request(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    gateway = start_gateway(start_upstream())

    for header in (V1, v2(0x21, 0x11, IPV4)):
        got, _ = exchange(gateway.address, header + REQUEST)
        assert got.startswith(b"HTTP/1.1 400"), header
