"""Every kind of mistake is named: where it stands, what is wrong, what would be right."""

from dataclasses import dataclass

import pytest

from sluicegate.config.candidate import examine
from sluicegate.config.source import Source

HEAD = """\
format: 1
listeners: [{id: http, address: "127.0.0.1:8080"}]
upstreams:
  - id: orders
    endpoints: [{address: "127.0.0.1:9001"}]
routes:
  - id: a
    match: {path: /a}
    upstream: orders
"""
ROUTE = HEAD + "  - id: b\n    upstream: orders\n    match: {path: /b}\n"
"""What a case adds stands in line 13."""


@dataclass(frozen=True)
class Mistake:
    """A text, and the problem it must have."""

    name: str
    text: str
    path: str
    line: int
    code: str
    suggestion: str | None = None


def route(name: str, addition: str, path: str, code: str, suggestion: str | None = None) -> Mistake:
    """A mistake in the second route's own lines."""
    return Mistake(name, f"{ROUTE}    {addition}\n", f"routes[1].{path}", 13, code, suggestion)


def match(name: str, fields: str, path: str, code: str, suggestion: str | None = None) -> Mistake:
    """A mistake in the match of the second route."""
    text = f"{HEAD}  - id: b\n    upstream: orders\n    match: {{{fields}}}\n"
    return Mistake(name, text, f"routes[1].match.{path}", 12, code, suggestion)


def upstream(
    name: str, addition: str, path: str, code: str, suggestion: str | None = None
) -> Mistake:
    """A mistake in the upstream's own lines."""
    text = HEAD.replace("routes:", f"    {addition}\nroutes:")
    return Mistake(name, text, f"upstreams[0].{path}", 6, code, suggestion)


def endpoint(
    name: str, address: str, path: str, code: str, suggestion: str | None = None
) -> Mistake:
    """A mistake in the upstream's endpoints."""
    text = HEAD.replace('{address: "127.0.0.1:9001"}', address)
    return Mistake(name, text, f"upstreams[0].endpoints{path}", 5, code, suggestion)


def whole(name: str, addition: str, path: str, code: str, suggestion: str | None = None) -> Mistake:
    """A mistake in lines after the routes."""
    return Mistake(name, HEAD + addition + "\n", path, 10, code, suggestion)


