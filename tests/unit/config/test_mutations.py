"""Whatever is done to a document: it is fine, or its problems are named. No traceback, ever."""

import json
import random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sluicegate.config.candidate import Candidate, examine
from sluicegate.config.snapshot import snapshot_of
from sluicegate.config.source import Source
from sluicegate.errors import Problem

DOCUMENT: dict[str, Any] = {
    "format": 1,
    "listeners": [
        {
            "id": "http",
            "address": "127.0.0.1:8080",
            "limits": {"body": "2MiB", "fields": 100},
            "timeouts": {"idle": "60s"},
        }
    ],
    "upstreams": [
        {
            "id": "orders",
            "endpoints": [{"address": "[::1]:9001", "weight": 2}],
            "connections": {"max": 5},
            "timeouts": {"total": None},
        }
    ],
    "routes": [
        {
            "id": "a",
            "priority": 5,
            "match": {
                "host": ["*.example.com"],
                "path": "/a/{id}/**",
                "methods": ["GET"],
                "headers": [{"name": "X-Env", "regex": "^a"}],
                "cookies": [{"name": "c", "present": False}],
            },
            "upstream": "orders",
            "filters": [{"name": "path_rewrite", "id": "x", "config": {"to": "/"}}],
            "labels": {"team": "a"},
        },
        {"id": "b", "match": {"path": "/b"}, "respond": {"status": 200, "body": "x"}},
        {"id": "c", "match": {"path": "/c"}, "redirect": {"location": "/d"}},
    ],
    "entry": [{"name": "request_id"}],
    "errors": {
        "format": "template",
        "template": {"body": "{code}"},
        "codes": {"x": {"title": "y"}},
    },
    "access_log": {"output": "stdout", "rotate": {"size": "1MiB"}},
    "metrics": {"prefix": "sluicegate"},
}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


def quiet_engine(snapshot: str) -> list[Problem]:
    json.loads(snapshot)
    return []


def judged(text: str, file: str = "x.yaml") -> Candidate:
    candidate = examine(Source.parse(text, file=file), quiet_engine)
    for problem in candidate.problems:
        assert problem.message
        assert problem.file == file
        assert problem.line is not None
        assert problem.line >= 1
        assert str(problem)
    if not candidate.errors:
        snapshot_of(candidate.document, version=1)
    return candidate


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401 - JSON
    found = [path]
    below = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for step, inner in below:
        found += places(inner, (*path, step))
    return found


def test_the_document_is_sound_before_it_is_mutated() -> None:
    assert judged(json.dumps(DOCUMENT)).problems == ()


@given(
    st.sampled_from(places(DOCUMENT)[1:]), ANYTHING, st.sampled_from(["set", "delete", "double"])
)
def test_another_value_anywhere_is_fine_or_named(
    path: tuple[Any, ...], value: object, how: str
) -> None:
    document = json.loads(json.dumps(DOCUMENT))
    holder = document
    for step in path[:-1]:
        holder = holder[step]
    if how == "set":
        holder[path[-1]] = value
    elif how == "delete":
        del holder[path[-1]]
    elif isinstance(holder, list):
        holder.append(holder[path[-1]])
    else:
        holder[f"{path[-1]}x"] = value

    judged(json.dumps(document))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10_000), st.integers(1, 8), st.binary(min_size=1, max_size=8))
def test_garbled_text_is_fine_or_named(seed: int, times: int, noise: bytes) -> None:
    chance = random.Random(seed)  # noqa: S311 - a reproducible choice, no secret
    text = json.dumps(DOCUMENT, indent=1) if seed % 2 else as_yaml()
    for _ in range(times):
        at = chance.randrange(len(text))
        cut = chance.randrange(4)
        text = text[:at] + noise.decode("latin-1") * (cut % 2) + text[at + cut :]

    judged(text, "x.json" if seed % 3 == 0 else "x.yaml")


@given(st.text(alphabet="abf:-[]{}&*!|>'\"%@`#,?\n\t 1\\<\x00é", max_size=60))
def test_any_text_is_fine_or_named(text: str) -> None:
    judged(text)


@given(ANYTHING)
def test_any_json_is_fine_or_named(value: object) -> None:
    judged(json.dumps(value), "x.json")


def as_yaml() -> str:
    """The document in block style, as people write it."""
    lines = []

    def write(value: Any, indent: int, lead: str) -> None:  # noqa: ANN401 - JSON
        pad = "  " * indent
        if isinstance(value, dict) and value:
            for key, inner in value.items():
                write(inner, indent + 1, f"{lead or pad}{key}:")
                lead = ""
        elif isinstance(value, list) and value:
            lines.append(lead)
            for inner in value:
                lines.append(f"{pad}- {json.dumps(inner)}")  # noqa: PERF401 - two shapes of line
        else:
            lines.append(f"{lead} {json.dumps(value)}")

    for key, value in DOCUMENT.items():
        if isinstance(value, dict):
            lines.append(f"{key}:")
            for name, inner in value.items():
                lines.append(f"  {name}: {json.dumps(inner)}")
        else:
            write(value, 1, f"{key}:")
    return "\n".join(lines) + "\n"
