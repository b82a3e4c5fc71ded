"""Gateways in processes of their own."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from e2e.served import Document, Served

Serve = Callable[..., Served]


@pytest.fixture
def serve(parts: ExitStack, tmp_path: Path) -> Serve:
    """Starts `sluicegate serve gateway`: `serve(document, "--grace", "1s")`."""

    def start(document: Document, *options: str, **settings: object) -> Served:
        return parts.enter_context(Served(tmp_path, document, *options, **settings))  # type: ignore[arg-type]  # passed on as given

    return start