MISTAKES = [
    # The document as a whole.
    Mistake("empty", "", "", 1, "empty"),
    Mistake("comments only", "# nothing\n", "", 1, "empty"),
    Mistake("a list", "[1, 2]\n", "", 1, "wrong_type"),
    Mistake("a word", "hello\n", "", 1, "wrong_type"),
    Mistake("truncated YAML", HEAD + "  - {id: x, match: {path: /x", "", 10, "syntax"),
    Mistake("truncated JSON", '{"format": 1,\n "routes": [', "", 2, "syntax"),
    Mistake("a key twice", HEAD + "format: 1\n", "format", 10, "duplicate_key"),
    Mistake("no format", HEAD.replace("format: 1\n", ""), "format", 1, "missing_field"),
    Mistake(
        "unknown version number",
        HEAD.replace("format: 1", "format: 2"),
        "format",
        1,
        "unknown_format",
    ),
    whole("unknown section", "upstreems: []", "upstreems", "unknown_field", "upstreams"),
    whole("an include", "include: [a.yaml]", "include", "unknown_field"),
    whole("an alias to itself", "x: &x [*x]", "", "recursion"),
    # Listeners.
    Mistake(
        "listener without a port",
        HEAD.replace("127.0.0.1:8080", "127.0.0.1"),
        "listeners[0].address",
        2,
        "no_port",
    ),
    Mistake(
        "port 70000",
        HEAD.replace("127.0.0.1:8080", "127.0.0.1:70000"),
        "listeners[0].address",
        2,
        "bad_port",
    ),
    Mistake(
        "IPv6 without brackets",
        HEAD.replace("127.0.0.1:8080", "::1:8080"),
        "listeners[0].address",
        2,
        "bad_host",
        "[::1]:8080",
    ),
    Mistake(
        "no listeners at all",
        HEAD.replace('[{id: http, address: "127.0.0.1:8080"}]', "[]"),
        "listeners",
        2,
        "too_short",
    ),
    Mistake(
        "two listeners, one address",
        HEAD.replace('8080"}', '8080"}, {id: two, address: "127.0.0.1:8080"}'),
        "listeners[1].address",
        2,
        "duplicate_address",
    ),
    Mistake(
        "a limit without a unit",
        HEAD.replace('8080"}', '8080", limits: {body: 5}}'),
        "listeners[0].limits.body",
        2,
        "no_unit",
    ),
    Mistake(
        "a unit in the wrong case",
        HEAD.replace('8080"}', '8080", limits: {body: 5kb}}'),
        "listeners[0].limits.body",
        2,
        "bad_unit",
        "5KB",
    ),
    Mistake(
        "a timeout of zero",
        HEAD.replace('8080"}', '8080", timeouts: {idle: 0s}}'),
        "listeners[0].timeouts.idle",
        2,
        "out_of_range",
    ),
    Mistake(
        "a head limit that fits no request",
        HEAD.replace('8080"}', '8080", limits: {header: 10B}}'),
        "listeners[0].limits.header",
        2,
        "out_of_range",
    ),
    # Upstreams.
    endpoint("no endpoints", "", "", "too_short"),
    endpoint("endpoint on port 0", '{address: "a:0"}', "[0].address", "bad_port"),
    endpoint("endpoint as a word", "here", "[0]", "wrong_type"),
    endpoint("weight 0", '{address: "a:1", weight: 0}', "[0].weight", "out_of_range"),
    endpoint("weight in quotes", '{address: "a:1", weight: "3"}', "[0].weight", "wrong_type"),
    endpoint("weight as a fraction", '{address: "a:1", weight: 1.5}', "[0].weight", "wrong_type"),
    endpoint("weight as a boolean", '{address: "a:1", weight: true}', "[0].weight", "wrong_type"),
    endpoint(
        "endpoint twice", '{address: "a:1"}, {address: "a:1"}', "[1].address", "duplicate_address"
    ),
    endpoint("a URL as address", '{address: "http://a:80"}', "[0].address", "bad_host", "a:80"),
    upstream("unknown balance", "balance: rond_robin", "balance", "unknown_value", "round_robin"),
    upstream("a fraction of a second", "timeouts: {connect: 1.5s}", "timeouts.connect", "bad_unit"),
    upstream("a number as a wait", "timeouts: {connect: 100}", "timeouts.connect", "no_unit"),
    upstream(
        "total below response",
        "timeouts: {response: 3s, total: 1s}",
        "timeouts.total",
        "contradiction",
    ),
    upstream(
        "idle above life", "connections: {idle: 1h, life: 1m}", "connections.idle", "contradiction"
    ),
    upstream("no connections", "connections: {max: 0}", "connections.max", "out_of_range"),
    upstream("a host that is none", 'host: "a b"', "host", "bad_host"),
    upstream("unknown field below", "dns: {refesh: 1s}", "dns.refesh", "unknown_field", "refresh"),
    # Routes.
    Mistake(
        "route id twice",
        HEAD + "  - {id: a, match: {path: /b}, upstream: orders}\n",
        "routes[1].id",
        10,
        "duplicate_id",
    ),
    Mistake(
        "upstream id twice",
        HEAD.replace("routes:", '  - {id: orders, endpoints: [{address: "a:1"}]}\nroutes:'),
        "upstreams[1].id",
        6,
        "duplicate_id",
    ),
    Mistake(
        "route without id",
        HEAD + "  - match: {path: /b}\n    upstream: orders\n",
        "routes[1].id",
        10,
        "missing_field",
    ),
    Mistake(
        "an id with a space",
        HEAD + "  - {id: a b, match: {path: /b}, upstream: orders}\n",
        "routes[1].id",
        10,
        "bad_id",
    ),
    Mistake(
        "missing upstream",
        HEAD + "  - {id: b, match: {path: /b}, upstream: order}\n",
        "routes[1].upstream",
        10,
        "unknown_upstream",
        "orders",
    ),
    Mistake(
        "no action",
        HEAD + "  - {id: b, match: {path: /b}}\n",
        "routes[1]",
        10,
        "not_exactly_one",
    ),
    route("two actions", "respond: {}", "respond", "not_exactly_one"),
    route("unknown field of a route", "prioritty: 1", "prioritty", "unknown_field", "priority"),
    route("priority in words", "priority: high", "priority", "wrong_type"),
    route("priority above 32 bits", "priority: 3000000000", "priority", "out_of_range"),
    route("a filter without a name", "filters: [{id: x}]", "filters[0].name", "missing_field"),
    route("a filter as a word", "filters: [request_id]", "filters[0]", "wrong_type"),
    route(
        "a filter twice",
        "filters: [{name: x}, {name: x}]",
        "filters[1].name",
        "duplicate_filter",
    ),
    route(
        "an unknown phase",
        "filters: [{name: x, phase: rewrit}]",
        "filters[0].phase",
        "unknown_value",
        "rewrite",
    ),
    route("filters as a mapping", "filters: {name: x}", "filters", "wrong_type"),
    route(
        "a total below its response",
        "timeouts: {response: 2s, total: 1s}",
        "timeouts.total",
        "contradiction",
    ),
    route("%2F in another word", "encoded_slash: deny", "encoded_slash", "unknown_value"),
    route("a label that is a list", "labels: {team: [a]}", "labels.team", "wrong_type"),
    Mistake(
        "a status nobody knows",
        HEAD + "  - {id: b, match: {path: /b}, respond: {status: 99}}\n",
        "routes[1].respond.status",
        10,
        "out_of_range",
    ),
    Mistake(
        "a body where none may be",
        HEAD + "  - {id: b, match: {path: /b}, respond: {status: 204, body: x}}\n",
        "routes[1].respond.body",
        10,
        "contradiction",
    ),
    Mistake(
        "a header with a line break",
        HEAD + '  - {id: b, match: {path: /b}, respond: {headers: {A: "x\\ny"}}}\n',
        "routes[1].respond.headers.A",
        10,
        "bad_header",
    ),
    Mistake(
        "a redirect that is none",
        HEAD + "  - {id: b, match: {path: /b}, redirect: {status: 200, location: /x}}\n",
        "routes[1].redirect.status",
        10,
        "unknown_value",
    ),
    Mistake(
        "a redirect to nowhere",
        HEAD + "  - {id: b, match: {path: /b}, redirect: {status: 308}}\n",
        "routes[1].redirect",
        10,
        "one_target",
    ),
    # Matching.
    match("path without a slash", "path: b", "path", "bad_template", "/b"),
    match("template {a}{a}", 'path: "/{a}{a}"', "path", "bad_template"),
    match("a parameter twice", 'path: "/{a}/{a}"', "path", "bad_template"),
    match("a catch-all in the middle", 'path: "/**/b"', "path", "bad_template"),
    match("an open brace", 'path: "/{a"', "path", "bad_template"),
    match("a query in the path", 'path: "/b?c=d"', "path", "bad_template"),
    match("dots in the path", 'path: "/a/../b"', "path", "bad_template"),
    match("a space in the path", 'path: "/a b"', "path", "bad_template"),
    match("no path", "host: a.example", "path", "missing_field"),
    match("a host with a port", 'path: /b, host: "a.example:80"', "host", "bad_host", "a.example"),
    match("a star inside a host", 'path: /b, host: "a.*.example"', "host", "bad_host"),
    match(
        "a method in small letters", "path: /b, methods: [get]", "methods[0]", "bad_method", "GET"
    ),
    match("a method with a space", 'path: /b, methods: ["GE T"]', "methods[0]", "bad_method"),
    match(
        "a test without a test", "path: /b, headers: [{name: A}]", "headers[0]", "not_exactly_one"
    ),
    match(
        "a test of two kinds",
        "path: /b, query: [{name: v, value: x, present: true}]",
        "query[0]",
        "not_exactly_one",
    ),
    match(
        "a number as a value",
        "path: /b, query: [{name: v, value: 2}]",
        "query[0].value",
        "wrong_type",
    ),
    match(
        "`no` is no boolean",
        "path: /b, cookies: [{name: v, present: no}]",
        "cookies[0].present",
        "wrong_type",
    ),
    match(
        "a header name with a colon",
        'path: /b, headers: [{name: "A:", present: true}]',
        "headers[0].name",
        "bad_header",
    ),
    # Settings.
    whole(
        "error format in other words",
        "errors: {format: problm}",
        "errors.format",
        "unknown_value",
        "problem",
    ),
    whole(
        "a template without text", "errors: {format: template}", "errors.format", "contradiction"
    ),
    whole(
        "a template nobody uses",
        "errors: {template: {body: x}}",
        "errors.template",
        "contradiction",
    ),
    whole(
        "a type base that is no URL",
        "errors: {type_base: errors/}",
        "errors.type_base",
        "bad_value",
    ),
    whole(
        "a type base without a type",
        'errors: {format: code-message, type_base: "https://a.example/"}',
        "errors.type_base",
        "contradiction",
    ),
    whole(
        "a reject that would succeed",
        "errors: {codes: {no_route: {status: 200}}}",
        "errors.codes.no_route.status",
        "out_of_range",
    ),
    whole(
        "a log set nobody knows",
        "access_log: {fields: nginx}",
        "access_log.fields",
        "unknown_value",
    ),
    whole(
        "a log that keeps nothing",
        "access_log: {rotate: {keep: 0}}",
        "access_log.rotate.keep",
        "out_of_range",
    ),
    whole("a metric with a dash", "metrics: {prefix: my-gate}", "metrics.prefix", "bad_prefix"),
    whole(
        "an entry filter twice",
        "entry: [{name: x}, {name: x}]",
        "entry[1].name",
        "duplicate_filter",
    ),
]


