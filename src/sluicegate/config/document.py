"""The whole file: listeners, upstreams, routes and settings."""

from typing import Literal

from pydantic import Field

from sluicegate.config.answers import ErrorFormat
from sluicegate.config.defaults import RouteDefaults
from sluicegate.config.filter import FilterUse
from sluicegate.config.listener import Listener
from sluicegate.config.model import Model
from sluicegate.config.policy import UpstreamPolicy
from sluicegate.config.route import Route
from sluicegate.config.telemetry import AccessLog, Masking, Metrics, Record
from sluicegate.config.units import HostPort
from sluicegate.config.upstream import Upstream

ENTRY_DEFAULTS = (
    "request_id",
    "trace_context",
    "client_address",
    "header_hygiene",
    "forwarded_headers",
)


def _one_listener() -> tuple[Listener, ...]:
    return (Listener(id="http", address=HostPort("127.0.0.1", 8080)),)


def _usual_entry() -> tuple[FilterUse, ...]:
    return tuple(FilterUse(name=name) for name in ENTRY_DEFAULTS)


class Document(Model):
    """Everything the data plane obeys."""

    format: Literal[1] = Field(description="Version of this form of file.")
    listeners: tuple[Listener, ...] = Field(
        default_factory=_one_listener,
        min_length=1,
        max_length=100,
        description="Where requests enter; 127.0.0.1:8080 when left out.",
    )
    upstreams: tuple[Upstream, ...] = Field(
        default=(), max_length=100_000, description="Where requests go."
    )
    upstream_policy: UpstreamPolicy = Field(
        default_factory=UpstreamPolicy, description="Where upstreams may be."
    )
    route_defaults: RouteDefaults = Field(
        default_factory=RouteDefaults, description="What all routes have in common."
    )
    routes: tuple[Route, ...] = Field(
        default=(), max_length=100_000, description="How requests are matched."
    )
    entry: tuple[FilterUse, ...] = Field(
        default_factory=_usual_entry,
        max_length=200,
        description="Filters of every request, before the match; five by default, `[]` for none.",
    )
    errors: ErrorFormat = Field(
        default_factory=ErrorFormat, description="How the gateway words its own error responses."
    )
    access_log: AccessLog = Field(
        default_factory=AccessLog, description="One JSON line for each request."
    )
    record: Record = Field(
        default_factory=Record, description="What the record of every exchange tells."
    )
    masking: Masking = Field(default_factory=Masking, description="What no record may show.")
    metrics: Metrics = Field(default_factory=Metrics, description="How metrics are named.")
