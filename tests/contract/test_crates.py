"""What a crate may know is seen by its dependencies and its words."""

import re
import tomllib
from pathlib import Path

import pytest

# What leads out of the process, or waits.
OUTSIDE = re.compile(
    r"\bstd::(?:fs|process|thread|env|io)\b|\b(?:Tcp|Udp|Unix)\w+|\btokio\b|\basync\b|\.await\b"
)
# Pure tables and patterns.
ALLOWED = {"foldhash", "hashbrown", "regex", "regex-syntax"}


@pytest.mark.spec("RT-28")
def test_the_router_reads_nothing_but_memory(root: Path) -> None:
    crate = root / "crates" / "router"
    manifest = tomllib.loads((crate / "Cargo.toml").read_text())

    reaching = {
        path.name: words
        for path in sorted((crate / "src").rglob("*.rs"))
        if (words := OUTSIDE.findall(path.read_text()))
    }

    assert set(manifest["dependencies"]) <= ALLOWED
    assert not reaching, "matching is by local memory only"
