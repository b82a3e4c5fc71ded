"""What routes answer by themselves: `respond` and `redirect`, with what stands in the request."""

import json
from typing import Any

import pytest

from conftest import StartGateway
from sluicegate.errors import ConfigError
from support.gateway import Gateway
from support.raw import Response, get


def start(start_gateway: StartGateway, path: str, **end: Any) -> Gateway:  # noqa: ANN401 - parts
    """A gateway with one route that answers by itself."""
    return start_gateway({"routes": [{"id": "own", "match": {"path": path}, **end}]})


def asked(gateway: Gateway, *requests: bytes) -> list[Response]:
    """The answers to these, on one connection."""
    with gateway.connect() as client:
        return [client.request(request) for request in requests]


@pytest.mark.parametrize(
    ("redirect", "target", "location"),
    [
        ({"location": "https://b.test/new"}, "/old/x?q=1", "https://b.test/new"),
        (
            {"location": "https://b.test/new", "keep_query": True},
            "/old/x?q=1",
            "https://b.test/new?q=1",
        ),
        (
            {"location": "https://{host}{path}?{query}"},
            "/old/x?q=%2f",
            "https://a.test/old/x?q=%2f",
        ),
        ({"location": "https://{host}{path}?{query}"}, "/old/x", "https://a.test/old/x"),
        ({"location": "/login?to={path}"}, "/old/a%20b", "/login?to=%2Fold%2Fa%2520b"),
        ({"scheme": "https"}, "/old/x?q=1", "https://a.test/old/x?q=1"),
        ({"scheme": "https", "host": "b.test:8443"}, "/old", "https://b.test:8443/old"),
        ({"host": "www.{host}", "keep_query": False}, "/old?q", "http://www.a.test/old"),
        ({"path": "/new/{param.rest}"}, "/old/a/b?q", "/new/a/b?q"),
        ({"path_prefix": "/v2"}, "/old/a/b/?q", "/v2/a/b/?q"),
        ({"path_prefix": "/v2/"}, "/old", "/v2"),
        ({"path_prefix": "/"}, "/old/a", "/a"),
        ({"path_prefix": "/"}, "/old", "/"),
        ({"scheme": "https", "path_prefix": "/v2"}, "/old/a", "https://a.test/v2/a"),
    ],
)
def test_a_redirect_leads_where_the_configuration_says(
    start_gateway: StartGateway, redirect: dict[str, Any], target: str, location: str
) -> None:
    gateway = start(start_gateway, "/old/**", redirect=redirect)

    (answer,) = asked(gateway, get(target, host="a.test:8080"))

    assert answer.status == 308
    assert answer.header("Location") == location


@pytest.mark.parametrize(
    "target",
    [
        "/go//evil.test",
        "/go///evil.test",
        "/go/%2F/evil.test",
        "/go/%5Cevil.test",
        "/go/%09/evil.test",
        "/go/..//evil.test",
        "/go/https://evil.test",
        "/go/%0d%0aSet-Cookie:%20x=1",
        "//evil.test/go",
    ],
)
def test_no_path_leads_to_another_site(start_gateway: StartGateway, target: str) -> None:
    routes = [
        {"id": "rest", "match": {"path": "/go/**"}, "redirect": {"path": "/{param.rest}"}},
        {"id": "all", "match": {"path": "/**"}, "redirect": {"location": "{path}"}},
    ]
    gateway = start_gateway(
        {"routes": [route | {"encoded_slash": "allow"} for route in routes]},
    )

    (answer,) = asked(gateway, get(target))

    location = answer.header("Location")
    if answer.status == 308:
        assert location is not None
        assert location.startswith("/")
        assert location[1:2] not in ("/", "\\")
    else:
        assert (answer.status, location) == (400, None)
    assert "Set-Cookie" not in answer.fields


def test_a_redirect_needs_the_host_it_names(start_gateway: StartGateway) -> None:
    gateway = start(start_gateway, "/**", redirect={"scheme": "https"})

    (answer,) = asked(gateway, b"GET / HTTP/1.0\r\n\r\n")

    assert answer.status == 400


