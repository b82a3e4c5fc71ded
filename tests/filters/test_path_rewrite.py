"""`path_rewrite`: which path the upstream sees."""

from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from sluicegate.errors import ConfigError
from support.raw import get


def rewrite(**config: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a document
    """A route's chain with one use of the filter."""
    return {"filters": [{"name": "path_rewrite", "config": config}]}


@pytest.mark.case("PA-03")
@pytest.mark.spec("RT-19", "PL-38")
@pytest.mark.parametrize(
    ("config", "asked", "seen"),
    [
        ({"strip_segments": 1}, "/svc/list/", "/list/"),
        ({"strip_prefix": "/svc"}, "/svc/list/", "/list/"),
        ({"prefix": "/v2"}, "/list/", "/v2/list/"),
        ({"strip_segments": 2}, "/a/b/c/d", "/c/d"),
        ({"strip_segments": 1}, "/svc", "/"),
        ({"strip_segments": 9}, "/a/b", "/"),
        ({"strip_segments": 1}, "/svc/a%20b?q=a%2Fb&q=", "/a%20b?q=a%2Fb&q="),
        ({"strip_prefix": "/svc/v1"}, "/svc/v1/orders", "/orders"),
        ({"strip_prefix": "/svc/v1"}, "/svc/v1", "/"),
        ({"strip_prefix": "/svc/v1"}, "/svc/v10/orders", "/svc/v10/orders"),
        ({"prefix": "/v2"}, "/orders/7", "/v2/orders/7"),
        ({"prefix": "/v2"}, "/", "/v2/"),
        ({"replace": {"pattern": "^/old", "with": "/new"}}, "/old/x?old=1", "/new/x?old=1"),
        ({"replace": {"pattern": "/(\\d+)", "with": "/n-$1"}}, "/a/1/b/2", "/a/n-1/b/n-2"),
        ({"replace": {"pattern": "^/[^/]+", "with": ""}}, "/svc/a", "/a"),
        ({"replace": {"pattern": ".*", "with": "$$"}}, "/a", "/$"),
    ],
)
def test_the_upstream_sees_the_new_path_and_the_old_query(
    start_gateway: StartGateway,
    start_upstream: StartUpstream,
    config: dict[str, Any],
    asked: str,
    seen: str,
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, route=rewrite(**config))

    with gateway.connect() as client:
        answer = client.request(get(asked))

    assert answer.status == 200
    assert upstream.requests[0].target == seen
    assert gateway.record()["path"] == asked


@pytest.mark.parametrize(
    ("paths", "asked", "seen"),
    [
        (("/u/{user}/o/{order}", "/{order}/of/{user}"), "/u/7/o/9", "/9/of/7"),
        (("/v1/**", "/v2/{rest}"), "/v1/a/b%20c/?x=1", "/v2/a/b%20c/?x=1"),
        (("/v1/**", "/v2/{rest}"), "/v1", "/v2/"),
        (("/v1/{*tail}", "/{tail}"), "/v1/a/b", "/a/b"),
        (("/{any}", "/fixed"), "/x", "/fixed"),
    ],
)
def test_a_template_takes_parameters_of_the_route(
    start_gateway: StartGateway,
    start_upstream: StartUpstream,
    paths: tuple[str, str],
    asked: str,
    seen: str,
) -> None:
    upstream = start_upstream()
    path, template = paths
    route = rewrite(template=template) | {"match": {"path": path}}
    gateway = start_gateway(upstream, route=route)

    with gateway.connect() as client:
        client.request(get(asked))

    assert upstream.requests[0].target == seen


def test_a_parameter_cannot_climb_out_of_its_segment(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    route = rewrite(template="/private/{name}/open") | {"match": {"path": "/{name}"}}
    gateway = start_gateway(upstream, route=route | {"encoded_slash": "allow"})

    with gateway.connect() as client:
        statuses = [
            client.request(get(target)).status
            for target in ("/%2e%2e", "/..%2fadmin", "/a%2F..%2Fb", "/a%2Fb")
        ]

    seen = [request.target for request in upstream.requests]
    assert all("/.." not in target for target in seen), seen
    assert all(target.startswith("/private/") for target in seen), seen
    assert statuses[1:3] == [400, 400]


def test_a_result_that_is_no_path_is_refused(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(
        upstream, route=rewrite(replace={"pattern": "x", "with": ".."}), errors={}
    )

    with gateway.connect() as client:
        answer = client.request(get("/a/x/b"))
        cut = client.request(get("/a/b"))

    assert answer.status == 400
    assert b'"bad_path"' in answer.body
    assert cut.status == 200
    assert [request.target for request in upstream.requests] == ["/a/b"]


@pytest.mark.case("PA-03")
def test_no_spelling_of_a_guarded_path_gets_around_the_guard(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    # What no request without this header passes, as a permission would be.
    guard = {"name": "host_rewrite", "config": {"host": "{header.X-Pass}.internal"}}
    route = {"match": {"path": "/svc/admin"}, "filters": [guard]}
    gateway = start_gateway(upstream, route=route)
    variants = ("", "/", "//", "?x", ";v=1", "%20", ".", "%2F", "/.", "/x/..")
    targets = [*(f"/svc/admin{end}" for end in variants), "/svc/ADMIN", "/svc//admin"]

    with gateway.connect() as client:
        statuses = {target: client.request(get(target)).status for target in targets}
        allowed = client.request(get("/svc/admin", "X-Pass: admin"))

    assert allowed.status == 200
    assert set(statuses.values()) <= {400, 404}, statuses
    assert len(upstream.requests) == 1


def test_two_rewrites_run_in_their_order(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    filters = [
        {"name": "path_rewrite", "id": "first", "config": {"strip_segments": 1}},
        {"name": "path_rewrite", "id": "second", "config": {"prefix": "/v2"}},
    ]
    gateway = start_gateway(upstream, route={"filters": filters})

    with gateway.connect() as client:
        client.request(get("/svc/orders"))

    assert upstream.requests[0].target == "/v2/orders"


@pytest.mark.spec("CF-19")
@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({}, "strip_segments"),
        ({"prefix": "/a", "strip_segments": 1}, "at most 1 of"),
        ({"strip_prefix": "svc"}, "svc"),
        ({"prefix": "/a//b"}, "/a//b"),
        ({"replace": {"pattern": "([", "with": ""}}, "pattern"),
        ({"replace": {"pattern": "(a)", "with": "$2"}}, "no group `2`"),
        ({"template": "/{nobody}"}, "nobody"),
        ({"strip_segment": 1}, "strip_segment"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_mistake_is_named(
    start_gateway: StartGateway,
    start_upstream: StartUpstream,
    config: dict[str, Any],
    says: str,
) -> None:
    with pytest.raises(ConfigError) as refused:
        start_gateway(start_upstream(), route=rewrite(**config))

    (problem,) = refused.value.problems
    assert problem.pointer.startswith("/routes/0/filters/0")
    assert says in str(problem)
