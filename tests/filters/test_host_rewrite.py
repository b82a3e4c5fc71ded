"""`host_rewrite`: which host the upstream is asked for."""

from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from sluicegate.errors import ConfigError
from support.raw import get


def rewrite(host: str) -> dict[str, Any]:
    """A route's chain with one use of the filter."""
    return {"filters": [{"name": "host_rewrite", "config": {"host": host}}]}


@pytest.mark.parametrize("setting", ["keep", "endpoint", "fixed.test"])
@pytest.mark.parametrize(
    ("host", "seen"),
    [
        ("orders.internal", "orders.internal"),
        ("orders.internal:8443", "orders.internal:8443"),
        ("{header.X-Tenant}.internal", "t1.internal"),
        ("old.{host}", "old.a.test"),
    ],
)
def test_it_goes_before_the_setting_of_the_upstream(
    start_gateway: StartGateway, start_upstream: StartUpstream, setting: str, host: str, seen: str
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, route=rewrite(host), upstream_settings={"host": setting})

    with gateway.connect() as client:
        client.request(get("/", "X-Tenant: t1", host="a.test:8080"))

    assert upstream.requests[0].fields.all("Host") == [seen]


@pytest.mark.parametrize("tenant", ["a b", "a/b", "a@b", "a..b", "x:1", ""])
def test_what_makes_no_host_is_refused(
    start_gateway: StartGateway, start_upstream: StartUpstream, tenant: str
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, route=rewrite("{header.X-Tenant}.internal"))

    with gateway.connect() as client:
        answer = client.request(get("/", f"X-Tenant: {tenant}"))

    assert answer.status == 400
    assert not upstream.requests


@pytest.mark.parametrize(
    ("host", "says"),
    [("a b", "not a host"), ("{tenant}.a.test", "{tenant}"), ("{param.id}.a.test", "`id`")],
)
def test_a_mistake_is_named_at_its_place(
    start_gateway: StartGateway, start_upstream: StartUpstream, host: str, says: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        start_gateway(start_upstream(), route=rewrite(host))

    (problem,) = refused.value.problems
    assert problem.pointer.startswith("/routes/0/filters/0/config")
    assert says in str(problem)
