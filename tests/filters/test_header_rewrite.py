"""`header_rewrite`: which headers upstream and client see."""

from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from sluicegate.errors import ConfigError
from support.raw import get
from support.upstream import response


def rewrite(**config: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a document
    """One use of the filter."""
    return {"name": "header_rewrite", "config": config}


def test_operations_run_in_their_order_on_the_request(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    operations = {
        "set": {"X-Set": "new", "X-Both": "set"},
        "append": {"X-Append": "more", "X-Both": "appended"},
        "remove": ["X-Gone"],
        "set_if_absent": {"X-There": "default", "X-Gone": "again", "X-Missing": "default"},
    }
    gateway = start_gateway(upstream, entry=[], route={"filters": [rewrite(request=operations)]})
    sent = ("X-Set: old", "x-set: older", "X-Append: first", "X-Gone: 1", "X-There: kept")

    with gateway.connect() as client:
        client.request(get("/", *sent))

    fields = upstream.requests[0].fields
    assert fields.all("X-Set") == ["new"]
    assert fields.all("X-Append") == ["first", "more"]
    assert fields.all("X-Both") == ["set", "appended"]
    assert fields.all("X-There") == ["kept"]
    assert fields.all("X-Missing") == ["default"]
    assert fields.all("X-Gone") == ["again"]


def test_values_are_filled_in(start_gateway: StartGateway, start_upstream: StartUpstream) -> None:
    upstream = start_upstream()
    values = {
        "X-Id": "{request_id}",
        "X-Who": "from {client_ip} by {route}",
        "X-Json": '{"a": {}}',
        "X-Text": "{{route}}",
    }
    gateway = start_gateway(upstream, route={"filters": [rewrite(request={"set": values})]})

    with gateway.connect() as client:
        client.request(get("/", "X-Request-Id: mine"))

    fields = upstream.requests[0].fields
    assert fields["X-Id"] == "mine"
    assert fields["X-Who"] == "from 127.0.0.1 by all"
    assert fields["X-Json"] == '{"a": {}}'
    assert fields["X-Text"] == "{route}"


def test_answers_of_upstreams_and_of_the_gateway_are_changed_alike(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream(response(b"ok", "X-Frame-Options: ALLOWALL", "X-Debug: 1"))
    operations = {
        "set": {"X-Frame-Options": "DENY"},
        "remove": ["X-Debug"],
        "set_if_absent": {"X-Content-Type-Options": "nosniff"},
    }
    gateway = start_gateway(
        upstream,
        entry=[rewrite(response=operations)],
        route={"match": {"path": "/only", "methods": ["GET"]}},
    )

    with gateway.connect() as client:
        answers = [
            client.request(get("/only")),
            client.request(get("/elsewhere")),
            client.request(get("/only").replace(b"GET", b"PUT")),
        ]

    assert [answer.status for answer in answers] == [200, 404, 405]
    for answer in answers:
        assert answer.header("X-Frame-Options") == "DENY"
        assert answer.header("X-Content-Type-Options") == "nosniff"
        assert "X-Debug" not in answer.fields


def test_a_route_changes_its_own_answers_only(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    origin = start_upstream()
    target = {"id": "origin", "endpoints": [{"address": origin.authority}]}
    filters = [rewrite(response={"set": {"X-Here": "a"}})]
    routes = [
        {"id": "a", "match": {"path": "/a"}, "upstream": "origin", "filters": filters},
        {"id": "b", "match": {"path": "/b"}, "upstream": "origin"},
        {"id": "c", "match": {"path": "/c"}, "respond": {"status": 200}, "filters": filters},
    ]
    gateway = start_gateway({"upstreams": [target], "routes": routes})

    with gateway.connect() as client:
        shown = [client.request(get(path)).header("X-Here") for path in ("/a", "/b", "/c")]

    assert shown == ["a", None, "a"]


def test_before_the_match_it_can_open_a_route(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    marking = rewrite(request={"set": {"X-Env": "gray"}}) | {"phase": "sanitize"}
    only_gray = {"path": "/", "headers": [{"name": "X-Env", "value": "gray"}]}
    gateway = start_gateway(upstream, entry=[marking], route={"match": only_gray})

    with gateway.connect() as client:
        answer = client.request(get("/", "X-Env: blue"))

    assert answer.status == 200
    assert upstream.requests[0].fields.all("X-Env") == ["gray"]


@pytest.mark.parametrize(
    ("config", "pointer", "says"),
    [
        ({}, "/routes/0/filters/0/config", "nothing is to be changed"),
        (
            {"request": {"set": {"Content-Length": "1"}}},
            "/routes/0/filters/0/config/request/set/Content-Length",
            "",
        ),
        ({"request": {"remove": ["Host"]}}, "/routes/0/filters/0/config/request/remove/0", ""),
        ({"response": {"set": {"X-A": "{nothing}"}}}, "/routes/0/filters/0/config", "{nothing}"),
        ({"request": {"sett": {}}}, "/routes/0/filters/0/config", "sett"),
    ],
    ids=["nothing", "framing", "host", "unknown placeholder", "unknown operation"],
)
def test_a_mistake_is_named_at_its_place(
    start_gateway: StartGateway,
    start_upstream: StartUpstream,
    config: dict[str, Any],
    pointer: str,
    says: str,
) -> None:
    with pytest.raises(ConfigError) as refused:
        start_gateway(start_upstream(), route={"filters": [rewrite(**config)]})

    (problem,) = refused.value.problems
    assert problem.pointer.startswith(pointer)
    assert says in str(problem)
