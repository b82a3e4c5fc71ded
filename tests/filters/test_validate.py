"""`validate`: what no service behind has to think about."""

import json
from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from sluicegate.errors import ConfigError
from support.raw import Response, get, post


def validate(**config: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a document
    """One use of the filter."""
    return {"name": "validate", "config": config}


def code_of(answer: Response) -> str | None:
    """The code of a reject; none for an answer of the upstream."""
    return None if answer.status == 200 else str(json.loads(answer.body)["code"])


@pytest.mark.spec("SE-01", "PL-29", "ER-06")
@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("/a%20b?c=%C3%A9&d=+", None),
        ("/?a=%zz", "bad_encoding"),
        ("/?a=%4", "bad_encoding"),
        ("/?a=%00", "bad_encoding"),
        ("/?a=%0D%0ASet-Cookie:x", "bad_encoding"),
        ("/?a=%C0%AF", "bad_encoding"),
        ("/%FF", "bad_encoding"),
        ("/%C2%85", "bad_encoding"),
        ("/a%00", "bad_path"),
        ("/a%zz", "bad_path"),
        ("/%3Cscript%3E", "forbidden_character"),
        ("/?a=<b", "forbidden_character"),
    ],
)
def test_characters_and_escapes_stand_for_text(
    start_gateway: StartGateway, start_upstream: StartUpstream, target: str, code: str | None
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, entry=[validate(forbidden_characters="<>")])

    with gateway.connect() as client:
        answer = client.request(get(target))

    assert code_of(answer) == code
    assert answer.status == (400 if code else 200)
    assert [request.target for request in upstream.requests] == ([] if code else [target])


@pytest.mark.spec("SE-01", "HT-07")
@pytest.mark.parametrize(
    ("target", "status", "code"),
    [
        ("/12345678?q=" + "x" * 100, 200, None),
        ("/123456789", 414, "path_too_long"),
        ("/a/b/c", 400, "too_many_segments"),
        ("/?a&b&c", 400, "too_many_parameters"),
        ("/" + "x" * 9000, 414, "target_too_long"),
    ],
)
def test_the_target_has_bounds(
    start_gateway: StartGateway,
    start_upstream: StartUpstream,
    target: str,
    status: int,
    code: str | None,
) -> None:
    bounds = {"max_path_length": 9, "max_path_segments": 2, "max_query_parameters": 2}
    gateway = start_gateway(start_upstream(), entry=[validate(**bounds)])

    with gateway.connect() as client:
        answer = client.request(get(target))

    assert (answer.status, code_of(answer)) == (status, code)


@pytest.mark.spec("PL-29")
def test_a_registered_method_is_refused_and_another_is_not_known(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    gateway = start_gateway(start_upstream(), entry=[validate(methods=["GET", "PURGE"])])

    with gateway.connect() as client:
        answers = [
            client.request(get("/").replace(b"GET", method), method.decode())
            for method in (b"GET", b"PURGE", b"DELETE", b"get", b"FOO")
        ]

    assert [answer.status for answer in answers] == [200, 200, 405, 501, 501]
    assert answers[2].header("Allow") == "GET, PURGE"


def test_only_hosts_of_the_list_are_answered_for(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    gateway = start_gateway(start_upstream(), entry=[validate(hosts=["a.test", "*.shop.test"])])
    hosts = ("a.test", "A.test:8080", "x.shop.test", "shop.test", "evil.test")

    with gateway.connect() as client:
        answers = [client.request(get("/", host=host)) for host in hosts]
    with gateway.connect() as client:
        without = client.request(b"GET / HTTP/1.0\r\n\r\n")

    assert [answer.status for answer in answers] == [200, 200, 200, 421, 421]
    assert (without.status, code_of(without)) == (400, "host_missing")


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (post(b"{}", "/", "Content-Type: application/json; charset=utf-8"), 200),
        (post(b"x", "/", "Content-Type: IMAGE/png"), 200),
        (post(b"", "/"), 200),
        (post(b"{}", "/"), 415),
        (post(b"{}", "/", "Content-Type: text/html"), 415),
        (post(b"{}", "/", "Content-Type: application/jsonx"), 415),
        (get("/", "Content-Length: 1") + b"x", 400),
        (get("/"), 200),
    ],
    ids=["json", "image", "no body", "no type", "html", "longer name", "body on GET", "GET"],
)
def test_a_body_has_an_accepted_type_and_a_method_that_has_one(
    start_gateway: StartGateway, start_upstream: StartUpstream, request_bytes: bytes, status: int
) -> None:
    config = {"content_types": ["application/json", "image/*"], "bodiless_methods": ["GET"]}
    gateway = start_gateway(start_upstream(), route={"filters": [validate(**config)]})

    with gateway.connect() as client:
        answer = client.request(request_bytes)

    assert answer.status == status
    assert answer.header("Accept") == ("application/json, image/*" if status == 415 else None)


@pytest.mark.spec("SE-01")
def test_header_values_may_have_to_be_ascii(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    gateway = start_gateway(start_upstream(), entry=[validate(ascii_header_values=True)])

    with gateway.connect() as client:
        plain = client.request(get("/", "X-A: a b"))
        other = client.request(get("/", "X-A: é"))

    assert plain.status == 200
    assert (other.status, code_of(other)) == (400, "bad_header_value")


@pytest.mark.parametrize(
    ("config", "pointer"),
    [
        ({"methods": []}, "/methods"),
        ({"methods": ["get"]}, "/methods/0"),
        ({"hosts": ["a.test:80"]}, "/hosts/0"),
        ({"content_types": ["json"]}, "/content_types/0"),
        ({"forbidden_characters": "/"}, "/forbidden_characters"),
        ({"max_path_length": 0}, "/max_path_length"),
        ({"max_path_lenght": 1}, "/max_path_lenght"),
    ],
)
def test_a_mistake_is_named_at_its_place(
    start_gateway: StartGateway, start_upstream: StartUpstream, config: dict[str, Any], pointer: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        start_gateway(start_upstream(), entry=[validate(**config)])

    (problem,) = refused.value.problems
    assert problem.pointer == f"/entry/0/config{pointer}"
