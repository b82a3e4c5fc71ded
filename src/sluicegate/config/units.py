"""Values with a unit or a shape of their own: durations, sizes, addresses."""

import ipaddress
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, core_schema

from sluicegate.config.model import wrong

_MICROSECONDS = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000}
_BYTES = {
    "B": 1,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
    "KB": 1_000,
    "MB": 1_000_000,
    "GB": 1_000_000_000,
}
_SCALED = re.compile(r"([0-9]{1,18})([A-Za-z]*)", re.ASCII)
_LONGEST = timedelta(days=365)
_LARGEST = 1 << 50
_LAST_PORT = 65_535
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?", re.ASCII)
_HOST_LENGTH = 253
_LABEL_LENGTH = 63


def parse_duration(text: object) -> timedelta:
    """Read a duration such as `250ms`.

    A number without a unit is refused: nobody can tell seconds from milliseconds
    in a review.

    Raises:
        ValueError: `text` has no unit, an unknown unit, a fraction, or is above 365 days.
    """
    if isinstance(text, timedelta):
        return text
    number, factor = _scaled(text, _MICROSECONDS, noun="duration", example="250ms, 3s, 5m or 1h")
    if number * factor > _LONGEST / timedelta(microseconds=1):
        raise wrong(
            f"`{text}` is longer than a year", code="out_of_range", expected="at most 8760h"
        )
    return timedelta(microseconds=number * factor)


def format_duration(duration: timedelta) -> str:
    """Write a duration in the largest unit that needs no fraction."""
    microseconds = duration // timedelta(microseconds=1)
    for unit in ("h", "m", "s", "ms"):
        if microseconds and microseconds % _MICROSECONDS[unit] == 0:
            return f"{microseconds // _MICROSECONDS[unit]}{unit}"
    return f"{microseconds}us" if microseconds else "0s"


def parse_byte_size(text: object) -> int:
    """Read a size such as `2MiB` (powers of 1024) or `2MB` (powers of 1000), in bytes.

    Raises:
        ValueError: `text` has no unit, an unknown unit, a fraction, or is above 1 PiB.
    """
    if isinstance(text, int) and not isinstance(text, bool) and text < 0:
        raise wrong(f"`{text}` is negative", code="out_of_range", expected="a size such as 2MiB")
    number, factor = _scaled(text, _BYTES, noun="size", example="512B, 16KiB or 2MiB")
    if number * factor > _LARGEST:
        raise wrong(f"`{text}` is more than 1 PiB", code="out_of_range")
    return number * factor


def format_byte_size(size: int) -> str:
    """Write a size in the largest unit that needs no fraction."""
    for unit in ("GiB", "MiB", "KiB", "GB", "MB", "KB"):
        if size and size % _BYTES[unit] == 0:
            return f"{size // _BYTES[unit]}{unit}"
    return f"{size}B"


def _scaled(text: object, units: dict[str, int], *, noun: str, example: str) -> tuple[int, int]:
    expected = f"a whole number and a unit, such as {example}"
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise wrong(f"not a {noun}", code="wrong_type", expected=expected)
    found = _SCALED.fullmatch(str(text))
    if found is None:
        raise wrong(f"`{text}` is not a {noun}", code="bad_unit", expected=expected)
    number, unit = found.groups()
    if not unit:
        raise wrong(f"`{text}` has no unit", code="no_unit", expected=expected)
    if unit not in units:
        same = [known for known in units if known.lower() == unit.lower()]
        raise wrong(
            f"`{unit}` is not a unit of a {noun}",
            code="bad_unit",
            expected=f"one of: {', '.join(units)}",
            suggestion=f"{number}{same[0]}" if same else None,
        )
    return int(number), units[unit]


def _positive(duration: timedelta) -> timedelta:
    if duration <= timedelta(0):
        raise wrong("a duration of zero would end everything at once", code="out_of_range")
    return duration


