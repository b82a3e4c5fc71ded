"""How much memory this process holds, and files, and what a stretch of work added."""

import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

PAGE = os.sysconf("SC_PAGE_SIZE")


def resident() -> int:
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def open_descriptors() -> int:
    """How many files and sockets this process has open."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


class Growth:
    """Watches the memory from its beginning to its end; `most` is the highest it rose."""

    def __init__(self) -> None:
        self.most = 0
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._look, daemon=True)

    def _look(self) -> None:
        begun = resident()
        while not self._over.wait(0.02):
            self.most = max(self.most, resident() - begun)

    def __enter__(self) -> Self:
        self._watch.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._watch.join()
