"""Listeners: where requests enter."""

from pydantic import Field

from sluicegate.config.exposure import Exposure
from sluicegate.config.http2 import Http2
from sluicegate.config.model import Model, WholeNumber, written
from sluicegate.config.names import Id
from sluicegate.config.proxy_protocol import ProxyProtocol
from sluicegate.config.units import ByteSize, HostPort, PositiveDuration


class ListenerLimits(Model):
    """What one request or one client may take; beyond it the gateway answers itself."""

    header: ByteSize = Field(
        default=written("16KiB"),
        ge=256,
        description="Bytes of a request head; more is answered 431.",
    )
    fields: WholeNumber = Field(
        default=100,
        ge=1,
        le=256,
        description="Header fields of a request; more is answered 431.",
    )
    target: ByteSize = Field(
        default=written("8KiB"),
        ge=1,
        description="Bytes of a request target; more is answered 414.",
    )
    body: ByteSize = Field(
        default=written("2MiB"),
        description="Bytes of a request body; more is answered 413. A route may say otherwise.",
    )
    connections: WholeNumber = Field(
        default=10_000,
        ge=1,
        le=10_000_000,
        description="Client connections of this listener, over the whole process.",
    )
    requests_per_connection: WholeNumber = Field(
        default=0,
        ge=0,
        le=1_000_000_000,
        description="Requests after which a connection is closed; 0 means no limit.",
    )


class ListenerTimeouts(Model):
    """How long the gateway waits for a client."""

    header: PositiveDuration = Field(
        default=written("10s"),
        description="From the first byte of a head to its end; then 408.",
    )
    body: PositiveDuration = Field(
        default=written("30s"),
        description="Between two pieces of a request body; then 408.",
    )
    idle: PositiveDuration = Field(
        default=written("60s"),
        description="A kept-alive connection without a request is closed after this.",
    )
    write: PositiveDuration = Field(
        default=written("30s"),
        description="A client that does not read its answer is dropped after this.",
    )


class Listener(Model):
    """An address the gateway accepts requests on."""

    id: Id = Field(description="Names the listener in logs, metrics and messages.")
    address: HostPort = Field(
        description="Address and port to listen on; port 0 lets the system choose."
    )
    exposure: Exposure = Field(
        default="public", description="Internal routes are on `internal` listeners only."
    )
    proxy_protocol: ProxyProtocol | None = Field(
        default=None, description="A balancer in front says whose each connection is."
    )
    http2: Http2 = Field(default_factory=Http2, description="HTTP/2 beside HTTP/1.1.")
    limits: ListenerLimits = Field(
        default_factory=ListenerLimits, description="What one request or client may take."
    )
    timeouts: ListenerTimeouts = Field(
        default_factory=ListenerTimeouts, description="How long the gateway waits for a client."
    )
