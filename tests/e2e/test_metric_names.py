"""The names that others know the same counts by."""

import pytest

from conftest import StartGateway, StartUpstream
from support.raw import get

NAMES = {"names": ["sluicegate", "flash-sale", "campus"]}


@pytest.mark.spec("PX-34", "OB-27", "OB-28", "OB-29", "OB-32")
def test_every_set_shows_the_same_requests_under_its_names(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    gateway = start_gateway(
        start_upstream(), route={"id": "course", "match": {"path": "/c/{id}"}}, metrics=NAMES
    )

    with gateway.connect() as client:
        for number in range(3):
            client.request(get(f"/c/{number}"))
        client.request(get("/nowhere"))

    here = {"path": "/c/{id}", "route_id": "course"}
    assert gateway.metric("sluicegate_requests_total", route="course") == 3
    flash = "gateway_http_requests_total"
    assert gateway.metric(flash, method="GET", status_class="2xx", **here) == 3
    campus = "gateway_request_total"
    assert gateway.metric(campus, status_code="200", service_id="origin", **here) == 3
    assert gateway.metric(campus, status_code="404", path="none", route_id="none") == 1
    duration = "gateway_request_duration_seconds"
    assert gateway.metric(f"{duration}_bucket", le="+Inf", **here) == 3
    assert gateway.metric(f"{duration}_count", **here) == 3
    samples = " ".join(gateway.metrics())
    assert "/c/1" not in samples
    assert "/nowhere" not in samples


@pytest.mark.spec("PX-34")
def test_the_sets_can_change_with_a_reload(start_gateway: StartGateway) -> None:
    routes = [{"id": "a", "match": {"path": "/a"}, "respond": {"status": 200}}]
    gateway = start_gateway({"routes": routes})

    with gateway.connect() as client:
        client.request(get("/a"))
        assert not [name for name in gateway.metrics() if name.startswith("gateway_")]
        gateway.reload({"routes": routes, "metrics": {"names": ["campus"]}})
        client.request(get("/a"))

    counted = gateway.metric("gateway_request_total", status_code="200", route_id="a")
    assert counted == 1, "statuses are counted from the reload on"
    assert gateway.metric("gateway_request_duration_seconds_count", route_id="a") == 2
    assert not [name for name in gateway.metrics() if name.startswith("sluicegate_requests")]
