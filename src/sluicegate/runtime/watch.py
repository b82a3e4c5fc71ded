"""Sees that a document has changed, whichever way it was written."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

from sluicegate.config.loader import Fingerprint, content_digest, fingerprint

INTERVAL = 0.2
_CLOCK_GRAIN_NS = 2_000_000_000


async def changes(
    path: Path, *, seen: str | None, interval: float = INTERVAL
) -> AsyncIterator[str]:
    """Give the digest of each new content, once it has stopped changing.

    `seen` is the digest of what was read before; taken before that reading, so that a
    change in between is not lost.

    A poll of what the path leads to sees an atomic replace, a write in place and a
    ConfigMap's symlink alike, also where inotify is blind (network file systems). A file
    that has gone is waited for.
    """
    looked_at: Fingerprint | None = None
    pending: str | None = None
    while True:
        await asyncio.sleep(interval)
        found = await asyncio.to_thread(fingerprint, path)
        if found is None or (found == looked_at and pending is None and not _is_fresh(found)):
            continue
        looked_at = found
        digest = await asyncio.to_thread(content_digest, path)
        if digest is None or digest == seen:
            pending = None
        elif digest != pending:
            # It may be half written: look once more before believing it.
            pending = digest
        else:
            seen, pending = digest, None
            yield digest


def _is_fresh(found: Fingerprint) -> bool:
    """Tell whether a second write could have left the same times: clocks of files are coarse."""
    return time.time_ns() - found.modified_ns < _CLOCK_GRAIN_NS
