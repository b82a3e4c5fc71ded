"""The life of a client's HTTP/2 connection."""

import threading
import time
from collections.abc import Callable

import pytest

from support.http2 import Client
from support.pair import Pair, StartPair
from support.upstream import Visit

Connect = Callable[..., Client]


@pytest.mark.spec("HT-05")
def test_a_connection_without_streams_is_told_and_closed(
    start_pair: StartPair, connect: Connect
) -> None:
    pair = start_pair(listener={"timeouts": {"idle": "5s"}})
    client = connect(pair.gateway)
    assert client.request().status == 200

    pair.gateway.advance(6_000)
    client.until_end()

    assert client.goaway is not None
    assert client.goaway.error_code == 0
    pair.gateway.wait_until(lambda status: status["connections"] == 0)


@pytest.mark.spec("HT-06")
def test_a_client_that_says_nothing_after_the_preface_is_closed(
    start_pair: StartPair,
) -> None:
    pair = start_pair(listener={"timeouts": {"header": "5s"}})
    with pair.gateway.connect() as client:
        client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        time.sleep(0.1)
        pair.gateway.advance(70_000)
        assert client.rest()[1] in ("fin", "rst")


def test_a_connection_serves_so_many_requests_and_then_says_goodbye(
    start_pair: StartPair, connect: Connect
) -> None:
    pair = start_pair(listener={"limits": {"requests_per_connection": 3}})
    client = connect(pair.gateway)

    answers = [client.request() for _ in range(3)]
    client.until_end()

    assert [answer.status for answer in answers] == [200] * 3
    assert client.goaway is not None


@pytest.mark.spec("AV-03")
def test_draining_lets_open_streams_finish(start_pair: StartPair, connect: Connect) -> None:
    def slow(visit: Visit) -> None:
        visit.request()
        visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
        visit.pause()
        visit.send(b"cd")

    pair = start_pair(script=slow)
    client = connect(pair.gateway)
    stream = client.begin()
    client.until(lambda: client.answers[stream].body == b"ab")

    draining = threading.Thread(target=pair.gateway.engine.drain, args=(10.0,), daemon=True)
    draining.start()
    client.until(lambda: client.goaway)
    pair.upstream.visits[0].go_on()

    assert client.answer(stream).body == b"abcd"
    client.until_end()
    draining.join(5)
    assert not draining.is_alive()


def test_a_client_with_more_streams_than_allowed_is_refused_those(
    start_pair: StartPair, connect: Connect
) -> None:
    def silent(visit: Visit) -> None:
        visit.request()
        visit.wait_closed()

    pair = start_pair(script=silent, listener={"http2": {"streams": 3}})
    client = connect(pair.gateway)
    client.until(lambda: client.h2.remote_settings.max_concurrent_streams == 3)
    client.h2.remote_settings.max_concurrent_streams = 100
    client.h2.remote_settings.acknowledge()

    streams = [client.begin() for _ in range(4)]

    assert client.answer(streams[3]).reset == 7  # REFUSED_STREAM
    assert [client.answers[stream].reset for stream in streams[:3]] == [None] * 3


def test_the_settings_are_those_of_the_listener(pair: Pair, connect: Connect) -> None:
    client = connect(pair.gateway)
    client.request()

    settings = client.h2.remote_settings
    assert settings.max_concurrent_streams == 100
    assert settings.initial_window_size == 65_536
    assert settings.enable_connect_protocol == 1
