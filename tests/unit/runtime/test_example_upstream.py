"""The example upstream speaks enough HTTP to try a gateway with."""

import asyncio
import json

import pytest

from sluicegate.runtime.example_upstream import ExampleUpstream


def talk(request: bytes) -> bytes:
    async def run() -> bytes:
        async with ExampleUpstream(port=0) as upstream, asyncio.timeout(10):
            host, _, port = upstream.address.partition(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(request)
            try:
                return await reader.read()
            except ConnectionResetError:
                # It closed with bytes of ours unread.
                return b""
            finally:
                writer.close()

    return asyncio.run(run())


def test_it_greets() -> None:
    answer = talk(b"GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"hello" in answer


def test_it_keeps_a_connection() -> None:
    once = b"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
    answer = talk(once + once.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))

    assert answer.count(b"HTTP/1.1 200 OK") == 2


@pytest.mark.parametrize(
    "framed",
    [
        b"Content-Length: 5\r\n\r\nhello",
        b"Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
    ],
)
def test_it_echoes_what_arrived(framed: bytes) -> None:
    answer = talk(b"POST /echo/x?y=1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + framed)

    echo = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert (echo["method"], echo["target"], echo["body"]) == ("POST", "/echo/x?y=1", "hello")
    assert ["Host", "a"] in echo["headers"]


@pytest.mark.parametrize("garbage", [b"\r\n\r\n", b"GET\r\n\r\n", b"x" * 200_000, b"\x00"])
def test_garbage_ends_the_connection_only(garbage: bytes) -> None:
    assert talk(garbage + b"\r\n\r\n") == b""
