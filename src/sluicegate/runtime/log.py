"""What the process says of itself: one JSON line for each event, on standard error."""

import json
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TextIO

from sluicegate.errors import Problem

_MOST_PROBLEMS = 50


def utc_now() -> datetime:
    """The time of day, for log lines."""
    return datetime.now(UTC)


class Log:
    """Writes events; a stream that has gone away loses them and nothing else."""

    def __init__(
        self, stream: TextIO | None = None, clock: Callable[[], datetime] = utc_now
    ) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock

    def info(self, event: str, message: str, **fields: object) -> None:
        """Tell what happened as planned."""
        self._write("info", event, message, fields)

    def warning(self, event: str, message: str, **fields: object) -> None:
        """Tell what works, but somebody should look at."""
        self._write("warning", event, message, fields)

    def error(self, event: str, message: str, **fields: object) -> None:
        """Tell what does not work."""
        self._write("error", event, message, fields)

    def _write(self, level: str, event: str, message: str, fields: dict[str, object]) -> None:
        time = self._clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = {"time": time, "level": level, "event": event, "message": message, **fields}
        try:
            self._stream.write(json.dumps(line, default=str) + "\n")
            self._stream.flush()
        except (OSError, ValueError):
            # Nobody reads any more; the gateway goes on.
            return


def listed(problems: Iterable[Problem]) -> list[dict[str, object]]:
    """Problems as fields of a log line, the first ones when there are very many."""
    return [problem.as_json() for problem in list(problems)[:_MOST_PROBLEMS]]
