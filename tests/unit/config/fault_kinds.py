"""The kinds of fault in what a document says; those of its syntax are in `text_faults`."""

from unit.config.fault_places import (
    ADDRESSES,
    BAD_REGEXES,
    IDS,
    NUMBERS,
    PATHS,
    SIZES,
    SPANS,
    a_host,
    answers,
    both,
    error_code,
    host_in_a_list,
    methods,
)
from unit.config.faults import (
    LONG,
    Fault,
    a_test,
    a_test_at,
    adds_a_field,
    changes,
    doubles,
    drops,
    fault,
    misspells_a_field,
    no_end,
    sets,
    takes_another_type,
    two_ends,
)

KINDS: tuple[Fault, ...] = (
    # Fields and types.
    fault("a field that nobody knows", "unknown_field", adds_a_field),
    fault(
        "a misspelled field",
        "unknown_field",
        misspells_a_field,
        "missing_field not_exactly_one contradiction unknown_upstream duplicate_filter "
        "unknown_parameter invalid_config",
    ),
    fault("a value of another type", "wrong_type unknown_value unknown_format", takes_another_type),
    fault(
        "a section of another type",
        "wrong_type",
        sets("routes", "upstreams", "entry", "errors", "metrics", to=["x", 5, True]),
        "unknown_upstream",
    ),
    fault(
        "an item of another type",
        "wrong_type",
        sets(
            "routes/*", "listeners/*", "entry/*", "upstreams/*/endpoints/*", to=["x", 5, None, []]
        ),
        "unknown_upstream",
    ),
    fault(
        "nothing where something must be",
        "wrong_type",
        sets(PATHS, "routes/*/id", "upstreams/*/id", "listeners/*/address", to=[None]),
        "unknown_upstream",
    ),
    fault(
        "a missing field",
        "missing_field",
        drops(
            "routes/*/id",
            PATHS,
            "routes/*/match",
            "upstreams/*/id",
            "upstreams/*/endpoints",
            "listeners/*/id",
            "listeners/*/address",
            "format",
        ),
        "unknown_upstream",
    ),
    fault(
        "an include",
        "unknown_field",
        sets("include", "imports", "extends", to=["other.yaml", ["a.yaml"]]),
    ),
    fault(
        "an unknown format",
        "unknown_format",
        sets("format", to=[0, 2, 99, -1, "1", 1.5, 10**30, None, True]),
    ),
    # Names and references.
    fault(
        "a bad id",
        "bad_id",
        sets(
            *IDS,
            to=["", " ", "a b", "-a", ".a", "a/b", "é", LONG, "a\nb", "a\x00b", "{a}", "a\u202eb"],
        ),
        "unknown_upstream",
    ),
    fault("a listener's id twice", "duplicate_id", doubles("listeners", "id")),
    fault("an upstream's id twice", "duplicate_id", doubles("upstreams", "id")),
    fault("a route's id twice", "duplicate_id", doubles("routes", "id"), "bad_match"),
    fault("an endpoint twice", "duplicate_address", doubles("upstreams/*/endpoints", "address")),
    fault(
        "an unknown upstream",
        "unknown_upstream",
        changes("routes/*/upstream", to=["nobody", "", "shop", "Shop-0"]),
    ),
    fault("an upstream by number", "wrong_type", changes("routes/*/upstream", to=[0, 1.5, True])),
    # Addresses and hosts.
    fault(
        "a port beyond the last",
        "bad_port",
        sets(
            *ADDRESSES,
            to=["127.0.0.1:65536", "127.0.0.1:70000", "[::1]:99999", "127.0.0.1:9999999999"],
        ),
    ),
    fault(
        "a port that is no number",
        "bad_port",
        sets(*ADDRESSES, to=["127.0.0.1:http", "127.0.0.1:-1", "127.0.0.1:0x50", "127.0.0.1:8O"]),
    ),
    fault(
        "an address without a port",
        "no_port",
        sets(*ADDRESSES, to=["127.0.0.1", "", "[::1]", "8080", "api"]),
    ),
    fault(
        "an endpoint on port 0",
        "bad_port",
        sets("upstreams/*/endpoints/*/address", to=["127.0.0.1:0", "a.example:0"]),
    ),
    fault(
        "an address with a bad host",
        "bad_host",
        sets(
            *ADDRESSES,
            to=[
                "::1:80",
                "a b:80",
                "http://a:80",
                "a..b:80",
                "256.1.1.1:80",
                "[::g]:80",
                ":80",
                "-a:80",
            ],
        ),
    ),
    fault(
        "a listener on a name",
        "bad_address bad_host",
        sets("listeners/*/address", to=["localhost:80", "api.example:80"]),
    ),
    fault("a host of a route that is none", "bad_host", host_in_a_list),
    fault("a star inside a host", "bad_host", a_host(["a.*.b", "*a.b", "**.b", "*", "a.*"])),
    fault("a host with its port", "bad_host", a_host(["a.example:80", "[::1]:80"])),
    fault(
        "a Host header that is none",
        "bad_host",
        sets("upstreams/*/host", to=["a b", "", "http://x", "a\r\nb", ":80"]),
    ),
    # Units and numbers.
    fault("a duration without a unit", "no_unit", sets(*SPANS, to=[5, "5", 0, "007"])),
    fault(
        "a duration that is none",
        "bad_unit",
        sets(*SPANS, to=["", "s", "1.5s", "5 s", "-1s", "1s ", "soon", "1e3s", "٣s"]),
    ),
    fault("an unknown unit of time", "bad_unit", sets(*SPANS, to=["5d", "5S", "5sec", "5M"])),
    fault(
        "a duration out of range",
        "out_of_range",
        sets(*SPANS, to=["0s", "0ms", "9000h", "999999999999999999h"]),
    ),
    fault(
        "a duration beyond all numbers",
        "bad_unit out_of_range",
        sets(*SPANS, to=["9" * 40 + "s", "1" * 5000 + "h"]),
    ),
    fault("a duration of another type", "wrong_type", sets(*SPANS, to=[True, [], {}])),
    fault("a negative number for a duration", "bad_unit no_unit", sets(*SPANS, to=[-1, -0.5, 1.5])),
    fault("a size without a unit", "no_unit", sets(*SIZES, to=[1024, "1024"])),
    fault(
        "an unknown unit of size",
        "bad_unit",
        sets(*SIZES, to=["5kb", "5MIB", "5 MiB", "-5B", "5.5MiB", "B", ""]),
    ),
    fault(
        "a size out of range",
        "out_of_range bad_limit",
        sets("listeners/*/limits/header", to=["1B", "0B", "2GiB", "9999999GB", -1]),
    ),
    fault("a number below its range", "out_of_range", sets(*NUMBERS, to=[0, -1, -(10**30)])),
    fault(
        "a number above its range",
        "out_of_range",
        sets(*NUMBERS, to=[10**9, 1 << 63, 10**30, 10**400]),
    ),
    fault("a number with a fraction", "wrong_type", sets(*NUMBERS, to=[1.5, 1e300, 2.0])),
    fault("a number in quotes", "wrong_type", sets(*NUMBERS, to=["5", "", "NaN", "0x10"])),
    fault(
        "a priority beyond 32 bits",
        "out_of_range",
        sets("routes/*/priority", to=[1 << 31, -(1 << 31) - 1, 10**30]),
    ),
    # Templates and tests.
    fault(
        "a parameter twice in a segment",
        "bad_template",
        sets(PATHS, to=["/{a}{a}", "/{a}-{b}", "/x/{a}{b}/y"]),
    ),
    fault(
        "a parameter twice in a path", "bad_template", sets(PATHS, to=["/{a}/{a}", "/{a}/x/{*a}"])
    ),
    fault(
        "an open brace",
        "bad_template",
        sets(PATHS, to=["/{a", "/a}", "/{a/b}", "/{}", "/{a b}", "/{1}", "/{*}", "/{{a}}"]),
    ),
    fault(
        "a rest in the middle",
        "bad_template",
        sets(PATHS, to=["/**/b", "/{*a}/b", "/a**", "/***", "/*"]),
    ),
    fault("a path that is none", "bad_template", sets(PATHS, to=["", "a", "http://a/b", "*"])),
    fault(
        "a path that no request has",
        "bad_template",
        sets(
            PATHS, to=["/a/../b", "/.", "/a?b", "/a#b", "/a b", "/é", "/a\tb", "/a\r\nb", "/a\x00"]
        ),
    ),
    fault(
        "a regular expression that is none", "bad_regex", a_test_at("headers", "regex", BAD_REGEXES)
    ),
    fault("one of a query that is none", "bad_regex", a_test_at("query", "regex", BAD_REGEXES)),
    fault("one of a cookie that is none", "bad_regex", a_test_at("cookies", "regex", BAD_REGEXES)),
    fault(
        "a header's name that is none",
        "bad_header",
        a_test_at("headers", "name", ["a b", "", "a:", "a\r\nX: y", "é", "a\x00", "(a)"]),
    ),
    fault("a test of nothing", "not_exactly_one", a_test("headers", {"name": "X-A"})),
    fault(
        "a test of two kinds",
        "not_exactly_one",
        a_test("query", {"name": "v", "value": "1", "regex": "1"}),
    ),
    fault(
        "a number to compare with", "wrong_type", a_test_at("cookies", "value", [1, 1.5, True, []])
    ),
    fault("a word for true", "wrong_type", a_test_at("headers", "present", ["yes", 1, "true"])),
    fault("a method that is none", "bad_method", methods("GE T", "", "GET,POST", "G\r\n", "é")),
    fault("a method in small letters", "bad_method", methods("get", "Post", "delete")),
    # Ends of routes.
    fault("two ends", "not_exactly_one", two_ends),
    fault("no end", "not_exactly_one", no_end),
    fault(
        "a status that ends nothing",
        "out_of_range",
        sets("routes/*/respond/status", to=[0, 99, 100, 199, 600, 1000, -200]),
    ),
    fault(
        "a redirect that is none",
        "unknown_value",
        sets("routes/*/redirect/status", to=[200, 300, 304, 400, 3080]),
    ),
    fault(
        "a place that is none",
        "bad_location",
        sets("routes/*/redirect/location", to=["", "/a b", "/a\r\nX: y", "/é", "\t"]),
    ),
    fault(
        "a body where none may be", "contradiction", answers({"status": 204, "body": "x"}, "body")
    ),
    fault(
        "a field's name that is none",
        "bad_header",
        answers({"headers": {"a b": "c"}}, "headers", "a b"),
    ),
    fault(
        "a field's value with a line end",
        "bad_header",
        answers({"headers": {"A": "b\r\nC: d"}}, "headers", "A"),
    ),
    fault(
        "a field of framing",
        "bad_header",
        answers({"headers": {"Content-Length": "5"}}, "headers", "Content-Length"),
    ),
    # Contradictions and settings.
    fault(
        "a total below its part",
        "contradiction",
        both("upstreams/*/timeouts", {"response": "2s", "total": "1s"}, "total"),
    ),
    fault(
        "a total below its part, of a route",
        "contradiction",
        both("routes/*/timeouts", {"response": "2s", "total": "1s"}, "total"),
    ),
    fault(
        "idle above life",
        "contradiction",
        both("upstreams/*/connections", {"idle": "2h", "life": "1h"}, "idle"),
    ),
    fault(
        "a form of errors without its text",
        "contradiction",
        both("errors", {"format": "template", "template": None}, "format"),
    ),
    fault(
        "an unknown form of errors",
        "unknown_value",
        sets("errors/format", to=["html", "", "Problem"]),
        "contradiction",
    ),
    fault("an unknown code of a reject", "unknown_code", error_code("no_rout", {"title": "x"})),
    fault(
        "a reject that succeeds", "out_of_range", error_code("no_route", {"status": 200}, "status")
    ),
    fault(
        "a metric's name that is none",
        "bad_prefix",
        sets("metrics/prefix", to=["", "a-b", "1a", "é", "a b"]),
    ),
    fault(
        "an unknown set of log fields", "unknown_value", sets("access_log/fields", to=["nginx", ""])
    ),
    fault("a log without a place", "too_short", sets("access_log/output", to=[""])),
    fault(
        "a balance nobody knows",
        "unknown_value",
        sets("upstreams/*/balance", to=["random", "", "Round_Robin"]),
    ),
    fault(
        "an encoded slash in another word",
        "unknown_value wrong_type",
        sets("routes/*/encoded_slash", to=["deny", "", True]),
    ),
    fault(
        "a label that is no text",
        "wrong_type",
        sets("routes/*/labels/team", to=[1, True, [], {}, None]),
    ),
    fault("no listener", "too_short", sets("listeners", to=[[]])),
    fault("no endpoint", "too_short", sets("upstreams/*/endpoints", to=[[]])),
)
