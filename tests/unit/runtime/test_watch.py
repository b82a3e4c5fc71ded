"""A change of the document is seen, whichever way it is written."""

import asyncio
import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from sluicegate.config.loader import content_digest
from sluicegate.runtime.watch import changes


def replace(path: Path) -> None:
    new = path.with_name("new")
    new.write_text("two\n")
    new.replace(path)


def write_in_place(path: Path) -> None:
    path.write_text("two\n")


def write_with_the_old_length(path: Path) -> None:
    path.write_text("two")


def go_away_and_come_back(path: Path) -> None:
    path.unlink()
    path.write_text("two\n")


def switch_symlink(path: Path) -> None:
    """As a ConfigMap does it: `..data` is renamed over, the file's own link stays."""
    folder = path.parent
    (folder / "..2").mkdir()
    (folder / "..2" / path.name).write_text("two\n")
    (folder / "..next").symlink_to("..2")
    (folder / "..next").rename(folder / "..data")


def first_change(path: Path, change: Callable[[Path], None]) -> str:
    async def run() -> str:
        seen = content_digest(path)
        watching = changes(path, seen=seen, interval=0.005)
        waiting = asyncio.ensure_future(anext(watching))
        await asyncio.sleep(0.02)
        change(path)
        async with asyncio.timeout(10):
            return await waiting

    return asyncio.run(run())


@pytest.mark.parametrize(
    "change", [replace, write_in_place, write_with_the_old_length, go_away_and_come_back]
)
def test_a_change_is_seen(tmp_path: Path, change: Callable[[Path], None]) -> None:
    path = tmp_path / "sluicegate.yaml"
    path.write_text("one")

    digest = first_change(path, change)

    assert digest == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_switched_configmap_is_seen(tmp_path: Path) -> None:
    (tmp_path / "..1").mkdir()
    (tmp_path / "..1" / "sluicegate.yaml").write_text("one")
    (tmp_path / "..data").symlink_to("..1")
    path = tmp_path / "sluicegate.yaml"
    path.symlink_to("..data/sluicegate.yaml")

    assert first_change(path, switch_symlink) == hashlib.sha256(b"two\n").hexdigest()


def test_a_half_written_file_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "sluicegate.yaml"
    path.write_text("one")

    async def run() -> list[str]:
        seen: list[str] = []

        async def watch() -> None:
            async for digest in changes(path, seen=content_digest(path), interval=0.05):
                seen.append(digest)  # noqa: PERF401 - it never ends by itself

        task = asyncio.create_task(watch())
        await asyncio.sleep(0.1)
        for size in range(1, 30):
            path.write_text("x" * size)
            await asyncio.sleep(0.005)
        async with asyncio.timeout(10):
            while hashlib.sha256(b"x" * 29).hexdigest() not in seen:  # noqa: ASYNC110 - a test
                await asyncio.sleep(0.01)
        task.cancel()
        return seen

    assert len(asyncio.run(run())) <= 2


def test_a_change_before_the_first_look_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "sluicegate.yaml"
    path.write_text("one")
    seen = content_digest(path)
    path.write_text("two")

    async def run() -> str:
        async with asyncio.timeout(10):
            return await anext(changes(path, seen=seen, interval=0.005))

    assert asyncio.run(run()) == content_digest(path)
