"""What every test of HTTP/2 needs: clients, and upstreams of either version."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from support.gateway import Gateway, forwarding
from support.http2 import Client, Http2Upstream
from support.pair import Pair, StartGateway, StartPair, StartUpstream
from support.upstream import OK, Answer, Script, echo

Connect = Callable[..., Client]
StartHttp2 = Callable[..., tuple[Gateway, Http2Upstream]]


@pytest.fixture
def connect(parts: ExitStack) -> Connect:
    """Opens connections to a gateway, as `Client` does; they end with the test."""

    def connect(gateway: Gateway, **settings: Any) -> Client:  # noqa: ANN401 - as `Client`
        return parts.enter_context(Client(gateway.address, **settings))

    return connect


@pytest.fixture
def start_pair(start_gateway: StartGateway, start_upstream: StartUpstream) -> StartPair:
    """Starts a gateway and an upstream of HTTP/1.1."""

    def start(
        answer: Answer = OK,
        *,
        script: Script | None = None,
        keeps_bytes: bool = True,
        threads: int = 1,
        **sections: Any,  # noqa: ANN401 - parts of a document
    ) -> Pair:
        upstream = start_upstream(answer, script=script, keeps_bytes=keeps_bytes)
        return Pair(start_gateway(upstream, threads=threads, **sections), upstream)

    return start


@pytest.fixture
def pair(start_pair: StartPair) -> Pair:
    """A gateway before an upstream that answers with what it got."""
    return start_pair(echo)


@pytest.fixture
def start_http2(parts: ExitStack, start_gateway: StartGateway) -> StartHttp2:
    """Starts a gateway and an upstream that speaks HTTP/2: `start_http2(handler, streams=2)`."""

    def start(
        *handler: Callable[..., None],
        streams: int = 100,
        answers_heads: bool = False,
        **sections: Any,  # noqa: ANN401 - parts of a document
    ) -> tuple[Gateway, Http2Upstream]:
        upstream = parts.enter_context(
            Http2Upstream(*handler, streams=streams, answers_heads=answers_heads)
        )
        settings = {"protocol": "http2"} | sections.pop("upstream_settings", {})
        document = forwarding(upstream.authority, upstream_settings=settings, **sections)
        return start_gateway(document), upstream

    return start
