"""The kinds of fault in filters, and in what came with the whole route object."""

from hypothesis import strategies as st

from support.sound import Draw
from support.written import Path
from unit.config.fault_places import one_filter_twice
from unit.config.faults import (
    Fault,
    Put,
    Value,
    a_filter,
    fault,
    heads,
    rewrites,
    sets,
)

NO_NETWORKS = ["10.0.0.1/8", "10.0.0.0/33", "300.1.1.1", "::/129", "localhost", "", "10.0.0.0/x"]


def uses(name: str, config: Value, *below: str | int, chain: str = "routes") -> Fault:
    """A filter with a fault in its configuration."""
    where = ".".join(map(str, below)) or "all of it"
    put = a_filter({"name": name, "config": config}, "config", *below, chain=chain)
    # Where it stands twice in a chain, or in the wrong one, is none of these faults.
    return fault(f"{name}: {where} {list(config.values())[:1]}", "invalid_config", put)


def a_network(name: str, field: str, chain: str) -> Fault:
    """A list of networks, one of them wrong."""

    def put(draw: Draw, document: Value) -> Path:
        config = {field: ["10.0.0.0/8", draw(st.sampled_from(NO_NETWORKS))]}
        use = {"name": name, "config": config}
        return a_filter(use, "config", field, 1, chain=chain)(draw, document)

    return fault(f"{name}: a network of `{field}` that is none", "invalid_config", put)


def in_a_section(section: str, field: str, wrong: list[object]) -> Put:
    """A list of a section, its second item wrong."""

    def put(draw: Draw, document: Value) -> Path:
        right = {"networks": "10.0.0.0/8", "hosts": "a.example", "ports": 80}[field]
        document.setdefault(section, {})[field] = [right, draw(st.sampled_from(wrong))]
        return (section, field, 1)

    return put


FILTER_KINDS: tuple[Fault, ...] = (
    fault("an unknown filter", "unknown_filter", a_filter({"name": "nothing_at_all"}, "name")),
    fault("a misspelled filter", "unknown_filter", a_filter({"name": "path_rewrit"}, "name")),
    fault("a filter twice", "duplicate_filter", one_filter_twice),
    fault(
        "an unknown phase",
        "unknown_value",
        a_filter({"name": "path_rewrite", "phase": "late"}, "phase"),
    ),
    fault(
        "a filter in a wrong phase",
        "wrong_phase",
        a_filter({"name": "path_rewrite", "phase": "respond", "config": {"prefix": "/a"}}, "phase"),
    ),
    fault(
        "a filter in the wrong chain",
        "wrong_stage",
        a_filter({"name": "path_rewrite", "config": {"prefix": "/a"}}, "name", chain="entry"),
    ),
    fault(
        "a filter with a field nobody knows",
        "unknown_field",
        rewrites({"prefix": "/a", "prefx": 1}, "prefx"),
        "invalid_config",
    ),
    fault("a filter with too little", "invalid_config", rewrites({})),
    fault(
        "a filter with too much", "invalid_config", rewrites({"prefix": "/a", "strip_segments": 1})
    ),
    fault(
        "a filter with another type",
        "invalid_config",
        rewrites({"strip_segments": "1"}, "strip_segments"),
    ),
    fault(
        "a filter with a number out of range",
        "invalid_config",
        rewrites({"strip_segments": 10**30}, "strip_segments"),
    ),
    fault(
        "a filter with a negative number",
        "invalid_config",
        rewrites({"strip_segments": -1}, "strip_segments"),
    ),
    fault(
        "a filter with a bad expression",
        "invalid_config",
        rewrites({"replace": {"pattern": "([", "with": "x"}}, "replace", "pattern"),
    ),
    fault(
        "a filter that misses a field",
        "invalid_config missing_field",
        rewrites({"replace": {"pattern": "a"}}, "replace"),
    ),
    fault(
        "a filter that asks for an unknown parameter",
        "unknown_parameter",
        rewrites({"template": "/{nobody}"}),
    ),
    fault(
        "a filter with a bad template", "invalid_config", rewrites({"template": "/{a"}, "template")
    ),
    fault(
        "a filter that does nothing",
        "invalid_config",
        a_filter({"name": "header_rewrite"}, "config"),
    ),
    fault(
        "a filter with a header's name that is none",
        "invalid_config",
        heads({"set": {"a b": "c"}}, "set", "a b"),
    ),
    fault(
        "a filter with a value that has a line end",
        "invalid_config",
        heads({"set": {"A": "b\r\nc"}}, "set", "A"),
    ),
    fault(
        "a filter with a list of names, one wrong",
        "invalid_config",
        heads({"remove": ["A", "b c"]}, "remove", 1),
    ),
    fault(
        "a filter whose fields are a list",
        "wrong_type",
        a_filter({"name": "path_rewrite", "config": []}, "config"),
    ),
    # Filters of the entrance.
    a_network("address_list", "allow", "routes"),
    a_network("address_list", "deny", "entry"),
    a_network("client_address", "trusted", "entry"),
    a_network("debug_headers", "networks", "entry"),
    uses("client_address", {"source": "x_forwardet_for"}, "source", chain="entry"),
    uses("cors", {"origins": ["https://a.example/path"]}, "origins", 0),
    uses("cors", {"origins": ["*"], "credentials": True}, "origins", 0),
    uses("cors", {"origins": [{"regex": "(["}]}, "origins", 0, "regex"),
    uses("cors", {"origins": ["https://a.example"], "max_age": 600}, "max_age"),
    uses("validate", {"max_path_length": -1}, "max_path_length"),
    uses("validate", {"methods": ["GE T"]}, "methods", 0),
    uses("security_headers", {"frame_options": "ALLOWALL"}, "frame_options"),
    uses("security_headers", {"hsts": {"max_age": "1y"}}, "hsts", "max_age"),
    uses("host_rewrite", {"host": "a b"}, "host"),
    uses("query_rewrite", {"set": {"a": 1}}, "set", "a"),
    fault(
        "a filter that waits for a later capability",
        "unknown_filter",
        a_filter({"name": "jwt"}, "name"),
    ),
    # The whole route object.
    fault(
        "an unknown status of a route",
        "unknown_value",
        sets("routes/*/status", to=["publisht", "", "Published"]),
    ),
    fault(
        "an unknown exposure",
        "unknown_value",
        sets("routes/*/exposure", "upstreams/*/exposure", "listeners/*/exposure", to=["private"]),
    ),
    fault(
        "a version of a route out of range", "out_of_range", sets("routes/*/version", to=[0, -1])
    ),
    fault("a version of a route as text", "wrong_type", sets("routes/*/version", to=["1", 1.5])),
    fault(
        "a filter switched off that is not on",
        "nothing_to_switch_off",
        a_filter({"name": "cors", "id": "nobody", "off": True}, "off"),
    ),
    fault(
        "a network of upstreams that is none",
        "bad_network",
        in_a_section("upstream_policy", "networks", [*NO_NETWORKS]),
        "refused_address outside_policy forbidden_address not_allowed bad_address",
    ),
    fault(
        "a port of upstreams that is none",
        "bad_port",
        in_a_section("upstream_policy", "ports", [0, 70000, "90-80", "http", -1, True]),
    ),
    fault(
        "a host of upstreams that is none",
        "bad_host",
        in_a_section("upstream_policy", "hosts", ["a b", "a.*.b", ""]),
    ),
)
