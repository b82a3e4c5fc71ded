"""The presets keep the order of steps that their sources ask for, as far as the filters exist."""

import json
from pathlib import Path

import pytest

from e2e.served import run

PRESETS = Path(__file__).parents[2] / "examples" / "presets"
# The steps of one request in order: chain, phase, id. `match` is where the route is found.
IDENTIFY = ["identify request_id", "identify trace_context"]
SANITIZE = ["sanitize client_address", "sanitize header_hygiene", "sanitize forwarded_headers"]
USUAL = [*IDENTIFY, *SANITIZE]
ORDERS = {
    "ads": (
        *("POST", "http://api.example.com/api/v1/orders"),
        [
            *(*USUAL, "validate validate", "admit address_list", "match"),
            *("validate validate", "rewrite path_rewrite"),
        ],
    ),
    "flash-sale": ("POST", "/activity/claim", [*USUAL, "match"]),
    "sticky-login": ("POST", "/login", [*USUAL, "match"]),
    "governance": (
        *("GET", "/api/assets/1"),
        [
            *(*USUAL, "admit address_list", "match"),
            *("negotiate cors", "rewrite mark", "rewrite path_rewrite"),
        ],
    ),
    "campus": ("GET", "/edu/course/list", [*USUAL, "match", "rewrite path_rewrite"]),
}


def test_every_preset_has_its_order_here() -> None:
    presets = {path.stem for path in PRESETS.glob("*.yaml") if ".requests" not in path.name}

    assert presets == set(ORDERS)


@pytest.mark.spec("PX-01")
@pytest.mark.parametrize("preset", ORDERS)
def test_a_preset_keeps_the_order_of_its_source(preset: str) -> None:
    method, url, expected = ORDERS[preset]

    explained = run("explain", method, url, "--config", PRESETS / f"{preset}.yaml", "--json")

    steps = json.loads(explained.stdout)["steps"]
    entry = [step for step in steps if step["stage"] == "entry"]
    assert steps[: len(entry)] == entry, "the entry chain runs before the match"
    shown = [f"{step['phase']} {step['id']}" for step in steps]
    shown.insert(len(entry), "match")
    assert shown == expected
