"""A scheduler and workers as processes of this machine, which can be ended one by one."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from pathlib import Path


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Processes:
    """Everything is on the loopback interface, and is ended by its process."""

    def __init__(self, scratch: Path) -> None:
        self.scratch, self.port = scratch, free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_scheduler(self) -> None:
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", "--no-jupyter")
        wait_until(self._listens)

    def start_worker(self, environment: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        command = ("worker", self.address, "--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", str(self.scratch))
        self.workers.append(self._start(*command, environment=environment))
        return self.workers[-1]

    def _start(self, *words: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        with (self.scratch / "log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", *words], stdout=log, stderr=log, env={**os.environ, **(environment or {})}
            )

    def _listens(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            if process is not None:
                process.kill()
                process.wait()


@contextlib.contextmanager
def processes(scratch: Path, workers: int) -> Generator[Processes]:
    scratch.mkdir(parents=True, exist_ok=True)
    found = Processes(scratch)
    try:
        found.start_scheduler()
        for _ in range(workers):
            found.start_worker()
        yield found
    finally:
        found.end()


def wait_until(condition: object, seconds: float = 120.0) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.05)
