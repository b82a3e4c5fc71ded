"""The access log: one request is one line, whatever came and however it ended."""

import json
import os
import re
import stat
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from support.gateway import Gateway
from support.raw import get, post
from support.upstream import Visit, response

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
TIMES = ("duration_ms", "upstream_ms", "gateway_ms", "answer_ms")
DECIMAL = re.compile(r'"(?:duration|upstream|gateway|answer)_ms":\d+\.\d{3}[,}]')


def raw_lines(gateway: Gateway, count: int = 1) -> list[bytes]:
    """The log byte by byte, cut at line feeds only."""
    gateway.records(count)
    lines = gateway.log.read_bytes().split(b"\n")
    assert lines.pop() == b"", "the last line ends"
    return lines


@pytest.mark.spec("OB-01", "OB-02", "OB-03", "OB-04", "OB-05", "PL-25")
def test_a_forwarded_request_is_told_whole(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream(response(b"12345"))
    gateway = start_gateway(upstream, route={"id": "order", "match": {"path": "/o/{id}"}})

    with gateway.connect() as client:
        client.request(
            post(b"abc", "/o/7?a=1", "User-Agent: tester/1", "X-Request-Id: r-1", host="b.test"),
            "POST",
        )

    record = gateway.record()
    times = {name: record.pop(name) for name in TIMES}
    assert TIMESTAMP.fullmatch(record.pop("timestamp"))
    assert re.fullmatch(r"127\.0\.0\.1:\d+", record.pop("peer"))
    assert re.fullmatch(r"[0-9a-f]{32}", record.pop("trace_id"))
    assert record == {
        "level": "info",
        "request_id": "r-1",
        "client_ip": "127.0.0.1",
        "user_agent": "tester/1",
        "method": "POST",
        "host": "b.test",
        "path": "/o/7?a=1",
        "path_template": "/o/{id}",
        "route_id": "order",
        "listener": "http",
        "upstream": "origin",
        "upstream_instance": upstream.authority,
        "attempts": 1,
        "status": 200,
        "request_bytes": 3,
        "response_bytes": 5,
        "outcome": "complete",
        "snapshot_version": 1,
    }
    assert 0 <= times["upstream_ms"] <= times["duration_ms"]
    assert abs(times["duration_ms"] - times["upstream_ms"] - times["gateway_ms"]) < 0.01
    assert len(DECIMAL.findall(raw_lines(gateway)[0].decode())) == len(TIMES)


@pytest.mark.spec("OB-04")
def test_the_upstreams_time_and_the_gateways_own_are_told_apart(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    def slow(visit: Visit) -> None:
        while visit.request() is not None:
            time.sleep(0.1)
            visit.send(response(b"ok"))

    gateway = start_gateway(start_upstream(script=slow))

    with gateway.connect() as client:
        client.request(get())

    record = gateway.record()
    assert record["upstream_ms"] >= 100
    assert record["gateway_ms"] < 50


@pytest.mark.spec("OB-03")
def test_refusals_are_told_apart_by_code_and_reason(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    def hold(visit: Visit) -> None:
        visit.request()
        visit.wait_closed()

    gateway = start_gateway(
        start_upstream(script=hold),
        listener={"limits": {"body": "1KiB"}},
        route={
            "match": {"path": "/only", "methods": ["GET", "POST"]},
            "timeouts": {"response": "50ms"},
        },
    )
    asked = [
        (get("/nowhere"), "GET"),
        (get("/only").replace(b"GET", b"PUT"), "PUT"),
        (get("/%zz"), "GET"),
        (get("/only"), "GET"),
        (post(b"x" * 2000, "/only"), "POST"),
        (b"nonsense\r\n\r\n", "GET"),
    ]

    for data, method in asked:
        with gateway.connect() as client:
            client.request(data, method)

    told = [(r["status"], r["code"], r["reason"]) for r in gateway.records(len(asked))]
    assert told == [
        (404, "no_route", "no_route"),
        (405, "method_not_allowed", "no_route"),
        (400, "bad_path", "malformed"),
        (504, "upstream_timeout", "timeout"),
        (413, "body_too_large", "size"),
        (400, "bad_request", "malformed"),
    ]
    levels = [record["level"] for record in gateway.records(len(asked))]
    assert levels == ["warn", "warn", "warn", "error", "warn", "warn"]


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX-A\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
    ],
    ids=["two hosts", "no colon", "TLS", "long"],
)
def test_a_head_that_cannot_be_read_is_recorded(
    start_gateway: StartGateway, start_upstream: StartUpstream, head: bytes
) -> None:
    gateway = start_gateway(start_upstream())

    with gateway.connect() as client:
        answer = client.request(head)

    record = gateway.record()
    assert record["status"] == answer.status
    assert record["code"]
    assert record["cause"]
    assert record["route_id"] == "none"
    assert gateway.metric("sluicegate_requests_total", route="none") == 1


def test_a_client_that_leaves_before_the_answer_is_recorded(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    def hold(visit: Visit) -> None:
        visit.request()
        visit.wait_closed()

    upstream = start_upstream(script=hold)
    gateway = start_gateway(upstream)

    with gateway.connect() as client:
        client.send(get())
        upstream.wait_for_requests(1)

    record = gateway.record()
    assert (record["status"], record["code"], record["outcome"]) == (
        499,
        "client_gone",
        "client_gone",
    )
    assert record["level"] == "warn"
    assert upstream.wait_closed() is not None, "nobody works for a client that has left"
    assert gateway.metric("sluicegate_incomplete_total", outcome="client_gone") == 1


def test_a_client_that_leaves_in_the_middle_of_its_head_is_recorded(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    gateway = start_gateway(start_upstream())

    with gateway.connect() as client:
        client.send(b"GET / HTTP/1.1\r\nHost:")
    with gateway.connect() as silent:
        silent.half_close()
        silent.rest()

    record = gateway.record()
    assert (record["code"], record["route_id"]) == ("client_gone", "none")


def test_a_head_that_is_too_slow_is_recorded(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    gateway = start_gateway(start_upstream(), listener={"timeouts": {"header": "50ms"}})

    with gateway.connect() as client:
        client.send(b"GET / HTTP/1.1\r\nHost:")
        answer = client.response()

    record = gateway.record()
    assert (answer.status, record["status"], record["code"]) == (408, 408, "header_timeout")


def test_a_client_that_leaves_in_the_middle_of_an_answer_is_recorded(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    def begin(visit: Visit) -> None:
        visit.request()
        visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun")
        visit.wait_closed()

    gateway = start_gateway(start_upstream(script=begin))

    with gateway.connect() as client:
        client.send(get())
        client.reader.head()

    record = gateway.record()
    assert (record["status"], record["outcome"], record["level"]) == (200, "client_gone", "warn")
    assert record["response_bytes"] == 5


def test_an_answer_that_breaks_off_is_recorded_as_truncated(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    def cut(visit: Visit) -> None:
        visit.request()
        visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun")
        visit.fin()

    gateway = start_gateway(start_upstream(script=cut))

    with gateway.connect() as client:
        client.send(get())
        client.rest()

    record = gateway.record()
    assert (record["status"], record["outcome"], record["level"]) == (200, "truncated", "error")
    assert gateway.metric("sluicegate_incomplete_total", outcome="truncated") == 1


FORGERIES = {
    "CR and LF in the path": get("/%0d%0aFAKE%20line"),
    "NUL and escape in the path": get("/%00%1b[2J"),
    "quotes in User-Agent": get("/", 'User-Agent: x" 200 "y'),
    "backslash in User-Agent": get("/", 'User-Agent: x\\",\\"status\\":\\"200'),
    "no UTF-8 in User-Agent": get().replace(b"\r\n\r\n", b"\r\nUser-Agent: \xff\xfe\r\n\r\n"),
    "tab in X-Request-Id": get("/", "X-Request-Id: a\tb"),
    "X-Request-Id of 10 kB": get("/", "X-Request-Id: " + "a" * 10_000),
    "U+2028 in Referer": get("/", "Referer: http://a/\u2028b"),
    "U+2028 in User-Agent": get("/", "User-Agent: a\u2028b\u0085c"),
    "quotes in Host": get(host='a"b'),
    "raw escape in User-Agent": get("/", "User-Agent: \x1b[2J\x07"),
    "raw line feed in a header": get("/", "User-Agent: a\n{}"),
    "terminal codes as C1 bytes": get().replace(b"\r\n\r\n", b"\r\nUser-Agent: \x9b2J\r\n\r\n"),
    "no HTTP at all": b'\x1b[2J{"a":1}\r\n\r\n',
    "long User-Agent": get("/", "User-Agent: " + "u" * 9_000),
}


@pytest.mark.case("LG-01")
@pytest.mark.parametrize("fields", ["sluicegate", "campus"])
@pytest.mark.parametrize("data", FORGERIES.values(), ids=FORGERIES)
def test_one_request_is_one_line_that_parses_whatever_was_sent(
    start_gateway: StartGateway,
    start_upstream: StartUpstream,
    tmp_path: Path,
    data: bytes,
    fields: str,
) -> None:
    everything = {"request_body": "masked", "response_body": "masked", "headers": ["*"]}
    log = tmp_path / "forged.log"
    gateway = start_gateway(
        start_upstream(), access_log={"output": str(log), "fields": fields}, record=everything
    )
    gateway.log = log

    with gateway.connect() as client:
        answer = client.request(data)

    (line,) = raw_lines(gateway)
    record = json.loads(line.decode("utf-8"))
    assert isinstance(record, dict)
    _harmless(line)
    assert len(line) < 16 << 10
    told = record.get("request_id") or record.get("requestId") or ""
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}", told)
    assert answer.header("X-Request-Id") == told
    _harmless(answer.body)
    host, port = gateway.operations
    with urllib.request.urlopen(f"http://{host}:{port}/metrics", timeout=5) as scrape:
        metrics: bytes = scrape.read()
    _harmless(metrics.replace(b"\n", b""))
    assert b"FAKE" not in metrics


def _harmless(shown: bytes) -> None:
    """Nothing that a terminal or a reader of lines obeys."""
    text = shown.decode("utf-8")
    obeyed = re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]", text)
    assert not obeyed, f"{obeyed[0]!r} stands raw in {text!r}"


def test_secrets_in_the_address_and_the_client_are_masked(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLXNpZ25hdHVyZQ"  # noqa: S105 - none of ours
    gateway = start_gateway(start_upstream())

    with gateway.connect() as client:
        client.request(
            get(f"/x?access_token={token}&page=2", f"User-Agent: a {token}", "Cookie: sid=secret-1")
        )

    line = raw_lines(gateway)[0].decode()
    assert token not in line
    assert "secret-1" not in line
    assert "page=2" in line


@pytest.mark.spec("OB-08", "PL-42")
def test_a_full_queue_drops_and_counts_and_no_request_waits(
    start_gateway: StartGateway, tmp_path: Path
) -> None:
    nobody_reads = tmp_path / "pipe"
    os.mkfifo(nobody_reads)
    log = {"output": str(nobody_reads), "queue": "1KiB"}
    route = {"id": "a", "match": {"path": "/"}, "respond": {"status": 200}}
    gateway = start_gateway({"routes": [route], "access_log": log})

    began = time.monotonic()
    with gateway.connect() as client:
        for _ in range(300):
            assert client.request(get()).status == 200
    took = time.monotonic() - began

    def settled(status: dict[str, Any]) -> bool:
        return bool(status["access_log"]["dropped"] >= 100)

    gateway.wait_until(settled)
    assert took < 3
    assert gateway.metric("sluicegate_log_records_total", result="dropped") >= 100
    told: list[dict[str, Any]] = []
    with nobody_reads.open() as reader:
        # The queue's rest arrives as soon as somebody reads; together it is every request.
        while len(told) + gateway.status()["access_log"]["dropped"] < 300:
            told.append(json.loads(reader.readline()))
    assert len(told) + gateway.status()["access_log"]["dropped"] == 300


def test_a_file_is_rotated_by_size_and_no_line_is_lost(
    start_gateway: StartGateway, tmp_path: Path
) -> None:
    path = tmp_path / "rotated.log"
    log = {"output": str(path), "rotate": {"size": "4KiB", "keep": 50}}
    route = {"id": "a", "match": {"path": "/**"}, "respond": {"status": 200}}
    gateway = start_gateway({"routes": [route], "access_log": log})

    with gateway.connect() as client:
        for number in range(100):
            client.request(get(f"/{number}"))
            if number % 10 == 9:
                gateway.wait_until(
                    lambda status, sent=number + 1: status["access_log"]["written"] >= sent
                )

    files = sorted(tmp_path.glob("rotated.log*"))
    paths = [json.loads(line)["path"] for file in files for line in file.read_text().splitlines()]
    assert len(files) > 3
    assert sorted(paths) == sorted(f"/{number}" for number in range(100))
    assert all(file.stat().st_size <= 8 << 10 for file in files)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_reload_can_move_the_log_or_turn_it_off(
    start_gateway: StartGateway, tmp_path: Path
) -> None:
    routes = [{"id": "a", "match": {"path": "/**"}, "respond": {"status": 200}}]
    second = tmp_path / "second.log"
    gateway = start_gateway({"routes": routes})

    for target, output in (("/1", str(second)), ("/2", "off"), ("/3", str(second)), ("/4", "")):
        with gateway.connect() as client:
            client.request(get(target))
        gateway.wait_until(
            lambda status, least=int(target[1]) - (1 if target > "/2" else 0): (
                status["access_log"]["written"] >= least
            )
        )
        if output:
            gateway.reload({"routes": routes, "access_log": {"output": output}})

    assert [record["path"] for record in gateway.records(1)] == ["/1"]
    assert [json.loads(line)["path"] for line in second.read_text().splitlines()] == ["/2", "/4"]


@pytest.mark.spec("OB-05", "OB-24", "CF-06")
def test_the_record_names_the_snapshot_that_a_request_met(start_gateway: StartGateway) -> None:
    routes = [{"id": "a", "match": {"path": "/**"}, "respond": {"status": 200}}]
    gateway = start_gateway({"routes": routes})

    with gateway.connect() as client:
        client.request(get())
        gateway.reload({"routes": routes})
        client.request(get())

    assert [record["snapshot_version"] for record in gateway.records(2)] == [1, 2]
    assert gateway.metric("sluicegate_snapshot_version") == 2
