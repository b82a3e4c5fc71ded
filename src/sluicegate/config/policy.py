"""Where upstreams may be: a fence around every document and every name server (SE-23)."""

import ipaddress
import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, WithJsonSchema

from sluicegate.config.model import Model, wrong
from sluicegate.config.names import HostPattern

_PORTS = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", re.ASCII)
_LAST_PORT = 65_535


def _read_network(text: str) -> str:
    expected = "a network such as 10.0.0.0/8 or 2001:db8::/32, or one address"
    try:
        address = ipaddress.ip_interface(text)
    except ValueError:
        raise wrong(f"`{text}` is not a network", code="bad_network", expected=expected) from None
    if "/" in text and not text.partition("/")[2].isdigit():
        raise wrong(f"`{text}` has no prefix length", code="bad_network", expected=expected)
    if isinstance(address, ipaddress.IPv6Interface) and address.ip.ipv4_mapped is not None:
        raise wrong(
            f"`{text}` is IPv4 written as IPv6",
            code="bad_network",
            expected="the network as IPv4",
        )
    if address.ip != address.network.network_address:
        raise wrong(
            f"`{text}` has bits behind its prefix",
            code="bad_network",
            suggestion=str(address.network),
        )
    return text


def _read_ports(value: object) -> object:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    found = _PORTS.fullmatch(text) if isinstance(text, str) else None
    first, last = (found[1], found[2] or found[1]) if found else ("0", "0")
    if not 0 < int(first) <= int(last) <= _LAST_PORT:
        raise wrong(
            f"`{value}` is neither a port nor a range of ports",
            code="bad_port",
            expected="a port such as 443, or a range such as 8000-8999",
        )
    return text


Network = Annotated[
    str,
    AfterValidator(_read_network),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": "^[0-9A-Fa-f.:]{2,45}(/[0-9]{1,3})?$",
            "examples": ["10.0.0.0/8"],
        }
    ),
]
"""A network in CIDR notation, or one address."""

Ports = Annotated[
    str,
    BeforeValidator(_read_ports),
    PlainSerializer(str, return_type=str),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": _LAST_PORT},
                {"type": "string", "pattern": "^[0-9]{1,5}(-[0-9]{1,5})?$"},
            ],
            "examples": [443, "8000-8999"],
        }
    ),
]
"""One port, or a range with both its ends."""


class UpstreamPolicy(Model):
    """Where upstreams may be. Names are looked at again whenever they are resolved.

    Link-local, multicast and unspecified addresses and the metadata services of clouds are
    never connected to, unless `networks` lists a network within them.
    """

    networks: tuple[Network, ...] = Field(
        default=(), max_length=10_000, description="Networks of the addresses; any when left out."
    )
    hosts: tuple[HostPattern, ...] = Field(
        default=(),
        max_length=10_000,
        description="Names, `*.internal` included, that endpoints may have; any when left out.",
    )
    ports: tuple[Ports, ...] = Field(
        default=(), max_length=1000, description="Ports or ranges of them; any when left out."
    )
