"""Explaining changes nothing; samples are tried before a document is released."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from e2e.conftest import Serve
from e2e.served import run, write
from support.gateway import Gateway, forwarding
from support.raw import Connection, get
from support.upstream import response

DOCUMENT: dict[str, Any] = {
    "format": 1,
    "listeners": [{"id": "http", "address": "127.0.0.1:0"}],
    "upstreams": [{"id": "orders", "endpoints": [{"address": "127.0.0.1:9"}]}],
    "routes": [
        {"id": "all", "match": {"path": "/**"}, "respond": {"status": 200}},
        {
            "id": "gray",
            "match": {
                "path": "/orders/{id}",
                "headers": [{"name": "X-Env", "value": "gray"}],
            },
            "upstream": "orders",
        },
        {
            "id": "orders",
            "match": {"path": "/orders/{id}", "methods": ["GET"]},
            "upstream": "orders",
            "filters": [{"name": "path_rewrite", "config": {"template": "/v2/{id}"}}],
        },
    ],
}
# Numbers that go on by themselves: time, memory, the scrape's own descriptors.
RESTLESS = re.compile(r"process_|loop_delay|_age_seconds")


def metrics(gateway: Gateway) -> dict[str, float]:
    """All that is counted, without what goes on by itself."""
    return {name: value for name, value in gateway.metrics().items() if not RESTLESS.search(name)}


def explain_live(gateway: Gateway, target: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Ask the running engine."""
    request = {"method": "GET", "target": target, "host": "a.test", "headers": []} | more
    explained: dict[str, Any] = json.loads(
        gateway.engine.explain_live(json.dumps(request), json.dumps({"peer": "127.0.0.1:1"}))
    )
    return explained


def test_explaining_a_running_gateway_changes_nothing(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    first, second = start_upstream(response(b"1")), start_upstream(response(b"2"))
    endpoints = [{"address": first.authority}, {"address": second.authority}]
    document = forwarding(first.authority, upstream_settings={"endpoints": endpoints})
    gateway = start_gateway(document)
    with gateway.connect() as client:
        turns = [client.request(get()).body for _ in range(3)]
        gateway.records(3)
        before, status = metrics(gateway), gateway.status()

        for target in ("/a", "/b/../c", "/%zz"):
            for _ in range(50):
                explain_live(gateway, target)
        after, now = metrics(gateway), gateway.status()
        turns += [client.request(get()).body for _ in range(3)]

    changed = {"uptime_seconds"}
    assert after == before
    assert {k: v for k, v in now.items() if k not in changed | {"access_log", "upstreams"}} == {
        k: v for k, v in status.items() if k not in changed | {"access_log", "upstreams"}
    }
    assert turns == [b"1", b"2"] * 3, "whose turn it is was not touched"
    assert len(first.requests) + len(second.requests) == 6
    assert len(gateway.records(6)) == 6


def test_explained_and_real_requests_come_to_the_same(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream(response(b""))
    route = {
        "match": {"path": "/svc/{rest}/x"},
        "filters": [
            {"name": "path_rewrite", "config": {"strip_segments": 1}},
            {"name": "header_rewrite", "config": {"request": {"set": {"X-Route": "{route}"}}}},
        ],
    }
    gateway = start_gateway(forwarding(upstream.authority, route=route))

    explained = explain_live(
        gateway, "/svc//a/x?b=1", headers=[["X-Request-Id", "mine"], ["X-User-Id", "forged"]]
    )
    with gateway.connect() as client:
        client.request(get("/svc//a/x?b=1", "X-Request-Id: mine", "X-User-Id: forged"))

    sent = explained["upstream_request"]
    fields = [[n, v] for n, v in upstream.requests[0].fields.pairs if n != "traceparent"]
    assert explained["route"] == "all"
    assert sent["target"] == upstream.requests[0].target == "/a/x?b=1"
    assert sorted(pair for pair in sent["headers"] if pair[0] != "traceparent") == sorted(fields)
    assert explained["outcome"]["endpoints"] == [upstream.authority]


def test_a_candidate_that_lost_says_why(start_gateway: StartGateway) -> None:
    gateway = start_gateway(DOCUMENT)

    explained = explain_live(gateway, "/orders/7", method="POST")

    why = {one["route"]: one["why_not"] for one in explained["candidates"]}
    assert explained["route"] == "all"
    assert why["gray"] == "header x-env: `gray` is wanted, there is none"
    assert why["orders"] == "method: it takes GET, HEAD"
    assert why["all"] is None


@pytest.mark.spec("RT-36", "RT-37")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("GET", "/orders/7/items"), "not orders  /orders/{id}: path: it goes on with `/items`"),
        (("GET", "/orders"), "not orders  /orders/{id}: path: it ends where `/{id}` has to follow"),
        (("GET", "/Orders/7"), "segment 1 is `Orders`, not `orders`: capitals count"),
        (("PUT", "/orders/7", "-H", "X-Env: blue"), "`gray` is wanted, there is `blue`"),
        (("GET", "/orders/7"), "not all  /**: matches too, `orders` wins by a more precise path"),
    ],
)
def test_a_near_miss_says_what_kept_it(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    write(tmp_path / "d.yaml", DOCUMENT)

    shown = run("explain", *words, "--config", tmp_path / "d.yaml")

    assert shown.returncode == 0, shown.stderr
    assert said in shown.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("GET", "/orders/7"), ["orders", "forward", "/v2/7"]),
        (("GET", "/orders/7", "-H", "X-Env: gray"), ["gray", "forward"]),
        (("DELETE", "/x"), ["all", "respond", "200"]),
        (("GET", "/%zz"), ["none", "reject", "400", "bad_path"]),
    ],
)
def test_the_command_explains_a_document_and_a_running_gateway_alike(
    serve: Serve, words: tuple[str, ...], said: list[str]
) -> None:
    gateway = serve(DOCUMENT)

    written = run("explain", *words, "--config", gateway.document_path)
    live = run("explain", *words, "--live", "--state-dir", gateway.state_dir)

    for shown in (written, live):
        assert shown.returncode == 0, shown.stderr
        for word in said:
            assert word in shown.stdout
    assert gateway.metric("sluicegate_requests_total") == 0
    assert gateway.access_path.read_text() == ""