@pytest.mark.spec("CF-17")
@pytest.mark.spec("CF-18")
@pytest.mark.spec("CF-20")
@pytest.mark.spec("CF-25")
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_named_at_its_place(mistake: Mistake) -> None:
    candidate = examine(Source.parse(mistake.text, file="sluicegate.yaml"))

    named = [(one.written_path, one.line, one.code, one.suggestion) for one in candidate.errors]
    assert named == [(mistake.path, mistake.line, mistake.code, mistake.suggestion)]
    assert candidate.errors[0].file == "sluicegate.yaml"
    assert candidate.errors[0].message


def test_a_sound_document_has_nothing_to_complain_of() -> None:
    candidate = examine(Source.parse(ROUTE))

    assert candidate.problems == ()
    assert candidate.document.routes[1].id == "b"


def test_all_mistakes_are_named_at_once_in_reading_order() -> None:
    text = HEAD.replace("upstream: orders", "upstream: order").replace("/a}", "a, methods: [get]}")

    candidate = examine(Source.parse(text + "upstreems: []\n"))

    assert [one.code for one in candidate.problems] == [
        "bad_template",
        "bad_method",
        "unknown_upstream",
        "unknown_field",
    ]


def test_what_is_never_used_is_a_warning() -> None:
    text = HEAD.replace("upstream: orders", "respond: {status: 204}")

    candidate = examine(Source.parse(text))

    assert candidate.errors == []
    assert [one.code for one in candidate.warnings] == ["unused_upstream"]
    assert candidate.document.routes[0].respond is not None
