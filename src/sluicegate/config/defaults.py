"""What all routes have in common, said once."""

from pydantic import Field

from sluicegate.config.filter import FilterUse
from sluicegate.config.model import Model
from sluicegate.config.route import RouteLimits, RouteTimeouts


class RouteDefaults(Model):
    """What every route has unless it says otherwise."""

    filters: tuple[FilterUse, ...] = Field(
        default=(),
        max_length=200,
        description="Run before a route's own. A filter of the route with the same `id` takes the "
        "place; `off: true` takes it away; `defaults: false` takes all away.",
    )
    limits: RouteLimits = Field(
        default_factory=RouteLimits, description="Limits of routes that say none."
    )
    timeouts: RouteTimeouts = Field(
        default_factory=RouteTimeouts,
        description="Waits of routes that say none, in place of the upstream's.",
    )
    labels: dict[str, str] = Field(
        default_factory=dict, description="Labels of every route; its own win."
    )
