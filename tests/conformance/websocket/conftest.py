"""A gateway whose only route speaks WebSocket, before an upstream with a script."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from support.pair import Pair, StartGateway, StartUpstream
from support.upstream import Script
from support.websocket import Caller, echoing

StartTunnel = Callable[..., Pair]
Call = Callable[..., Caller]


@pytest.fixture
def call(parts: ExitStack) -> Call:
    """Opens connections through a gateway, as `Caller` does; they end with the test."""

    def call(pair: Pair, *fields: str, target: str = "/") -> Caller:
        caller = Caller(pair.gateway, *fields, target=target)
        parts.callback(caller.connection.close)
        return caller

    return call


@pytest.fixture
def start_tunnel(start_gateway: StartGateway, start_upstream: StartUpstream) -> StartTunnel:
    """Starts both: `start_tunnel(script, idle="3s")`; the rest are settings of `websocket`."""

    def start(script: Script = echoing, *, threads: int = 1, **websocket: Any) -> Pair:  # noqa: ANN401 - settings
        upstream = start_upstream(script=script)
        gateway = start_gateway(upstream, threads=threads, route={"websocket": websocket})
        return Pair(gateway, upstream)

    return start
