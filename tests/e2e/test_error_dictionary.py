"""Every code of the dictionary, provoked over HTTP: what it says, and what it never says."""

import json
import re
import socket
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from support.gateway import Gateway, forwarding
from support.raw import Response, get, post
from support.upstream import Upstream, Visit
from support.websocket import opening

DICTIONARY = tomllib.loads(
    (Path(__file__).parents[2] / "schema" / "codes.toml").read_text(encoding="utf-8")
)
# Names that only the inside knows; each is somewhere in the document or in the request.
CREDENTIAL = "s3cr3t-t0k3n"
UPSTREAM, ROUTE, LISTENER = "orders-db-primary", "orders-internal", "edge-inside"
INSIDE = re.compile(
    rf"{CREDENTIAL}|{UPSTREAM}|{ROUTE}|{LISTENER}|127\.0\.0\.1|localhost|/tmp|access-\d|\.log"
    r"|crates/|\.rs|src/|panic|os error|sluicegate|traceback",
    re.IGNORECASE,
)
AUTHORIZATION = f"Authorization: Bearer {CREDENTIAL}"


class Stage:
    """A gateway full of names, in front of an upstream that does as it is told."""

    def __init__(self, start_gateway: StartGateway, start_upstream: StartUpstream) -> None:
        self._start_gateway = start_gateway
        self._start_upstream = start_upstream

    def ask(self, data: bytes, **sections: Any) -> Response:  # noqa: ANN401 - parts of a document
        """One request to a gateway whose upstream answers."""
        return _one(self.gateway(self._start_upstream().authority, **sections), data)

    def upstream(self, script: Callable[[Visit], None]) -> Upstream:
        """An upstream with a script."""
        return self._start_upstream(script=script)

    def gateway(self, authority: str, **sections: Any) -> Gateway:  # noqa: ANN401 - parts of a document
        """A gateway in front of an address."""
        document = forwarding(
            authority,
            listener={"id": LISTENER, **sections.pop("listener", {})},
            route={"id": ROUTE, "upstream": UPSTREAM, **sections.pop("route", {})},
            upstream_settings={"id": UPSTREAM, **sections.pop("upstream_settings", {})},
            **sections,
        )
        return self._start_gateway(document)


@pytest.fixture
def stage(start_gateway: StartGateway, start_upstream: StartUpstream) -> Stage:
    """Where codes are provoked."""
    return Stage(start_gateway, start_upstream)


def _one(gateway: Gateway, data: bytes) -> Response:
    with gateway.connect() as client:
        return client.request(data)


def _ours(target: str = "/", *fields: str) -> bytes:
    return get(target, AUTHORIZATION, *fields)


def _hold(visit: Visit) -> None:
    visit.request()
    visit.wait_closed()


def _header_timeout(stage: Stage) -> Response:
    gateway = stage.gateway("127.0.0.1:9")
    with gateway.connect() as client:
        client.send(b"GET / HTTP/1.1\r\n" + AUTHORIZATION.encode())
        gateway.wait_until(lambda status: status["connections"] > 0)
        gateway.advance(11_000)
        return client.response()


def _body_timeout(stage: Stage) -> Response:
    upstream = stage.upstream(_hold)
    gateway = stage.gateway(upstream.authority)
    with gateway.connect() as client:
        client.send(post(b"x" * 10, "/", AUTHORIZATION)[:-5])
        upstream.wait_for_requests(1)
        gateway.advance(31_000)
        return client.response()


def _unreachable(stage: Stage) -> Response:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        return _one(stage.gateway(f"127.0.0.1:{nobody.getsockname()[1]}"), _ours())


def _broken(stage: Stage) -> Response:
    def close(visit: Visit) -> None:
        visit.request()
        visit.fin()

    return _one(stage.gateway(stage.upstream(close).authority), _ours())


def _malformed(stage: Stage) -> Response:
    def babble(visit: Visit) -> None:
        visit.request()
        visit.send(f"HTTP/9 {CREDENTIAL} at 127.0.0.1\r\n\r\n".encode())

    return _one(stage.gateway(stage.upstream(babble).authority), _ours())


def _busy(stage: Stage) -> Response:
    upstream = stage.upstream(_hold)
    settings = {"connections": {"max": 1, "acquire": "30ms"}}
    gateway = stage.gateway(upstream.authority, upstream_settings=settings)
    with gateway.connect() as first:
        first.send(_ours())
        upstream.wait_for_requests(1)
        return _one(gateway, _ours())


def _crowded(stage: Stage) -> Response:
    gateway = stage.gateway("127.0.0.1:9", listener={"limits": {"connections": 1}})
    with gateway.connect() as first, gateway.connect() as second:
        first.send(b"G")
        return second.response()


