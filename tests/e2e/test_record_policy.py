"""What a route's record tells of bodies, headers and queries; and what no record shows."""

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from conftest import StartGateway, StartUpstream
from sluicegate.errors import ConfigError
from support.raw import chunked, get, post
from support.upstream import Visit, response

EVERY_PIECE = {"request_body": "digest", "response_body": "digest"}
MASKED = {"request_body": "masked", "response_body": "masked"}
JSON = "Content-Type: application/json"
STUDENT = b'{"idCard":"11010519491231002X","phone":"13800138000","n":1}'
SHOWN = '{"idCard":"***","phone":"***","n":1}'


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.spec("OB-15", "PX-36")
def test_by_default_only_sizes_are_told(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    gateway = start_gateway(start_upstream(response(STUDENT, JSON)))

    with gateway.connect() as client:
        client.request(post(STUDENT, "/", JSON), "POST")

    record = gateway.record()
    assert (record["request_bytes"], record["response_bytes"]) == (len(STUDENT), len(STUDENT))
    assert not [key for key in record if "body" in key or "sha" in key or key == "headers"]


@pytest.mark.spec("OB-15", "PX-36")
@pytest.mark.parametrize("size", [0, 1, 5_000, 700_000])
def test_a_digest_is_that_of_what_passed_in_both_directions(
    start_gateway: StartGateway, start_upstream: StartUpstream, size: int
) -> None:
    up, down = bytes(size), b"\xff" * size
    upstream = start_upstream(response(down))
    gateway = start_gateway(upstream, record=EVERY_PIECE)

    with gateway.connect() as client:
        answer = client.request(post(up), "POST")

    record = gateway.record()
    assert answer.body == down
    assert upstream.requests[0].body == up
    assert record["request_sha256"] == sha256(up)
    assert record["response_sha256"] == sha256(down)
    assert record["response_bytes"] == size


@pytest.mark.spec("OB-15")
def test_the_digest_is_of_the_body_and_not_of_its_framing(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    coded = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(b"ab", b"cde")
    gateway = start_gateway(start_upstream(coded), record=EVERY_PIECE)

    with gateway.connect() as client:
        head = b"POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n"
        answer = client.request(head + chunked(b"1", b"23", b"4"), "POST")

    record = gateway.record()
    assert answer.body == b"abcde"
    assert record["request_sha256"] == sha256(b"1234")
    assert record["response_sha256"] == sha256(b"abcde")


@pytest.mark.spec("OB-14", "OB-15", "OB-16", "SE-25", "SE-29")
def test_a_masked_body_is_shown_without_secrets(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream(response(STUDENT, JSON))
    gateway = start_gateway(upstream, record=MASKED)

    with gateway.connect() as client:
        answer = client.request(
            post(
                b"user=u&password=p%26&page=2",
                "/",
                "Content-Type: application/x-www-form-urlencoded",
            ),
            "POST",
        )

    record = gateway.record()
    assert record["request_body"] == "user=u&password=***&page=2"
    assert record["response_body"] == SHOWN
    assert answer.body == STUDENT, "only the record is masked"
    assert upstream.requests[0].body == b"user=u&password=p%26&page=2"


@pytest.mark.spec("OB-16", "SE-29")
def test_patterns_of_the_document_hide_text_in_every_field(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    masking = {
        "names": ["grade"],
        "patterns": [
            {"name": "idCard", "regex": '"idCard":".*?"', "replace": '"idCard":"###"'},
            {"name": "employee", "regex": "EMP-([0-9]{2})[0-9]+", "replace": "EMP-$1**"},
        ],
    }
    gateway = start_gateway(start_upstream(), record=MASKED, masking=masking)

    with gateway.connect() as client:
        body = b'{"idCard":"1","grade":"A","who":"EMP-12345"}'
        client.request(post(body, "/EMP-9876/x?grade=A&a=1", JSON, "User-Agent: EMP-5555"), "POST")

    record = gateway.record()
    assert record["request_body"] == '{"idCard":"###","grade":"***","who":"EMP-12**"}'
    assert record["path"] == "/EMP-98**/x?grade=***&a=1"
    assert record["user_agent"] == "EMP-55**"


@pytest.mark.spec("OB-15")
def test_a_body_that_is_longer_than_the_limit_says_so(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    gateway = start_gateway(start_upstream(), record={**MASKED, "limit": "16B"})

    with gateway.connect() as client:
        client.request(post(b"a" * 5_016, "/", "Content-Type: text/plain"), "POST")

    record = gateway.record()
    assert record["request_body"] == "a" * 16 + "…+5000"
    assert record["request_bytes"] == 5_016


@pytest.mark.spec("OB-15")
@pytest.mark.parametrize(
    ("body", "fields", "why"),
    [
        (gzip.compress(STUDENT), [JSON, "Content-Encoding: gzip"], "compressed"),
        (b"\x89PNG\r\n\x1a\n", ["Content-Type: image/png"], "type"),
        (b"\x89PNG\r\n\x1a\n", [], "binary"),
        (b"<password>x</password>", ["Content-Type: application/xml"], "type"),
        (b"caf\xe9 \x1b[2J", ["Content-Type: text/plain"], "binary"),
    ],
    ids=["compressed", "image", "unnamed bytes", "XML", "terminal codes"],
)
def test_what_is_no_text_is_named_and_not_shown(
    start_gateway: StartGateway,
    start_upstream: StartUpstream,
    body: bytes,
    fields: list[str],
    why: str,
) -> None:
    gateway = start_gateway(start_upstream(response(body, *fields)), record=MASKED)

    with gateway.connect() as client:
        client.request(post(body, "/", *fields), "POST")

    record = gateway.record()
    assert (record["request_body_omitted"], record["response_body_omitted"]) == (why, why)
    assert "request_body" not in record
    assert "response_body" not in record


@pytest.mark.spec("OB-15")
def test_a_body_that_stops_half_way_is_told_as_partial(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    def hold(visit: Visit) -> None:
        visit.head()
        visit.wait_closed()

    upstream = start_upstream(script=hold)
    gateway = start_gateway(upstream, record=MASKED)

    with gateway.connect() as client:
        client.send(post(b"half", "/", JSON).replace(b"Length: 4", b"Length: 9"))
        upstream.wait_for_bytes(b"half")

    record = gateway.record()
    assert record["request_body"] == "half"
    assert record["request_body_partial"] is True


@pytest.mark.spec("OB-15")
def test_a_route_says_otherwise_than_the_document(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream(response(b"{}", JSON))
    own = {"quiet": {"response_body": "size"}, "loud": {"request_body": "masked"}, "usual": None}
    routes = [
        {"id": name, "match": {"path": f"/{name}"}, "upstream": "origin"}
        | ({"record": record} if record else {})
        for name, record in own.items()
    ]
    origin = {"id": "origin", "endpoints": [{"address": upstream.authority}]}
    gateway = start_gateway(
        {"routes": routes, "upstreams": [origin], "record": {"response_body": "digest"}}
    )

    with gateway.connect() as client:
        for name in (*own, "nowhere"):
            client.request(post(b"{}", f"/{name}", JSON), "POST")

    told = {record["route_id"]: record for record in gateway.records(4)}
    kinds = {
        route: sorted(key for key in record if "body" in key or "sha" in key)
        for route, record in told.items()
    }
    assert kinds == {
        "quiet": [],
        "loud": ["request_body", "response_sha256"],
        "usual": ["response_sha256"],
        "none": ["response_sha256"],
    }


@pytest.mark.spec("OB-11")
def test_headers_are_told_by_name_and_secrets_never(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    fields = ["X-Tenant: t-1", "Cookie: sid=secret-1", "Authorization: Bearer secret-2"]

    for headers in (["X-Tenant"], ["*"]):
        gateway = start_gateway(upstream, record={"headers": headers, "query": False})
        with gateway.connect() as client:
            client.request(get("/a?b=1", *fields))

        record = gateway.record()
        assert record["headers"]["x-tenant"] == "t-1"
        assert set(record["headers"]) & {"cookie", "authorization"} == set()
        assert ("host" in record["headers"]) == (headers == ["*"])
        assert record["path"] == "/a"
        assert "secret" not in json.dumps(record)


@pytest.mark.spec("OB-06")
def test_the_target_that_was_sent_and_the_routes_version_are_told(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    rewrite = {"name": "path_rewrite", "config": {"strip_prefix": "/api"}}
    route = {"match": {"path": "/api/**"}, "filters": [rewrite], "version": 7}
    gateway = start_gateway(upstream, route=route)

    with gateway.connect() as client:
        client.request(get("/api/orders?page=2"))

    record = gateway.record()
    assert record["path"] == "/api/orders?page=2"
    assert record["target"] == "/orders?page=2"
    assert (record["route_id"], record["route_version"]) == ("all", 7)
    assert record["upstream_instance"] == upstream.authority
    assert record["attempts"] == 1
    assert 0 <= record["answer_ms"] <= record["gateway_ms"]


@pytest.mark.spec("OB-11", "OB-12")
def test_the_campus_set_is_the_audit_record_of_its_source(
    start_gateway: StartGateway, start_upstream: StartUpstream, tmp_path: Path
) -> None:
    upstream = start_upstream(response(STUDENT, JSON))
    path = tmp_path / "audit.log"
    gateway = start_gateway(
        upstream,
        record={**MASKED, "headers": ["*"]},
        access_log={"output": str(path), "fields": "campus"},
    )
    gateway.log = path

    with gateway.connect() as client:
        client.request(
            post(STUDENT, "/courses/7?page=2&token=abc", JSON, "X-Request-Id: req-abc123"), "POST"
        )

    record = gateway.record()
    assert record.pop("timestamp").endswith("Z")
    assert isinstance(record.pop("durationMs"), float)
    assert len(record.pop("traceId")) == 32
    headers = record.pop("headers")
    assert headers["content-type"] == "application/json"
    assert record == {
        "level": "INFO",
        "requestId": "req-abc123",
        "method": "POST",
        "path": "/courses/7",
        "query": "page=2&token=***",
        "status": 200,
        "serviceId": "origin",
        "instanceId": upstream.authority,
        "routeId": "all",
        "clientIp": "127.0.0.1",
        "requestBytes": len(STUDENT),
        "responseBytes": len(STUDENT),
        "requestBody": SHOWN,
        "responseBody": SHOWN,
    }


@pytest.mark.spec("OB-16", "SE-29")
def test_what_cannot_be_recorded_or_hidden_is_named_at_its_place(
    start_gateway: StartGateway,
) -> None:
    route = {
        "id": "a",
        "match": {"path": "/"},
        "respond": {"status": 200},
        "record": {"headers": ["X-Tenant", "Cookie"]},
    }
    patterns = [
        {"name": "open", "regex": "(a"},
        {"name": "huge", "regex": "(?:[a-z]{900}){900}"},
        {"name": "nothing", "regex": "a*"},
        {"name": "group", "regex": "a", "replace": "$1"},
    ]

    with pytest.raises(ConfigError) as refused:
        start_gateway({"routes": [route], "masking": {"patterns": patterns}})

    told = {problem.written_path: problem.message for problem in refused.value.problems}
    assert set(told) == {
        "masking.patterns[0].regex",
        "masking.patterns[1].regex",
        "masking.patterns[2].regex",
        "masking.patterns[3].replace",
        "routes[0].record.headers[1]",
    }
    assert told["masking.patterns[0].regex"] == "`open`: unclosed group"
