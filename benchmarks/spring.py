"""Spring Cloud Gateway: built from `scg/` when it is not yet, and told to proxy."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from processes import BenchError

_PACKAGE = Path(__file__).resolve().parent / "scg"
_BUILD_LIMIT = 900
OLDEST_JAVA = 17


@functools.cache
def find_scg() -> Path | None:
    """The archive to run; none when there is no Java, no Maven, or no way to the packages."""
    java, maven = shutil.which("java"), shutil.which("mvn")
    if java is None or maven is None or _java_version(java) < OLDEST_JAVA:
        return None
    target = Path(os.environ.get("CARGO_TARGET_DIR") or _PACKAGE.parents[1] / "target")
    archive = target.resolve() / "benchmarks" / "scg" / "scg.jar"
    if archive.exists() and archive.stat().st_mtime > _last_change():
        return archive
    print("scg: building, which takes a minute the first time", file=sys.stderr, flush=True)
    command: list[str | Path] = [maven, "-q", "-B", "-f", _PACKAGE / "pom.xml"]
    built = subprocess.run(
        [*command, f"-Doutput={archive.parent}", "package"],
        capture_output=True,
        text=True,
        check=False,
        timeout=_BUILD_LIMIT,
    )
    if built.returncode != 0 or not archive.exists():
        # Without packages there is nothing to compare with, but everybody else can be measured.
        print("\n".join(built.stdout.splitlines()[-10:]), file=sys.stderr, flush=True)
        return None
    return archive


def scg_version(_: Path) -> str:
    """The release train, and the Java that runs it."""
    text = (_PACKAGE / "pom.xml").read_text()
    train = re.search(r"<spring-cloud.version>([^<]+)<", text)
    return f"{train[1] if train else 'unknown'} on Java {_java_version(_java())}"


def scg(archive: Path, directory: Path, port: int, upstream: str) -> list[str | Path]:
    """Writes the configuration; gives the command that starts the gateway with it."""
    route = {"id": "everything", "uri": f"http://{upstream}", "predicates": ["Path=/**"]}
    pool = {"type": "FIXED", "max-connections": 2048}
    webflux = {"httpclient": {"pool": pool}, "routes": [route]}
    document = {
        "server": {"address": "127.0.0.1", "port": port},
        "logging": {"level": {"root": "ERROR"}},
        "spring": {
            "main": {"banner-mode": "off"},
            "cloud": {"gateway": {"server": {"webflux": webflux}}},
        },
    }
    # JSON is YAML.
    file = directory / "application.yaml"
    file.write_text(json.dumps(document, indent=1))
    # A heap that never grows, and as many threads as the JVM itself chooses on the one core it has.
    heap = ["-Xms1g", "-Xmx1g"]
    return [_java(), *heap, "-jar", archive, f"--spring.config.location=file:{file}"]


def _last_change() -> float:
    return max(file.stat().st_mtime for file in _PACKAGE.rglob("*") if file.is_file())


def _java() -> str:
    java = shutil.which("java")
    if java is None:
        raise BenchError("`java` is missing")
    return java


def _java_version(java: str) -> int:
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    number = re.search(r'version "(\d+)', told.stderr + told.stdout)
    return int(number[1]) if number else 0