@pytest.mark.spec("RT-36")
def test_samples_decide_by_exit_code_before_a_release(tmp_path: Path) -> None:
    document, samples = tmp_path / "d.yaml", tmp_path / "s.yaml"
    write(document, DOCUMENT)
    good = {"name": "n", "request": {"url": "/orders/7"}, "expect": {"route": "orders"}}
    gray = {
        "name": "marked",
        "request": {"url": "/orders/7", "headers": {"X-Env": "gray"}},
        "expect": {"route": "gray", "upstream_path": "/orders/7"},
    }

    def tried(*requests: dict[str, Any]) -> tuple[int, str]:
        write(samples, {"requests": list(requests)})
        result = run("test", samples, "--config", document)
        return result.returncode, result.stdout + result.stderr

    fine = tried(good, gray)
    differs = tried(good, gray | {"expect": {"route": "orders", "status": 404}})
    broken = tried({"name": "n", "request": {"url": "nowhere"}, "expect": {"rout": "a"}})
    no_document = run("test", samples, "--config", tmp_path / "none.yaml")

    assert fine[0] == 0
    assert differs[0] == 2
    assert "- orders" in differs[1]
    assert "+ gray" in differs[1]
    assert broken[0] == 2
    assert "rout" in broken[1]
    assert no_document.returncode == 2


@pytest.mark.spec("RT-29", "CF-27")
def test_a_change_that_covers_an_old_route_is_seen_by_the_samples(tmp_path: Path) -> None:
    examples = Path(__file__).parents[2] / "examples"
    text = (examples / "regression.yaml").read_text()
    widened = text.replace("  - id: api   ", "  - id: api\n    priority: 10\n    #")
    (tmp_path / "d.yaml").write_text(widened)

    result = run(
        "test", examples / "regression.requests.yaml", "--config", tmp_path / "d.yaml", "--json"
    )

    report = json.loads(result.stdout)
    lost = [one["name"] for one in report["requests"] if not one["ok"]]
    assert widened != text
    assert result.returncode == 2
    assert any("administration" in name for name in lost)


def test_a_live_explanation_of_a_stopped_gateway_is_a_sentence(tmp_path: Path) -> None:
    result = run("explain", "GET", "/", "--live", "--state-dir", tmp_path)

    assert result.returncode == 1
    assert "no gateway runs" in result.stderr


def test_what_is_explained_while_requests_run_is_answered_too(serve: Serve) -> None:
    gateway = serve(DOCUMENT)

    with Connection(gateway.address) as client:
        client.send(get("/a"))
        shown = run("explain", "GET", "/orders/7", "--live", "--state-dir", gateway.state_dir)
        answered = client.response().status

    assert shown.returncode == 0
    assert answered == 200
