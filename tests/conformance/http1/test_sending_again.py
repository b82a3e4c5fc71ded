"""A reused connection that the upstream closes around the write: who is sent again, and who never.

Each request travels on a connection that has served before and that the upstream closes at a chosen
distance from the write, from 5 ms before it to 5 ms after it.
"""

import time
from collections import Counter
from dataclasses import dataclass, field
from queue import SimpleQueue

import pytest

from support.pair import Pair, StartPair
from support.raw import get, post
from support.upstream import OK, Request, Visit

COUNT = 300
SPREAD = 0.005


@dataclass
class Closing:
    """An upstream whose connections are told when to close, and which notes what it had by then."""

    end: str
    orders: SimpleQueue[float] = field(default_factory=SimpleQueue)
    """When the connection that serves a warm-up has to close, by the monotonic clock."""
    had: dict[str, bytes] = field(default_factory=dict)
    """By the warm-up's target: what came before the close."""
    served: list[Request] = field(default_factory=list)

    def __call__(self, visit: Visit) -> None:
        """Answer; a connection that has served a warm-up closes when it is told."""
        first = visit.request()
        while first is not None and not first.target.startswith("/warm"):
            self.served.append(first)
            visit.send(OK)
            first = visit.request()
        if first is None:
            return
        visit.send(OK)
        _wait_until(self.orders.get())
        self.had[first.target] = self._close(visit)

    def _close(self, visit: Visit) -> bytes:
        """Closes, and says what had come: everything later is answered by a reset."""
        if self.end == "fin":
            visit.fin()
            got = b""
            while data := visit.receive():
                got += data
            return got
        visit.socket.setblocking(False)  # noqa: FBT003 - that is what the socket calls it
        try:
            got = visit.receive()
        except BlockingIOError:
            got = b""
        visit.rst()
        return got


def _wait_until(moment: float) -> None:
    # A sleep is late by a tenth of a millisecond: the last one is spent looking at the clock.
    time.sleep(max(0.0, moment - time.monotonic() - 0.001))
    while time.monotonic() < moment:
        pass


def sweep(pair: Pair, closing: Closing, method: str) -> list[tuple[float, int]]:
    """Sends the requests; the distance of the close from each write, and the status it got."""
    results = []
    with pair.gateway.connect() as client:
        for number in range(COUNT):
            # Closest together around the write, where the two meet.
            distance = SPREAD * (2 * number / (COUNT - 1) - 1) ** 3
            assert client.request(get(f"/warm/{number}")).status == 200
            target = f"/{method}/{number}"
            data = get(target) if method == "GET" else post(b"0123456789", target)
            moment = time.monotonic() + 0.008
            closing.orders.put(moment + distance)
            _wait_until(moment)
            results.append((distance, client.request(data, method).status))
    return results


