"""Trailers stay trailers, or go."""

import pytest

from support.pair import Pair, StartPair
from support.raw import chunked, get

CHUNKED_POST = b"POST /x HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n"


WITH_TRAILER = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
    b"2\r\nok\r\n0\r\nX-Sum: 9\r\n\r\n"
)


@pytest.mark.case("BD-04")
def test_an_answers_trailer_reaches_a_client_that_wants_it_as_a_trailer(
    start_pair: StartPair,
) -> None:
    pair = start_pair(WITH_TRAILER)

    with pair.gateway.connect() as client:
        wanted = client.request(get("/x", "TE: trailers"))
        unwanted = client.request(get("/x"))

    assert wanted.trailers.pairs == [("X-Sum", "9")]
    assert "X-Sum" not in wanted.fields
    assert wanted.header("Transfer-Encoding") == "chunked"
    assert wanted.body == unwanted.body == b"ok"
    assert unwanted.trailers.pairs == []


@pytest.mark.case("BD-04")
@pytest.mark.parametrize(
    "trailer", [b"Content-Length: 5", b"Transfer-Encoding: chunked", b"Set-Cookie: a=b", b"Host: b"]
)
def test_an_answers_trailer_that_would_forge_a_head_is_dropped(
    start_pair: StartPair, trailer: bytes
) -> None:
    pair = start_pair(WITH_TRAILER.replace(b"X-Sum: 9", b"X-Sum: 9\r\n" + trailer))

    with pair.gateway.connect() as client:
        first = client.request(get("/x", "TE: trailers"))
        if first.status == 200:
            assert first.trailers.pairs == [("X-Sum", "9")]
            assert client.request(get("/x")).body == b"ok"


@pytest.mark.case("BD-04")
def test_a_requests_trailers_are_never_merged_into_its_head(pair: Pair) -> None:
    trailers = (
        "Content-Length: 5\r\nAuthorization: Bearer x\r\nX-User-Id: 1\r\nHost: b\r\nX-Sum: 9\r\n"
    )
    with pair.gateway.connect() as client:
        answer = client.request(CHUNKED_POST + chunked(b"hello", trailers=trailers), "POST")

        assert answer.status in (200, 400)
        if answer.status == 200:
            assert client.request(get("/x")).status == 200

    for request in pair.upstream.requests:
        for name in ("Authorization", "X-User-Id"):
            assert name not in request.fields
            assert name not in request.trailers
        assert request.fields.all("Host") == ["a.test"]
        assert "Host" not in request.trailers
        assert "Content-Length" not in request.trailers


@pytest.mark.case("BD-04")
def test_a_malformed_trailer_is_refused(pair: Pair) -> None:
    pair.assert_refused(CHUNKED_POST + chunked(b"hello", trailers="X : 1\r\n"), 400)
