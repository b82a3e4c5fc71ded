"""Every command of the README and the guides does what the page shows."""

import asyncio
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.conftest import Serve
from e2e.console import ROOT, Shell, agree, blocks
from e2e.served import Served
from sluicegate.cli.starter import EXAMPLE_ADDRESS, STARTER
from sluicegate.runtime.example_upstream import ExampleUpstream

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs" / "guides").glob("*.md")])
BEGUN_WITH = {
    "README.md": STARTER,
    "browsers.md": (ROOT / "examples" / "filters" / "cors.yaml").read_text(encoding="utf-8"),
    "keep-somebody-out.md": (ROOT / "examples" / "filters" / "denylist.yaml").read_text(
        encoding="utf-8"
    ),
}
# What a document names, beside it.
BESIDE = {"keep-somebody-out.md": ROOT / "examples" / "filters" / "denied.txt"}
USUAL = (ROOT / "examples" / "first-route.yaml").read_text(encoding="utf-8")


@pytest.fixture
def example_upstream() -> Iterator[str]:
    """The service of the first document, on a free port."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    upstream = ExampleUpstream(port=0)
    asyncio.run_coroutine_threadsafe(upstream.__aenter__(), loop).result(10)
    yield upstream.address
    asyncio.run_coroutine_threadsafe(upstream.__aexit__(None, None, None), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


def _shell(gateway: Served, upstream: str) -> Shell:
    """A reader's shell, beside a running gateway."""
    commands = gateway.folder / "bin"
    commands.mkdir()
    script = commands / "sluicegate"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sluicegate "$@"\n')
    script.chmod(0o755)
    environment = {
        "PATH": f"{commands}:{os.environ['PATH']}",
        "HOME": str(gateway.folder),
        "TERM": "dumb",
        "COLUMNS": "80",
        "SLUICEGATE_STATE_DIR": str(gateway.state_dir),
        **{
            f"GIT_{who}_{what}": "reader@example.com"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }
    host, port = gateway.address
    operations = "{}:{}".format(*gateway.operations)
    running = {"127.0.0.1:8080": f"{host}:{port}", "127.0.0.1:9090": operations}
    places = {**running, EXAMPLE_ADDRESS: upstream}
    written = {"127.0.0.1:8080": "127.0.0.1:0", EXAMPLE_ADDRESS: upstream}
    return Shell(gateway.folder, places, written, environment)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_print_what_it_shows(
    example_upstream: str, page: Path, serve: Serve, tmp_path: Path
) -> None:
    if beside := BESIDE.get(page.name):
        shutil.copy(beside, tmp_path)
    document = BEGUN_WITH.get(page.name, USUAL).replace(EXAMPLE_ADDRESS, example_upstream)
    gateway = serve(document.replace("127.0.0.1:8080", "127.0.0.1:0"), name="sluicegate")
    shell = _shell(gateway, example_upstream)

    for block in blocks(page):
        shell.play(block)

    assert not shell.failures, "\n\n".join(shell.failures)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_command_that_is_not_run_says_why(page: Path) -> None:
    reasons = [block.direction for block in blocks(page) if "not run" in block.direction]

    assert all(len(reason.removeprefix("not run: ")) > len("because") for reason in reasons)


def test_what_is_printed_is_compared_but_for_what_passes() -> None:
    assert agree(
        ["process 1, since 2026-12-01T00:00:00+00:00"],
        ["process 77, since 2027-01-02T03:04:05+00:00"],
    )
    assert agree(["one", "…", "last"], ["one", "two", "three", "last"])
    assert not agree(["one"], ["one", "two"])
    assert not agree(["HTTP/1.1 200 OK"], ["HTTP/1.1 404 Not Found"])
