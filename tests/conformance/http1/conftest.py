"""What every test of the protocol needs: a gateway before a recording upstream."""

from typing import Any

import pytest

from support.pair import Pair, StartGateway, StartPair, StartUpstream
from support.upstream import OK, Answer, Script, echo


@pytest.fixture
def start_pair(start_gateway: StartGateway, start_upstream: StartUpstream) -> StartPair:
    """Starts both: `start_pair(answer)` or `start_pair(script=…)`, and parts of the document."""

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
