"""A route that is taken away: what is under way ends as it began, nothing new begins."""

import threading
from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from support.gateway import forwarding
from support.raw import get
from support.upstream import Visit, response

WITHOUT: dict[str, Any] = {"routes": []}


@pytest.mark.spec("RT-50", "RT-30")
def test_a_slow_answer_ends_and_the_next_request_of_its_connection_is_404(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    def in_pieces(visit: Visit) -> None:
        visit.request()
        visit.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
        visit.pause()
        visit.send(b"5\r\n-last\r\n0\r\n\r\n")
        visit.wait_closed()

    upstream = start_upstream(script=in_pieces)
    gateway = start_gateway(upstream)

    with gateway.connect() as client:
        client.send(get("/stream"))
        message = client.reader.head()
        assert message is not None
        gateway.reload(WITHOUT)
        upstream.visits[0].go_on()
        client.reader.body(message, until_close=False)
        after = client.request(get("/stream"))

    assert message.body == b"first-last"
    assert after.status == 404
    told = [(r["status"], r["route_id"]) for r in gateway.records(2)]
    assert told == [(200, "all"), (404, "none")]


@pytest.mark.spec("RT-50", "RT-30")
def test_a_slow_upload_ends_at_the_upstream_it_began_with(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream)
    body = b"x" * 10_000

    with gateway.connect() as client:
        client.send(
            b"POST /up HTTP/1.1\r\nHost: a.test\r\nContent-Length: 10000\r\n\r\n" + body[:5_000]
        )
        upstream.wait_for_bytes(b"x")
        gateway.reload(WITHOUT)
        client.send(body[5_000:])
        answer = client.response("POST")
        after = client.request(get("/up"))

    assert (answer.status, after.status) == (200, 404)
    assert upstream.requests[0].body == body


@pytest.mark.spec("RT-50")
def test_idle_connections_stay_and_get_404(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, threads=2)
    clients = [gateway.connect() for _ in range(8)]
    before = [client.request(get()).status for client in clients]

    gateway.reload(WITHOUT)
    after = [client.request(get()).status for client in clients]
    for client in clients:
        client.close()

    assert before == [200] * 8
    assert after == [404] * 8
    assert len(upstream.requests) == 8


@pytest.mark.spec("RT-16", "RT-50")
def test_a_route_that_is_disabled_goes_like_one_that_is_deleted(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    held = threading.Event()

    def hold(visit: Visit) -> None:
        visit.request()
        held.wait(5)
        visit.send(response(b"late"))
        visit.wait_closed()

    upstream = start_upstream(script=hold)
    gateway = start_gateway(upstream)

    with gateway.connect() as client:
        client.send(get())
        upstream.wait_for_requests(1)
        gateway.reload(forwarding(upstream.authority, route={"status": "disabled"}))
        held.set()
        answer = client.response()
        after = client.request(get())

    assert (answer.status, answer.body, after.status) == (200, b"late", 404)