def _full_of_sockets(stage: Stage) -> Response:
    upstream = stage.upstream(_hold)
    gateway = stage.gateway(upstream.authority, route={"websocket": {"connections": 1}})
    with gateway.connect() as first:
        first.send(opening("/", AUTHORIZATION))
        upstream.wait_for_requests(1)
        return _one(gateway, opening("/", AUTHORIZATION))


def _late(stage: Stage, **timeouts: str) -> Response:
    upstream = stage.upstream(_hold)
    return _one(stage.gateway(upstream.authority, route={"timeouts": timeouts}), _ours())


def _validate(**config: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a document
    return {"name": "validate", "config": config}


def _refused(use: dict[str, Any], data: bytes, stage: Stage) -> Response:
    return stage.ask(data, entry=[{"name": "request_id"}, use])


def _on_the_list(stage: Stage) -> Response:
    gateway = stage.gateway("127.0.0.1:9", entry=[{"name": "request_id"}, {"name": "denylist"}])
    event = {"set": [{"address": "127.0.0.1"}]}
    fact = {"kind": "filter", "filter": "denylist", "id": "denylist", "event": event}
    gateway.engine.tell(json.dumps(fact))
    return _one(gateway, _ours())


SOCKETS: dict[str, Any] = {"route": {"websocket": {}}}
SMALL = {"listener": {"limits": {"body": "1KiB"}}}
PROVOKED: dict[str, Callable[[Stage], Response]] = {
    "bad_request": lambda stage: stage.ask(_ours("/a b")),
    "caller_denied": _on_the_list,
    "bad_path": lambda stage: stage.ask(_ours("/%zz")),
    "encoded_slash": lambda stage: stage.ask(_ours("/a%2Fb")),
    "bad_handshake": lambda stage: stage.ask(opening("/", AUTHORIZATION, key="short"), **SOCKETS),
    "websocket_version": lambda stage: stage.ask(
        opening("/", AUTHORIZATION, version="8"), **SOCKETS
    ),
    "too_many_websockets": _full_of_sockets,
    "no_route": lambda stage: stage.ask(_ours("/x"), route={"match": {"path": "/only"}}),
    "method_not_allowed": lambda stage: stage.ask(
        _ours(), route={"match": {"path": "/", "methods": ["POST"]}}
    ),
    "header_timeout": _header_timeout,
    "body_timeout": _body_timeout,
    "body_too_large": lambda stage: stage.ask(post(b"x" * 2000, "/", AUTHORIZATION), **SMALL),
    "target_too_long": lambda stage: stage.ask(_ours("/" + "a" * 9000)),
    "expectation_failed": lambda stage: stage.ask(_ours("/", "Expect: magic")),
    "header_too_large": lambda stage: stage.ask(_ours("/", "X-Large: " + "a" * 17_000)),
    "not_implemented": lambda stage: stage.ask(_ours("a.test:80").replace(b"GET", b"CONNECT")),
    "upstream_unreachable": _unreachable,
    "upstream_broken": _broken,
    "upstream_malformed": _malformed,
    "no_endpoint": lambda stage: _one(stage.gateway("nobody.invalid:9000"), _ours()),
    "upstream_busy": _busy,
    "too_many_connections": _crowded,
    "upstream_timeout": lambda stage: _late(stage, response="100ms"),
    "total_timeout": lambda stage: _late(stage, response="100ms", total="100ms"),
    "version_not_supported": lambda stage: stage.ask(_ours().replace(b"HTTP/1.1", b"HTTP/2.0")),
}
# What a filter refuses: its use in the entry chain, and a request.
REFUSED: dict[str, tuple[dict[str, Any], bytes]] = {
    "address_denied": (
        {"name": "address_list", "config": {"deny": ["127.0.0.0/8"]}},
        _ours(),
    ),
    "method_refused": (_validate(methods=["POST"]), _ours()),
    "method_unknown": (_validate(methods=["GET"]), _ours().replace(b"GET", b"BREW")),
    "host_missing": (
        _validate(hosts=["a.test"]),
        f"GET / HTTP/1.0\r\n{AUTHORIZATION}\r\n\r\n".encode(),
    ),
    "host_refused": (_validate(hosts=["a.test"]), get("/", AUTHORIZATION, host="b.test")),
    "path_too_long": (_validate(max_path_length=9), _ours("/123456789")),
    "too_many_segments": (_validate(max_path_segments=2), _ours("/a/b/c")),
    "too_many_parameters": (_validate(max_query_parameters=2), _ours("/?a&b&c")),
    "bad_encoding": (_validate(), _ours("/?a=%00")),
    "forbidden_character": (_validate(forbidden_characters="<"), _ours("/?a=<")),
    "bad_header_value": (_validate(ascii_header_values=True), _ours("/", "X-A: \u00e4")),
    "body_not_expected": (
        _validate(bodiless_methods=["POST"]),
        post(b"x", "/", AUTHORIZATION),
    ),
    "unsupported_media_type": (
        _validate(content_types=["application/json"]),
        post(b"x", "/", AUTHORIZATION, "Content-Type: text/plain"),
    ),
}
for _code, (_use, _data) in REFUSED.items():
    PROVOKED[_code] = partial(_refused, _use, _data)
# A test of the engine renders these, as all others, in every format.
NOT_PROVOKED = {
    "client_gone": "nobody is there to read it",
    "internal_error": "no request is known that gives it",
    "buffer_exhausted": "it takes 256 MiB of waiting bodies",
    "upstream_connect_timeout": "a loopback address connects or refuses at once",
}


def test_every_code_is_provoked_or_says_why_not() -> None:
    assert set(PROVOKED) | set(NOT_PROVOKED) == set(DICTIONARY), (
        "a new code needs a request that provokes it, here"
    )
    assert not set(PROVOKED) & set(NOT_PROVOKED)


@pytest.mark.spec("ER-01", "ER-04")
@pytest.mark.parametrize("code", PROVOKED)
def test_a_code_has_the_status_of_the_dictionary_and_tells_nothing_of_the_inside(
    stage: Stage, code: str
) -> None:
    answer = PROVOKED[code](stage)

    body = json.loads(answer.body)
    assert (body["code"], body["status"]) == (code, answer.status)
    assert answer.status == DICTIONARY[code]["status"]
    assert answer.header("Content-Type") == "application/problem+json"
    assert answer.header("Cache-Control") == "no-store"
    shown = answer.raw_head + answer.body
    assert not INSIDE.search(shown.decode()), shown


@pytest.mark.spec("ER-02")
def test_a_client_turned_away_at_the_door_gets_the_same_form(stage: Stage) -> None:
    errors = {
        "format": "code-message",
        "codes": {"too_many_connections": {"status": 429, "detail": "Later, please."}},
    }
    gateway = stage.gateway("127.0.0.1:9", listener={"limits": {"connections": 1}}, errors=errors)

    with gateway.connect() as first, gateway.connect() as second:
        first.send(b"G")
        answer = second.response()

    assert answer.status == 429
    assert json.loads(answer.body) == {
        "code": "too_many_connections",
        "message": "Later, please.",
    }
    assert answer.header("Retry-After") == "1"


@pytest.mark.spec("ER-02")
@pytest.mark.parametrize("detail", ["Zu viele Besucher, bitte später.", 'a "quoted" \\ word\n'])
def test_code_and_message_is_json_in_utf8_of_its_exact_length(stage: Stage, detail: str) -> None:
    errors = {"format": "code-message", "codes": {"no_route": {"detail": detail}}}

    answer = stage.ask(_ours("/x"), route={"match": {"path": "/only"}}, errors=errors)

    assert json.loads(answer.body.decode("utf-8")) == {"code": "no_route", "message": detail}
    assert answer.fields.all("Content-Length") == [str(len(answer.body))]
    assert answer.header("Content-Type") == "application/json; charset=utf-8"


def test_the_code_completes_the_type_where_there_is_a_base(stage: Stage) -> None:
    base = "https://api.example.com/errors/"

    answer = stage.ask(_ours("/x"), route={"match": {"path": "/only"}}, errors={"type_base": base})

    assert json.loads(answer.body)["type"] == base + "no_route"


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "application/json;q=0"])
def test_the_form_does_not_depend_on_what_a_client_accepts(stage: Stage, accept: str) -> None:
    answer = stage.ask(_ours("/x", f"Accept: {accept}"), route={"match": {"path": "/only"}})

    assert answer.header("Content-Type") == "application/problem+json"
    assert answer.header("Vary") is None


