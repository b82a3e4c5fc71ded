"""The control socket answers its owner, and nothing sent to it is fatal."""

import asyncio
import json
import socket
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sluicegate.errors import NotRunning, Unavailable
from sluicegate.runtime.control import ControlSocket, ask


async def echo(asked: dict[str, Any]) -> dict[str, Any]:
    return {"said": asked.get("word")}


async def refuse(_: dict[str, Any]) -> None:
    raise Unavailable("not now")


def served(state_dir: Path, act: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever the test asks
    """Open a socket, act in a thread as another process would, close it."""

    async def run() -> Any:  # noqa: ANN401 - see above
        control = ControlSocket(state_dir / "control.sock", {"echo": echo, "refuse": refuse})
        await control.open()
        try:
            return await asyncio.to_thread(act)
        finally:
            await control.close()

    return asyncio.run(run())


def test_a_command_is_answered(tmp_path: Path) -> None:
    assert served(tmp_path, lambda: ask(tmp_path, "echo", word="hi")) == {"said": "hi"}


def test_a_refusal_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="not now"):
        served(tmp_path, lambda: ask(tmp_path, "refuse"))
    with pytest.raises(Unavailable, match="there are: echo, refuse"):
        served(tmp_path, lambda: ask(tmp_path, "unheard-of"))


def test_only_the_owner_may_ask(tmp_path: Path) -> None:
    mode = served(tmp_path, lambda: (tmp_path / "control.sock").stat().st_mode)

    assert stat.S_IMODE(mode) == 0o600


def test_a_socket_left_behind_is_replaced(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(tmp_path / "control.sock"))

    assert served(tmp_path, lambda: ask(tmp_path, "echo", word="hi")) == {"said": "hi"}


def test_the_socket_goes_with_the_gateway(tmp_path: Path) -> None:
    served(tmp_path, lambda: None)

    assert not (tmp_path / "control.sock").exists()
    with pytest.raises(NotRunning, match="no gateway runs"):
        ask(tmp_path, "status")


@pytest.mark.parametrize("garbage", [b"hello\n", b"[]\n", b'{"command": []}\n', b"\xff\n", b"5\n"])
def test_garbage_is_answered_and_survived(tmp_path: Path, garbage: bytes) -> None:
    def act() -> tuple[dict[str, Any], Any]:
        with socket.socket(socket.AF_UNIX) as connection, connection.makefile("rb") as stream:
            connection.settimeout(10)
            connection.connect(str(tmp_path / "control.sock"))
            connection.sendall(garbage)
            answer = json.loads(stream.readline())
        return answer, ask(tmp_path, "echo", word="still here")

    answer, after = served(tmp_path, act)

    assert answer["ok"] is False
    assert after == {"said": "still here"}


def test_a_path_too_long_for_a_socket_is_a_sentence(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 100)

    with pytest.raises(Unavailable, match="shorter --state-dir"):
        served(deep, lambda: None)
