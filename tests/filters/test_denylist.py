"""`denylist`: whom risk control keeps out, from one request to the next."""

import json
import time
from collections.abc import Mapping
from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from support.gateway import Gateway
from support.raw import get

BEHIND_A_BALANCER = {
    "name": "client_address",
    "config": {"source": "x_forwarded_for", "trusted": ["127.0.0.1"]},
}


def denylist(**config: Any) -> dict[str, Any]:  # noqa: ANN401 - a filter's configuration
    return {"name": "denylist", "config": config}


def tell(gateway: Gateway, event: Mapping[str, Any], *, name: str = "denylist") -> None:
    """Say something to a list, as risk control does."""
    fact = {"kind": "filter", "filter": "denylist", "id": name, "event": event}
    gateway.engine.tell(json.dumps(fact))


def status(gateway: Gateway, *lines: str) -> int:
    """What one request gets."""
    with gateway.connect() as client:
        return client.request(get("/", *lines)).status


@pytest.mark.spec("SE-26", "ER-09", "PL-30")
def test_the_next_request_of_an_address_is_refused(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, entry=[BEHIND_A_BALANCER, denylist()])
    caller = "X-Forwarded-For: 203.0.113.7"
    with gateway.connect() as client:
        assert client.request(get("/", caller)).status == 200

        tell(gateway, {"add": [{"address": "203.0.113.0/24"}]})
        refused = client.request(get("/", caller))
        other = client.request(get("/", "X-Forwarded-For: 198.51.100.1"))
        tell(gateway, {"remove": [{"address": "203.0.113.0/24"}]})

        assert client.request(get("/", caller)).status == 200
    assert (refused.status, other.status) == (403, 200)
    assert b"203.0.113" not in refused.body
    record = gateway.records(4)[1]
    assert (record["code"], record["client_ip"]) == ("caller_denied", "203.0.113.7")
    assert "denylist" in record["cause"]


@pytest.mark.spec("SE-26")
def test_a_device_is_refused_wherever_it_comes_from(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    entry = [denylist(by=["address", "device"], device_header="X-Device")]
    gateway = start_gateway(start_upstream(), entry=entry)

    tell(gateway, {"set": [{"device": "d-1"}]})

    assert status(gateway, "X-Device: d-1") == 403
    assert status(gateway, "x-device: d-2", "X-DEVICE: d-1") == 403
    assert status(gateway, "X-Device: d-2") == 200
    assert status(gateway) == 200


@pytest.mark.spec("SE-26")
def test_an_entry_ends_by_itself(start_gateway: StartGateway) -> None:
    route = {"id": "all", "match": {"path": "/**"}, "respond": {"body": "in"}}
    gateway = start_gateway({"routes": [route], "entry": [denylist()]})

    tell(gateway, {"add": [{"address": "127.0.0.1", "until": time.time() + 60}]})

    assert status(gateway) == 403
    gateway.advance(61_000)
    assert status(gateway) == 200


@pytest.mark.spec("SE-26")
def test_a_list_stays_in_force_over_a_reload(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    document = {
        "upstreams": [{"id": "origin", "endpoints": [{"address": upstream.authority}]}],
        "routes": [{"id": "all", "match": {"path": "/**"}, "upstream": "origin"}],
        "entry": [denylist()],
    }
    gateway = start_gateway(document)
    tell(gateway, {"set": [{"address": "127.0.0.1"}]})

    gateway.reload(document | {"entry": [denylist(max=5), {"name": "request_id"}]})

    assert status(gateway) == 403


@pytest.mark.spec("SE-26")
def test_facts_that_come_with_a_snapshot_meet_its_first_request(
    start_gateway: StartGateway,
) -> None:
    route = {"id": "all", "match": {"path": "/**"}, "respond": {"body": "in"}}
    gateway = start_gateway({"routes": [route]})
    entry = [{"name": "denylist", "config": {}}]
    snapshot = json.dumps(
        {
            "format": 1,
            "version": 2,
            "listeners": [{"id": "http", "address": "127.0.0.1:0"}],
            "routes": [route],
            "entry": entry,
        }
    )
    fact = {"kind": "filter", "filter": "denylist", "event": {"set": [{"address": "127.0.0.0/8"}]}}

    gateway.engine.apply(snapshot, {}, [json.dumps(fact)])

    assert status(gateway) == 403


@pytest.mark.spec("SE-26")
def test_routes_share_one_list_and_another_id_has_its_own(start_gateway: StartGateway) -> None:
    def route(name: str, **use: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a filter
        return {
            "id": name,
            "match": {"path": f"/{name}"},
            "respond": {"body": name},
            "filters": [denylist() | use],
        }

    gateway = start_gateway({"routes": [route("a"), route("b"), route("c", id="other")]})

    tell(gateway, {"set": [{"address": "127.0.0.1"}]})

    with gateway.connect() as client:
        assert [client.request(get(f"/{name}")).status for name in "abc"] == [403, 403, 200]


@pytest.mark.spec("SE-26")
def test_a_full_list_says_so_and_keeps_whom_it_has(start_gateway: StartGateway) -> None:
    engine = pytest.importorskip("sluicegate._engine")
    route = {"id": "all", "match": {"path": "/**"}, "respond": {"body": "in"}}
    gateway = start_gateway({"routes": [route], "entry": [denylist(max=1)]})
    tell(gateway, {"set": [{"address": "127.0.0.1"}]})

    with pytest.raises(engine.FactRefused) as refused:
        tell(gateway, {"add": [{"address": "192.0.2.1"}]})

    (problem,) = json.loads(refused.value.problems)
    assert "2 entries" in problem["message"]
    assert "at most 1" in problem["expected"]
    assert status(gateway) == 403


def test_an_event_with_a_mistake_says_where_and_changes_nothing(
    start_gateway: StartGateway,
) -> None:
    engine = pytest.importorskip("sluicegate._engine")
    route = {"id": "all", "match": {"path": "/**"}, "respond": {"body": "in"}}
    gateway = start_gateway({"routes": [route], "entry": [denylist()]})
    entries = [{"address": "127.0.0.1"}, {"address": "10.0.0.1/8"}]

    with pytest.raises(engine.FactRefused) as refused:
        tell(gateway, {"set": entries})

    (problem,) = json.loads(refused.value.problems)
    assert problem["pointer"] == "/event/set/1"
    assert "10.0.0.0/8" in problem["message"]
    assert status(gateway) == 200
    with pytest.raises(engine.EngineError, match="called `nobody`"):
        tell(gateway, {"set": []}, name="nobody")
