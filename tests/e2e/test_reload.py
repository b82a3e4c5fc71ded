"""Changing the document while requests run."""

import errno
import json
import signal
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from conftest import StartUpstream
from e2e.conftest import Serve
from e2e.load import Load, QuickUpstream
from e2e.served import Served, write
from sluicegate.runtime.control import ask
from support.gateway import yaml_text
from support.raw import Address, Connection, get

RATE = 1_000
NEW_ROUTE_WITHIN = 1.0


def route(name: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a document
    """A route that answers with its own name."""
    return {"id": name, "match": {"path": f"/{name}"}, "respond": {"body": name}, **more}


def document(*names: str, upstream: str = "127.0.0.1:9", **sections: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a document
    """A document with a forwarding route `/steady`, and one for each name."""
    steady = {"id": "steady", "match": {"path": "/steady"}, "upstream": "origin"}
    return {
        "format": 1,
        "listeners": [{"id": "http", "address": "127.0.0.1:0"}],
        "upstreams": [{"id": "origin", "endpoints": [{"address": upstream}]}],
        "routes": [steady, *map(route, names)],
        "access_log": {"output": "off"},
        **sections,
    }


BROKEN = """\
format: 1
listeners: [{id: http, address: "127.0.0.1:0"}]
upstreams:
  - id: origin
    endpoints: [{address: "127.0.0.1:70000"}]
routes:
  - id: steady
    match: {path: /steady}
    upstream: orign
  - id: steady
    match: {path: /other, headers: [{name: X-A, regex: "(["}]}
    respond: {status: 200}
    filters: [{name: path_rewrit}]
"""
# Where the mistakes above stand: all of them are named, each at its line.
MISTAKES = {5: "address", 9: "upstream", 10: "id", 11: "regex", 13: "name"}


def status_of(address: Address, target: str) -> int:
    """The status of one request."""
    with Connection(address) as client:
        return client.request(get(target)).status


def in_one_step(path: Path, text: str) -> None:
    write(path, text)


def in_place(path: Path, text: str) -> None:
    path.write_text(text)


def by_a_config_map(path: Path, text: str) -> None:
    """As a kubelet does: a fresh folder, and one symlink that is switched to it."""
    fresh = path.parent / f"..{time.monotonic_ns()}"
    fresh.mkdir()
    (fresh / path.name).write_text(text)
    switch = path.parent / "..data_tmp"
    switch.symlink_to(fresh.name)
    switch.replace(path.parent / "..data")
    if not path.is_symlink():
        path.symlink_to(Path("..data") / path.name)


@pytest.mark.spec("CF-01", "CF-04", "CF-09", "PL-20", "CF-16", "PX-43")
@pytest.mark.parametrize("change", [in_one_step, in_place, by_a_config_map])
def test_a_change_under_load_takes_effect_within_a_second_and_costs_no_request(
    parts: ExitStack, tmp_path: Path, change: Callable[[Path, str], None]
) -> None:
    upstream = parts.enter_context(QuickUpstream())
    folder = tmp_path / "documents"
    folder.mkdir()
    path = folder / "gateway.yaml"

    def say(*names: str) -> str:
        return yaml_text(document(*names, upstream=upstream.authority))

    change(path, say())
    gateway = parts.enter_context(Served(tmp_path, "", path=path))
    address = gateway.address
    load = parts.enter_context(Load(address, "/steady", rate=RATE))
    took: list[float] = []

    def publish(name: str, *names: str) -> None:
        began = time.monotonic()
        change(path, say(name, *names))
        while status_of(address, f"/{name}") != 200:
            assert time.monotonic() - began < 5, gateway.log_path.read_text()
            time.sleep(0.01)
        took.append(time.monotonic() - began)

    publish("first")
    version = gateway.status()["version"]
    change(path, BROKEN)
    rejected = gateway.wait_for_event("config_rejected")
    gateway.wait_until(
        lambda: gateway.metric("sluicegate_config_rejected_total") > 0, "the metric of a refusal"
    )
    refused = gateway.status()
    counted = gateway.metric("sluicegate_config_rejected_total")
    still = status_of(address, "/first")
    for name in ("second", "third", "fourth", "fifth"):
        publish(name, "first")
    report = load.report()

    print(  # noqa: T201 - the figures that are asked for
        f"{report.rate:.0f} requests/s, p99 {report.p99} ms, worst {report.worst} ms; "
        f"new routes after {', '.join(f'{each:.2f}' for each in took)} s"
    )
    assert max(took) < NEW_ROUTE_WITHIN
    assert report.failures == []
    assert report.again == 0
    assert report.statuses == {"200": report.sent}
    assert report.rate > 0.95 * RATE
    assert still == 200
    assert refused["version"] == version
    for problems in (rejected["problems"], refused["rejection"]["problems"]):
        found = {problem["line"]: problem["path"] for problem in problems}
        assert {line: name for line, name in MISTAKES.items() if name in found.get(line, "")} == (
            MISTAKES
        ), found
    assert counted == 1
    assert gateway.status()["rejection"] is None


@pytest.mark.case("CF-01")
@pytest.mark.spec("CF-09", "CF-17", "CF-18", "CF-19", "CF-20", "CF-25")
def test_one_bad_part_refuses_the_whole_and_is_named(
    serve: Serve, start_upstream: StartUpstream
) -> None:
    origin = start_upstream().authority
    good = document("a", "b", upstream=origin)
    gateway = serve(good)
    address = gateway.address
    text = yaml_text(good)

    def beside_three(another: dict[str, Any]) -> dict[str, Any]:
        return {**good, "routes": [*good["routes"], another]}

    bad: dict[str, tuple[bytes, str]] = {
        name: (yaml_text(content).encode(), where)
        for name, (content, where) in {
            "regex": (
                beside_three(route("c", match={"path": "/c", "headers": [BAD_REGEX]})),
                "routes[3].match.headers[0].regex",
            ),
            "filter": (
                beside_three(route("c", filters=[{"name": "nothing"}])),
                "routes[3].filters[0].name",
            ),
            "upstream": (
                beside_three({"id": "c", "match": {"path": "/c"}, "upstream": "nobody"}),
                "routes[3].upstream",
            ),
            "id": (document("a", "b", "a"), "routes[3].id"),
            "port": (document(upstream="127.0.0.1:70000"), "upstreams[0].endpoints[0].address"),
            "template": (
                beside_three(route("c", match={"path": "/{a}/{a}"})),
                "routes[3].match.path",
            ),
            "secret": (
                document("a", entry=[{"name": "debug_headers", "config": NO_SECRET}]),
                "entry[0].config.key.secret",
            ),
            "include": (document(include=["gateway.yaml"]), "include"),
            "version": (document(format=9), "format"),
        }.items()
    }
    bad["size"] = (text.encode() + b"#" * 5_000_001, "too large")
    bad["encoding"] = (text.encode() + b"# \xff\n", "UTF-8")
    bad["cut off"] = (text.encode()[: text.index("routes:") + 12], "gateway.yaml")
    bad["cut off JSON"] = (json.dumps(good).encode()[:-20], "gateway.yaml")
    bad["circle"] = (text.encode() + b"record: &x [*x]\n", "contains itself")

    for number, (name, (content, where)) in enumerate(bad.items()):
        refused = gateway.metric("sluicegate_config_rejected_total")
        gateway.document_path.write_bytes(content)
        answer = ask(gateway.state_dir, "reload", seconds=30)

        assert not answer["applied"], name
        assert where in str(answer["rejection"]), (name, answer)
        assert where in str(gateway.events("config_rejected")[-1]), name
        assert where in str(gateway.status()["rejection"]), name
        assert gateway.metric("sluicegate_config_rejected_total") > refused, name
        assert gateway.status()["version"] == answer["version"], name
        assert gateway.metric("sluicegate_snapshot_version") == answer["version"], name
        assert {status_of(address, one) for one in ("/a", "/b", "/steady")} == {200}, name

        write(gateway.document_path, document("a", "b", f"good-{number}", upstream=origin))
        assert ask(gateway.state_dir, "reload", seconds=30)["applied"], name
        assert gateway.status()["rejection"] is None, name
        assert status_of(address, f"/good-{number}") == 200, name


NO_SECRET = {
    "networks": ["127.0.0.0/8"],
    "key": {"header": "X-Key", "secret": "file:/no/such/file"},
}
BAD_REGEX = {"name": "X-A", "regex": "(["}


@pytest.mark.parametrize("kind", ["document", "port"])
def test_a_refusal_counts_once_whoever_refuses(serve: Serve, kind: str) -> None:
    gateway = serve(document("a"))
    host, port = gateway.operations
    taken = [
        {"id": "http", "address": "127.0.0.1:0"},
        {"id": "second", "address": f"{host}:{port}"},
    ]

    write(gateway.document_path, BROKEN if kind == "document" else document(listeners=taken))
    gateway.wait_for_event("config_rejected")

    assert gateway.metric("sluicegate_config_rejected_total") == 1
    assert gateway.status()["version"] == 1
    assert gateway.status()["engine"]["last_refusal"]["reason"]
    if kind == "port":
        assert f"{host}:{port}" in gateway.status()["rejection"]["reason"]


def test_sighup_reads_the_document_again(serve: Serve) -> None:
    gateway = serve(document("a"))

    gateway.signal(signal.SIGHUP)
    gateway.wait_for_event("config_unchanged")
    unchanged = gateway.status()["version"]
    write(gateway.document_path, document("b"))
    gateway.signal(signal.SIGHUP)
    gateway.wait_for_version(2)

    assert unchanged == 1
    assert status_of(gateway.address, "/b") == 200
    assert status_of(gateway.address, "/a") == 404


def test_sighup_goes_on_in_a_new_file_when_the_log_was_moved_away(
    serve: Serve, tmp_path: Path
) -> None:
    path, moved = tmp_path / "access.log", tmp_path / "access.log.moved"
    gateway = serve(document("a", access_log={"output": str(path)}))
    status_of(gateway.address, "/a")
    gateway.wait_until(lambda: path.exists() and path.stat().st_size > 0, "the first record")

    path.rename(moved)
    gateway.signal(signal.SIGHUP)
    gateway.wait_for_event("config_unchanged")
    status_of(gateway.address, "/a")
    gateway.wait_until(lambda: path.exists() and path.stat().st_size > 0, "a record in a new file")

    assert len(moved.read_text().splitlines()) == 1
    assert len(path.read_text().splitlines()) == 1


def test_a_file_that_goes_and_comes_back_is_followed(serve: Serve) -> None:
    gateway = serve(document("a"))

    gateway.document_path.unlink()
    time.sleep(0.5)
    gone = status_of(gateway.address, "/a")
    write(gateway.document_path, document("b"))
    gateway.wait_for_version(2)

    assert gone == 200
    assert status_of(gateway.address, "/b") == 200


def test_a_listener_moves_without_cutting_what_runs(serve: Serve) -> None:
    gateway = serve(document("a"))
    with gateway.connect() as client:
        before = client.request(get("/a")).status

        two = [
            {"id": "http", "address": "127.0.0.1:0"},
            {"id": "second", "address": "127.0.0.1:0"},
        ]
        write(gateway.document_path, document("a", listeners=two))
        gateway.wait_for_version(2)
        kept = client.request(get("/a")).status
        listeners = {
            each["id"]: each["address"] for each in gateway.status()["engine"]["listeners"]
        }
        write(gateway.document_path, document("a", listeners=two[1:]))
        gateway.wait_for_version(3)
        host, port = listeners["second"].rsplit(":", 1)
        moved = status_of((host, int(port)), "/a")

    assert (before, kept, moved) == (200, 200, 200)
    host, port = listeners["http"].rsplit(":", 1)
    with socket.socket() as late:
        assert late.connect_ex((host, int(port))) == errno.ECONNREFUSED
