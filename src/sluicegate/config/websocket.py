"""WebSocket connections of a route."""

from typing import Self

from pydantic import Field, model_validator

from sluicegate.config.model import Model, WholeNumber, written, wrong
from sluicegate.config.units import ByteSize, PositiveDuration, format_duration


class WebSocket(Model):
    """What WebSocket connections of this route may do; without it an upgrade is ignored."""

    connections: WholeNumber = Field(
        default=10_000, ge=1, le=10_000_000, description="Open at the same time, over the process."
    )
    idle: PositiveDuration = Field(
        default=written("5m"), description="Closed when no frame has passed for this long."
    )
    life: PositiveDuration | None = Field(
        default=None, description="Closed at this age; clients come back to a fresh instance."
    )
    ping: PositiveDuration | None = Field(
        default=None, description="A client that is silent for this long is asked, then given up."
    )
    max_frame: ByteSize = Field(
        default=written("1MiB"), description="Bytes of one frame; a longer one ends the connection."
    )
    messages_per_second: WholeNumber | None = Field(
        default=None, ge=1, le=1_000_000, description="Messages of one client; more ends it."
    )

    @model_validator(mode="after")
    def _ping_comes_before_the_end(self) -> Self:
        if self.ping is not None and self.ping >= self.idle:
            raise wrong(
                f"`ping` ({format_duration(self.ping)}) comes after "
                f"`idle` ({format_duration(self.idle)})",
                field="ping",
                code="contradiction",
                expected=f"less than {format_duration(self.idle)}",
            )
        return self
