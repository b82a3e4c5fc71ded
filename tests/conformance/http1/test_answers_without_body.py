"""Answers that have no body by definition, and interim ones."""

import pytest

from support.pair import Pair, StartGateway, StartPair
from support.raw import get
from support.upstream import OK, Visit

NO_BODY = {
    "204 with a length": (b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "GET"),
    "204 chunked": (b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", "GET"),
    "204 chunked with its last chunk": (
        b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET",
    ),
    "304 with a length": (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 1234\r\n\r\n", "GET"),
    "HEAD with a length": (b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n", "HEAD"),
    "HEAD chunked": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HEAD"),
    "HEAD until close": (b"HTTP/1.1 200 OK\r\n\r\n", "HEAD"),
    "HEAD with a body": (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "HEAD"),
    "205": (b"HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", "POST"),
    "205 with a body": (b"HTTP/1.1 205 Reset Content\r\nContent-Length: 5\r\n\r\nhello", "POST"),
    "205 without a length": (b"HTTP/1.1 205 Reset Content\r\n\r\n", "POST"),
    "304 with a body": (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello", "GET"),
}


@pytest.mark.case("BD-05")
@pytest.mark.parametrize("name", NO_BODY)
def test_an_answer_without_body_hangs_nobody_and_spoils_no_next_answer(
    start_pair: StartPair, name: str
) -> None:
    answer, method = NO_BODY[name]

    def script(visit: Visit) -> None:
        while (request := visit.request()) is not None:
            visit.send(answer if request.target == "/odd" else OK)

    pair = start_pair(script=script)

    with pair.gateway.connect() as client:
        length = "Content-Length: 0\r\n" if method == "POST" else ""
        odd = client.request(
            f"{method} /odd HTTP/1.1\r\nHost: a.test\r\n{length}\r\n".encode(), method
        )
        # A 205 has a body by its framing, and it is empty (RFC 9110 section 15.3.6).
        assert odd.body == b""
        assert client.is_silent(within=0.05)
        after = client.request(get("/next"))

    assert (after.status, after.body) == (200, b"ok")
    assert str(odd.status) in answer[:13].decode()
    if odd.status == 204:
        assert "Content-Length" not in odd.fields
        assert "Transfer-Encoding" not in odd.fields
    elif odd.status == 304 or method == "HEAD":
        said = [line for line in answer.decode().split("\r\n") if "Content-Length" in line]
        assert [f"Content-Length: {v}" for v in odd.fields.all("Content-Length")] == said


@pytest.mark.case("BD-05")
@pytest.mark.parametrize("status", [204, 304])
def test_a_route_that_answers_without_a_body_spoils_no_next_answer(
    start_gateway: StartGateway, status: int
) -> None:
    gateway = start_gateway(
        {
            "routes": [
                {"id": "odd", "match": {"path": "/odd"}, "respond": {"status": status}},
                {"id": "next", "match": {"path": "/next"}, "respond": {"body": "ok"}},
            ]
        }
    )

    with gateway.connect() as client:
        odd = client.request(get("/odd"))
        head = client.request(get("/next").replace(b"GET", b"HEAD"), "HEAD")
        after = client.request(get("/next"))

    assert (odd.status, odd.body) == (status, b"")
    assert "Transfer-Encoding" not in odd.fields
    assert (head.status, head.header("Content-Length")) == (200, "2")
    assert after.body == b"ok"


@pytest.mark.case("BD-05")
@pytest.mark.parametrize(
    "interim",
    [
        b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n",
        b"HTTP/1.1 102 Processing\r\n\r\n" * 3,
    ],
    ids=["103", "three times 102"],
)
def test_interim_answers_are_never_the_final_one(start_pair: StartPair, interim: bytes) -> None:
    pair = start_pair(interim + OK)

    with pair.gateway.connect() as client:
        for _ in range(2):
            answer = client.request(get("/x"))
            assert (answer.status, answer.body) == (200, b"ok")
            assert len(answer.interim) == interim.count(b"HTTP/1.1")
            assert all(not one.body for one in answer.interim)


@pytest.mark.case("BD-05")
def test_interim_answers_are_not_for_http10_clients(start_pair: StartPair) -> None:
    pair = start_pair(b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + OK)

    with pair.gateway.connect() as client:
        client.send(b"GET /x HTTP/1.0\r\nHost: a.test\r\n\r\n")
        answer = client.any_response()

    assert (answer.status, answer.body) == (200, b"ok")


@pytest.mark.case("BD-05")
def test_a_connect_is_refused_and_tunnels_nothing(pair: Pair) -> None:
    data = b"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\nGET /hidden HTTP/1.1\r\n\r\n"

    pair.assert_refused(data, 501, 405, method="CONNECT")


@pytest.mark.case("BD-05")
def test_a_101_nobody_asked_for_is_a_502(start_pair: StartPair) -> None:
    pair = start_pair(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n" + OK)

    with pair.gateway.connect() as client:
        answer = client.request(get("/x"))

    assert answer.status == 502
    assert pair.upstream.wait_closed() is not None
