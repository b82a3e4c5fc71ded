"""Connections that a balancer hands on, with a header that says whose they are."""

from pydantic import Field

from sluicegate.config.model import Model, written
from sluicegate.config.policy import Network
from sluicegate.config.units import PositiveDuration


class ProxyProtocol(Model):
    """Every connection begins with a PROXY header, version 1 or 2; one without it is closed."""

    trusted: tuple[Network, ...] = Field(
        min_length=1, max_length=1000, description="The balancers; nobody else gets in."
    )
    timeout: PositiveDuration = Field(
        default=written("3s"), description="How long a connection may take to say whose it is."
    )
