"""Document to snapshot: defaults filled in, numbered, immutable."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sluicegate.config.document import Document
from sluicegate.config.filter import FilterUse


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All configuration the data plane obeys, as one immutable, numbered value (CF-04)."""

    version: int
    """Greater than that of every snapshot before it (CF-07)."""
    text: str
    """Canonical JSON: the same content and version give the same bytes."""
    digest: str
    """SHA-256 of the content without its version, in hexadecimal."""


def snapshot_of(document: Document, *, version: int) -> Snapshot:
    """Number a document; its secrets stay references."""
    return snapshot_from(content_of(document), version=version)


def snapshot_from(content: dict[str, Any], *, version: int) -> Snapshot:
    """Number a content that was a snapshot's before."""
    bare = {name: value for name, value in content.items() if name != "version"}
    digest = hashlib.sha256(_canonical(bare).encode()).hexdigest()
    return Snapshot(version, _canonical({**bare, "version": version}), digest)


def content_of(document: Document) -> dict[str, Any]:
    """Give the plain values of a document, defaults filled in."""
    content = document.model_dump(mode="json", exclude_none=True)
    # Where `null` was written inside a filter's own fields, only the filter knows what it means.
    for written, chain in _chains(content, document):
        for use, filter_use in zip(written, chain, strict=True):
            use["config"] = filter_use.config
    return content


def _chains(
    content: dict[str, Any], document: Document
) -> Iterator[tuple[list[dict[str, Any]], Sequence[FilterUse]]]:
    yield content["entry"], document.entry
    yield content["route_defaults"]["filters"], document.route_defaults.filters
    for written, route in zip(content["routes"], document.routes, strict=True):
        yield written["filters"], route.filters


def _canonical(value: dict[str, Any]) -> str:
    # The order of an object's members means nothing in JSON, so it may not change the digest.
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
