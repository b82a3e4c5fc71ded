"""Where faults are put, and the shapes that several kinds share."""

from hypothesis import strategies as st

from support.sound import Draw
from support.written import Path
from unit.config.faults import (
    Put,
    Value,
    there,
    within,
)

SPANS = (
    *("listeners/*/timeouts/idle", "listeners/*/timeouts/header", "upstreams/*/timeouts/connect"),
    *("upstreams/*/connections/acquire", "upstreams/*/dns/refresh", "routes/*/timeouts/idle"),
)
SIZES = ("listeners/*/limits/body", "listeners/*/limits/header", "access_log/rotate/size")
NUMBERS = (
    *("listeners/*/limits/fields", "listeners/*/limits/connections"),
    *("upstreams/*/endpoints/*/weight", "upstreams/*/connections/max", "access_log/rotate/keep"),
)
ADDRESSES = ("listeners/*/address", "upstreams/*/endpoints/*/address")
IDS = ("listeners/*/id", "upstreams/*/id", "routes/*/id", "entry/*/id", "routes/*/filters/*/id")
PATHS = "routes/*/match/path"
BAD_REGEXES = [
    "([",
    "(?<n",
    "a{2,1}",
    "(?=x)",
    "\\",
    "*",
    "[z-a]",
    "(a{1000}){1000}",
    "",
    "\\p{No}x(",
]


def host_in_a_list(draw: Draw, document: Value) -> Path:
    """A wrong host beside right ones."""
    number = draw(st.integers(0, len(document["routes"]) - 1))
    wrong = draw(st.sampled_from(["a b", "a..b", "-a.example", "x" * 64 + ".example", "a/b"]))
    document["routes"][number]["match"]["host"] = ["fine.example", wrong]
    return ("routes", number, "match", "host", 1)


def a_host(wrong: list[str]) -> Put:
    """A wrong host as the only one."""

    def put(draw: Draw, document: Value) -> Path:
        number = draw(st.integers(0, len(document["routes"]) - 1))
        document["routes"][number]["match"]["host"] = draw(st.sampled_from(wrong))
        return ("routes", number, "match", "host")

    return put


def methods(*wrong: str) -> Put:
    """A wrong method beside a right one."""

    def put(draw: Draw, document: Value) -> Path:
        number = draw(st.integers(0, len(document["routes"]) - 1))
        listed = ["GET", draw(st.sampled_from(list(wrong)))]
        document["routes"][number]["match"]["methods"] = listed
        return ("routes", number, "match", "methods", 1)

    return put


def answers(respond: Value, *below: str) -> Put:
    """A fixed answer with a fault."""

    def put(draw: Draw, document: Value) -> Path:
        path: Path = draw(st.sampled_from(there(document, "routes/*/respond")))
        within(document, path[:-1])["respond"] = dict(respond)
        return (*path, *below)

    return put


def both(section: str, fields: Value, at: str) -> Put:
    """Two fields that contradict each other."""

    def put(draw: Draw, document: Value) -> Path:
        path: Path = draw(st.sampled_from(there(document, section)))
        within(document, path).update(fields)
        return (*path, at)

    return put


def error_code(name: str, change: Value, *below: str) -> Put:
    """A wrong change of a reject."""

    def put(_: Draw, document: Value) -> Path:
        document["errors"]["codes"][name] = change
        return ("errors", "codes", name, *below)

    return put


def one_filter_twice(draw: Draw, document: Value) -> Path:
    """The same use of a filter twice."""
    chains = [
        path for path in there(document, "entry", "routes/*/filters") if within(document, path)
    ]
    path: Path = draw(st.sampled_from(chains))
    uses = within(document, path)
    uses.append(dict(draw(st.sampled_from(uses))))
    return (*path, len(uses) - 1, "id" if "id" in uses[-1] else "name")
