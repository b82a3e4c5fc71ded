"""The door to the extension: values in, values out, our exceptions."""

import json
from typing import Any

import pytest

from sluicegate import engine
from sluicegate.config.candidate import examine
from sluicegate.config.settings import ProcessSettings
from sluicegate.config.snapshot import Snapshot, snapshot_of
from sluicegate.config.source import Source
from sluicegate.engine import Engine, Explanation, Facts, Request
from sluicegate.errors import ConfigError, EngineError, StaleSnapshot

TEXT = """\
format: 1
listeners: [{id: http, address: "127.0.0.1:0"}]
routes:
  - {id: hello, match: {path: "/hello/{name}"}, respond: {body: hi}, labels: {a: b}}
  - id: orders
    match: {path: /api/**, methods: [POST], host: "*.example.com"}
    upstream: orders
    filters: [{name: path_rewrite, config: {strip_prefix: /api}}]
    timeouts: {total: 10s}
upstreams:
  - {id: orders, endpoints: [{address: "127.0.0.1:9"}]}
"""


def snapshot(version: int, text: str = TEXT) -> Snapshot:
    return snapshot_of(examine(Source.parse(text), engine.check).document, version=version)


@pytest.fixture
def running() -> Any:  # noqa: ANN401 - a generator fixture
    settings = ProcessSettings.model_validate({"threads": 1, "operations": None})
    started = Engine.start(settings)
    yield started
    started.stop()


def test_every_filter_has_a_schema() -> None:
    assert {"request_id", "trace_context", "header_hygiene"} <= set(engine.filter_schemas())
    assert "no_route" in {reject["code"] for reject in engine.reject_catalogue()}


def test_the_engine_takes_every_default_of_ours() -> None:
    assert engine.check(snapshot(1).text) == []
    assert engine.check(snapshot(1, "format: 1\n").text) == []


def test_the_engines_problems_are_ours() -> None:
    content = json.loads(snapshot(1).text)
    content["routes"][0]["filters"] = [{"name": "path_rewrit", "config": {}}]

    problems = engine.check(json.dumps(content))

    assert problems[0].pointer.startswith("/routes/0/filters/0")


def test_a_request_is_explained() -> None:
    explained = engine.explain(
        snapshot(1), Request("POST", "/api/orders?x=1", "a.example.com"), Facts()
    )

    assert explained.route == "orders"
    assert explained.outcome.kind == "forward"
    assert explained.outcome.upstream == "orders"
    assert explained.upstream_request is not None
    assert explained.upstream_request.target == "/orders?x=1"
    assert "request_id" in [step.filter for step in explained.steps]


def test_a_request_without_a_route_is_explained_too() -> None:
    explained = engine.explain(snapshot(1), Request("GET", "/nowhere", "a"), Facts())

    assert explained.route is None
    assert (explained.outcome.kind, explained.outcome.status) == ("reject", 404)
    assert explained.outcome.code == "no_route"


def test_a_request_that_is_none_is_an_error() -> None:
    with pytest.raises(EngineError):
        engine.explain(snapshot(1), Request("G T", "/", "a"), Facts())


@pytest.mark.spec("CF-07")
def test_only_a_newer_snapshot_is_applied(running: Engine) -> None:
    running.apply(snapshot(2), {})

    for version in (2, 1):
        with pytest.raises(StaleSnapshot):
            running.apply(snapshot(version, TEXT.replace("/api/", "/other/")), {})

    assert running.status()["version"] == 2


@pytest.mark.spec("CF-08")
def test_the_newest_snapshot_answers(running: Engine) -> None:
    old, new = TEXT.replace("orders", "asset-v1"), TEXT.replace("orders", "asset-v2")
    running.apply(snapshot(1, old), {})
    running.apply(snapshot(2, new), {})
    with pytest.raises(StaleSnapshot):
        running.apply(snapshot(1, old), {})

    explained = running.explain_live(Request("POST", "/api/x", "a.example.com"), Facts())

    assert explained.outcome.upstream == "asset-v2"


def test_a_refused_snapshot_changes_nothing(running: Engine) -> None:
    running.apply(snapshot(1), {})
    content = json.loads(snapshot(2).text)
    content["routes"][0]["filters"] = [{"name": "nope", "config": {}}]

    with pytest.raises(ConfigError) as caught:
        running.apply(Snapshot(2, json.dumps(content), ""), {})

    assert caught.value.problems
    assert running.status()["version"] == 1


def test_a_rejection_can_be_told(running: Engine) -> None:
    running.tell({"kind": "config_rejected", "reason": "two mistakes"})

    assert running.status()["last_refusal"]["reason"] == "two mistakes"
    with pytest.raises(EngineError):
        running.tell({"kind": "unheard_of"})


def test_an_answer_of_a_newer_engine_is_kept_whole() -> None:
    raw = {"outcome": {"kind": "respond", "status": 200, "new": 1}, "more": 2}

    explained = Explanation.from_raw(raw)

    assert explained.outcome.status == 200
    assert explained.raw == raw


def test_what_could_not_be_explained_is_an_error() -> None:
    with pytest.raises(EngineError, match="no host"):
        Explanation.from_raw({"error": "no host"})


@pytest.mark.spec("CF-18")
def test_the_engine_itself_names_all_mistakes_of_form_at_once() -> None:
    content = json.loads(snapshot(1).text)
    content["listeners"][0]["limits"]["fields"] = "100"
    content["routes"][0]["priority"] = 1.5
    content["routes"][1]["match"]["methods"] = "POST"
    content["routes"][1]["timeouts"]["total"] = "10"
    del content["upstreams"][0]["endpoints"]
    content["colour"] = "blue"

    found = {one.written_path: one.message for one in engine.check(json.dumps(content))}

    assert set(found) == {
        "colour",
        "listeners[0].limits.fields",
        "routes[0].priority",
        "routes[1].match.methods",
        "routes[1].timeouts.total",
        "upstreams[0]",
    }
    assert "endpoints" in found["upstreams[0]"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"format": 1, "format": 1, "version": 1}']
)
def test_what_is_no_snapshot_is_a_problem_and_no_panic(text: str) -> None:
    assert engine.check(text)
