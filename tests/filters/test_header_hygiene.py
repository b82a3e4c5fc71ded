"""`header_hygiene`: what a client cannot forge and an upstream does not tell."""

import pytest

from conftest import StartGateway, StartUpstream
from support.raw import get
from support.upstream import response

FORGED = (
    "X-User-Id: 1",
    "x-user-name: root",
    "X-Tenant-Id: other",
    "X-Tenant-Type: vip",
    "X-Auth-Role: admin",
    "X-Role: admin",
    "X-Roles: admin",
    "X-Data-Scope: all",
    "X-Gray: true",
    "X-Gray-Tag: v2",
    "X_User_Id: 1",
    "X-USER_ID: 1",
    "X-User-Id: 2",
)
# The default entry chain holds this filter: these tests use it as users get it.


@pytest.mark.spec("PL-45", "SE-06", "PX-55", "SE-30")
@pytest.mark.case("HD-03")
def test_what_upstreams_trust_no_client_can_send(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream)

    with gateway.connect() as client:
        client.request(get("/", "Accept: */*", *FORGED, "X-Userland: stays"))

    names = [name.lower() for name, _ in upstream.requests[0].fields.pairs]
    ours = {"x-request-id", "traceparent", *(f"x-forwarded-{w}" for w in ("for", "proto", "host"))}
    assert [name for name in names if name not in ours] == ["host", "accept", "x-userland"]


@pytest.mark.case("HD-03")
def test_the_forged_never_reach_a_route_that_answers_itself_or_rejects(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    gray = {"path": "/", "headers": [{"name": "X-Gray", "present": True}]}
    route = {"match": gray}
    gateway = start_gateway(start_upstream(), route=route)

    with gateway.connect() as client:
        answer = client.request(get("/", "X-Gray: true"))

    assert answer.status == 404, "a route that only the gateway may open was opened by a client"


@pytest.mark.case("HD-01")
@pytest.mark.parametrize(
    "lines",
    [
        ["Connection: close, X-Forwarded-For, X-Request-Id, traceparent, Authorization"],
        ["connection: CLOSE, x-FORWARDED-for, X-REQUEST-ID, TraceParent, authorization"],
        ["Connection: X-Request-Id, X-Forwarded-For", "Connection: close, traceparent"],
    ],
    ids=["one line", "mixed case", "two lines"],
)
def test_a_client_cannot_nominate_away_what_the_gateway_adds(
    start_gateway: StartGateway, start_upstream: StartUpstream, lines: list[str]
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream)

    with gateway.connect() as client:
        answer = client.request(get("/x", *lines, "X-Request-Id: mine", "X-Forwarded-For: 9.9.9.9"))

    fields = upstream.requests[0].fields
    shown = answer.header("X-Request-Id")
    assert shown not in (None, "mine"), "what the client nominated goes before we look at it"
    assert fields.all("X-Request-Id") == [shown]
    assert "traceparent" in fields
    assert fields.all("X-Forwarded-For") == ["127.0.0.1"]
    assert "close" not in ",".join(fields.all("Connection")).lower()
    assert not any("x-request-id" in value.lower() for value in fields.all("Connection")), (
        "the next hop would drop it"
    )


@pytest.mark.spec("HT-45", "SE-09")
def test_hop_by_hop_fields_stay_on_their_hop(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream(
        response(b"", "Connection: X-Hop", "X-Hop: 1", "Keep-Alive: timeout=9", "X-End: 1")
    )
    gateway = start_gateway(upstream)
    sent = (
        "Connection: X-Own",
        "X-Own: 1",
        "Keep-Alive: timeout=9",
        "Proxy-Connection: x",
        "TE: x",
    )

    with gateway.connect() as client:
        answer = client.request(get("/", *sent, "X-Far: 1"))

    fields = upstream.requests[0].fields
    assert fields["X-Far"] == "1"
    assert not {"X-Own", "Keep-Alive", "Proxy-Connection", "TE"} & {n for n, _ in fields.pairs}
    assert answer.header("X-End") == "1"
    assert not {"X-Hop", "Keep-Alive"} & {name for name, _ in answer.fields.pairs}


@pytest.mark.spec("SE-04")
def test_an_answer_does_not_tell_what_made_it(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    telling = response(b"", "Server: Old/1.0", "X-Powered-By: PHP", "X-Frame-Options: DENY")
    gateway = start_gateway(start_upstream(telling))

    with gateway.connect() as client:
        answer = client.request(get())
        rejected = client.request(get().replace(b"GET", b"CONNECT"))

    for seen in (answer, rejected):
        assert "Server" not in seen.fields
        assert "X-Powered-By" not in seen.fields
    assert answer.header("X-Frame-Options") == "DENY"


def test_a_document_adds_names_and_makes_exceptions(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream(response(b"", "X-Runtime: 3", "Server: ours"))
    config = {
        "request": {"prefixes": ["X-Internal-"], "remove": ["X-Env"], "keep": ["X-Auth-Token"]},
        "response": {"remove": ["X-Runtime"], "keep": ["Server"]},
    }
    gateway = start_gateway(upstream, entry=[{"name": "header_hygiene", "config": config}])
    sent = ("X-Internal-A: 1", "X-Env: gray", "X-Auth-Token: t", "X-Auth-User: u")

    with gateway.connect() as client:
        answer = client.request(get("/", *sent))

    names = [name for name, _ in upstream.requests[0].fields.pairs]
    assert names == ["Host", "X-Auth-Token"]
    assert "X-Runtime" not in answer.fields
    assert answer.header("Server") == "ours"
