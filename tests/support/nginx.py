"""nginx as a process of its own, from a folder with its configuration."""

import os
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from support.raw import Address


def free_address() -> Address:
    """An address that nobody listens on right now: nginx cannot choose one itself."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        host, port = found.getsockname()
    return host, port


class Nginx:
    """Serves `folder/nginx.conf`, which listens on `address` and stays in the foreground."""

    def __init__(self, command: str, folder: Path, address: Address) -> None:
        self.address = address
        self._log_path = folder / "stderr.log"
        words = [command, "-e", "stderr", "-p", f"{folder}/", "-c", "nginx.conf"]
        if os.geteuid() == 0:
            # Otherwise its workers would be a user who may not read this folder.
            words += ["-g", "user root root;"]
        with self._log_path.open("wb") as log:
            self._process = subprocess.Popen(words, stderr=log, stdin=subprocess.DEVNULL)
        self._wait_until_it_listens()

    def _wait_until_it_listens(self) -> None:
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(self.address, timeout=1).close()
            except OSError:
                assert self._process.poll() is None, self._log_path.read_text()
                assert time.monotonic() < deadline, self._log_path.read_text()
                time.sleep(0.02)
            else:
                return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait(10)
