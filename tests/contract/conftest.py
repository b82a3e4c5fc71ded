"""What the contract tests look at: the files of the repository and the engine's schema."""

import importlib
import importlib.util
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.services import require_service

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    """The top folder of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def files(root: Path) -> list[Path]:
    """Every file that belongs to the repository, with or without a commit of it."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],  # noqa: S607 - git is where it is
        cwd=root,
        capture_output=True,
        check=True,
        text=True,
    ).stdout.splitlines()
    return [root / name for name in listed if (root / name).is_file()]


@pytest.fixture(scope="session")
def engine_schema() -> dict[str, Any]:
    """What the engine says of its filters and rejects."""
    present = importlib.util.find_spec("sluicegate._engine") is not None
    require_service("the engine", present=present, reason="run `make develop`")
    engine = importlib.import_module("sluicegate.engine")
    return {"filters": engine.filter_catalogue(), "rejects": engine.reject_catalogue()}
