"""Real services, and gateways in front of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e.served import Served
from integration.github import Operation, operations, published, run_script
from support.nginx import Nginx, free_address
from support.raw import Address
from support.services import require_command


@dataclass(frozen=True)
class GitHub:
    """GitHub's API served by nginx, and a gateway with a route for each operation."""

    operations: list[Operation]
    """Those that have a route."""
    left_out: str
    """What the script has said of the others."""
    document: Path
    direct: Address
    gateway: Served


@pytest.fixture(scope="session")
def github(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[GitHub]:
    """GitHub's API with and without a gateway."""
    nginx = require_command("nginx", package="nginx-light")
    cache = pytestconfig.cache
    assert cache is not None
    openapi = published(cache.mkdir("openapi"))
    folder = tmp_path_factory.mktemp("github")
    direct = free_address()
    address = f"{direct[0]}:{direct[1]}"
    run_script("stand_in.py", openapi, "--folder", folder / "stand-in", "--listen", address)
    document = folder / "github.yaml"
    words = ("--output", document, "--listen", "127.0.0.1:0", "--upstream", address)
    left_out = run_script("configure.py", openapi, *words)
    chosen = [one for one in operations(openapi) if f"left out {one.id}:" not in left_out]
    with (
        Nginx(nginx, folder / "stand-in", direct),
        Served(folder, "", path=document) as gateway,
    ):
        yield GitHub(chosen, left_out, document, direct, gateway)
