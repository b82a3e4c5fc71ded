"""Upstreams: where requests go, and the endpoints behind each."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from sluicegate.config.exposure import Exposure
from sluicegate.config.model import Model, WholeNumber, written, wrong
from sluicegate.config.names import Id
from sluicegate.config.units import HostPort, PositiveDuration, format_duration, is_host


def _reachable(address: HostPort) -> HostPort:
    if address.port == 0:
        raise wrong("port 0 cannot be connected to", code="bad_port", expected="1 to 65535")
    return address


def _read_host_choice(text: str) -> str:
    name = text.rpartition(":")[0] if ":" in text and not text.endswith("]") else text
    if name and (is_host(name) or (name.startswith("[") and name.endswith("]"))):
        return text
    raise wrong(
        f"`{text}` cannot be a Host header",
        code="bad_host",
        expected="keep, endpoint, or a host such as api.internal",
    )


class Endpoint(Model):
    """One address of an upstream."""

    address: Annotated[HostPort, AfterValidator(_reachable)] = Field(
        description="Host and port; a DNS name is resolved again and again, both address families."
    )
    weight: WholeNumber = Field(
        default=1, ge=1, le=1000, description="Share of requests relative to the other endpoints."
    )


class UpstreamConnections(Model):
    """The connections to one upstream, over the whole process."""

    max: WholeNumber = Field(
        default=500, ge=1, le=1_000_000, description="Connections open at the same time."
    )
    acquire: PositiveDuration = Field(
        default=written("50ms"),
        description="Wait for a free connection; then 503 `upstream_busy`.",
    )
    idle: PositiveDuration = Field(
        default=written("50s"), description="An unused connection is closed after this."
    )
    life: PositiveDuration = Field(
        default=written("10m"), description="No connection is used longer than this."
    )

    @model_validator(mode="after")
    def _idle_fits_into_life(self) -> Self:
        if self.idle > self.life:
            raise wrong(
                f"`idle` ({format_duration(self.idle)}) is longer than "
                f"`life` ({format_duration(self.life)})",
                field="idle",
                code="contradiction",
                expected=f"at most {format_duration(self.life)}",
            )
        return self


class UpstreamTimeouts(Model):
    """How long the gateway waits for an upstream before it answers 504."""

    connect: PositiveDuration = Field(
        default=written("1s"), description="TCP and TLS handshake together."
    )
    response: PositiveDuration = Field(
        default=written("3s"),
        description="From the last byte of the request to the head of the response.",
    )
    idle: PositiveDuration = Field(
        default=written("60s"), description="Between two pieces of a response body."
    )
    total: PositiveDuration | None = Field(
        default=None,
        description="The whole exchange, body included; none by default, streams are endless.",
    )

    @model_validator(mode="after")
    def _total_covers_its_parts(self) -> Self:
        if self.total is not None and self.total < self.response:
            raise wrong(
                f"`total` ({format_duration(self.total)}) is shorter than "
                f"`response` ({format_duration(self.response)})",
                field="total",
                code="contradiction",
                expected=f"at least {format_duration(self.response)}",
            )
        return self


class Dns(Model):
    """How DNS names of endpoints are kept fresh."""

    refresh: PositiveDuration = Field(
        default=written("30s"),
        description="Time between two look-ups when the resolver gives no time to live.",
    )


class Upstream(Model):
    """A group of endpoints that can answer the same requests."""

    id: Id = Field(description="What routes call it.")
    endpoints: tuple[Endpoint, ...] = Field(
        min_length=1, max_length=10_000, description="Its addresses; at least one."
    )
    exposure: Exposure = Field(
        default="public", description="No public route may go to an `internal` one."
    )
    balance: Literal["round_robin"] = Field(
        default="round_robin", description="How an endpoint is picked: smooth weighted round robin."
    )
    protocol: Literal["http1", "http2"] = Field(
        default="http1",
        description="What its endpoints speak: HTTP/1.1, or HTTP/2 from the first byte on.",
    )
    host: Annotated[str, AfterValidator(_read_host_choice)] = Field(
        default="keep",
        description="Host header sent: `keep` the client's, the `endpoint`'s, or a host of yours.",
    )
    connections: UpstreamConnections = Field(
        default_factory=UpstreamConnections, description="Its connections, over the whole process."
    )
    timeouts: UpstreamTimeouts = Field(
        default_factory=UpstreamTimeouts, description="How long the gateway waits for it."
    )
    dns: Dns = Field(default_factory=Dns, description="How its DNS names are kept fresh.")
