"""`Expect: 100-continue`: one 100 at most, none before a refusal, and nobody waits for ever."""

import time
from typing import Any

import pytest

from support.pair import Pair, StartPair
from support.raw import post
from support.upstream import Visit, echo, response

LIMIT = 1_000
LIMITED: dict[str, Any] = {"listener": {"limits": {"body": f"{LIMIT}B"}}}


def put(*fields: str, version: str = "HTTP/1.1", length: int = 5) -> bytes:
    lines = [f"PUT /x {version}", "Host: a.test", f"Content-Length: {length}", *fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


EXPECT = "Expect: 100-continue"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


def continuing(visit: Visit) -> None:
    """An upstream that asks for the body, then answers with it."""
    while (request := visit.head()) is not None:
        visit.send(CONTINUE)
        visit.body(request)
        visit.send(echo(request))


@pytest.mark.case("BD-03")
def test_the_upstreams_continue_reaches_the_client_before_it_sends_its_body(
    start_pair: StartPair,
) -> None:
    pair = start_pair(script=continuing)

    with pair.gateway.connect() as client:
        for _ in range(2):
            client.send(put(EXPECT))
            assert client.any_response().status == 100
            client.send(b"hello")
            answer = client.any_response()
            assert (answer.status, answer.interim) == (200, ())

    assert [request.body for request in pair.upstream.requests] == [b"hello"] * 2


@pytest.mark.case("BD-03")
@pytest.mark.parametrize(
    "document",
    [{}, {"routes": [{"id": "mock", "match": {"path": "/other"}, "respond": {"status": 200}}]}],
    ids=["too large", "no route"],
)
def test_a_refusal_comes_at_once_and_without_a_continue(
    start_pair: StartPair, document: dict[str, Any]
) -> None:
    pair = start_pair(**LIMITED, **document)
    if document:
        expected, request = 404, put(EXPECT)
    else:
        expected, request = 413, put(EXPECT, length=1_001)

    begun = time.monotonic()
    with pair.gateway.connect() as client:
        client.send(request)
        answer = client.any_response()
        assert client.end() == "fin"

    # Well within the second after which the gateway would have said 100 itself.
    assert answer.status == expected
    assert time.monotonic() - begun < 0.9
    assert pair.upstream.requests == []


@pytest.mark.case("BD-03")
def test_an_upstream_that_refuses_the_expectation_is_heard(start_pair: StartPair) -> None:
    def refusing(visit: Visit) -> None:
        visit.head()
        visit.send(response(status="417 Expectation Failed"))
        visit.wait_closed()

    pair = start_pair(script=refusing)

    with pair.gateway.connect() as client:
        client.send(put(EXPECT))
        answer = client.any_response()
        # The body never came, so nothing can follow it.
        assert client.end() == "fin"

    assert answer.status == 417
    assert pair.upstream.requests[0].body == b""


@pytest.mark.case("BD-03")
def test_a_late_continue_is_swallowed_once_the_gateway_has_said_it(start_pair: StartPair) -> None:
    def late(visit: Visit) -> None:
        request = visit.head()
        assert request is not None
        visit.body(request)
        visit.send(CONTINUE + CONTINUE)
        visit.send(echo(request))
        visit.wait_closed()

    pair = start_pair(script=late)

    with pair.gateway.connect() as client:
        client.send(put(EXPECT))
        pair.upstream.wait_for_requests(1)
        assert client.is_silent(within=0.1)
        pair.gateway.advance(1_100)
        assert client.any_response().status == 100
        client.send(b"hello")
        assert client.any_response().status == 200


@pytest.mark.case("BD-03")
def test_a_silent_upstream_keeps_nobody_waiting_longer_than_a_second(start_pair: StartPair) -> None:
    pair = start_pair(echo)

    begun = time.monotonic()
    with pair.gateway.connect() as client:
        client.send(put(EXPECT))
        assert client.any_response().status == 100
        assert 0.9 < time.monotonic() - begun < 2
        client.send(b"hello")
        assert client.any_response().status == 200


@pytest.mark.case("BD-03")
def test_a_client_that_does_not_wait_gets_no_needless_continue(start_pair: StartPair) -> None:
    pair = start_pair(script=continuing)

    with pair.gateway.connect() as client:
        answer = client.request(put(EXPECT) + b"hello")

    assert answer.status == 200
    assert len(answer.interim) <= 1


@pytest.mark.case("BD-03")
def test_an_http10_client_gets_no_continue(start_pair: StartPair) -> None:
    pair = start_pair(script=continuing)

    with pair.gateway.connect() as client:
        client.send(put(EXPECT, version="HTTP/1.0"))
        assert client.is_silent(within=0.1)
        pair.gateway.advance(1_500)
        assert client.is_silent(within=0.1)
        client.send(b"hello")
        answer = client.any_response()

    assert answer.status == 200


@pytest.mark.case("BD-03")
def test_an_unknown_expectation_is_refused(pair: Pair) -> None:
    answer = pair.assert_refused(put("Expect: something-else"), 417, method="PUT")

    assert answer.interim == ()


@pytest.mark.case("BD-03")
def test_a_continue_nobody_asked_for_is_swallowed(start_pair: StartPair) -> None:
    pair = start_pair(script=continuing)

    with pair.gateway.connect() as client:
        answer = client.request(post(b"hello"), "POST")

    assert (answer.status, answer.interim) == (200, ())