Duration = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    PlainSerializer(format_duration, return_type=str),
    WithJsonSchema({"type": "string", "pattern": "^[0-9]+(us|ms|s|m|h)$", "examples": ["250ms"]}),
]
"""A length of time; zero is allowed."""

PositiveDuration = Annotated[
    timedelta,
    BeforeValidator(lambda text: _positive(parse_duration(text))),
    PlainSerializer(format_duration, return_type=str),
    WithJsonSchema({"type": "string", "pattern": "^[0-9]+(us|ms|s|m|h)$", "examples": ["250ms"]}),
]
"""A length of time above zero."""

ByteSize = Annotated[
    int,
    BeforeValidator(parse_byte_size),
    PlainSerializer(format_byte_size, return_type=str),
    WithJsonSchema(
        {"type": "string", "pattern": "^[0-9]+(B|KiB|MiB|GiB|KB|MB|GB)$", "examples": ["2MiB"]}
    ),
]
"""A number of bytes."""


@dataclass(frozen=True, slots=True)
class HostPort:
    """A host and a TCP port; `host` is a DNS name or an address, IPv6 without brackets."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: object) -> "HostPort":
        """Read `api.internal:8080`, `127.0.0.1:80` or `[::1]:80`.

        Raises:
            ValueError: the port is missing or out of range, or the host is not one.
        """
        expected = "host:port, such as 127.0.0.1:8080, api.internal:80 or [::1]:80"
        if not isinstance(text, str):
            raise wrong("not an address", code="wrong_type", expected=expected)
        if "://" in text:
            bare = text.partition("://")[2].partition("/")[0]
            raise wrong(
                "an address has no scheme and no path",
                code="bad_host",
                expected=expected,
                suggestion=bare if ":" in bare else None,
            )
        host, colon, port = text.rpartition(":")
        if not colon or host.count("[") != host.count("]") or port.endswith("]"):
            only_port = f"127.0.0.1:{text}" if text.isascii() and text.isdigit() else None
            raise wrong(
                f"`{text}` is not a host and a port" if only_port else f"`{text}` has no port",
                code="no_port",
                expected=expected,
                suggestion=only_port,
            )
        if not re.fullmatch("[0-9]{1,9}", port, re.ASCII):
            raise wrong(f"`{port}` is not a port", code="bad_port", expected=expected)
        if int(port) > _LAST_PORT:
            raise wrong(f"port {port} is out of range", code="bad_port", expected="0 to 65535")
        return cls(_read_host(host, text), int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Let a model read it from its written form."""
        return core_schema.no_info_plain_validator_function(
            lambda value: value if isinstance(value, cls) else cls.parse(value),
            serialization=core_schema.plain_serializer_function_ser_schema(str),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describe the written form."""
        return {"type": "string", "pattern": "^.+:[0-9]+$", "examples": ["127.0.0.1:8080"]}


def _read_host(host: str, text: str) -> str:
    if host.startswith("[") and host.endswith("]"):
        try:
            return str(ipaddress.IPv6Address(host[1:-1]))
        except ValueError:
            raise wrong(f"`{host}` is not an IPv6 address", code="bad_host") from None
    if ":" in host:
        port = text.rpartition(":")[2]
        raise wrong(
            "an IPv6 address needs brackets before its port",
            code="bad_host",
            suggestion=f"[{host}]:{port}",
        )
    if not is_host(host):
        raise wrong(f"`{host}` is not a host name or an address", code="bad_host")
    return host


def is_host(name: str) -> bool:
    """Tell whether `name` is an IPv4 address or a DNS name (RFC 1123, underscores admitted)."""
    labels = name.removesuffix(".").split(".")
    if all(label.isascii() and label.isdigit() for label in labels):
        try:
            ipaddress.IPv4Address(name)
        except ValueError:
            return False
        return True
    return len(name) <= _HOST_LENGTH and all(
        len(label) <= _LABEL_LENGTH and _HOST.fullmatch(label) for label in labels
    )
