"""`cors`: which pages of other origins may read an answer."""

from typing import Any

import pytest

from conftest import StartGateway, StartUpstream
from sluicegate.errors import ConfigError
from support.raw import Response, get
from support.upstream import response

A = "Origin: https://a.test"
EVIL = "Origin: https://evil.test"
ASKS_PUT = "Access-Control-Request-Method: PUT"
ALLOWED = "Access-Control-Allow-Origin"


def cors(**config: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a document
    """One use of the filter, for one origin unless said otherwise."""
    return {"name": "cors", "config": {"origins": ["https://a.test"], **config}}


# What no request without this header passes: it stands where permissions, limits and tokens stand,
# behind the negotiation.
GUARD = {"name": "host_rewrite", "config": {"host": "{header.X-Token}.internal"}}


def options(target: str, *fields: str) -> bytes:
    """The head of an `OPTIONS`."""
    return get(target, *fields).replace(b"GET", b"OPTIONS", 1)


def varies_by_origin(answer: Response) -> bool:
    """Whether caches know that the answer belongs to one origin."""
    members = [one.strip().lower() for vary in answer.fields.all("Vary") for one in vary.split(",")]
    return members.count("origin") == 1


@pytest.mark.case("CO-01")
@pytest.mark.spec("PX-01", "SE-03")
def test_a_preflight_needs_no_token_and_no_upstream(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    config = {"methods": ["GET", "PUT"], "headers": ["X-Token"], "max_age": "10m"}
    route = {
        "match": {"path": "/**", "methods": ["GET", "PUT"]},
        "filters": [cors(**config), GUARD],
    }
    gateway = start_gateway(upstream, route=route)

    with gateway.connect() as client:
        answer = client.request(options("/x", A, ASKS_PUT), "OPTIONS")
        stranger = client.request(options("/x", EVIL, ASKS_PUT), "OPTIONS")
        ordinary = client.request(get("/x", A, "X-Token: t"))

    assert answer.status == 204
    assert answer.header(ALLOWED) == "https://a.test"
    assert answer.header("Access-Control-Allow-Methods") == "GET, PUT"
    assert answer.header("Access-Control-Allow-Headers") == "X-Token"
    assert answer.header("Access-Control-Max-Age") == "600"
    assert varies_by_origin(answer)
    assert stranger.status == 204
    assert not [
        name for name, _ in stranger.fields.pairs if name.lower().startswith("access-control")
    ]
    assert varies_by_origin(stranger)
    assert ordinary.status == 200
    assert [request.method for request in upstream.requests] == ["GET"]


@pytest.mark.case("CO-01")
def test_options_that_ask_for_no_method_are_ordinary_requests(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream()
    gateway = start_gateway(upstream, route={"filters": [cors(), GUARD]})

    with gateway.connect() as client:
        refused = client.request(options("/x", A), "OPTIONS")
        served = client.request(options("/x", A, "X-Token: t"), "OPTIONS")

    assert (refused.status, served.status) == (400, 200)
    assert refused.header(ALLOWED) == served.header(ALLOWED) == "https://a.test"
    assert [request.method for request in upstream.requests] == ["OPTIONS"]


@pytest.mark.case("CO-01")
def test_errors_can_be_read_by_the_page(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    origin = start_upstream()
    upstreams = [
        {"id": "origin", "endpoints": [{"address": origin.authority}]},
        {
            "id": "broken",
            "endpoints": [{"address": start_upstream(b"no answer\r\n\r\n").authority}],
        },
    ]
    validate = {"name": "validate", "config": {"bodiless_methods": ["GET"]}}
    routes = [
        {
            "id": "guarded",
            "match": {"path": "/guarded/**"},
            "upstream": "origin",
            "filters": [validate, cors(), GUARD],
            "limits": {"body": "10B"},
        },
        {"id": "broken", "match": {"path": "/broken"}, "upstream": "broken", "filters": [cors()]},
    ]
    gateway = start_gateway({"upstreams": upstreams, "routes": routes})
    big = get("/guarded/x", A, "Content-Length: 11").replace(b"GET", b"POST", 1)

    with gateway.connect() as client:
        answers = [
            client.request(get("/guarded/x", A)),
            client.request(get("/broken", A)),
            # Before its turn: a phase that comes earlier, and what the engine checks.
            client.request(get("/guarded/x", A, "Content-Length: 1") + b"x"),
            client.request(get("/guarded/a%2Fb", A)),
            client.request(big, "POST"),
        ]

    assert [answer.status for answer in answers] == [400, 502, 400, 400, 413]
    for answer in answers:
        assert answer.header(ALLOWED) == "https://a.test"
        assert varies_by_origin(answer)


@pytest.mark.case("CO-01")
@pytest.mark.parametrize(
    "fields",
    [
        ["Origin: https://x,https://a.test"],
        ["Origin: https://a.test, https://a.test"],
        ["Origin: null"],
        [A, A],
        [A, EVIL],
        [EVIL],
        ["Origin: https://a.test.evil.test"],
        ["Origin: http://a.test"],
        [],
    ],
    ids=", ".join,
)
def test_nothing_but_one_allowed_origin_is_reflected(
    start_gateway: StartGateway, start_upstream: StartUpstream, fields: list[str]
) -> None:
    gateway = start_gateway(start_upstream(), route={"filters": [cors(credentials=True)]})

    with gateway.connect() as client:
        answers = [
            client.request(get("/", *fields)),
            client.request(options("/", *fields, ASKS_PUT), "OPTIONS"),
        ]

    for answer in answers:
        assert ALLOWED not in answer.fields
        assert "Access-Control-Allow-Credentials" not in answer.fields
        assert varies_by_origin(answer)


@pytest.mark.case("CO-01")
@pytest.mark.spec("SE-03")
def test_what_the_upstream_says_about_origins_is_replaced(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    own = (
        "Access-Control-Allow-Origin: *",
        "access-control-allow-credentials: true",
        "Vary: origin",
    )
    upstream = start_upstream(response(b"ok", *own))
    gateway = start_gateway(upstream, route={"filters": [cors()]})

    with gateway.connect() as client:
        ours = client.request(get("/", A))
        strange = client.request(get("/", EVIL))

    assert ours.fields.all(ALLOWED) == ["https://a.test"]
    assert ALLOWED not in strange.fields
    for answer in (ours, strange):
        assert "Access-Control-Allow-Credentials" not in answer.fields
        assert varies_by_origin(answer)


@pytest.mark.case("CO-01")
def test_before_the_match_the_entry_chain_answers_for_all(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    upstream = start_upstream(response(b"ok", "Access-Control-Allow-Origin: *"))
    validate = {"name": "validate", "config": {"methods": ["GET", "POST", "PUT", "OPTIONS"]}}
    gateway = start_gateway(
        upstream,
        entry=[validate, cors()],
        route={"match": {"path": "/only", "methods": ["GET"]}},
    )
    delete = get("/only", A).replace(b"GET", b"DELETE", 1)

    with gateway.connect() as client:
        before = [
            client.request(get("/elsewhere", A)),
            client.request(get("/only", A).replace(b"GET", b"POST", 1), "POST"),
            client.request(delete, "DELETE"),
            client.request(get("/a%zz", A)),
        ]
        nobody = client.request(get("/elsewhere"))
        stranger = client.request(get("/elsewhere", EVIL))
        routed = client.request(get("/only", A))

    assert [answer.status for answer in before] == [404, 405, 405, 400]
    for answer in before:
        assert answer.header(ALLOWED) == "https://a.test"
        assert varies_by_origin(answer)
    for answer in (nobody, stranger):
        assert ALLOWED not in answer.fields
        assert varies_by_origin(answer)
    # A route without `cors` leaves it to its upstream.
    assert routed.header(ALLOWED) == "*"


def test_everybody_gets_the_same_answer(
    start_gateway: StartGateway, start_upstream: StartUpstream
) -> None:
    gateway = start_gateway(start_upstream(), route={"filters": [cors(origins=["*"])]})

    with gateway.connect() as client:
        answers = [client.request(get("/", *fields)) for fields in ([A], [EVIL], [])]

    assert [answer.header(ALLOWED) for answer in answers] == ["*", "*", "*"]
    assert not [answer for answer in answers if varies_by_origin(answer)]


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("https://x.shop.test", True),
        ("https://x.y.shop.test", True),
        ("https://shop.test", False),
        ("https://evilshop.test", False),
        ("https://evil.test/.shop.test", False),
        ("https://pay-1.test", True),
        ("https://pay-1.test.evil.test", False),
        ("https://pay-1xtest", False),
    ],
)
def test_subdomains_and_patterns_match_whole_origins(
    start_gateway: StartGateway, start_upstream: StartUpstream, origin: str, *, allowed: bool
) -> None:
    origins = ["https://*.shop.test", {"regex": r"https://pay-\d\.test"}]
    gateway = start_gateway(start_upstream(), route={"filters": [cors(origins=origins)]})

    with gateway.connect() as client:
        answer = client.request(get("/", f"Origin: {origin}"))

    assert answer.header(ALLOWED) == (origin if allowed else None)


@pytest.mark.case("CO-01")
@pytest.mark.spec("SE-03")
@pytest.mark.parametrize(
    ("config", "pointer", "says"),
    [
        ({"origins": ["*"], "credentials": True}, "/origins/0", "credentials"),
        (
            {"origins": [{"regex": "https?://.*"}], "credentials": True},
            "/origins/0/regex",
            "every origin",
        ),
        ({"origins": ["*", "https://a.test"]}, "/origins/0", "pointless"),
        ({"origins": ["null"]}, "/origins/0", "null"),
        ({"origins": [{"regex": "https://a.test"}]}, "/origins/0/regex", "any character"),
        ({"origins": ["https://a.test/"]}, "/origins/0", "https://a.test"),
        ({"origins": []}, "/origins", "no origin"),
        ({"headers": ["*"]}, "/headers/0", "alone"),
    ],
    ids=["all", "pattern of all", "all and one", "null", "dot", "path", "none", "all headers"],
)
def test_a_list_that_does_not_protect_is_refused(
    start_gateway: StartGateway,
    start_upstream: StartUpstream,
    config: dict[str, Any],
    pointer: str,
    says: str,
) -> None:
    with pytest.raises(ConfigError) as refused:
        start_gateway(start_upstream(), route={"filters": [cors(**config)]})

    (problem,) = refused.value.problems
    assert problem.pointer == f"/routes/0/filters/0/config{pointer}"
    assert says in str(problem)
