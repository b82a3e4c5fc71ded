"""Every example is sound, keeps what its requests promise, and serves."""

import json
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from conftest import StartGateway, StartUpstream
from e2e.served import run
from support.raw import get
from support.upstream import echo

EXAMPLES = Path(__file__).parents[2] / "examples"
# What the documents say, and what a test can have.
LISTENER, SECOND, UPSTREAM = "127.0.0.1:8080", "127.0.0.1:8081", "127.0.0.1:9000"


def requests_of(example: Path) -> Path:
    """The file of requests that belongs to an example."""
    if example.parent.name == "filters":
        return example.parent / "requests" / example.name
    return example.with_suffix(".requests.yaml")


def documents() -> list[Path]:
    """Every example, without the files of requests."""
    patterns = ("*.yaml", "filters/*.yaml", "presets/*.yaml")
    found = [path for pattern in patterns for path in EXAMPLES.glob(pattern)]
    return sorted(path for path in found if not path.name.endswith(".requests.yaml"))


def name_of(example: Path) -> str:
    return str(example.relative_to(EXAMPLES).with_suffix(""))


def test_no_example_is_forgotten() -> None:
    tried = {*documents(), *map(requests_of, documents())}
    tests = "".join(path.read_text() for path in EXAMPLES.with_name("tests").rglob("*.py"))

    forgotten = [
        name_of(path)
        for path in sorted(EXAMPLES.rglob("*"))
        if path.is_file() and path not in tried and "__pycache__" not in path.parts
        # Other examples are folders with a test of their own that names them.
        if f"examples/{path.relative_to(EXAMPLES).parts[0]}" not in tests
    ]

    assert not forgotten, f"a test has to run these, or they will not run for long: {forgotten}"


def test_every_example_is_checked_and_keeps_its_requests() -> None:
    checked = run("check", *documents(), "--json")

    assert checked.returncode == 0, checked.stdout
    report = json.loads(checked.stdout)["files"]
    warnings = {one["file"]: one["problems"] for one in report if one["problems"]}
    assert not warnings


@pytest.mark.parametrize("example", documents(), ids=name_of)
def test_an_example_does_what_its_requests_expect(example: Path) -> None:
    tried = run("test", requests_of(example), "--config", example)

    assert tried.returncode == 0, tried.stdout + tried.stderr
    assert "all as expected" in tried.stdout


@pytest.mark.spec("RT-32", "RT-33", "RT-34", "RT-35")
@pytest.mark.parametrize(
    ("target", "host", "service"),
    [
        ("/api/admin/users", "www.example.com", "admin-service"),
        ("/api/assets/100", "www.example.com", "asset-service"),
        ("/openapi/v1/orders", "open.example.com", "openapi-service"),
        ("/actuator/health", "www.example.com", None),
    ],
)
def test_the_regression_table_holds_for_real_requests(
    start_gateway: StartGateway,
    start_upstream: StartUpstream,
    target: str,
    host: str,
    service: str | None,
) -> None:
    services = {name: start_upstream() for name in SERVICES}
    gateway = start_gateway(_regression({name: up.authority for name, up in services.items()}))

    with gateway.connect() as client:
        answer = client.request(get(target, host=host))

    reached = {name: up.requests[0].target for name, up in services.items() if up.requests}
    assert answer.status == (200 if service else 404)
    assert reached == ({service: target} if service else {})


SERVICES = ("admin-service", "asset-service", "order-service", "openapi-service")


def _regression(authorities: dict[str, str]) -> dict[str, object]:
    document = YAML(typ="safe").load(EXAMPLES / "regression.yaml")
    document["listeners"][0]["address"] = "127.0.0.1:0"
    for upstream in document["upstreams"]:
        upstream["endpoints"][0]["address"] = authorities[upstream["id"]]
    return dict(document)


@pytest.mark.parametrize("example", documents(), ids=name_of)
def test_an_example_serves(
    example: Path,
    start_gateway: StartGateway,
    start_upstream: StartUpstream,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # some write their log beside themselves
    text = example.read_text().replace(LISTENER, "127.0.0.1:0").replace(SECOND, "127.0.0.1:0")
    gateway = start_gateway(text.replace(UPSTREAM, start_upstream(echo).authority))
    samples = YAML(typ="safe").load(requests_of(example))["requests"]
    # A real request comes from this machine, whatever `peer` says.
    plain = [one for one in samples if one["request"]["url"].startswith("/") and "peer" not in one]

    statuses = []
    for sample in plain:
        asked = sample["request"]
        fields = [f"{name}: {value}" for name, value in asked.get("headers", {}).items()]
        data = get(asked["url"], *fields).replace(b"GET", asked.get("method", "GET").encode(), 1)
        with gateway.connect() as client:
            answer = client.request(data)
        statuses.append((sample["name"], answer.status))

    expected = [(one["name"], one["expect"].get("status", 200)) for one in plain]
    assert statuses == expected
