"""The order of the steps, on the way in and on the way back."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from support.gateway import Gateway, forwarding
from support.raw import get, post
from support.upstream import echo, response

PHASES = [
    *("identify", "sanitize", "validate", "admit", "guard"),
    *("shed", "negotiate", "verify", "authenticate", "authorize", "meter"),
    *("tag", "rewrite", "isolate", "respond"),
]
CUTS_AN_ESCAPE = {"replace": {"pattern": ".+", "with": "/%zz"}}


def passes(name: str) -> dict[str, Any]:
    """A filter that leaves its name in the request and in the answer."""
    operation = {"append": {"X-Passed": name}}
    return {
        "name": "header_rewrite",
        "id": name,
        "config": {"request": operation, "response": operation},
    }


def dresses(*, phase: str | None = None) -> dict[str, Any]:
    """A filter that changes answers only."""
    config = {"response": {"set": {"X-Content-Type-Options": "nosniff"}}}
    return {"name": "header_rewrite", "id": "dress", "config": config} | (
        {"phase": phase} if phase else {}
    )


def steps(gateway: Gateway, target: str = "/") -> list[tuple[str, str]]:
    """Phase and id of every step that a request would meet."""
    question = {"method": "GET", "target": target, "host": "a.test", "headers": []}
    explained = json.loads(gateway.engine.explain_live(json.dumps(question), "{}"))
    return [(step["phase"], step["id"]) for step in explained["steps"]]


@pytest.mark.spec("PL-21")
def test_a_filter_runs_for_the_routes_that_name_it(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    document = forwarding(start_upstream(echo).authority)
    plain = document["routes"][0]
    chained = {**plain, "id": "chained", "match": {"path": "/chained"}, "filters": [passes("a")]}
    gateway = start_gateway({**document, "routes": [plain, chained]})

    with gateway.connect() as client:
        answers = [client.request(get(target)) for target in ("/chained", "/plain")]

    assert [answer.header("X-Passed") for answer in answers] == ["a", None]


@pytest.mark.spec("PL-47")
def test_the_way_back_is_the_way_in_reversed(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    chain = [passes("a"), passes("b"), passes("c")]
    gateway = start_gateway(start_upstream(echo), route={"filters": chain})

    with gateway.connect() as client:
        answer = client.request(get())

    came = [value for name, value in json.loads(answer.body)["fields"] if name == "X-Passed"]
    assert came == ["a", "b", "c"]
    assert answer.fields.all("X-Passed") == ["c", "b", "a"]


@pytest.mark.spec("PL-47", "PL-27")
def test_who_refuses_ends_the_way_in_and_later_filters_see_nothing(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    refuses = {"name": "path_rewrite", "config": CUTS_AN_ESCAPE}
    gateway = start_gateway(upstream, route={"filters": [passes("a"), refuses, passes("c")]})

    with gateway.connect() as client:
        answer = client.request(get())

    assert answer.status == 400
    assert answer.header("X-Passed") == "a"
    assert upstream.requests == []


@pytest.mark.spec("PL-27", "PL-52")
def test_the_phase_orders_filters_and_within_a_phase_the_document(
    start_gateway: StartGateway,
) -> None:
    usual = [{"name": name} for name in ("request_id", "trace_context", "header_hygiene")]
    route = {"filters": [passes("x"), {"name": "path_rewrite", "config": {"prefix": "/v2"}}]}

    orders = []
    for entry in (usual, usual[::-1]):
        gateway = start_gateway(forwarding("127.0.0.1:9", route=route, entry=entry))
        first = steps(gateway)
        gateway.reload(forwarding("127.0.0.1:9", route=route, entry=entry, errors={}))
        assert steps(gateway) == first, "the order is the document's, not that of the building"
        orders.append(first)

    for order in orders:
        places = [PHASES.index(phase) for phase, _ in order]
        assert places == sorted(places)
    names = [[name for _, name in order] for order in orders]
    assert names[0] == ["request_id", "trace_context", "header_hygiene", "x", "path_rewrite"]
    assert names[1] == ["trace_context", "request_id", "header_hygiene", "x", "path_rewrite"]


@pytest.mark.spec("PL-41")
def test_every_answer_is_dressed_and_tells_nothing_of_what_made_it(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream(response(b"ok", "Server: secret/1", "X-Powered-By: more"))
    document = forwarding(upstream.authority, route={"match": {"path": "/up"}})
    document["routes"].append(
        {"id": "own", "match": {"path": "/own"}, "respond": {"headers": {"Server": "mine"}}}
    )
    entry = [{"name": "request_id"}, {"name": "header_hygiene"}, dresses()]
    gateway = start_gateway({**document, "entry": entry})

    with gateway.connect() as client:
        answers = {target: client.request(get(target)) for target in ("/up", "/own", "/nowhere")}

    assert [answer.status for answer in answers.values()] == [200, 200, 404]
    for answer in answers.values():
        assert answer.header("X-Content-Type-Options") == "nosniff"
        assert answer.header("X-Request-Id")
        assert answer.header("Server") is None
        assert answer.header("X-Powered-By") is None
    assert answers["/nowhere"].header("Content-Type") == "application/problem+json"


@pytest.mark.spec("PL-49")
def test_requests_at_the_same_time_share_nothing(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    names = {"set": {"X-Own": "{request_id}"}}
    chain = [{"name": "header_rewrite", "config": {"request": names, "response": names}}]
    gateway = start_gateway(start_upstream(echo), threads=2, route={"filters": chain})

    def many(client_number: int) -> list[tuple[str, str, str | None]]:
        seen = []
        with gateway.connect() as client:
            for number in range(50):
                name = f"c{client_number}-{number}"
                answer = client.request(get("/", f"X-Request-Id: {name}"))
                fields = dict(json.loads(answer.body)["fields"])
                seen.append((name, fields["X-Own"], answer.header("X-Own")))
        return seen

    with ThreadPoolExecutor(8) as clients:
        seen = [one for some in clients.map(many, range(8)) for one in some]

    assert [one for one in seen if len(set(one)) != 1] == []


@pytest.mark.spec("CF-33")
def test_the_next_request_obeys_a_changed_threshold(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    authority = start_upstream(echo).authority
    gateway = start_gateway(forwarding(authority, route={"limits": {"body": "1KiB"}}))

    with gateway.connect() as client:
        before = client.request(post(b"x" * 500), "POST")
        gateway.reload(forwarding(authority, route={"limits": {"body": "100B"}}))
        after = client.request(post(b"x" * 500), "POST")

    assert (before.status, after.status) == (200, 413)
