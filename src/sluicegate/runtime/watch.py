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
    watch = Watch(path, seen=seen)
    while True:
        await asyncio.sleep(interval)
        digest = await asyncio.to_thread(watch.look)
        if digest is not None:
            yield digest


class Watch:
    """One file, looked at again and again."""

    def __init__(self, path: Path, *, seen: str | None) -> None:
        self._path = path
        self._seen = seen
        self._looked_at: Fingerprint | None = None
        self._pending: str | None = None

    def look(self) -> str | None:
        """Give the digest of a new content, once it has stopped changing."""
        found = fingerprint(self._path)
        is_old = found == self._looked_at and self._pending is None
        if found is None or (is_old and not _is_fresh(found)):
            return None
        self._looked_at = found
        digest = content_digest(self._path)
        if digest is None or digest == self._seen:
            self._pending = None
        elif digest != self._pending:
            # It may be half written: look once more before believing it.
            self._pending = digest
        else:
            self._seen, self._pending = digest, None
            return digest
        return None


def _is_fresh(found: Fingerprint) -> bool:
    """Tell whether a second write could have left the same times: clocks of files are coarse."""
    return time.time_ns() - found.modified_ns < _CLOCK_GRAIN_NS
