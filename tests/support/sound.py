"""Sound documents of all kinds, and for each of their routes a request and what comes of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]
Fields = dict[str, Any]

WORDS = st.sampled_from(["orders", "users", "api", "assets", "v1", "a-b", "x_y", "A.B", "~me"])
SPANS = st.sampled_from(["20s", "60s", "1500ms", "2m", "1h", "9999999us"])
SIZES = st.sampled_from(["64KiB", "2MiB", "3MB", "100000B", "1GiB", "1GB"])


@dataclass
class Sample:
    """A request for one route, and its answer: the gateway's own, or what an upstream is asked."""

    route: str
    method: str
    target: str
    host: str
    fields: list[str] = field(default_factory=list)
    status: int = 200
    body: bytes | None = None
    answer_fields: dict[str, str] = field(default_factory=dict)
    upstream_target: str | None = None
    upstream_fields: dict[str, str] = field(default_factory=dict)

    @property
    def request(self) -> bytes:
        """The request as it is sent."""
        lines = [f"{self.method} {self.target} HTTP/1.1", f"Host: {self.host}", *self.fields]
        return ("\r\n".join([*lines, "Content-Length: 0"]) + "\r\n\r\n").encode()


@dataclass
class Sound:
    """A document, and samples of its routes."""

    value: dict[str, Any]
    samples: list[Sample]


def sometimes(draw: Draw, fields: dict[str, st.SearchStrategy[Any]]) -> Fields:
    """Some of these fields."""
    return {name: draw(value) for name, value in fields.items() if draw(st.booleans())}


@st.composite
def documents(draw: Draw, upstream: str = "127.0.0.1:9001") -> Sound:
    """A sound document whose requests go to `upstream`; it has some of everything."""
    upstreams = [_upstream(draw, number, upstream) for number in range(draw(st.integers(1, 3)))]
    ids = [one["id"] for one in upstreams]
    kinds = ["upstream", "respond", "redirect"]
    kinds += draw(st.lists(st.sampled_from(kinds), max_size=3))
    pairs = [_route(draw, number, kind, ids) for number, kind in enumerate(kinds)]
    document = {
        "format": 1,
        "listeners": [_listener(draw)],
        "upstreams": upstreams,
        "routes": [route for route, _ in pairs],
        "entry": [
            {"name": "request_id", "config": {"header": "X-Request-Id", "keep": True}},
            {"name": "header_hygiene", "id": "clean", "config": {"request": {"remove": ["X-Bad"]}}},
        ],
        "errors": _errors(draw),
        "access_log": {"output": "off", "rotate": {"size": draw(SIZES), "keep": 3}},
        "metrics": {"prefix": "sluicegate"},
        "route_defaults": {"limits": {"body": draw(SIZES)}, "labels": {"tier": "one"}},
    }
    document |= sometimes(
        draw,
        {
            "upstream_policy": st.just({"networks": ["127.0.0.0/8"], "ports": ["1-65535"]}),
            "record": st.just({"request_body": "digest", "headers": ["Accept"]}),
            "masking": st.just({"names": ["pin"], "patterns": [{"name": "a", "regex": "x+"}]}),
        },
    )
    return Sound(document, [sample for _, sample in pairs])


def _listener(draw: Draw) -> Fields:
    whole = st.integers(20, 1000)
    limits = {"header": "16KiB", "fields": draw(st.integers(20, 256)), "body": draw(SIZES)}
    limits |= sometimes(draw, {"target": st.just("8KiB"), "connections": whole})
    limits |= sometimes(draw, {"requests_per_connection": whole})
    timeouts = {"idle": draw(SPANS)} | sometimes(
        draw, {"header": SPANS, "body": SPANS, "write": SPANS}
    )
    found = {"id": "http", "address": "127.0.0.1:0", "limits": limits, "timeouts": timeouts}
    return found | sometimes(draw, {"exposure": st.sampled_from(["public", "internal"])})


def _upstream(draw: Draw, number: int, address: str) -> Fields:
    weights = sometimes(draw, {"weight": st.integers(1, 1000)})
    found: Fields = {
        "id": f"{draw(st.sampled_from(['shop', 'Shop.v2', '7up']))}-{number}",
        "endpoints": [{"address": address, **weights}],
        "host": draw(st.sampled_from(["keep", "endpoint", "in.example", "in.example:81"])),
        "connections": {"max": draw(st.integers(5, 500)), "idle": "10s", "life": "10m"},
        "timeouts": {"connect": "2s", "response": "1400ms", "total": draw(SPANS)},
    }
    return found | sometimes(
        draw, {"balance": st.just("round_robin"), "dns": st.just({"refresh": "30s"})}
    )


def _errors(draw: Draw) -> Fields:
    codes = {"no_route": {"status": draw(st.sampled_from([404, 403])), "title": "Not here"}}
    form = draw(st.sampled_from(["problem", "code-message", "template"]))
    template = {"content_type": "text/plain", "body": "{code} {status} {request_id}"}
    return {"format": form, "codes": codes} | ({"template": template} if form == "template" else {})


