"""What a test needs of its machine; absent, it is a skip with the reason, in CI a failure."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

NEED = Path(__file__).parents[2] / "tools" / "need.sh"


def require_service(name: str, *, present: bool, reason: str) -> None:
    """Ends the test unless `present`: skipped on a person's machine, failed where CI=true.

    CI has to bring everything a test needs, or a green run would prove nothing.
    """
    if present:
        return
    sentence = f"{name} is missing: {reason}"
    if os.environ.get("CI") == "true":
        pytest.fail(sentence, pytrace=False)
    pytest.skip(sentence)


def require_command(name: str, *, package: str) -> str:
    """The path of a command, installed if need be; or the end of the test, naming its package."""
    if shutil.which(name) is None:
        subprocess.run([NEED, f"{name}={package}"], check=False, timeout=300)
    found = shutil.which(name)
    require_service(name, present=found is not None, reason=f"apt-get install {package}")
    assert found is not None
    return found
