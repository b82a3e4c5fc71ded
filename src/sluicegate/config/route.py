"""Routes: how requests are matched and what happens to them."""

from typing import Literal, Self

from pydantic import Field, model_validator

from sluicegate.config.answers import Redirect, Respond
from sluicegate.config.exposure import Exposure
from sluicegate.config.filter import RouteFilterUse
from sluicegate.config.matching import Match
from sluicegate.config.model import Flag, Model, WholeNumber, wrong
from sluicegate.config.names import Id
from sluicegate.config.telemetry import Record
from sluicegate.config.units import ByteSize, PositiveDuration, format_duration
from sluicegate.config.websocket import WebSocket

ACTIONS = ("upstream", "respond", "redirect")
_HIGHEST_VERSION = (1 << 63) - 1
_LOWEST, _HIGHEST = -(1 << 31), (1 << 31) - 1


class RouteLimits(Model):
    """Limits of one route, in place of the listener's."""

    body: ByteSize | None = Field(
        default=None, description="Bytes of a request body; more is answered 413."
    )


class RouteTimeouts(Model):
    """Waits of one route, in place of its upstream's."""

    connect: PositiveDuration | None = Field(
        default=None, description="TCP and TLS handshake together."
    )
    response: PositiveDuration | None = Field(
        default=None, description="From the last byte of the request to the head of the response."
    )
    idle: PositiveDuration | None = Field(
        default=None, description="Between two pieces of a response body."
    )
    total: PositiveDuration | None = Field(
        default=None, description="The whole exchange, body included."
    )

    @model_validator(mode="after")
    def _total_covers_its_parts(self) -> Self:
        if self.total is None or self.response is None or self.total >= self.response:
            return self
        raise wrong(
            f"`total` ({format_duration(self.total)}) is shorter than "
            f"`response` ({format_duration(self.response)})",
            field="total",
            code="contradiction",
            expected=f"at least {format_duration(self.response)}",
        )


class Route(Model):
    """Takes some requests to one upstream or answer."""

    id: Id = Field(description="Names the route in logs, metrics and messages.")
    description: str = Field(default="", max_length=2000, description="A sentence, for people.")
    status: Literal["draft", "reviewing", "published", "disabled"] = Field(
        default="published", description="Only a published route is served; all are checked."
    )
    version: WholeNumber | None = Field(
        default=None, ge=1, le=_HIGHEST_VERSION, description="Counts the route's changes."
    )
    exposure: Exposure = Field(
        default="public", description="An `internal` route is on internal listeners only."
    )
    priority: WholeNumber = Field(
        default=0, ge=_LOWEST, le=_HIGHEST, description="The higher wins among routes that match."
    )
    match: Match = Field(description="The requests it takes.")
    upstream: str | None = Field(default=None, description="Id of the upstream they go to.")
    respond: Respond | None = Field(default=None, description="Or: a fixed response.")
    redirect: Redirect | None = Field(default=None, description="Or: a redirect.")
    defaults: Flag = Field(
        default=True, description="Whether the filters of `route_defaults` run for it."
    )
    filters: tuple[RouteFilterUse, ...] = Field(
        default=(), max_length=200, description="Its chain; within a phase your order stands."
    )
    limits: RouteLimits = Field(
        default_factory=RouteLimits, description="Limits in place of the listener's."
    )
    timeouts: RouteTimeouts = Field(
        default_factory=RouteTimeouts, description="Waits in place of the upstream's."
    )
    websocket: WebSocket | None = Field(
        default=None, description="Its WebSocket connections; `{}` allows them as they are usual."
    )
    record: Record | None = Field(
        default=None, description="What its records tell, in place of the document's `record`."
    )
    encoded_slash: Literal["refuse", "allow"] = Field(
        default="refuse", description="Whether `%2F` in a path is let through; 400 when refused."
    )
    labels: dict[str, str] = Field(default_factory=dict, description="Free words, for people.")

    @property
    def is_served(self) -> bool:
        """Whether it takes requests."""
        return self.status == "published"

    @model_validator(mode="after")
    def _one_action(self) -> Self:
        actions = [name for name in ACTIONS if getattr(self, name) is not None]
        if len(actions) != 1:
            given = " and ".join(f"`{name}`" for name in actions) or "none of them"
            raise wrong(
                f"a route has exactly one of `upstream`, `respond` and `redirect`; here is {given}",
                field=actions[1] if actions else None,
                code="not_exactly_one",
            )
        return self
