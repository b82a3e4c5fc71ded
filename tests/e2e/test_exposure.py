"""Internal routes and upstreams: not there for the public, not merely refused."""

import json
from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from sluicegate.errors import ConfigError
from support.gateway import Gateway
from support.raw import Connection, get

LISTENERS = [{"id": "open"}, {"id": "inner", "exposure": "internal"}]


def named(route: str, path: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a document
    """A route that answers with its own name."""
    match = {"path": path, **fields.pop("match", {})}
    return {"id": route, "match": match, "respond": {"body": route}, **fields}


def taken(gateway: Gateway, listener: str, target: str) -> str:
    """The route that took a request, or the status without one."""
    with Connection(gateway.address_of(listener)) as client:
        answer = client.request(get(target))
    return answer.body.decode() if answer.status == 200 else str(answer.status)


@pytest.mark.spec("CF-21", "RT-35", "SE-24")
def test_an_internal_route_is_on_internal_listeners_only(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    actuator = {
        "id": "actuator",
        "match": {"path": "/actuator/**"},
        "upstream": "orders",
        "exposure": "internal",
    }
    upstreams = [{"id": "orders", "endpoints": [{"address": upstream.authority}]}]
    document = {
        "listeners": LISTENERS,
        "upstreams": upstreams,
        "routes": [actuator, named("orders", "/api/orders")],
    }
    gateway = start_gateway(document)

    outside = {path: taken(gateway, "open", path) for path in ("/actuator/health", "/api/orders")}
    spellings = [
        taken(gateway, "open", path)
        for path in (
            "/Actuator/health",
            "/actuator/./health",
            "//actuator/health",
            "/%61ctuator/env",
        )
    ]
    inside = {path: taken(gateway, "inner", path) for path in ("/actuator/health", "/api/orders")}

    assert outside == {"/actuator/health": "404", "/api/orders": "orders"}
    assert set(spellings) == {"404"}
    assert inside == {"/actuator/health": "ok", "/api/orders": "orders"}
    assert len(upstream.requests) == 1


@pytest.mark.spec("CF-21")
def test_an_internal_route_hides_no_public_one(start_gateway: StartGateway) -> None:
    routes = [
        named("inner", "/api/orders", exposure="internal", priority=100),
        named("outer", "/api/orders"),
        named("methods", "/only-get", exposure="internal", match={"methods": ["GET"]}),
    ]
    gateway = start_gateway({"listeners": LISTENERS, "routes": routes})

    assert taken(gateway, "open", "/api/orders") == "outer"
    assert taken(gateway, "inner", "/api/orders") == "inner"
    with Connection(gateway.address_of("open")) as client:
        post = client.request(b"POST /only-get HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
    assert post.status == 404, "405 would tell that something is there"


@pytest.mark.spec("CF-21")
def test_explain_sees_what_the_listener_shows(start_gateway: StartGateway) -> None:
    routes = [named("inner", "/admin", exposure="internal")]
    gateway = start_gateway({"listeners": LISTENERS, "routes": routes})

    def explained(listener: str) -> Any:  # noqa: ANN401 - JSON
        request = {"method": "GET", "target": "/admin", "host": "a", "listener": listener}
        return json.loads(gateway.engine.explain_live(json.dumps(request), "{}"))

    assert explained("open")["route"] is None
    assert explained("open")["candidates"] == []
    assert explained("inner")["route"] == "inner"


@pytest.mark.spec("CF-21")
def test_a_reload_moves_a_route_inside_at_once(start_gateway: StartGateway) -> None:
    def document(exposure: str) -> dict[str, Any]:
        return {"listeners": LISTENERS, "routes": [named("r", "/r", exposure=exposure)]}

    gateway = start_gateway(document("public"))
    with Connection(gateway.address_of("open")) as client:
        before = client.request(get("/r")).status
        gateway.reload(document("internal"))
        after = client.request(get("/r")).status

    assert (before, after) == (200, 404)


def test_a_route_is_on_the_listeners_it_names(start_gateway: StartGateway) -> None:
    listeners = [{"id": "one"}, {"id": "two"}]
    routes = [
        named("both", "/**"),
        named("first", "/x", match={"listeners": ["one"]}),
        named("second", "/x", match={"listeners": ["two"]}),
    ]
    gateway = start_gateway({"listeners": listeners, "routes": routes})

    found = [taken(gateway, listener, "/x") for listener in ("one", "two")]

    assert found == ["first", "second"]


@pytest.mark.spec("CF-21")
def test_a_public_route_to_an_internal_upstream_is_refused(start_gateway: StartGateway) -> None:
    upstreams = [
        {"id": "orders", "endpoints": [{"address": "127.0.0.1:9"}]},
        {"id": "admin", "exposure": "internal", "endpoints": [{"address": "127.0.0.1:10"}]},
    ]
    routes = [
        {"id": "orders", "match": {"path": "/orders"}, "upstream": "orders"},
        {"id": "open", "match": {"path": "/open"}, "upstream": "admin"},
        {"id": "in", "match": {"path": "/in"}, "upstream": "admin", "exposure": "internal"},
    ]

    with pytest.raises(ConfigError) as refused:
        start_gateway({"listeners": LISTENERS, "upstreams": upstreams, "routes": routes})

    (problem,) = refused.value.problems
    assert problem.written_path == "routes[1].upstream"
    assert "`open` is public" in problem.message
    assert "upstreams[1]" in problem.message
    assert "`admin`" in problem.message


@pytest.mark.spec("CF-21")
@pytest.mark.parametrize(
    ("listener", "said"), [("opne", "there is no listener"), ("open", "is internal, but")]
)
def test_a_listener_that_cannot_show_the_route_is_refused(
    start_gateway: StartGateway, listener: str, said: str
) -> None:
    routes = [named("r", "/r", exposure="internal", match={"listeners": [listener]})]

    with pytest.raises(ConfigError) as refused:
        start_gateway({"listeners": LISTENERS, "routes": routes})

    (problem,) = refused.value.problems
    assert problem.written_path == "routes[0].match.listeners[0]"
    assert said in problem.message
