"""Settings of one gateway process; what is the same for all instances is in the document."""

from pathlib import Path

from pydantic import Field

from sluicegate.config.model import Model, written
from sluicegate.config.units import Duration, HostPort


class ProcessSettings(Model):
    """How this process runs; each also by environment variable `SLUICEGATE_…`."""

    config: Path = Field(default=Path("sluicegate.yaml"), description="The document: YAML or JSON.")
    state_dir: Path = Field(
        default=Path(".sluicegate"),
        description="Where the last good snapshot, its counter and the control socket live.",
    )
    threads: int | None = Field(
        default=None, ge=1, le=1024, description="Engine threads; one per usable core by default."
    )
    operations: HostPort | None = Field(
        default=HostPort("127.0.0.1", 9090),
        description="Where /livez, /readyz and /metrics are served.",
    )
    drain_delay: Duration = Field(
        default=written("5s"),
        description="From failing readiness to closing listeners: the balancer's time to notice.",
    )
    grace: Duration = Field(
        default=written("30s"), description="Time that running exchanges get to end."
    )
