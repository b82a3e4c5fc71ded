"""`security_headers`: what browsers are told about an answer."""

from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from sluicegate.errors import ConfigError
from support.raw import get
from support.upstream import response


def headers(**config: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a document
    """One use of the filter."""
    return {"name": "security_headers", "config": config}


@pytest.mark.spec("SE-11", "SE-12", "SE-13")
def test_every_answer_has_them(start_gateway: StartGateway, start_upstream: StartUpstream) -> None:
    upstream = start_upstream(response(b"ok", "X-Frame-Options: ALLOWALL"))
    config = {
        "nosniff": True,
        "frame_options": "SAMEORIGIN",
        "content_security_policy": "default-src 'self'",
        "referrer_policy": "no-referrer",
        "permissions_policy": "geolocation=()",
        "xss_protection": 0,
    }
    route = {"match": {"path": "/only", "methods": ["GET"]}}
    gateway = start_gateway(upstream, entry=[headers(**config)], route=route)

    with gateway.connect() as client:
        answers = [
            client.request(get("/only")),
            client.request(get("/elsewhere")),
            client.request(get("/only").replace(b"GET", b"PUT")),
            client.request(get("/a%zz")),
        ]

    assert [answer.status for answer in answers] == [200, 404, 405, 400]
    for answer in answers:
        assert answer.header("X-Content-Type-Options") == "nosniff"
        assert answer.header("X-Frame-Options") == "SAMEORIGIN"
        policy = answer.header("Content-Security-Policy")
        assert policy == "default-src 'self'; frame-ancestors 'self'"
        assert answer.header("Referrer-Policy") == "no-referrer"
        assert answer.header("Permissions-Policy") == "geolocation=()"
        assert answer.header("X-XSS-Protection") == "0"


@pytest.mark.spec("SE-10")
def test_transport_security_is_not_promised_in_plain_text(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    config = {"hsts": {"preload": True}, "nosniff": True}
    gateway = start_gateway(start_upstream(), entry=[headers(**config)])

    with gateway.connect() as client:
        # Nobody vouches for this client.
        answer = client.request(get("/", "X-Forwarded-Proto: https"))

    assert answer.header("X-Content-Type-Options") == "nosniff"
    assert "Strict-Transport-Security" not in answer.fields


def test_nothing_is_on_by_itself(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    gateway = start_gateway(start_upstream())

    with gateway.connect() as client:
        names = {name.lower() for name, _ in client.request(get("/")).fields.pairs}

    assert not names & {
        "strict-transport-security",
        "x-content-type-options",
        "x-frame-options",
        "content-security-policy",
    }


def test_what_the_upstream_says_may_stay(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream(response(b"ok", "X-Frame-Options: SAMEORIGIN"))
    config = {"mode": "if_absent", "frame_options": "DENY", "nosniff": True}
    gateway = start_gateway(upstream, route={"filters": [headers(**config)]})

    with gateway.connect() as client:
        answer = client.request(get("/"))

    assert answer.header("X-Frame-Options") == "SAMEORIGIN"
    assert "Content-Security-Policy" not in answer.fields
    assert answer.header("X-Content-Type-Options") == "nosniff"


def test_a_policy_of_the_upstream_stays_beside_the_frame_rule(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream(response(b"ok", "Content-Security-Policy: script-src 'self'"))
    gateway = start_gateway(upstream, route={"filters": [headers(frame_options="DENY")]})

    with gateway.connect() as client:
        answer = client.request(get("/"))

    policies = answer.fields.all("Content-Security-Policy")
    assert policies == ["script-src 'self'", "frame-ancestors 'none'"]


@pytest.mark.spec("SE-10", "SE-12", "SE-13")
@pytest.mark.parametrize(
    ("config", "pointer", "says"),
    [
        ({}, "", "no header"),
        ({"hsts": {"preload": True, "max_age": "24h"}}, "/hsts/preload", "8760h"),
        (
            {"hsts": {"preload": True, "include_subdomains": False}},
            "/hsts/preload",
            "include_subdomains",
        ),
        (
            {"frame_options": "DENY", "content_security_policy": "frame-ancestors 'self'"},
            "/content_security_policy",
            "contradicts",
        ),
        (
            {"content_security_policy": "defalt-src 'self'"},
            "/content_security_policy",
            "default-src",
        ),
        ({"content_security_policy": "img-src self"}, "/content_security_policy", "'self'"),
        ({"permissions_policy": "camera 'none'"}, "/permissions_policy", "camera"),
        ({"xss_protection": 1}, "/xss_protection", "0"),
        ({"frame_options": "ALLOW"}, "/frame_options", "DENY"),
    ],
)
def test_what_a_browser_would_ignore_is_refused(
    start_gateway: StartGateway,
    start_upstream: StartUpstream,
    config: dict[str, Any],
    pointer: str,
    says: str,
) -> None:
    with pytest.raises(ConfigError) as refused:
        start_gateway(start_upstream(), route={"filters": [headers(**config)]})

    (problem,) = refused.value.problems
    assert problem.pointer == f"/routes/0/filters/0/config{pointer}"
    assert says in str(problem)