@pytest.mark.parametrize(
    ("content_type", "body", "shown"),
    [
        ("text/html", "<p>{header.X-A}</p>", "<p>&lt;b&gt;&quot;&amp;</p>"),
        ("application/json", '{"a":"{header.X-A}"}', '{"a":"\\u003cb>\\"&"}'),
        ("text/plain", "{method} {host}{path} {{path}}", "GET a.test/x/7 {path}"),
        (None, "{param.id}", "7"),
    ],
)
def test_a_body_is_escaped_by_its_type(
    start_gateway: StartGateway, content_type: str | None, body: str, shown: str
) -> None:
    respond = {"body": body} | ({"content_type": content_type} if content_type else {})
    gateway = start(start_gateway, "/x/{id}", respond=respond)

    (answer,) = asked(gateway, get("/x/7", 'X-A: <b>"&'))

    assert answer.body.decode() == shown
    assert answer.header("Content-Type") == (content_type or "text/plain; charset=utf-8")
    if content_type == "application/json":
        assert json.loads(answer.body) == {"a": '<b>"&'}


def test_headers_are_filled_in_on_one_line(start_gateway: StartGateway) -> None:
    headers = {"X-Who": "{client_ip} {header.X-A}", "X-Fixed": "{}"}
    gateway = start(start_gateway, "/**", respond={"headers": headers})

    with_it, without = asked(gateway, get("/", "X-A: a\tb"), get("/"))

    assert with_it.header("X-Who") == "127.0.0.1 a\tb"
    assert without.header("X-Who") == "127.0.0.1"
    assert without.header("X-Fixed") == "{}"


@pytest.mark.parametrize(
    ("end", "pointer", "says"),
    [
        ({"redirect": {"location": "{path"}}, "/redirect/location", "not an address"),
        ({"redirect": {"location": "{header.X-To}"}}, "/redirect/location", "which host"),
        ({"redirect": {"location": "https://{param.id}/"}}, "/redirect/location", "which host"),
        ({"redirect": {"location": "//{host}/"}}, "/redirect/location", "certain"),
        ({"redirect": {"location": "/{pth}"}}, "/redirect/location", "{path}"),
        ({"redirect": {"location": "/{param.nr}"}}, "/redirect/location", "id"),
        ({"redirect": {"location": "/a", "host": "b.test"}}, "/redirect", "not both"),
        ({"redirect": {}}, "/redirect", "nowhere"),
        ({"redirect": {"path_prefix": "/a"}}, "/redirect/path_prefix", "/**"),
        ({"redirect": {"path": "a"}}, "/redirect/path", "/a"),
        ({"redirect": {"scheme": "ftp"}}, "/redirect/scheme", "http"),
        ({"redirect": {"host": "b.test/x"}}, "/redirect/host", "host"),
        ({"respond": {"body": "{rout}"}}, "/respond/body", "{route}"),
        ({"respond": {"body": "{param.nr}"}}, "/respond/body", "id"),
        (
            {"respond": {"body": "a='{path}'", "content_type": "text/javascript"}},
            "/respond/body",
            "escape",
        ),
        (
            {"respond": {"headers": {"Location": "{path}"}}},
            "/respond/headers/Location",
            "redirect",
        ),
        (
            {"respond": {"content_type": "a/b", "headers": {"Content-Type": "a/b"}}},
            "/respond/content_type",
            "too",
        ),
    ],
)
def test_a_mistake_is_named_at_its_place(
    start_gateway: StartGateway, end: dict[str, Any], pointer: str, says: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        start(start_gateway, "/x/{id}", **end)

    (problem,) = refused.value.problems
    assert problem.pointer == f"/routes/0{pointer}"
    assert says in str(problem)


def test_the_entry_chain_knows_no_parameters(start_gateway: StartGateway) -> None:
    rewrite = {"name": "header_rewrite", "config": {"response": {"set": {"X-A": "{param.id}"}}}}

    with pytest.raises(ConfigError) as refused:
        start_gateway({"entry": [rewrite], "routes": []})

    (problem,) = refused.value.problems
    assert problem.pointer == "/entry/0/config"
