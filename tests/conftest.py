"""Settings of every test, and the real parts that tests put together.

Markers are declared in pyproject.toml.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from support.gateway import Document, Gateway, forwarding
from support.upstream import OK, Answer, Script, Upstream

# A shared machine is slow now and then: no deadline for one example.
# CI repeats itself, people explore.
settings.register_profile("person", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=200)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "person")

StartUpstream = Callable[..., Upstream]
StartGateway = Callable[..., Gateway]


@pytest.fixture
def parts() -> Iterator[ExitStack]:
    """What the test has started; ended in reverse order."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def start_upstream(parts: ExitStack) -> StartUpstream:
    """Starts recording upstreams: `start_upstream(answer)` or `start_upstream(script=…)`."""

    def start(
        answer: Answer = OK, *, script: Script | None = None, keeps_bytes: bool = True
    ) -> Upstream:
        return parts.enter_context(Upstream(answer, script=script, keeps_bytes=keeps_bytes))

    return start


@pytest.fixture
def start_gateway(parts: ExitStack, tmp_path: Path) -> StartGateway:
    """Starts gateways: with a document, or with an upstream that gets everything."""

    def start(
        document: Document | str | Upstream,
        *,
        threads: int = 1,
        **sections: Any,  # noqa: ANN401 - parts of a document
    ) -> Gateway:
        if isinstance(document, Upstream):
            document = forwarding(document.authority, **sections)
        log = tmp_path / f"access-{len(list(tmp_path.glob('access-*')))}.log"
        log.touch()
        return parts.enter_context(Gateway(document, log, threads=threads))

    return start
