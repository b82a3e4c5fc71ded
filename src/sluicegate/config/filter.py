"""A filter in a chain; what is inside `config` only the engine knows."""

from typing import Any, Literal

from pydantic import Field

from sluicegate.config.model import Flag, Model
from sluicegate.config.names import Id

Phase = Literal[
    "identify",
    "sanitize",
    "validate",
    "admit",
    "guard",
    "shed",
    "negotiate",
    "verify",
    "authenticate",
    "authorize",
    "meter",
    "tag",
    "rewrite",
    "isolate",
    "respond",
]
"""Places in a chain, in their order; which of them a filter may take, only the filter knows."""


class FilterUse(Model):
    """One step of the entry chain or of a route."""

    name: str = Field(min_length=1, max_length=100, description="Which filter.")
    id: Id | None = Field(
        default=None,
        description="Tells two uses of one filter apart, and names its state; the name by default.",
    )
    phase: Phase | None = Field(
        default=None, description="Another phase than the filter's own, where it allows that."
    )
    config: dict[str, Any] = Field(
        default_factory=dict, description="The filter's own fields; see its reference page."
    )

    @property
    def identity(self) -> str:
        """What must be unique in one chain."""
        return self.id if self.id is not None else self.name


class RouteFilterUse(FilterUse):
    """One step of a route, or the wish to do without a default one."""

    off: Flag = Field(
        default=False, description="The filter of `route_defaults` with this `id` does not run."
    )
