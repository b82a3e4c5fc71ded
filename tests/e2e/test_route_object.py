"""The fields of a route, seen from outside."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from sluicegate.errors import ConfigError
from support.blackhole import Blackhole
from support.gateway import Gateway, forwarding
from support.raw import Response, get, post
from support.upstream import Visit


def named(route: str, path: str | list[str], **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a document
    """A route that answers with its own name."""
    return {
        "id": route,
        "match": {"path": path, **fields.pop("match", {})},
        "respond": {"body": route},
        **fields,
    }


def asked(gateway: Gateway, target: str, *fields: str) -> Response:
    """One request on a connection of its own."""
    with gateway.connect() as client:
        return client.request(get(target, *fields))


def taken(gateway: Gateway, target: str, *fields: str) -> str:
    """The route that took a request, or the status without one."""
    answer = asked(gateway, target, *fields)
    return answer.body.decode() if answer.status == 200 else str(answer.status)


def explained(gateway: Gateway, target: str) -> dict[str, Any]:
    """What the running engine would do with a request."""
    request = {"method": "GET", "target": target, "host": "a.test", "headers": []}
    answer: dict[str, Any] = json.loads(gateway.engine.explain_live(json.dumps(request), "{}"))
    return answer


@pytest.mark.spec("RT-16")
def test_only_published_routes_are_served(start_gateway: StartGateway) -> None:
    routes = [
        named("draft", "/draft", status="draft"),
        named("reviewing", "/reviewing", status="reviewing"),
        named("published", "/published", status="published"),
        named("disabled", "/disabled", status="disabled"),
        named("usual", "/usual"),
        named("new-usual", "/usual", status="draft"),
        named("rest", "/**", priority=-1),
    ]
    gateway = start_gateway({"routes": routes})

    found = {path: taken(gateway, path) for path in ("/draft", "/reviewing", "/disabled")}

    assert set(found.values()) == {"rest"}, "a route that is not served shadows nothing"
    assert taken(gateway, "/published") == "published"
    assert taken(gateway, "/usual") == "usual", (
        "a draft may have the conditions of what it replaces"
    )
    assert gateway.status()["routes"] == 3
    assert gateway.status()["routes_not_served"] == ["draft", "reviewing", "disabled", "new-usual"]


@pytest.mark.spec("RT-16")
@pytest.mark.parametrize("status", ["draft", "reviewing", "disabled"])
def test_routes_that_are_not_served_are_checked_all_the_same(
    start_gateway: StartGateway, status: str
) -> None:
    filters = [{"name": "path_rewrite", "config": {"strip_segment": 1}}]
    broken = named("broken", "/broken", status=status, filters=filters)
    nowhere = {
        "id": "nowhere",
        "match": {"path": "/x/{a}/{a}"},
        "upstream": "gone",
        "status": status,
    }

    with pytest.raises(ConfigError) as refused:
        start_gateway({"routes": [broken, nowhere]})

    found = {problem.written_path for problem in refused.value.problems}
    assert found == {
        "routes[0].filters[0].config.strip_segment",
        "routes[1].match.path",
        "routes[1].upstream",
    }


@pytest.mark.spec("RT-17")
def test_explain_tells_the_version_of_a_route(start_gateway: StartGateway) -> None:
    routes = [named("orders", "/orders", version=37), named("plain", "/plain")]
    gateway = start_gateway({"routes": routes})

    assert explained(gateway, "/orders")["route_version"] == 37
    assert explained(gateway, "/plain")["route_version"] is None
    assert explained(gateway, "/orders")["candidates"][0]["version"] == 37


def test_a_route_with_several_paths_is_one_route(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    rewrite = {"name": "path_rewrite", "config": {"template": "/v2/{id}"}}
    route = {"match": {"path": ["/orders/{id}", "/o/{id}"]}, "filters": [rewrite]}
    gateway = start_gateway(forwarding(upstream.authority, route=route))

    for target in ("/orders/7", "/o/8", "/x"):
        asked(gateway, target)

    assert [request.target for request in upstream.requests] == ["/v2/7", "/v2/8"]
    told = [(r["route_id"], r["path_template"]) for r in gateway.records(3)[:2]]
    assert told == [("all", "/orders/{id}"), ("all", "/o/{id}")]
    assert gateway.metric("sluicegate_requests_total", route="all") == 2
    assert gateway.status()["routes"] == 1


def test_every_path_of_a_route_has_its_own_place_in_the_competition(
    start_gateway: StartGateway,
) -> None:
    routes = [named("broad", ["/a/**", "/b"]), named("precise", ["/a/x", "/b/**"])]
    gateway = start_gateway({"routes": routes})

    found = [taken(gateway, target) for target in ("/a/x", "/a/y", "/b", "/b/c", "/c")]

    assert found == ["precise", "broad", "broad", "precise", "404"]


@pytest.mark.spec("RT-19")
def test_one_of_several_values_is_enough(start_gateway: StartGateway) -> None:
    match = {
        "headers": [{"name": "X-Env", "value": ["gray", "a.b"]}],
        "query": [{"name": "v", "regex": "[0-9]+"}],
        "cookies": [{"name": "beta", "present": False}],
    }
    gateway = start_gateway({"routes": [named("gray", "/x", match=match)]})

    assert taken(gateway, "/x?v=1", "X-Env: gray") == "gray"
    assert taken(gateway, "/x?v=12", "X-Env: a.b") == "gray"
    assert taken(gateway, "/x?v=1", "X-Env: axb") == "404", "values are texts, no patterns"
    assert taken(gateway, "/x?v=1", "X-Env: graygray") == "404"
    assert taken(gateway, "/x?v=1", "X-Env: blue") == "404"
    assert taken(gateway, "/x?v=1") == "404"
    assert taken(gateway, "/x?v=one", "X-Env: gray") == "404"
    assert taken(gateway, "/x?v=1", "X-Env: gray", "Cookie: beta=1") == "404"


@pytest.fixture
def blackhole() -> Iterator[Blackhole]:
    with Blackhole() as hole:
        yield hole


@pytest.mark.spec("RT-18", "HT-19")
def test_a_route_has_its_own_patience_for_a_connect(
    start_gateway: StartGateway, blackhole: Blackhole
) -> None:
    route = {"timeouts": {"connect": "200ms"}}
    gateway = start_gateway(forwarding(blackhole.authority, route=route))

    begun = time.monotonic()
    answer = asked(gateway, "/x")
    took = time.monotonic() - begun

    assert answer.status == 504
    assert b"upstream_connect_timeout" in answer.body
    assert 0.15 < took < 0.9, "a second is the upstream's default"


@pytest.mark.spec("RT-13", "HT-21")
def test_a_route_has_its_own_patience_for_an_answer(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream(script=mute)
    document = forwarding(upstream.authority, route={"timeouts": {"response": "800ms"}})
    gateway = start_gateway(document)

    with gateway.connect() as client:
        client.send(get())
        upstream.wait_for_bytes(b"\r\n\r\n")
        gateway.advance(700)
        assert client.is_silent(within=0.05)
        gateway.advance(200)
        answer = client.response()

    assert answer.status == 504
    assert b"upstream_timeout" in answer.body


def mute(visit: Visit) -> None:
    """Reads and never answers."""
    visit.wait_closed()


DEFAULTS: dict[str, Any] = {
    "limits": {"body": "10B"},
    "filters": [
        {
            "name": "header_rewrite",
            "id": "team",
            "config": {"response": {"set": {"X-Team": "all"}}},
        },
        {"name": "header_rewrite", "id": "tag", "config": {"response": {"set": {"X-Tag": "all"}}}},
    ],
}


def tags(answer: Response) -> tuple[str | None, str | None]:
    """What the two filters of the defaults have said."""
    return answer.header("X-Team"), answer.header("X-Tag")


def test_filters_of_all_routes_are_said_once(start_gateway: StartGateway) -> None:
    own = [
        {
            "name": "header_rewrite",
            "id": "team",
            "config": {"response": {"set": {"X-Team": "own"}}},
        },
        {"name": "header_rewrite", "id": "tag", "off": True},
    ]
    routes = [
        named("usual", "/usual"),
        named("replaces", "/replaces", filters=own[:1]),
        named("without", "/without", filters=own[1:]),
        named("none", "/none", defaults=False),
    ]
    gateway = start_gateway({"route_defaults": DEFAULTS, "routes": routes})

    found = {route["id"]: tags(asked(gateway, route["match"]["path"])) for route in routes}

    assert found == {
        "usual": ("all", "all"),
        "replaces": ("own", "all"),
        "without": ("all", None),
        "none": (None, None),
    }


def test_a_replaced_filter_keeps_the_place_of_the_default(start_gateway: StartGateway) -> None:
    def sets(name: str, value: str) -> dict[str, Any]:
        config = {"request": {"set": {"X-Last": value}}}
        return {"name": "header_rewrite", "id": name, "config": config}

    routes = [named("r", "/r", filters=[sets("own", "own"), sets("first", "replaced")])]
    defaults = {"filters": [sets("first", "default-1"), sets("second", "default-2")]}
    gateway = start_gateway({"route_defaults": defaults, "routes": routes})

    steps = [step["id"] for step in explained(gateway, "/r")["steps"] if step["stage"] == "route"]

    assert steps == ["first", "second", "own"]


def test_limits_and_waits_of_all_routes_give_way_to_a_routes_own(
    start_gateway: StartGateway,
) -> None:
    routes = [named("small", "/small"), named("large", "/large", limits={"body": "1KiB"})]
    gateway = start_gateway({"route_defaults": DEFAULTS, "routes": routes})

    def sent(target: str) -> int:
        with gateway.connect() as client:
            return client.request(post(b"x" * 100, target), "POST").status

    assert (sent("/small"), sent("/large")) == (413, 200)


def test_waits_of_all_routes_come_before_the_upstreams(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream(script=mute)
    document = forwarding(upstream.authority, route_defaults={"timeouts": {"response": "100ms"}})
    gateway = start_gateway(document)

    with gateway.connect() as client:
        client.send(get())
        upstream.wait_for_bytes(b"\r\n\r\n")
        gateway.advance(200)
        answer = client.response()

    assert answer.status == 504
    assert b"upstream_timeout" in answer.body