def test_a_reject_of_a_head_request_has_no_body_in_every_format(stage: Stage) -> None:
    formats: list[dict[str, Any]] = [
        {"format": "problem"},
        {"format": "code-message"},
        {"format": "template", "template": {"content_type": "text/plain", "body": "{code}"}},
    ]
    route = {"match": {"path": "/only"}}

    for errors in formats:
        gateway = stage.gateway("127.0.0.1:9", route=route, errors=errors)
        with gateway.connect() as client:
            shown = client.request(_ours("/x"))
            head = client.request(_ours("/x").replace(b"GET", b"HEAD", 1), "HEAD")
            again = client.request(_ours("/x"))

        assert head.status == again.status == 404
        if errors["format"] != "problem":
            assert head.header("Content-Length") == str(len(shown.body))


@pytest.mark.spec("ER-04")
def test_the_translated_example_changes_words_and_no_code(start_gateway: StartGateway) -> None:
    example = Path(__file__).parents[2] / "examples" / "errors-translated.yaml"
    text = example.read_text(encoding="utf-8").replace("127.0.0.1:8080", "127.0.0.1:0")

    answer = _one(start_gateway(text), _ours("/nowhere"))

    body = json.loads(answer.body.decode("utf-8"))
    assert (answer.status, body["code"], body["title"]) == (404, "no_route", "页面不存在")
    assert body["type"] == "https://api.example.com/errors/no_route"
