"""Files of denylists: one entry a line, and which lists a snapshot has."""

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from sluicegate.errors import Problem

Kind = Literal["address", "device", "user", "app"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FILTER = "denylist"
_IPV6_CLIENT = 64
_FORM = "an address, or one of device, user, app with its name; then perhaps `until` and a time"


@dataclass(frozen=True, slots=True)
class Entry:
    """Somebody who is kept out; `until` in seconds since the epoch, None for good."""

    kind: Kind
    name: str
    until: float | None = None

    def as_json(self) -> dict[str, Any]:
        """As the engine reads it."""
        end = {} if self.until is None else {"until": self.until}
        return {self.kind: self.name, **end}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Entry":
        """Read what `as_json` gave."""
        kind = next(kind for kind in KINDS if kind in value)
        return cls(kind, value[kind], value.get("until"))


@dataclass(frozen=True, slots=True)
class ListUse:
    """A denylist of a snapshot: filters with one id are one list."""

    id: str
    file: str | None
    by: frozenset[Kind]


def lists_of(content: dict[str, Any]) -> dict[str, ListUse]:
    """Find the denylists of a snapshot's content, by their ids."""
    lists: dict[str, ListUse] = {}
    for use in _uses(content):
        config = use.get("config") or {}
        name = use.get("id") or FILTER
        known = lists.get(name, ListUse(name, None, frozenset()))
        by = known.by | frozenset(config.get("by") or ("address",))
        lists[name] = ListUse(name, config.get("file") or known.file, by)
    return lists


def _uses(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    holders = [content.get("route_defaults") or {}, *content.get("routes", ())]
    chains = [content.get("entry") or [], *(one.get("filters") or [] for one in holders)]
    return (use for chain in chains for use in chain if _is_denylist(use))


def _is_denylist(use: dict[str, Any]) -> bool:
    return use.get("name") == FILTER and not use.get("off")


def parse(text: str, *, file: str) -> tuple[list[Entry], list[Problem]]:
    """Read a file's text: every entry, and everything that is wrong.

    A line is an address or network, or `device`, `user` or `app` and a name; then perhaps
    `until` and a time of RFC 3339. What follows a `#` or `;` is a comment, as in lists
    that others publish.
    """
    entries: list[Entry] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.split("\n"), start=1):
        words = _words(line)
        if not words:
            continue
        try:
            entries.append(_entry(words))
        except ValueError as error:
            problems.append(_wrong(str(error), file, number, line))
    return entries, problems


def canonical(kind: Kind, name: str) -> str:
    """Write an entry as the engine compares it: one IPv6 address is its owner's /64.

    Raises:
        ValueError: not an address or network.
    """
    if kind != "address":
        return name
    network = ipaddress.ip_network(name)
    if isinstance(network, ipaddress.IPv6Network):
        mapped = network.network_address.ipv4_mapped
        if mapped and network.num_addresses == 1:
            return str(mapped)
        if network.num_addresses == 1:
            network = network.supernet(new_prefix=_IPV6_CLIENT)
    elif network.num_addresses == 1:
        return str(network.network_address)
    return str(network)


def _words(line: str) -> list[str]:
    words = line.split()
    for index, word in enumerate(words):
        if word[0] in "#;":
            return words[:index]
    return words


def _entry(words: list[str]) -> Entry:
    kind: Kind = "address"
    for known in KINDS:
        if words[0] == known and len(words) > 1:
            kind, words = known, words[1:]
            break
    name, *rest = words
    until = None
    if len(rest) == 2 and rest[0] == "until":  # noqa: PLR2004 - `until` and the time
        until = _time(rest[1])
    elif rest:
        raise ValueError(f"`{' '.join(rest)}` has no meaning here")
    if kind == "address":
        _check_address(name)
    return Entry(kind, name, until)


def _check_address(name: str) -> None:
    try:
        ipaddress.ip_network(name)
    except ValueError:
        try:
            network = ipaddress.ip_network(name, strict=False)
        except ValueError:
            raise ValueError(f"`{name}` is no address or network") from None
        raise ValueError(f"`{name}` has bits behind its prefix; the network is {network}") from None


def _time(text: str) -> float:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"`{text}` is no time such as 2030-01-31T12:00:00Z") from None
    if time.tzinfo is None:
        raise ValueError(f"`{text}` has no time zone; write `Z` for UTC behind it")
    return time.timestamp()


def _wrong(message: str, file: str, number: int, line: str) -> Problem:
    column = len(line) - len(line.lstrip()) + 1
    return Problem(
        message,
        code="denylist",
        expected=_FORM,
        file=file,
        line=number,
        column=column,
        excerpt=line.rstrip()[:160],
    )
