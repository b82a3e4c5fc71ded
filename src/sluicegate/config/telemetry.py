"""What the gateway tells about its requests: access log and metrics."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from sluicegate.config.model import Model, WholeNumber, written, wrong
from sluicegate.config.units import ByteSize


def _read_prefix(text: str) -> str:
    if not (text.isascii() and text.isidentifier()):
        raise wrong(
            f"`{text}` cannot begin a metric's name",
            code="bad_prefix",
            expected="letters, digits and underscores, the first no digit",
        )
    return text


class Rotation(Model):
    """When a log file is put aside."""

    size: ByteSize = Field(
        default=written("100MiB"),
        ge=1 << 10,
        description="A file that has reached this size is rotated.",
    )
    keep: WholeNumber = Field(default=5, ge=1, le=1000, description="Rotated files kept.")


class AccessLog(Model):
    """One JSON line for each request."""

    output: str = Field(
        default="stdout", min_length=1, description="`stdout`, `off`, or the path of a file."
    )
    rotate: Rotation = Field(default_factory=Rotation, description="For a file.")
    queue: ByteSize = Field(
        default=written("4MiB"),
        ge=1 << 10,
        description="Bytes that may wait for the writer; lines beyond are dropped and counted.",
    )
    fields: Literal["sluicegate"] = Field(default="sluicegate", description="Set of field names.")


class Metrics(Model):
    """How metrics are named."""

    prefix: Annotated[str, AfterValidator(_read_prefix)] = Field(
        default="sluicegate", description="First word of every metric."
    )
