"""`query_rewrite`: which parameters the upstream sees."""

from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from sluicegate.errors import ConfigError
from support.raw import get


def rewrite(**config: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a document
    """A route's chain with one use of the filter."""
    return {"filters": [{"name": "query_rewrite", "config": config}]}


@pytest.mark.parametrize(
    ("config", "asked", "seen"),
    [
        ({"set": {"a": "x y"}}, "/?b=+&a=1&c=%20&a=2", "/?b=+&a=x%20y&c=%20"),
        ({"set": {"a": "1"}}, "/p", "/p?a=1"),
        ({"add": {"a": "2"}}, "/?a=1", "/?a=1&a=2"),
        ({"remove": ["debug"]}, "/?debug=1&b=%2f&%64ebug=2&debug", "/?b=%2f"),
        ({"remove": ["debug"]}, "/p?debug=1", "/p"),
        ({"remove": ["other"]}, "/?a=%zz&&=&+=+", "/?a=%zz&&=&+=+"),
        ({"keep_only": ["a", "c"]}, "/?b=1&c=+&a=%2f&d", "/?c=+&a=%2f"),
        ({"rename": {"a": "n"}}, "/?a=%2f&b=a&a", "/?n=%2f&b=a&n"),
        ({"set": {"by": "{header.X-By}&{method}"}}, "/", "/?by=me%26GET"),
        (
            {"keep_only": ["a"], "rename": {"a": "b"}, "set": {"c": ""}, "add": {"b": "2"}},
            "/?a=1&z",
            "/?b=1&c=&b=2",
        ),
    ],
)
def test_only_what_is_named_changes(
    start_gateway: StartGateway,
    start_upstream: StartUpstream,
    config: dict[str, Any],
    asked: str,
    seen: str,
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, route=rewrite(**config))

    with gateway.connect() as client:
        answer = client.request(get(asked, "X-By: me"))

    assert answer.status == 200
    assert upstream.requests[0].target == seen


def test_a_parameter_of_the_path_becomes_one_of_the_query(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    route = rewrite(set={"id": "{param.id}"}) | {"match": {"path": "/o/{id}"}}
    gateway = start_gateway(upstream, route=route)

    with gateway.connect() as client:
        client.request(get("/o/7"))

    assert upstream.requests[0].target == "/o/7?id=7"


@pytest.mark.parametrize(
    ("config", "pointer", "says"),
    [
        ({}, "", "too few"),
        ({"remove": ["a"], "set": {"a": "1"}}, "/remove", "removed and written"),
        ({"rename": {"a": "b", "b": "a"}}, "/rename/a", "renamed itself"),
        ({"set": {"a": "{rout}"}}, "/set/a", "{route}"),
        ({"set": {"a": "{param.id}"}}, "", "`id`"),
        ({"sett": {}}, "/sett", "set"),
    ],
)
def test_a_mistake_is_named_at_its_place(
    start_gateway: StartGateway,
    start_upstream: StartUpstream,
    config: dict[str, Any],
    pointer: str,
    says: str,
) -> None:
    with pytest.raises(ConfigError) as refused:
        start_gateway(start_upstream(), route=rewrite(**config))

    (problem,) = refused.value.problems
    assert problem.pointer == f"/routes/0/filters/0/config{pointer}"
    assert says in str(problem)
