"""What the gateway says when it answers itself."""

import json
import re
import socket
from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from support.gateway import Gateway, forwarding
from support.raw import Response, chunked, get, post
from support.upstream import Visit, response

Errors = dict[str, Any]
# Nothing of this may ever stand in an answer of ours.
INTERNAL = re.compile(
    rb"127\.0\.0\.1|sluicegate|crates/|\.rs|src/|panick|origin|endpoint|os error|refused",
    re.IGNORECASE,
)


def problem(answer: Response) -> dict[str, Any]:
    """The body of a problem, after a look at what every one of them keeps."""
    assert answer.header("Content-Type") == "application/problem+json"
    assert answer.header("Cache-Control") == "no-store"
    body: dict[str, Any] = json.loads(answer.body)
    assert body["status"] == answer.status
    assert body["type"] == "about:blank"
    assert body["title"]
    assert body["detail"]
    assert body.get("request_id") == answer.header("X-Request-Id")
    assert not INTERNAL.search(answer.body), answer.body
    return body


def one(gateway: Gateway, data: bytes = b"", method: str = "GET") -> Response:
    """One request on a connection of its own."""
    with gateway.connect() as client:
        return client.request(data or get(), method)


@pytest.mark.spec("ER-01", "ER-10")
def test_a_reject_is_a_problem_that_names_its_code(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    gateway = start_gateway(start_upstream(), route={"match": {"path": "/only"}})

    answer = one(gateway, get("/nowhere", "X-Request-Id: mine"))

    assert answer.status == 404
    assert problem(answer)["code"] == "no_route"
    assert problem(answer)["request_id"] == "mine"


@pytest.mark.spec("ER-02")
def test_code_and_message_is_all_that_older_clients_get(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    gateway = start_gateway(
        start_upstream(), route={"match": {"path": "/only"}}, errors={"format": "code-message"}
    )

    answer = one(gateway, get("/nowhere"))

    assert answer.status == 404
    assert answer.header("Content-Type") == "application/json; charset=utf-8"
    assert set(json.loads(answer.body)) == {"code", "message"}
    assert json.loads(answer.body)["code"] == "no_route"


def test_a_template_says_it_in_words_of_ones_own(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    template = {
        "content_type": "application/vnd.a+json",
        "body": '{"e":"{code}","s":{status},"t":"{title}","d":"{detail}","r":"{request_id}"}',
    }
    errors: Errors = {
        "format": "template",
        "template": template,
        "codes": {"no_route": {"status": 410, "title": 'a "b"', "detail": "c\\d\n"}},
    }
    gateway = start_gateway(start_upstream(), route={"match": {"path": "/only"}}, errors=errors)

    answer = one(gateway, get("/nowhere", "X-Request-Id: mine"))

    assert answer.status == 410
    assert answer.header("Content-Type") == "application/vnd.a+json"
    expected = {"e": "no_route", "s": 410, "t": 'a "b"', "d": "c\\d\n", "r": "mine"}
    assert json.loads(answer.body) == expected


@pytest.mark.spec("ER-04")
def test_status_and_text_of_a_code_can_change_but_never_the_code(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    text = {"status": 403, "title": "Closed", "detail": "Ask somebody."}
    gateway = start_gateway(
        start_upstream(),
        route={"match": {"path": "/only"}},
        errors={"codes": {"no_route": text}},
    )

    answers = [one(gateway, get(target)) for target in ("/x", "/y")]

    for answer in answers:
        body = problem(answer)
        assert (body["code"], body["status"]) == ("no_route", 403)
        assert (body["title"], body["detail"]) == ("Closed", "Ask somebody.")
    assert [record["code"] for record in gateway.records(2)] == ["no_route", "no_route"]
    assert [record["status"] for record in gateway.records(2)] == [403, 403]


@pytest.mark.spec("ER-06")
@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX-A: \x00\r\n\r\n",
        b"G@T / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"hello\r\n\r\n",
    ],
    ids=["two hosts", "space", "NUL", "method", "escape", "length", "no HTTP"],
)
def test_what_is_not_valid_is_400_and_says_no_more(
    start_gateway: StartGateway, start_upstream: StartUpstream, data: bytes
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream)

    answer = one(gateway, data)

    assert answer.status == 400
    assert problem(answer)["code"] in {"bad_request", "bad_path"}
    assert upstream.requests == []


@pytest.mark.spec("ER-07", "HT-04", "SE-30")
def test_a_body_too_large_is_413_whether_announced_or_not(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    gateway = start_gateway(start_upstream(), listener={"limits": {"body": "1KiB"}})
    endless = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    announced = one(gateway, post(b"x" * 2000), "POST")
    counted = one(gateway, endless + chunked(b"x" * 600, b"x" * 600), "POST")

    assert [answer.status for answer in (announced, counted)] == [413, 413]
    assert problem(announced)["code"] == problem(counted)["code"] == "body_too_large"


@pytest.mark.spec("ER-12", "HT-09", "PL-23", "PL-39")
def test_an_upstream_at_its_limit_is_503_with_a_time_to_come_again(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    def hold(visit: Visit) -> None:
        visit.request()
        visit.wait_closed()

    upstream = start_upstream(script=hold)
    settings = {"connections": {"max": 1, "acquire": "30ms"}}
    gateway = start_gateway(upstream, upstream_settings=settings)

    with gateway.connect() as first:
        first.send(get())
        upstream.wait_for_requests(1)
        answer = one(gateway)

    assert answer.status == 503
    assert problem(answer)["code"] == "upstream_busy"
    assert int(answer.header("Retry-After") or "0") >= 1


@pytest.mark.spec("ER-13", "ER-05", "PL-40")
def test_an_upstream_that_cannot_be_reached_or_breaks_off_is_502(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    def close(visit: Visit) -> None:
        visit.request()
        visit.fin()

    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        closed_port = nobody.getsockname()[1]
        unreachable = start_gateway(forwarding(f"127.0.0.1:{closed_port}"))
        first = one(unreachable)
    broken = one(start_gateway(start_upstream(script=close)))
    garbage = one(start_gateway(start_upstream(b"HTTP/9 what\r\n\r\n")))

    codes = [problem(answer)["code"] for answer in (first, broken, garbage)]
    assert [answer.status for answer in (first, broken, garbage)] == [502, 502, 502]
    assert codes == ["upstream_unreachable", "upstream_broken", "upstream_malformed"]
    assert str(closed_port) in unreachable.record()["cause"], (
        "the log knows what the client does not"
    )


@pytest.mark.spec("ER-14", "PL-40")
def test_an_upstream_that_is_too_slow_is_504_and_nobody_knows_what_it_did(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    def hold(visit: Visit) -> None:
        visit.request()
        visit.wait_closed()

    upstream = start_upstream(script=hold)
    gateway = start_gateway(upstream, route={"timeouts": {"response": "100ms"}})
    whole = start_gateway(upstream, route={"timeouts": {"response": "100ms", "total": "100ms"}})

    slow, late = one(gateway), one(whole)

    assert [answer.status for answer in (slow, late)] == [504, 504]
    assert problem(slow)["code"] == "upstream_timeout"
    assert "unknown" in problem(slow)["detail"]
    assert problem(late)["code"] in {"total_timeout", "upstream_timeout"}


@pytest.mark.parametrize(
    ("data", "status", "code"),
    [
        (get("/" + "a" * 9000), 414, "target_too_long"),
        (get("/", "X-Large: " + "a" * 17_000), 431, "header_too_large"),
        (get("/", *(f"X-{n}: 1" for n in range(200))), 431, "header_too_large"),
        (get("/", "Expect: magic"), 417, "expectation_failed"),
        (get().replace(b"HTTP/1.1", b"HTTP/2.0"), 505, "version_not_supported"),
        (get("a.test:80").replace(b"GET", b"CONNECT"), 501, "not_implemented"),
    ],
    ids=["target", "bytes", "fields", "expectation", "version", "method"],
)
def test_other_statuses_of_the_dictionary(
    start_gateway: StartGateway,
    start_upstream: StartUpstream,
    data: bytes,
    status: int,
    code: str,
) -> None:
    gateway = start_gateway(start_upstream())

    answer = one(gateway, data)

    assert answer.status == status
    assert problem(answer)["code"] == code


def test_an_answer_to_head_says_how_long_the_problem_would_be(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    gateway = start_gateway(start_upstream(), route={"match": {"path": "/only"}})

    shown = one(gateway, get("/nowhere", "X-Request-Id: mine"))
    head = one(gateway, get("/nowhere", "X-Request-Id: mine").replace(b"GET", b"HEAD", 1), "HEAD")

    assert head.status == 404
    assert head.body == b""
    assert head.header("Content-Length") == str(len(shown.body))


def test_an_upstreams_own_error_passes_as_it_is(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream(
        response(b'{"mine":1}', "Content-Type: application/json", status="500 Oops")
    )
    gateway = start_gateway(upstream)

    answer = one(gateway)

    assert (answer.status, answer.body) == (500, b'{"mine":1}')
    assert "code" not in gateway.record()
    assert gateway.metric("sluicegate_rejected_total") == 0
