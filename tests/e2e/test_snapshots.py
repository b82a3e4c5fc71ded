"""Snapshots in the engine: newer ones only, all or nothing, and nobody changes them under way."""

import json
import threading
from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from sluicegate import _engine
from support.gateway import Gateway, forwarding
from support.raw import get
from support.upstream import Visit, response


def assets(upstream: str, version: int) -> str:
    """A snapshot that sends `/assets` to one upstream, by its name."""
    content = {
        "format": 1,
        "version": version,
        "listeners": [{"id": "http", "address": "127.0.0.1:0"}],
        "upstreams": [{"id": upstream, "endpoints": [{"address": "127.0.0.1:9"}]}],
        "routes": [{"id": "assets", "match": {"path": "/assets"}, "upstream": upstream}],
    }
    return json.dumps(content)


def goes_to(gateway: Gateway) -> Any:  # noqa: ANN401 - JSON
    """Where `/assets` goes now."""
    request = {"method": "GET", "target": "/assets", "host": "a.test", "headers": []}
    return json.loads(gateway.engine.explain_live(json.dumps(request), "{}"))["outcome"]["upstream"]


@pytest.mark.spec("CF-07", "CF-08")
def test_an_older_or_equal_version_changes_nothing(start_gateway: StartGateway) -> None:
    gateway = start_gateway({"routes": []})
    gateway.engine.apply(assets("asset-v1", 11), {})
    first = goes_to(gateway)

    gateway.engine.apply(assets("asset-v2", 12), {})
    for late in (assets("asset-v1", 11), assets("asset-v1", 12)):
        with pytest.raises(_engine.SnapshotRefused) as refused:
            gateway.engine.apply(late, {})
        assert json.loads(refused.value.problems)[0]["code"] == "stale_version"

    assert first == "asset-v1"
    assert goes_to(gateway) == "asset-v2"
    assert gateway.status()["version"] == 12
    assert gateway.metric("sluicegate_snapshot_version") == 12


@pytest.mark.spec("CF-07")
def test_of_many_publishers_the_newest_wins(start_gateway: StartGateway) -> None:
    gateway = start_gateway({"routes": []})
    applied: list[int] = []

    def publish(version: int) -> None:
        try:
            gateway.engine.apply(assets(f"v{version}", version), {})
        except _engine.SnapshotRefused:
            return
        applied.append(version)

    threads = [threading.Thread(target=publish, args=(version,)) for version in range(2, 34)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert gateway.status()["version"] == 33
    assert goes_to(gateway) == "v33"
    assert len(applied) == len(set(applied))
    assert 33 in applied


@pytest.mark.spec("RT-30")
def test_a_request_under_way_keeps_the_route_it_was_matched_to(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    released = threading.Event()

    def hold(visit: Visit) -> None:
        while visit.request() is not None:
            released.wait(5)
            visit.send(response(b"ok"))

    upstream = start_upstream(script=hold)

    def say(route: str) -> dict[str, Any]:
        filters = [
            {"name": "header_rewrite", "config": {"response": {"set": {"X-Route": "{route}"}}}}
        ]
        return forwarding(upstream.authority, route={"id": route, "filters": filters})

    gateway = start_gateway(say("old"))
    with gateway.connect() as early, gateway.connect() as late:
        early.send(get("/early"))
        upstream.wait_for_requests(1)
        gateway.reload(say("new"))
        late.send(get("/late"))
        upstream.wait_for_requests(2)
        released.set()
        answers = [early.response(), late.response()]
        again = early.request(get("/again"))

    assert [answer.header("X-Route") for answer in answers] == ["old", "new"]
    assert again.header("X-Route") == "new", "the connection stays, its next request is new"
    told = {r["path"]: (r["route_id"], r["snapshot_version"]) for r in gateway.records(3)}
    assert told == {"/early": ("old", 1), "/late": ("new", 2), "/again": ("new", 2)}


@pytest.mark.spec("RT-50")
def test_a_route_that_is_deleted_cuts_nothing(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    released = threading.Event()

    def halves(visit: Visit) -> None:
        visit.request()
        visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
        released.wait(5)
        visit.send(b"-last")
        visit.wait_closed()

    upstream = start_upstream(script=halves)
    gateway = start_gateway(upstream)

    with gateway.connect() as client:
        client.send(get())
        message = client.reader.head()
        assert message is not None
        gateway.reload({"routes": []})
        gone = client_status(gateway)
        released.set()
        client.reader.body(message, until_close=False)

    assert gone == 404
    assert message.body == b"first-last"


def client_status(gateway: Gateway) -> int:
    """The status of one request on a connection of its own."""
    with gateway.connect() as client:
        return client.request(get()).status


@pytest.mark.spec("CF-05", "CF-09")
def test_a_snapshot_that_is_refused_changes_nothing(start_gateway: StartGateway) -> None:
    gateway = start_gateway({"routes": []})
    gateway.engine.apply(assets("asset-v1", 2), {})
    broken = json.loads(assets("asset-v2", 3))
    broken["routes"].append({"id": "b", "match": {"path": "no slash"}, "upstream": "nobody"})

    with pytest.raises(_engine.SnapshotRefused) as refused:
        gateway.engine.apply(json.dumps(broken), {})

    pointers = {problem["pointer"] for problem in json.loads(refused.value.problems)}
    assert {"/routes/1/match/path", "/routes/1/upstream"} <= pointers
    assert goes_to(gateway) == "asset-v1"
    assert gateway.metric("sluicegate_config_rejected_total") == 1
    assert gateway.status()["last_refusal"]["reason"]
