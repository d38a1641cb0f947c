"""Sweeps that run: each is a child process, `sawtooth run STUDY --out DIR --progress json`, whose lines tell how far it is.

A sweep that is paused has been ended by SIGTERM, which stores what is done; resumed, the same command goes on from there. So nothing is lost either when the explorer ends, however that
happens: its children end with it, and what they stored is there for the next one.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from sawtooth.errors import DatasetError
from sawtooth.web.children import tied

_MOST = 8
"""Sweeps that run side by side: each takes all processors as it is."""
_LINES = 40
"""Of what a child said, those that are kept."""
_LEAVING = 2.0
"""Seconds that children have to store what is done, when the explorer ends."""


class State(StrEnum):
    """What has become of a sweep."""

    RUNNING = "running"
    PAUSING = "pausing"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"


@dataclass
class Sweep:
    """One study that goes to one directory.

    Attributes:
        number: by which pages speak of it.
        study: address of the study. out: of the results.
        short: whether it is the `[short]` form.
        command: what follows `sawtooth`. folder: where it is run.
        directory: of the results.
        progress: the last line that told it.
        said: the last lines of text.

    """

    number: int
    study: str
    out: str
    short: bool
    command: Sequence[str]
    folder: Path
    directory: Path
    state: State = State.RUNNING
    progress: dict[str, Any] = field(default_factory=dict[str, Any])
    said: list[str] = field(default_factory=list[str])
    process: subprocess.Popen[str] | None = None
    thread: threading.Thread | None = None

    @property
    def is_alive(self) -> bool:
        """Whether it may still write."""
        return self.state in (State.RUNNING, State.PAUSING)

    def facts(self) -> dict[str, Any]:
        """What a page shows."""
        return {
            "number": self.number, "study": self.study, "out": self.out, "short": self.short, "state": self.state, "progress": self.progress or None,
            "said": self.said, "command": " ".join(["sawtooth", *self.command]),
        }  # fmt: skip


class Sweeps:
    """All sweeps that this explorer has started."""

    def __init__(self) -> None:
        self._sweeps: dict[int, Sweep] = {}
        self._lock = threading.RLock()
        self._closed = False
        self._numbers = itertools.count(1)
        self._began = str(time.time_ns())
        self.version = 0

    def told(self) -> list[dict[str, Any]]:
        """What pages show, the newest first."""
        with self._lock:
            return [sweep.facts() for sweep in reversed(self._sweeps.values())]

    def news(self) -> dict[str, Any]:
        """The same as `sweeps`, and what tells an older answer from a newer one: `version`, of the explorer that `began` then."""
        with self._lock:
            return {"began": self._began, "version": self.version, "sweeps": self.told()}

    def start(self, study: str, out: str, command: Sequence[str], folder: Path, directory: Path, *, short: bool) -> Sweep:
        """Starts one, or goes on with the one that was paused or has failed.

        Raises:
            DatasetError: if one is writing to its directory, or too many run.

        """
        with self._lock:
            alive = [sweep for sweep in self._sweeps.values() if sweep.is_alive]
            if any(sweep.directory == directory for sweep in alive):
                raise DatasetError(f"a sweep is writing to {out} already", "see how far it is, or name another directory")
            if len(alive) >= _MOST:
                raise DatasetError(f"{_MOST} sweeps run already", "wait for the end of one, or pause one")
            if self._closed:
                raise DatasetError("this explorer is about to end", "start it again")
            # The one before of this directory is this one now.
            for before in [sweep for sweep in self._sweeps.values() if sweep.directory == directory]:
                del self._sweeps[before.number]
            sweep = Sweep(next(self._numbers), study, out, short, command, folder, directory)
            self._sweeps[sweep.number] = sweep
            # The thread that starts the child is there as long as the child: the system takes its end for the explorer's.
            sweep.thread = threading.Thread(target=self._run, args=(sweep,), name=f"sweep {sweep.number}", daemon=True)
            sweep.thread.start()
            self.version += 1
            return sweep

    def pause(self, number: int) -> None:
        """Has one store what is done, and end."""
        with self._lock:
            sweep = self._of(number)
            if sweep.state is State.RUNNING:
                self._set(sweep, State.PAUSING)
                self._signal(sweep)

    def resume(self, number: int) -> Sweep:
        """Goes on with one that was paused, or has failed.

        Raises:
            DatasetError: as `start`.

        """
        with self._lock:
            sweep = self._of(number)
            if sweep.is_alive:
                return sweep
            return self.start(sweep.study, sweep.out, sweep.command, sweep.folder, sweep.directory, short=sweep.short)

    def cancel(self, number: int) -> None:
        """Ends one, and forgets it; what it has stored stays."""
        with self._lock:
            sweep = self._of(number)
            if sweep.state is State.RUNNING:
                self._set(sweep, State.PAUSING)
                self._signal(sweep)
        if sweep.thread:
            sweep.thread.join(_LEAVING)
        with self._lock:
            self._sweeps.pop(number, None)
            self.version += 1

    def end(self) -> None:
        """Ends all of them, as the explorer ends."""
        with self._lock:
            self._closed = True
            alive = [sweep for sweep in self._sweeps.values() if sweep.is_alive]
            for sweep in alive:
                self._set(sweep, State.PAUSING)
                self._signal(sweep)
        until = time.monotonic() + _LEAVING
        for sweep in alive:
            if sweep.thread:
                sweep.thread.join(max(until - time.monotonic(), 0.0))

    def of(self, study: str) -> list[Sweep]:
        """Those of a study."""
        with self._lock:
            return [sweep for sweep in self._sweeps.values() if sweep.study == study]

    def _of(self, number: int) -> Sweep:
        sweep = self._sweeps.get(number)
        if sweep is None:
            raise DatasetError("there is no such sweep any more", "another page may have ended it; its results are there")
        return sweep

    def _set(self, sweep: Sweep, state: State) -> None:
        with self._lock:
            sweep.state = state
            self.version += 1

    def _signal(self, sweep: Sweep) -> None:
        if sweep.process:
            with contextlib.suppress(ProcessLookupError):
                sweep.process.send_signal(signal.SIGTERM)

    # --- in a sweep's own thread

    def _run(self, sweep: Sweep) -> None:
        # Ctrl-C in the terminal is the explorer's, which tells its children.
        try:
            process = subprocess.Popen(
                tied("sawtooth.cli", sweep.command), cwd=sweep.folder, text=True, encoding="utf-8", errors="replace",
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            sweep.said = [f"error: cannot start a process: {error.strerror}"]
            self._set(sweep, State.FAILED)
            return
        with self._lock:
            sweep.process = process
            if sweep.state is State.PAUSING or self._closed:
                self._signal(sweep)
        with process:
            assert process.stderr is not None
            for line in process.stderr:
                self._hear(sweep, line.rstrip("\n"))
            code = process.wait()
        with self._lock:
            paused = sweep.state is State.PAUSING or self._closed
            # A code of 1 is an end: of its runs some failed.
            self._set(sweep, State.DONE if code in (0, 1) else State.PAUSED if paused or code in _STOPPED else State.FAILED)

    def _hear(self, sweep: Sweep, line: str) -> None:
        with self._lock:
            found = _table(line)
            if "runs" in found:
                sweep.progress = found
            else:
                sweep.said = [*sweep.said, str(found.get("said", line))][-_LINES:]
            self.version += 1


_STOPPED = (128 + signal.SIGINT, 128 + signal.SIGTERM, -signal.SIGINT, -signal.SIGTERM)


def _table(line: str) -> dict[str, Any]:
    """What a line of JSON says; nothing of what is text."""
    if not line.startswith("{"):
        return {}
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return cast(dict[str, Any], found) if isinstance(found, dict) else {}
