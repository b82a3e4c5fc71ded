"""The clients that people have, against GitHub's API: curl, wrk and h2load."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.served import metric
from integration.answers import Answer, answer_of, client
from integration.conftest import GitHub
from integration.github import patterns, target
from support.raw import Address
from support.services import require_command

LARGE = "/repos/some-owner/some-repo/contents/some-path/large.txt"
FILE = "/octocat"
JSON = "/repos/some-owner/some-repo"
# nginx numbers the borders between ranges, over all answers.
BORDER = re.compile("0[0-9]{19}")
WRK_SCRIPT = Path(__file__).with_name("targets.lua")
REQUESTS = 4_000


def curl(
    folder: Path, address: Address, targets: list[str], *options: str, direct: bool
) -> list[Answer]:
    """Ask for each target on one connection; the bodies as they came, but for chunks."""
    command = require_command("curl", package="curl")
    folder.mkdir()
    lines = []
    for number, path in enumerate(targets):
        lines += ["next"] if number else []
        lines += [
            f'url = "http://{address[0]}:{address[1]}{path}"',
            'header = "Host: api.github.test"',
            "path-as-is",
            f'dump-header = "{folder}/{number}.head"',
            f'output = "{folder}/{number}.body"',
            *options,
        ]
    config = folder / "curl.conf"
    config.write_text("\n".join(lines))
    words = [command, "--silent", "--show-error", "--noproxy", "*", "--config", str(config)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    # Asked for a head alone, curl writes it where a body would go.
    has_body = "head" not in options
    return [
        _read(folder, number, direct=direct, has_body=has_body) for number in range(len(targets))
    ]


def _read(folder: Path, number: int, *, direct: bool, has_body: bool) -> Answer:
    status, *lines = (folder / f"{number}.head").read_bytes().decode().split("\r\n")
    fields = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    body = folder / f"{number}.body"
    content = body.read_bytes() if has_body and body.exists() else b""
    content = BORDER.sub("border", content.decode("latin-1")).encode("latin-1")
    fields = [(name, BORDER.sub("border", value)) for name, value in fields if name]
    return answer_of(status.removeprefix("HTTP/1.1 "), fields, content, direct=direct)


def with_its_tag(answer: Answer) -> list[str]:
    tag = dict(answer.fields)["ETag"].replace('"', '\\"')
    return [f'header = "If-None-Match: {tag}"']


def with_its_date(answer: Answer) -> list[str]:
    return [f'header = "If-Modified-Since: {dict(answer.fields)["Last-Modified"]}"']


def with_another_tag(_: Answer) -> list[str]:
    return ['header = "If-Match: \\"other\\""']


def options(*lines: str) -> Callable[[Answer], list[str]]:
    return lambda _: list(lines)


@pytest.mark.parametrize(
    ("path", "more", "status"),
    [
        pytest.param(JSON, options(), 200, id="a file"),
        pytest.param(JSON, options("head"), 200, id="HEAD"),
        pytest.param(JSON, options('header = "Accept-Encoding: gzip"'), 200, id="compressed"),
        pytest.param(FILE, options('range = "3-9"'), 206, id="a range"),
        pytest.param(LARGE, options('range = "0-0,1000000-1000999,-5"'), 206, id="ranges"),
        pytest.param(FILE, options('range = "999999999-"'), 416, id="a range beyond the end"),
        pytest.param(JSON, with_its_tag, 304, id="a tag that matches"),
        pytest.param(JSON, with_its_date, 304, id="a date that matches"),
        pytest.param(JSON, with_another_tag, 412, id="a tag that does not"),
        pytest.param(LARGE, options(), 200, id="a large file"),
        pytest.param(LARGE, options('header = "Accept-Encoding: gzip"'), 200, id="large, in gzip"),
        pytest.param(LARGE, options("http1.0"), 200, id="HTTP/1.0"),
        pytest.param("/orgs/missing", options(), 404, id="not found"),
        pytest.param("/repos/some-owner/some-repo/tarball/main", options(), 302, id="a redirect"),
        pytest.param(
            "/user/starred/some-owner/some-repo", options('request = "PUT"'), 204, id="no content"
        ),
        pytest.param(
            "/repos/some-owner/some-repo/issues",
            options('request = "POST"', f'data = "{"x" * 100_000}"'),
            201,
            id="a body",
        ),
        pytest.param("/repos/%C3%A9t%C3%A9/a+b(c)", options(), 200, id="other characters"),
        pytest.param(
            "/repos/a/b/environments/one%2Ftwo/secrets", options(), 418, id="an encoded slash"
        ),
    ],
)
def test_curl_sees_no_gateway(
    github: GitHub, tmp_path: Path, path: str, more: Callable[[Answer], list[str]], status: int
) -> None:
    (plain,) = curl(tmp_path / "plain", github.direct, [JSON], direct=True)
    words = more(plain)

    (expected,) = curl(tmp_path / "direct", github.direct, [path], *words, direct=True)
    (found,) = curl(tmp_path / "gateway", github.gateway.address, [path], *words, direct=False)

    assert expected.status.startswith(str(status)), expected
    assert (found.status, found.fields) == (expected.status, expected.fields)
    assert found.body == expected.body
    assert found.added == {"x-request-id"}


def test_curl_gets_every_file_in_one_go(github: GitHub, tmp_path: Path) -> None:
    paths = [target(one) for one in github.operations if one.method == "GET"]

    expected = curl(tmp_path / "direct", github.direct, paths, "compressed", direct=True)
    found = curl(tmp_path / "gateway", github.gateway.address, paths, "compressed", direct=False)

    pairs = zip(paths, found, expected, strict=True)
    assert [
        path for path, one, other in pairs if one.without_added() != other.without_added()
    ] == []
    assert len({one.body for one in expected if one.status == "200 OK"}) > 500


def test_a_method_without_an_operation_is_refused_with_those_there_are(github: GitHub) -> None:
    methods = patterns(github.operations)
    paths = sorted({target(one) for one in github.operations})
    wrong = []

    with client(github.gateway.address) as gateway:
        for path in paths:
            allowed = set().union(*(of_it for one, of_it in methods.items() if one.fullmatch(path)))
            allowed |= {"HEAD"} if "GET" in allowed else set()
            answer = gateway.request("OPTIONS", path)
            said = {word.strip() for word in answer.headers.get("Allow", "").split(",")}
            if (answer.status_code, said) != (405, allowed):
                wrong.append((path, answer.status_code, said, allowed))

    assert len(paths) > 700
    assert wrong == []


def test_what_is_no_operation_never_reaches_the_service(github: GitHub) -> None:
    methods = patterns(github.operations)
    beyond = {target(one) + "/beyond/it" for one in github.operations}
    unknown = sorted(path for path in beyond if not any(one.fullmatch(path) for one in methods))

    with client(github.gateway.address) as gateway:
        answers = {path: gateway.get(path) for path in unknown}

    assert len(unknown) > 600
    assert {answer.status_code for answer in answers.values()} == {404}
    assert not any("X-Operation" in answer.headers for answer in answers.values())
    assert {answer.json()["code"] for answer in answers.values()} == {"no_route"}


def test_wrk_over_all_paths_sees_no_error(github: GitHub, tmp_path: Path) -> None:
    targets = tmp_path / "targets"
    gets = [one for one in github.operations if one.method == "GET" and one.status < 300]
    targets.write_text("\n".join(target(one) for one in gets))
    before = metric(github.gateway.operations, "sluicegate_requests_total")

    told = {
        name: wrk(address, targets)
        for name, address in (("direct", github.direct), ("gateway", github.gateway.address))
    }

    for name, counts in told.items():
        assert counts["requests"] > len(gets) / 4, name
        assert {*counts.values()} == {counts["requests"], 0}, (name, counts)
    done = metric(github.gateway.operations, "sluicegate_requests_total") - before
    assert done >= told["gateway"]["requests"]


def wrk(address: Address, targets: Path) -> dict[str, int]:
    """Two seconds of requests over all targets; what wrk counted."""
    command = require_command("wrk", package="wrk")
    url = f"http://{address[0]}:{address[1]}"
    words = [command, "-t1", "-c8", "-d2s", "--timeout", "10s", "-s", str(WRK_SCRIPT), url]
    done = subprocess.run(
        [*words, "--", str(targets)], capture_output=True, text=True, timeout=60, check=True
    )
    counts: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return counts


def test_h2load_over_all_paths_sees_no_error(github: GitHub, tmp_path: Path) -> None:
    command = require_command("h2load", package="nghttp2-client")
    gets = [one for one in github.operations if one.method == "GET" and one.status < 300]
    told = {}

    for name, (host, port) in (("direct", github.direct), ("gateway", github.gateway.address)):
        urls = tmp_path / name
        urls.write_text("\n".join(f"http://{host}:{port}{target(one)}" for one in gets))
        words = [command, "--h1", "-n", str(REQUESTS), "-c", "8", "-t", "1", "-i", str(urls)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
        told[name] = re.findall(
            r"^(?:requests|status codes): .*$|^traffic: .*$", done.stdout, re.MULTILINE
        )

    for name, lines in told.items():
        assert f"{REQUESTS} succeeded, 0 failed, 0 errored, 0 timeout" in lines[0], (name, lines)
        assert lines[1] == f"status codes: {REQUESTS} 2xx, 0 3xx, 0 4xx, 0 5xx", (name, lines)
    data = [re.findall(r"\((\d+)\) data", lines[2]) for lines in told.values()]
    assert data[0] == data[1], "the same bytes of bodies"