def _route(draw: Draw, number: int, kind: str, upstreams: list[str]) -> tuple[Fields, Sample]:
    # The first segment is like no other, so that no route stands in another's way.
    first = f"{draw(WORDS)}-{number}"
    template, path = _path(draw, first)
    sample = Sample(f"r{number}.{kind}", "GET", path, "any.example")
    # A route may have several paths, but a filter that reads their parameters may not.
    paths = draw(st.sampled_from([template, [template], [template, f"/also/{first}/**"]]))
    route: Fields = {"id": sample.route, "match": {"path": paths}}
    _conditions(draw, route["match"], sample)
    {"upstream": _to_upstream, "respond": _to_answer, "redirect": _to_place}[kind](
        draw, route, sample, upstreams
    )
    route |= sometimes(draw, {"priority": st.integers(-9, 9), "limits": st.just({"body": "1MiB"})})
    route["encoded_slash"] = draw(st.sampled_from(["refuse", "allow"]))
    route["timeouts"] = {"response": "1s", "total": draw(SPANS)}
    route |= sometimes(
        draw,
        {
            "description": st.text("aé 1", max_size=9),
            "status": st.just("published"),
            "version": st.integers(1, 1 << 40),
            "exposure": st.just("public"),
            "defaults": st.booleans(),
            "record": st.just({"query": False}),
        },
    )
    route["labels"] = {"team": draw(st.text("aé 1", max_size=4)), "a/b~c": "d"}
    return route, sample


def _path(draw: Draw, first: str) -> tuple[str, str]:
    segments = [(first, first)]
    parts = draw(
        st.lists(st.sampled_from(["list", "{}", "v{}", "{}.json", "x-{}-y", "%C3%A9"]), max_size=3)
    )
    for index, part in enumerate(parts):
        segments.append((part.replace("{}", f"{{p{index}}}"), part.replace("{}", f"val{index}")))
    tails = [("**", "a/b"), ("{*rest}", "c"), ("**", ""), ("", "")]
    segments += draw(st.lists(st.sampled_from(tails), max_size=1))
    return tuple("/" + "/".join(one[at] for one in segments) for at in (0, 1))  # type: ignore[return-value]  # two of them


def _conditions(draw: Draw, match: Fields, sample: Sample) -> None:
    host = draw(st.sampled_from([None, "a.example", "*.b.example", ["a.example", "c.example"]]))
    if host is not None:
        match["host"] = host
        sample.host = (host if isinstance(host, str) else host[1]).replace("*", "www")
    methods = draw(st.sampled_from([None, ["GET"], ["POST", "GET"], ["PURGE"], ["PUT", "DELETE"]]))
    if methods:
        match["methods"] = methods
        sample.method = methods[0]
    tests = [
        ({"name": "X-Env", "value": "gray 1"}, "X-Env: gray 1"),
        ({"name": "X-Zone", "value": ["a", "b"]}, "X-Zone: b"),
        ({"name": "x-version", "regex": "^v[0-9]+$"}, "X-Version: v12"),
        ({"name": "X-Any", "present": True}, "X-Any: "),
        ({"name": "X-None", "present": False}, "X-Other: 1"),
    ]
    chosen = draw(st.lists(st.sampled_from(tests), max_size=2, unique_by=lambda one: one[1]))
    if chosen:
        match["headers"] = [test for test, _ in chosen]
        sample.fields += [line for _, line in chosen]
    if draw(st.booleans()):
        match["query"] = [{"name": "v", "value": "2"}, {"name": "w", "present": False}]
        sample.target += "?u=1&v=2"
    if draw(st.booleans()):
        match["cookies"] = [{"name": "sid", "regex": "[a-f]+"}]
        sample.fields.append("Cookie: a=1; sid=beef")


def _to_upstream(draw: Draw, route: Fields, sample: Sample, upstreams: list[str]) -> None:
    route["upstream"] = draw(st.sampled_from(upstreams))
    upgrades = st.just({"connections": 5, "ping": "10s", "max_frame": "64KiB"})
    route |= sometimes(draw, {"websocket": upgrades})
    set_it = {"request": {"set": {"X-Gateway": "{route}"}}}
    route["filters"] = [{"name": "header_rewrite", "id": "mark", "config": set_it}]
    sample.upstream_fields = {"X-Gateway": sample.route}
    sample.upstream_target = sample.target
    if draw(st.booleans()):
        way = {"name": "path_rewrite", "phase": "rewrite", "config": {"strip_segments": 1}}
        route["filters"].append(way)
        rest = sample.target.removeprefix("/").partition("?")
        path, query = rest[0].partition("/")[2], rest[1] + rest[2]
        sample.upstream_target = f"/{path}{query}"


def _to_answer(draw: Draw, route: Fields, sample: Sample, _: list[str]) -> None:
    sample.status = draw(st.sampled_from([200, 201, 204, 404, 503]))
    text = "" if sample.status == 204 else draw(st.sampled_from(["", "hi", "é€\n", "{a: b}"]))
    route["respond"] = {"status": sample.status, "headers": {"X-A": "b, c"}, "body": text}
    sample.body = text.encode()
    sample.answer_fields = {"X-A": "b, c"}
    if draw(st.booleans()):
        set_it = {"response": {"set": {"X-Seen": "yes"}}}
        route["filters"] = [{"name": "header_rewrite", "config": set_it}]
        sample.answer_fields["X-Seen"] = "yes"


def _to_place(draw: Draw, route: Fields, sample: Sample, _: list[str]) -> None:
    sample.status = draw(st.sampled_from([301, 302, 303, 307, 308]))
    place = draw(st.sampled_from(["/else", "https://other.example/x?y=z#w", "//host/%20"]))
    route["redirect"] = {"status": sample.status, "location": place}
    sample.answer_fields = {"Location": place}
