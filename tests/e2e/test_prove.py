"""Routes are proven by `check`, and every proof is a request that the engine answers as claimed."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from e2e.served import run, write
from support.gateway import forwarding
from support.raw import get
from support.upstream import echo

ROOT = Path(__file__).parents[2]
FLAWED = ROOT / "examples/flawed/routes.yaml"


def document(*routes: dict[str, Any]) -> dict[str, Any]:
    """Routes to upstreams of their own names."""
    upstreams = sorted({route["upstream"] for route in routes})
    endpoints = [{"address": "127.0.0.1:9"}]
    return {
        "format": 1,
        "upstreams": [{"id": name, "endpoints": endpoints} for name in upstreams],
        "routes": list(routes),
    }


def route(name: str, path: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    match = {"path": path, **more.pop("match", {})}
    return {"id": name, "match": match, "upstream": name, **more}


def proven(path: Path, *options: str) -> tuple[int, dict[str, Any]]:
    """Exit code, and what `check --json` says of one file."""
    checked = run("check", path, "--json", *options)
    (report,) = json.loads(checked.stdout)["files"]
    return checked.returncode, report


@pytest.mark.spec("RT-29", "RT-37", "CF-18", "CF-22", "CF-27")
def test_every_proof_is_a_request_that_is_answered_as_claimed() -> None:
    code, report = proven(FLAWED)

    assert code == 0
    found = {(one["kind"], one["route"]): one for one in report["proof"]["findings"]}
    assert set(found) == {
        ("shadowed_route", "admin"),
        ("shadowed_route", "report"),
        ("no_rest", "course"),
        ("looks_like_parameter", "lesson"),
        ("precise_inside_broad", "shop"),
    }
    assert {one["route"] for one in found["shadowed_route", "report"]["others"]} == {
        "marked",
        "unmarked",
    }
    for finding in found.values():
        program, *words = shlex.split(finding["witness"]["command"])
        explained = json.loads(run(*words, "--json").stdout)
        assert program == "sluicegate"
        assert explained["route"] == finding["answered_by"], finding


@pytest.mark.spec("CF-22")
def test_both_routes_are_shown_where_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "d.yaml"
    path.write_text(FLAWED.read_text())

    shown = run("check", path)

    assert re.search(r"--> \S+d\.yaml:20:19  routes\[1\]\.match\.path", shown.stdout)
    assert re.search(r" = api: \S+d\.yaml:17:19  /api/\*\*", shown.stdout)
    assert "4 warnings, 1 note (--all lists them)" in shown.stdout


@pytest.mark.spec("CF-22")
def test_strict_makes_mistakes_of_warnings(tmp_path: Path) -> None:
    flawed, strict = run("check", FLAWED), run("check", FLAWED, "--strict")
    write(tmp_path / "d.yaml", document(route("api", "/api/**"), route("admin", "/api/admin/**")))
    sound = run("check", tmp_path / "d.yaml", "--strict", "--all")

    assert flawed.returncode == 0
    assert strict.returncode == 2
    assert "error[shadowed_route]" in strict.stdout
    assert sound.returncode == 0
    assert "note[precise_inside_broad]: `admin` is within `api`" in sound.stdout


@pytest.mark.spec("RT-29", "CF-22")
def test_a_broad_route_that_takes_a_part_of_a_precise_one_is_a_warning(tmp_path: Path) -> None:
    broad = route("api", "/api/**", priority=5, match={"methods": ["GET"]})
    write(tmp_path / "d.yaml", document(broad, route("admin", "/api/admin/**")))

    code, report = proven(tmp_path / "d.yaml", "--strict")

    (problem,) = report["problems"]
    assert code == 2
    assert (problem["code"], problem["pointer"]) == ("hidden_route", "/routes/1/match/path")
    assert "by priority" in problem["message"]


@pytest.mark.spec("RT-37")
@pytest.mark.parametrize(
    ("routes", "code", "expected"),
    [
        ([route("course", "/api/course/")], "slash_only", "/api/course/**"),
        (
            [route("a", "/api/a/**"), route("b", "/api/b/**"), route("course", "/api/course")],
            "no_rest",
            "/api/course/**",
        ),
        ([route("old", "/api/course"), route("new", "/api/course/")], "slash_twin", None),
    ],
    ids=["slash typed, rest forgotten", "rest forgotten", "two upstreams"],
)
def test_a_prefix_mistyped_by_its_slash_is_found(
    tmp_path: Path, routes: list[dict[str, Any]], code: str, expected: str | None
) -> None:
    write(tmp_path / "d.yaml", document(*routes))

    _, report = proven(tmp_path / "d.yaml")

    (problem,) = [one for one in report["problems"] if one["code"] == code]
    assert expected is None or problem["expected"] == expected


@pytest.mark.spec("RT-37")
def test_the_mistyped_prefix_is_404_in_life_as_in_the_proof(
    tmp_path: Path, start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    typed = forwarding(start_upstream(echo).authority, route={"match": {"path": "/api/course/"}})
    write(tmp_path / "d.yaml", document(route("course", "/api/course/")))
    _, report = proven(tmp_path / "d.yaml")
    witness = report["proof"]["findings"][0]["witness"]
    gateway = start_gateway(typed)

    with gateway.connect() as client:
        lost = client.request(get(witness["target"], host=witness["host"])).status
        found = client.request(get("/api/course/")).status

    assert (lost, found) == (404, 200)


def test_a_document_with_mistakes_is_not_proven(tmp_path: Path) -> None:
    write(tmp_path / "d.yaml", {"format": 1, "routes": [{"id": "a"}]})

    code, report = proven(tmp_path / "d.yaml")

    assert code == 2
    assert report["proof"]["routes"] == 0


@pytest.mark.spec("CF-22")
def test_a_route_that_is_hidden_behind_one_listener_only_names_it(tmp_path: Path) -> None:
    two = document(
        route("admin", "/admin/**", priority=1, exposure="internal"),
        route("help", "/admin/help", match={"methods": ["GET"]}),
    )
    two["listeners"] = [
        {"id": "public", "address": "127.0.0.1:0"},
        {"id": "inside", "address": "127.0.0.1:0", "exposure": "internal"},
    ]
    write(tmp_path / "d.yaml", two)

    _, report = proven(tmp_path / "d.yaml")

    (finding,) = report["proof"]["findings"]
    command = shlex.split(finding["witness"]["command"])
    assert (finding["kind"], finding["route"]) == ("shadowed_route", "help")
    at = command.index("--listener")
    assert command[at + 1] == "inside"
    assert json.loads(run(*command[1:], "--json").stdout)["route"] == "admin"


@pytest.mark.spec("CF-22")
def test_each_of_several_paths_is_proven_at_its_own_place(tmp_path: Path) -> None:
    several = route("api", "")
    several["match"]["path"] = ["/api/**", "/api/a", "/v2/a"]
    write(tmp_path / "d.yaml", document(several, route("top", "/v2/**", priority=1)))

    code, report = proven(tmp_path / "d.yaml", "--strict")

    (problem,) = report["problems"]
    assert code == 2
    assert problem["pointer"] == "/routes/0/match/path/2"
    assert all(one["others"][0]["route"] == "top" for one in report["proof"]["findings"])
