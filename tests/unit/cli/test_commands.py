"""Commands by what a person sees: words, JSON, exit codes."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from sluicegate.cli import app
from sluicegate.cli.starter import STARTER
from sluicegate.config.loader import load

Run = Callable[..., Result]
BROKEN = """\
format: 1
upstreams:
  - id: orders
    endpoints: [{address: "127.0.0.1:9001"}]
routes:
  - id: a
    match: {path: /a}
    upstream: order
    filters:
      - name: path_rewrit
"""
INNER = """\
format: 1
listeners:
  - {id: open, address: "127.0.0.1:0"}
  - {id: inner, address: "127.0.0.1:0", exposure: internal}
routes:
  - {id: admin, exposure: internal, match: {path: /admin}, respond: {}}
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "dumb")
    runner = CliRunner()
    return lambda *words: runner.invoke(app, [str(word) for word in words])


def test_a_sound_document_is_fine(run: Run, document: Path) -> None:
    result = run("check", document)

    assert result.exit_code == 0
    assert "fine (1 listener, 1 route, 1 upstream)" in result.stdout


@pytest.mark.spec("RT-16")
def test_routes_that_are_not_served_are_named(run: Run, document: Path) -> None:
    document.write_text(document.read_text() + "    status: draft\n")

    words = run("check", document).stdout
    report = json.loads(run("check", document, "--json").stdout)

    assert "fine (1 listener, 1 route, 1 upstream), not served: order-create (draft)" in words
    assert report["files"][0]["not_served"] == {"order-create": "draft"}


@pytest.mark.spec("RT-17")
def test_explain_shows_the_version_of_the_route(run: Run, document: Path) -> None:
    document.write_text(document.read_text() + "    version: 37\n")

    result = run("explain", "GET", "/api/orders", "--config", document)

    assert "order-create version 37" in result.stdout


def test_explain_asks_for_a_listener(run: Run) -> None:
    Path("x.yaml").write_text(INNER)

    outside = run("explain", "GET", "/admin", "--config", "x.yaml")
    inside = run("explain", "GET", "/admin", "--config", "x.yaml", "--listener", "inner")

    assert "route        none" in outside.stdout
    assert "route        admin" in inside.stdout


def test_mistakes_are_drawn_at_their_places(run: Run) -> None:
    Path("x.yaml").write_text(BROKEN)

    result = run("check", "x.yaml")

    assert result.exit_code == 2
    assert "--> x.yaml:8:15  routes[0].upstream" in result.stdout
    assert "8 |     upstream: order\n  |               ^^^^^\n" in result.stdout
    assert "did you mean: orders" in result.stdout
    assert "path_rewrit" in result.stdout
    assert "x.yaml: 2 errors" in result.stdout


def test_mistakes_are_listed_for_programs(run: Run, document: Path) -> None:
    Path("x.yaml").write_text(BROKEN)

    result = run("check", document, "x.yaml", "--json")

    report = json.loads(result.stdout)
    assert result.exit_code == 2
    assert [one["ok"] for one in report["files"]] == [True, False]
    problem = next(p for p in report["files"][1]["problems"] if p["code"] == "unknown_upstream")
    assert (problem["line"], problem["pointer"]) == (8, "/routes/0/upstream")


def test_a_missing_file_is_a_problem_of_its_own(run: Run) -> None:
    result = run("check", "gone.yaml")

    assert result.exit_code == 2
    assert "No such file" in result.stdout


def test_the_starter_document_is_sound(run: Run) -> None:
    Path("sluicegate.yaml").write_text(STARTER)

    assert run("check", "sluicegate.yaml").exit_code == 0
    assert load(Path("sluicegate.yaml")).warnings == []


def test_the_schema_has_the_filters(run: Run) -> None:
    whole = run("schema")
    one = run("schema", "--filter", "path_rewrite")
    none = run("schema", "--filter", "path_rewrit")

    assert "filter.path_rewrite" in json.loads(whole.stdout)["$defs"]
    assert "properties" in json.loads(one.stdout)
    assert none.exit_code == 2
    assert "did you mean: path_rewrite" in none.stderr


def test_a_request_is_explained_in_a_table(run: Run) -> None:
    Path("sluicegate.yaml").write_text(STARTER)

    result = run("explain", "GET", "http://a.example/hello", "-H", "X-A: b")

    assert result.exit_code == 0, result.stderr
    assert re.search(r"route +hello", result.stdout)
    assert re.search(r"entry +identify +request_id +next", result.stdout)
    assert "forward to example" in result.stdout


def test_a_request_is_explained_for_programs(run: Run) -> None:
    Path("sluicegate.yaml").write_text(STARTER)

    result = run("explain", "GET", "/nowhere", "--json")

    assert result.exit_code == 0
    assert json.loads(result.stdout)["outcome"]["code"] == "no_route"


@pytest.mark.parametrize(
    "words", [("GET", "nowhere"), ("get", "/"), ("GET", "/", "-H", "no colon"), ("GET", "http://[")]
)
def test_a_request_that_is_none_is_named(run: Run, words: tuple[str, ...]) -> None:
    Path("sluicegate.yaml").write_text(STARTER)

    result = run("explain", *words)

    assert result.exit_code == 2
    assert "error" in result.stderr


@pytest.mark.spec("RT-36")
def test_samples_say_where_a_document_does_something_else(run: Run) -> None:
    Path("sluicegate.yaml").write_text(STARTER)
    Path("samples.yaml").write_text(
        "requests:\n"
        "  - {name: greets, request: {url: /hello}, expect: {route: hello, outcome: forward}}\n"
        "  - {name: unknown, request: {url: /x}, expect: {status: 404, code: no_route}}\n"
    )
    fine = run("test", "samples.yaml")
    Path("samples.yaml").write_text(
        "requests:\n  - {name: greets, request: {url: /hello}, expect: {route: echo}}\n"
    )
    differs = run("test", "samples.yaml")
    listed = run("test", "samples.yaml", "--json")

    assert fine.exit_code == 0, fine.stdout
    assert "2 requests, all as expected" in fine.stdout
    assert differs.exit_code == 2
    assert "- echo" in differs.stdout
    assert "+ hello" in differs.stdout
    assert json.loads(listed.stdout)["requests"][0]["differences"][0]["what"] == "route"


@pytest.mark.parametrize("command", ["status", "drain", "reload"])
def test_without_a_gateway_there_is_a_sentence(run: Run, command: str) -> None:
    result = run(command)

    assert result.exit_code == 1
    assert "no gateway runs on the state directory" in result.stderr


def test_a_broken_document_is_not_served(run: Run) -> None:
    Path("sluicegate.yaml").write_text(BROKEN)

    result = run("serve", "gateway")

    assert result.exit_code == 2
    assert "did you mean: orders" in result.stderr
    assert "path_rewrit" in result.stderr


def test_a_wrong_setting_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICEGATE_THREADS", "many")

    result = run("serve", "gateway")

    assert result.exit_code == 2
    assert "SLUICEGATE_THREADS" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["up"],
        ["serve", "gateway"],
        ["check"],
        ["schema"],
        ["explain"],
        ["test"],
        ["status"],
        ["drain"],
        ["reload"],
    ],
    ids=" ".join,
)
def test_help_has_an_example_and_exit_codes(run: Run, words: list[str]) -> None:
    result = run(*words, "--help")

    assert result.exit_code == 0
    assert "Example:" in result.stdout
    assert "Exit code" in result.stdout


def test_the_version_is_printed(run: Run) -> None:
    result = run("--version")

    assert result.exit_code == 0
    assert result.stdout.startswith("sluicegate ")
