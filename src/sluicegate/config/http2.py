"""HTTP/2 of a listener: how much one connection may ask for at once."""

from pydantic import Field

from sluicegate.config.model import Model, WholeNumber, written
from sluicegate.config.units import ByteSize

LARGEST_WINDOW = 2**31 - 1


class Http2(Model):
    """HTTP/2 from clients, beside HTTP/1.1 on the same port."""

    enabled: bool = Field(
        default=True, description="Whether the listener speaks HTTP/2; HTTP/1.1 it always does."
    )
    streams: WholeNumber = Field(
        default=100, ge=1, le=100_000, description="Requests at once on one connection."
    )
    stream_window: ByteSize = Field(
        default=written("64KiB"),
        ge=1 << 14,
        le=LARGEST_WINDOW,
        description="Bytes of one body that a client may send ahead of what has gone on upstream.",
    )
    window: ByteSize = Field(
        default=written("1MiB"),
        ge=1 << 14,
        le=LARGEST_WINDOW,
        description="The same for all bodies of one connection together.",
    )
