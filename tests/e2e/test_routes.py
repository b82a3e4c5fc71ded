"""How requests find their routes, seen from outside."""

import json
import time
from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from e2e.pipeline import request, send_all
from support.gateway import Gateway
from support.raw import Response, get


def named(route: str, path: str, priority: int = 0, **match: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a document
    """A route that answers with its own name."""
    return {
        "id": route,
        "priority": priority,
        "match": {"path": path, **match},
        "respond": {"status": 200, "body": route},
    }


def asked(
    gateway: Gateway, target: str, *fields: str, method: str = "GET", host: str = "a.test"
) -> Response:
    """One request on a connection of its own."""
    with gateway.connect() as client:
        data = get(target, *fields, host=host).replace(b"GET", method.encode(), 1)
        return client.request(data, method)


def taken(gateway: Gateway, target: str, *fields: str, **options: str) -> str:
    """The route that took a request, or the status without one."""
    answer = asked(gateway, target, *fields, **options)
    return answer.body.decode() if answer.status == 200 else str(answer.status)


@pytest.mark.spec("RT-02", "CF-17")
def test_the_record_and_the_metrics_name_a_route_by_its_id(start_gateway: StartGateway) -> None:
    gateway = start_gateway({"routes": [named("order-create", "/api/orders")]})

    asked(gateway, "/api/orders")

    assert gateway.record()["route_id"] == "order-create"
    assert gateway.metric("sluicegate_requests_total", route="order-create") == 1


@pytest.mark.spec("RT-03")
def test_the_higher_priority_wins_even_when_it_is_broader(start_gateway: StartGateway) -> None:
    gateway = start_gateway(
        {
            "routes": [
                named("precise", "/a/b"),
                named("broad", "/**", priority=100),
                named("last", "/a/**", priority=-1),
            ]
        }
    )

    assert taken(gateway, "/a/b") == "broad"
    assert taken(gateway, "/a/c") == "broad"


@pytest.mark.spec("RT-04", "RT-22")
def test_hosts_are_exact_or_wildcards_and_the_more_precise_wins(
    start_gateway: StartGateway,
) -> None:
    gateway = start_gateway(
        {
            "routes": [
                named("any", "/**"),
                named("wild", "/**", host="*.example.com"),
                named("deep", "/**", host="*.eu.example.com"),
                named("exact", "/**", host=["api.example.com", "www.example.com"]),
            ]
        }
    )
    expected = {
        "api.example.com": "exact",
        "API.Example.COM": "exact",
        "api.example.com:8443": "exact",
        "www.example.com": "exact",
        "img.example.com": "wild",
        "a.eu.example.com": "deep",
        "example.com": "any",
        "badexample.com": "any",
        "other.test": "any",
    }

    found = {host: taken(gateway, "/x", host=host) for host in expected}

    assert found == expected


@pytest.mark.spec("RT-05", "RT-23", "RT-29")
def test_paths_are_literal_parameters_or_a_rest_and_the_precise_one_wins(
    start_gateway: StartGateway,
) -> None:
    gateway = start_gateway(
        {
            "routes": [
                named("all", "/api/**"),
                named("admin", "/api/admin/**"),
                named("one", "/api/v1/orders/{id}"),
                named("mine", "/api/v1/orders/mine"),
                named("items", "/api/v1/orders/{id}/items"),
                named("files", "/files/{*rest}"),
                named("root", "/"),
            ]
        }
    )
    expected = {
        "/": "root",
        "/api": "all",
        "/api/": "all",
        "/api/x/y": "all",
        "/api/admin": "admin",
        "/api/admin/users": "admin",
        "/api/administration": "all",
        "/api/v1/orders/7": "one",
        "/api/v1/orders/mine": "mine",
        "/api/v1/orders/mine/items": "items",
        "/api/v1/orders/7/items": "items",
        "/api/v1/orders/7/other": "all",
        "/api/v1/orders/7/": "all",
        "/files": "files",
        "/files/a/b": "files",
        "/filesystem": "404",
        "/nowhere": "404",
    }

    found = {target: taken(gateway, target) for target in expected}

    assert found == expected


@pytest.mark.spec("RT-06")
def test_methods_choose_get_admits_head_and_others_learn_what_is_allowed(
    start_gateway: StartGateway,
) -> None:
    gateway = start_gateway(
        {
            "routes": [
                named("read", "/orders", methods=["GET"]),
                named("write", "/orders", methods=["POST", "PUT"]),
                named("own-head", "/head", methods=["HEAD"]),
                named("head-get", "/head", methods=["GET"]),
            ]
        }
    )

    assert taken(gateway, "/orders") == "read"
    assert taken(gateway, "/orders", method="POST") == "write"
    head = asked(gateway, "/orders", method="HEAD")
    assert (head.status, head.body, head.header("Content-Length")) == (200, b"", "4")
    assert asked(gateway, "/head", method="HEAD").header("Content-Length") == str(len("own-head"))
    refused = asked(gateway, "/orders", method="DELETE")
    assert refused.status == 405
    allow = refused.header("Allow") or ""
    assert {word.strip() for word in allow.split(",")} == {"GET", "HEAD", "POST", "PUT"}
    assert asked(gateway, "/orders", method="get").status == 405
    assert gateway.metric("sluicegate_rejected_total", code="method_not_allowed") == 2


@pytest.mark.spec("RT-31", "ER-10", "PL-32")
def test_what_no_route_takes_is_not_found(start_gateway: StartGateway) -> None:
    gateway = start_gateway({"routes": [named("only", "/only", host="a.test")]})

    assert asked(gateway, "/other").status == 404
    assert asked(gateway, "/only", host="b.test").status == 404
    assert [record["route_id"] for record in gateway.records(2)] == ["none", "none"]
    assert {record["code"] for record in gateway.records(2)} == {"no_route"}


@pytest.mark.spec("RT-37")
def test_a_prefix_means_the_same_with_and_without_a_final_slash(
    start_gateway: StartGateway,
) -> None:
    gateway = start_gateway({"routes": [named("course", "/api/course/**")]})

    for target in ("/api/course", "/api/course/", "/api/course/v1/list"):
        assert taken(gateway, target) == "course", target
    assert asked(gateway, "/api/courses").status == 404


@pytest.mark.spec("RT-19")
def test_headers_query_and_cookies_choose_too(start_gateway: StartGateway) -> None:
    gateway = start_gateway(
        {
            "routes": [
                named("plain", "/"),
                named("gray", "/", headers=[{"name": "X-Env", "value": "gray"}]),
                named("number", "/", headers=[{"name": "X-N", "regex": "[0-9]+"}]),
                named("v2", "/", query=[{"name": "v", "value": "a b"}]),
                named("session", "/", cookies=[{"name": "sid", "present": True}]),
                named("anonymous", "/door", headers=[{"name": "Cookie", "present": False}]),
            ]
        }
    )

    assert taken(gateway, "/") == "plain"
    assert taken(gateway, "/", "x-env: gray") == "gray"
    assert taken(gateway, "/", "X-Env: grayish") == "plain"
    assert taken(gateway, "/", "X-Env: blue", "X-Env: gray") == "gray"
    assert taken(gateway, "/", "X-N: 12") == "number"
    assert taken(gateway, "/", "X-N: 12a") == "plain"
    assert taken(gateway, "/?v=a%20b") == "v2"
    assert taken(gateway, "/?u=1&v=a+b") == "v2"
    assert taken(gateway, "/?v=a") == "plain"
    assert taken(gateway, "/", "Cookie: a=1; sid=x") == "session"
    assert taken(gateway, "/", "Cookie: xsid=x") == "plain"
    assert taken(gateway, "/door") == "anonymous"
    assert taken(gateway, "/door", "Cookie: a=1") == "404"


def test_more_conditions_win_over_fewer(start_gateway: StartGateway) -> None:
    env = {"name": "X-Env", "value": "gray"}
    gateway = start_gateway(
        {
            "routes": [
                named("none", "/a"),
                named("both", "/a", headers=[env], query=[{"name": "v", "present": True}]),
                named("one", "/a", headers=[env]),
                named("posts", "/a", methods=["POST"]),
            ]
        }
    )

    assert taken(gateway, "/a?v=1", "X-Env: gray") == "both"
    assert taken(gateway, "/a", "X-Env: gray") == "one"
    assert taken(gateway, "/a?v=1") == "none"
    assert taken(gateway, "/a", method="POST") == "posts"


@pytest.mark.spec("RT-21", "SE-30")
@pytest.mark.case("PA-01")
@pytest.mark.parametrize(
    ("asked_for", "seen"),
    [
        ("/a//b///c", "/a/b/c"),
        ("/a/./b/../c", "/a/c"),
        ("/x/%2e%2E/a", "/a"),
        ("/..", "/"),
        ("/a/../../b", "/b"),
        ("/%61%62%2Dc", "/ab-c"),
        ("/a%20b/%c3%a4", "/a%20b/%C3%A4"),
        ("/a/b/", "/a/b/"),
        ("/a?x=/../y&z=%41", "/a?x=/../y&z=%41"),
        ("/a%3Fb", "/a%3Fb"),
    ],
)
def test_the_upstream_sees_the_path_that_was_matched(
    start_gateway: StartGateway, start_upstream: StartUpstream, asked_for: str, seen: str
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream)

    answer = asked(gateway, asked_for)

    assert answer.status == 200
    assert upstream.requests[0].target == seen


@pytest.mark.spec("RT-21", "RT-29")
@pytest.mark.case("PA-01")
@pytest.mark.parametrize(
    "detour",
    ["/pub/../adm/x", "//adm/x", "/pub/%2e%2e/adm/x", "/./adm//x", "/%61dm/x", "/pub/..//adm/x"],
)
def test_no_detour_leads_around_a_route(
    start_gateway: StartGateway, start_upstream: StartUpstream, detour: str
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(
        {
            "upstreams": [{"id": "origin", "endpoints": [{"address": upstream.authority}]}],
            "routes": [
                {"id": "all", "match": {"path": "/**"}, "upstream": "origin"},
                named("protected", "/adm/**"),
            ],
        }
    )

    assert taken(gateway, detour) == "protected"
    assert upstream.requests == []


@pytest.mark.spec("SE-02")
@pytest.mark.case("PA-01")
@pytest.mark.parametrize(
    "detour",
    [
        "/public/../admin/x",
        "/public/./../admin/x",
        "/public//../admin/x",
        "//admin/x",
        "/./admin/x",
        "/public/%2e%2e/admin/x",
        "/public/%2E./admin/x",
        "/public\\..\\admin\\x",
        "/public/..%2Fadmin/x",
        "/public/..;/admin/x",
    ],
)
def test_no_detour_leads_around_the_guard_of_a_route(
    start_gateway: StartGateway, start_upstream: StartUpstream, detour: str
) -> None:
    upstream = start_upstream()
    # What no request without this header passes, as authentication would be.
    guard = {"name": "host_rewrite", "config": {"host": "{header.X-Token}.internal"}}
    routes = [
        {"id": "public", "match": {"path": "/public/**"}, "upstream": "origin"},
        {"id": "admin", "match": {"path": "/admin/**"}, "upstream": "origin", "filters": [guard]},
    ]
    upstreams = [{"id": "origin", "endpoints": [{"address": upstream.authority}]}]
    gateway = start_gateway({"upstreams": upstreams, "routes": routes})

    refused = asked(gateway, detour)
    allowed = asked(gateway, "/public/../admin/x", "X-Token: t")

    assert refused.status == 400
    assert allowed.status == 200
    assert [request.target for request in upstream.requests] == ["/admin/x"]


@pytest.mark.parametrize(
    "bad",
    ["/a%00b", "/a%zz", "/a%", "/a\\b", "/a%5cb", "/..%2fa", "/a/..;/b"],
)
def test_a_path_that_has_no_normal_form_is_refused(
    start_gateway: StartGateway, start_upstream: StartUpstream, bad: str
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream)

    answer = asked(gateway, bad)

    assert answer.status == 400
    assert upstream.requests == []


def test_an_encoded_slash_is_refused_unless_a_route_allows_it(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    upstreams = [{"id": "origin", "endpoints": [{"address": upstream.authority}]}]
    routes = [
        {"id": "no", "match": {"path": "/no/{name}"}, "upstream": "origin"},
        {
            "id": "yes",
            "match": {"path": "/yes/{name}"},
            "upstream": "origin",
            "encoded_slash": "allow",
        },
    ]
    gateway = start_gateway({"upstreams": upstreams, "routes": routes})

    refused = asked(gateway, "/no/a%2Fb")
    allowed = asked(gateway, "/yes/a%2fb")

    assert refused.status == 400
    assert b'"encoded_slash"' in refused.body
    assert allowed.status == 200
    assert upstream.requests[0].target == "/yes/a%2Fb"


@pytest.mark.spec("RT-25", "CF-04", "CF-05")
def test_a_reload_replaces_all_routes_at_once(start_gateway: StartGateway) -> None:
    gateway = start_gateway({"routes": [named("old", "/a"), named("other", "/b")]})
    before = (taken(gateway, "/a"), taken(gateway, "/b"))

    gateway.reload({"routes": [named("new", "/a"), named("third", "/c")]})

    after = tuple(taken(gateway, target) for target in ("/a", "/b", "/c"))
    assert before == ("old", "other")
    assert after == ("new", "404", "third")


def test_two_routes_for_the_same_requests_are_a_mistake(start_gateway: StartGateway) -> None:
    with pytest.raises(Exception, match="same"):
        start_gateway({"routes": [named("a", "/x/{id}"), named("b", "/x/{other}")]})


def test_respond_and_redirect_need_no_upstream(start_gateway: StartGateway) -> None:
    gateway = start_gateway(
        {
            "routes": [
                {
                    "id": "fixed",
                    "match": {"path": "/fixed"},
                    "respond": {
                        "status": 418,
                        "headers": {"Content-Type": "text/plain", "X-Kind": "teapot"},
                        "body": "short\n",
                    },
                },
                {"id": "empty", "match": {"path": "/empty"}, "respond": {"status": 204}},
                {
                    "id": "away",
                    "match": {"path": "/away"},
                    "redirect": {"status": 307, "location": "https://b.test/x?y=1"},
                },
            ]
        }
    )

    fixed = asked(gateway, "/fixed")
    empty = asked(gateway, "/empty")
    away = asked(gateway, "/away", method="POST")

    assert (fixed.status, fixed.body, fixed.header("X-Kind")) == (418, b"short\n", "teapot")
    assert (empty.status, empty.body, empty.header("Content-Length")) == (204, b"", None)
    assert (away.status, away.header("Location")) == (307, "https://b.test/x?y=1")
    assert gateway.metric("sluicegate_rejected_total") == 0


@pytest.mark.spec("RT-26", "RT-23")
def test_a_request_among_ten_thousand_routes_costs_about_what_it_costs_among_ten(
    start_gateway: StartGateway,
) -> None:
    gateway = start_gateway({"routes": [], "access_log": {"output": "off"}})
    requests = [request(f"/api/v{number % 10}/s{number % 10}/7") for number in range(4_000)]
    seconds: dict[int, float] = {}

    for version, count in ((2, 10), (3, 10_000)):
        snapshot = {
            "format": 1,
            "version": version,
            "access_log": {"output": "off"},
            "listeners": [{"id": "http", "address": "127.0.0.1:0"}],
            "routes": [
                named(f"r{number}", f"/api/v{number % 10}/s{number}/{{id}}")
                | {"respond": {"status": 200}}
                for number in range(count)
            ],
        }
        gateway.engine.apply(json.dumps(snapshot), {})
        with gateway.connect() as client:
            rounds = []
            for _ in range(5):
                began = time.perf_counter()
                send_all(client, requests)
                rounds.append(time.perf_counter() - began)
        seconds[count] = min(rounds)

    print({count: f"{each / len(requests) * 1e6:.1f} µs" for count, each in seconds.items()})  # noqa: T201 - the figures that are asked for
    assert gateway.metric("sluicegate_requests_total", status_class="2xx") == 10 * len(requests)
    assert seconds[10_000] < 2 * seconds[10]