@pytest.mark.case("KA-01")
@pytest.mark.spec("HT-15", "HT-16")
@pytest.mark.parametrize("end", ["fin", "rst"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_close_around_the_write_loses_what_it_must_and_doubles_nothing(
    start_pair: StartPair, method: str, end: str
) -> None:
    closing = Closing(end)
    pair = start_pair(script=closing, listener={"limits": {"requests_per_connection": 0}})

    results = sweep(pair, closing, method)

    pair.upstream.wait_until(lambda: len(closing.had) == COUNT)
    statuses = [status for _, status in results]
    before = [status for n, status in enumerate(statuses) if not closing.had[f"/warm/{n}"]]
    racing = [status for n, status in enumerate(statuses) if closing.had[f"/warm/{n}"]]
    # The sweep met both kinds, each on a connection that had served its warm-up.
    assert len(before) > 20, Counter(statuses)
    assert len(racing) > 20, Counter(statuses)

    if method == "GET":
        assert statuses == [200] * COUNT
    else:
        assert set(statuses) <= {200, 502}, Counter(statuses)
        if end == "fin":
            assert before == [200] * len(before), Counter(before)

    # Whatever the upstream read, on whichever connection: no POST twice.
    seen = Counter(request.target for request in closing.served)
    for number in range(COUNT):
        if closing.had[f"/warm/{number}"].startswith(b"POST"):
            seen[f"/POST/{number}"] += 1
    if method == "POST":
        assert max(seen.values()) == 1, [target for target, count in seen.items() if count > 1]
        assert len(seen) == COUNT - sum(
            1
            for n, status in enumerate(statuses)
            if status == 502 and not closing.had[f"/warm/{n}"]
        )


def test_a_first_connection_that_dies_is_not_replaced_for_a_post(start_pair: StartPair) -> None:
    def dying(visit: Visit) -> None:
        visit.request()
        visit.fin()

    pair = start_pair(script=dying)

    with pair.gateway.connect() as client:
        answer = client.request(post(b"x", "/once"), "POST")

    assert answer.status == 502
    assert len(pair.upstream.requests) == 1
    record = pair.gateway.record()
    assert (record["code"], record["attempts"]) == ("upstream_broken", 1)


@pytest.mark.spec("HT-16")
def test_an_idempotent_request_is_sent_again_once_and_no_more(start_pair: StartPair) -> None:
    def warm_then_dying(visit: Visit) -> None:
        if visit.number == 0:
            visit.request()
            visit.send(OK)
        visit.request()
        visit.rst()

    pair = start_pair(script=warm_then_dying)

    with pair.gateway.connect() as client:
        assert client.request(get("/warm")).status == 200
        assert client.request(get("/x")).status == 502

    assert [request.target for request in pair.upstream.requests] == ["/warm", "/x", "/x"]
    assert pair.gateway.records(2)[1]["attempts"] == 2
    assert pair.gateway.metric("sluicegate_upstream_retries_total") == 1


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD", "OPTIONS"])
def test_idempotent_methods_are_sent_again_with_their_body(
    start_pair: StartPair, method: str
) -> None:
    def first_dies(visit: Visit) -> None:
        if visit.number == 0:
            visit.request()
            visit.send(OK)
            visit.request()
            visit.rst()
            return
        request = visit.request()
        assert request is not None
        visit.send(OK if method != "HEAD" else OK.removesuffix(b"ok"))
        visit.wait_closed()

    pair = start_pair(script=first_dies)

    with pair.gateway.connect() as client:
        assert client.request(get("/warm")).status == 200
        data = post(b"hello", "/x").replace(b"POST", method.encode())
        assert client.request(data, method).status == 200

    assert [request.body for request in pair.upstream.requests[1:]] == [b"hello"] * 2


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_what_an_upstream_read_before_it_died_is_not_sent_again(
    start_pair: StartPair, method: str
) -> None:
    def reads_and_dies(visit: Visit) -> None:
        if visit.number == 0:
            visit.request()
            visit.send(OK)
        visit.request()
        visit.fin()

    pair = start_pair(script=reads_and_dies)

    with pair.gateway.connect() as client:
        assert client.request(get("/warm")).status == 200
        data = post(b"hello", "/x").replace(b"POST", method.encode())
        assert client.request(data, method).status == 502

    assert [request.target for request in pair.upstream.requests] == ["/warm", "/x"]


def test_nothing_is_sent_again_once_an_answer_has_begun(start_pair: StartPair) -> None:
    def half_an_answer(visit: Visit) -> None:
        if visit.number == 0:
            visit.request()
            visit.send(OK)
        visit.request()
        visit.send(b"HTTP/1.1 200 O")
        visit.fin()

    pair = start_pair(script=half_an_answer)

    with pair.gateway.connect() as client:
        assert client.request(get("/warm")).status == 200
        assert client.request(get("/x")).status == 502

    assert [request.target for request in pair.upstream.requests] == ["/warm", "/x"]


def test_an_answer_that_comes_before_the_upload_is_over_is_heard_though_the_upstream_stops(
    start_pair: StartPair,
) -> None:
    """An upstream that answers 413, say, and closes without reading the rest."""

    def early(visit: Visit) -> None:
        visit.head()
        visit.send(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig")
        visit.socket.shutdown(1)
        visit.wait_closed()

    pair = start_pair(script=early, listener={"limits": {"body": "1GiB"}}, keeps_bytes=False)

    with pair.gateway.connect() as client:
        client.send(b"POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100000000\r\n\r\nx")
        answer = client.response("POST")
        assert client.end() == "fin"

    assert (answer.status, answer.body) == (413, b"big")
