"""Every Rust dependency has a licence that deny.toml allows."""

import json
import platform
import re
import subprocess
import tomllib
from pathlib import Path

import pytest


def _is_allowed(expression: str, allowed: set[str]) -> bool:
    """Whether an SPDX expression can be met by licences of the list."""
    expression = expression.replace("/", " OR ")  # what a slash meant before SPDX
    while "(" in expression:
        expression = re.sub(
            r"\(([^()]*)\)",
            lambda group: "allowed" if _is_flat_allowed(group[1], allowed) else "refused",
            expression,
        )
    return _is_flat_allowed(expression, allowed)


def _is_flat_allowed(expression: str, allowed: set[str]) -> bool:
    """The same for an expression without brackets, where AND binds more than OR."""
    return any(
        all(part.strip() in {"allowed", *allowed} for part in choice.split(" AND "))
        for choice in expression.split(" OR ")
    )


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [
        ("MIT", True),
        ("MIT OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("Apache-2.0/GPL-2.0", True),
        ("(GPL-3.0-only OR MIT) AND Apache-2.0", True),
        ("GPL-3.0-only WITH Classpath-exception-2.0", False),
    ],
)
def test_an_expression_is_met_by_one_choice(expression: str, *, verdict: bool) -> None:
    assert _is_allowed(expression, {"MIT", "Apache-2.0"}) is verdict


def test_every_dependency_has_an_allowed_licence(root: Path) -> None:
    allowed = set(tomllib.loads((root / "deny.toml").read_text())["licenses"]["allow"])
    target = f"{platform.machine()}-unknown-linux-gnu"
    listed = subprocess.run(
        ["cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={target}"],  # noqa: S607 - rustup puts it there
        cwd=root,
        capture_output=True,
        check=True,
        text=True,
    ).stdout

    refused = {
        package["name"]: package["license"]
        for package in json.loads(listed)["packages"]
        if not _is_allowed(package["license"] or "none", allowed)
    }

    assert not refused, f"deny.toml does not allow them: {refused}"
