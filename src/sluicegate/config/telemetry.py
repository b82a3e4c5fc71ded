"""What the gateway tells about its requests: access log, record and metrics."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from sluicegate.config.model import Flag, Model, WholeNumber, written, wrong
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
    fields: Literal["sluicegate", "campus"] = Field(
        default="sluicegate", description="Set of field names."
    )


BodyPolicy = Literal["size", "digest", "masked"]


class Record(Model):
    """What the record of an exchange tells besides the usual; a route's own comes first."""

    request_body: BodyPolicy | None = Field(
        default=None,
        description="Of the request's body: `size` (the default), SHA-256, or its masked text.",
    )
    response_body: BodyPolicy | None = Field(
        default=None, description="The same of the response's body."
    )
    limit: ByteSize | None = Field(
        default=None,
        ge=1,
        le=1 << 20,
        description="Bytes of a masked body that are shown; 4 KiB by default.",
    )
    headers: tuple[str, ...] | None = Field(
        default=None,
        max_length=100,
        description='Request headers to show; `["*"]` for all but those that hold secrets.',
    )
    query: Flag | None = Field(
        default=None, description="Show the query, secrets masked; yes by default."
    )


class MaskingPattern(Model):
    """Text that no record may show."""

    name: str = Field(min_length=1, max_length=100, description="For people, and for messages.")
    regex: str = Field(
        min_length=1,
        max_length=1000,
        description="What to look for, in the syntax of Rust's regex.",
    )
    replace: str = Field(
        default="***", max_length=200, description="What to show; `$1` for a group of the pattern."
    )


class Masking(Model):
    """What is hidden in every record besides credentials, phone and identity card numbers."""

    names: tuple[str, ...] = Field(
        default=(), max_length=100, description="Parameters and members whose values are secrets."
    )
    patterns: tuple[MaskingPattern, ...] = Field(
        default=(), max_length=100, description="Compiled once for each snapshot."
    )


class Metrics(Model):
    """How metrics are named."""

    prefix: Annotated[str, AfterValidator(_read_prefix)] = Field(
        default="sluicegate", description="First word of every metric of ours."
    )
    names: tuple[Literal["sluicegate", "flash-sale", "campus"], ...] = Field(
        default=("sluicegate",),
        min_length=1,
        description="Sets of names that requests are counted under, all at once.",
    )
