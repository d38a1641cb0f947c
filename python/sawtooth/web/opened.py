"""Results that are open: what was computed for one question is there for the next, as long as nothing new was stored.

Only what shares something waits for each other: a directory is opened once, and the figures of one directory are made one after the other, since they share
the values of measures. Marks of validity, rows of tables, and other results do not wait for them.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from sawtooth.errors import SawtoothError
from sawtooth.report.answers import Answers
from sawtooth.report.sensible import shown
from sawtooth.results.dataset import Dataset
from sawtooth.web.remembered import Remembered

Found = TypeVar("Found")
DRAWING = threading.Lock()
"""Held while a figure of the report is drawn: the library that draws knows one drawing at a time."""
_MOST_OPEN, _MOST_REMEMBERED = 8, 2
"""Results that are open, and those of them whose tables are in memory: two are laid beside each other."""
_PAUSE = 0.7
"""Seconds without a question for a figure after which tables are read ahead."""
_MOST_FIGURES = 32
"""Figures that are kept, each up to about a megabyte."""


class Once(Generic[Found]):
    """What is made when it is first asked for; whoever asks meanwhile waits for it, and for nothing else."""

    def __init__(self, make: Callable[[], Found]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: list[Found] = []

    def __call__(self) -> Found:
        """What was made, or is now; an error is not kept."""
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]


class Opened:
    """Results with what has been computed of them.

    Attributes:
        dataset: the results.
        state: what tells whether something was stored since.
        lock: held while a question about measures is answered.
        answers: what its study's figures come to.
        metric: the measure that says most of such traffic.
        suggested: that and others that say much.

    """

    def __init__(self, path: Path, state: tuple[object, ...]) -> None:
        dataset = self.dataset = Remembered(path)
        self.state = state
        self.lock = threading.RLock()
        self.answers = Once(lambda: Answers(dataset))
        self.metric = Once(lambda: next(_telling(dataset), None))
        self.suggested = Once(lambda: list(dict.fromkeys(_telling(dataset))))
        self._said: dict[str, Once[bytes]] = {}
        self._figures: OrderedDict[str, bytes] = OrderedDict()
        self._reading: threading.Thread | None = None
        self._asked = 0.0

    def read_ahead(self) -> None:
        """Reads tables into memory once no figure has been asked for for a while: what is asked next is mostly another measure."""
        with self.lock:
            if self._reading is None:
                self._reading = threading.Thread(target=self._read_ahead, name="reading ahead", daemon=True)
                self._reading.start()

    def _read_ahead(self) -> None:
        # Of results that are being written a file may lack: whoever asks for it is told.
        with contextlib.suppress(SawtoothError):
            self.dataset.read_ahead(self._quiet)

    def _quiet(self) -> None:
        """Waits until whoever changes a figure pauses: reading takes all processors for a while."""
        while (left := self._asked + _PAUSE - time.monotonic()) > 0:
            time.sleep(left)

    def forget(self) -> None:
        """Gives the room of these tables back."""
        self.dataset.forget()
        self._reading = None

    def said(self, what: str, make: Callable[[], bytes]) -> bytes:
        """What is answered to a question that is always the same, made once."""
        return self._said.setdefault(what, Once(make))()

    def figure(self, asked: str, make: Callable[[], bytes]) -> bytes:
        """What a figure is, made or kept; whoever asks while it is made gets the same one."""
        with self.lock:
            self._asked = time.monotonic()
            found = self._figures.pop(asked, None)
            if found is None:
                found = make()
                self._asked = time.monotonic()
            self._figures[asked] = found
            while len(self._figures) > _MOST_FIGURES:
                self._figures.popitem(last=False)
            return found


def _telling(dataset: Dataset) -> Iterator[str]:
    """Measures that say much of such traffic, the most telling first."""
    return (each.measure.name for each in shown(dataset)) if dataset.tables else iter(())


class Shelf:
    """The results that were asked for last."""

    def __init__(self) -> None:
        self._opened: OrderedDict[Path, Opened] = OrderedDict()
        self._opening: dict[Path, threading.Lock] = {}
        self._lock = threading.Lock()

    def open(self, path: Path) -> Opened:
        """The results of a directory, as they are now.

        Raises:
            DatasetError: if they are none, or damaged.

        """
        with self._lock:
            opening = self._opening.setdefault(path, threading.Lock())
        with opening:
            state = state_of(path)
            with self._lock:
                found = self._opened.get(path)
            if found is None or found.state != state:
                found = Opened(path, state)
            with self._lock:
                self._opened[path] = found
                self._opened.move_to_end(path)
                for other in [*self._opened.values()][:-_MOST_REMEMBERED]:
                    other.forget()
                while len(self._opened) > _MOST_OPEN:
                    self._opened.popitem(last=False)
            return found


def state_of(path: Path) -> tuple[object, ...]:
    """What changes whenever something is stored: a batch is done when a file is renamed into `parts`."""
    found: list[object] = []
    for name in ("SHA256SUMS", "manifest.json", "parts", "log.jsonl"):
        try:
            status = (path / name).stat()
        except OSError:
            found.append(None)
        else:
            found.append((status.st_mtime_ns, status.st_size))
    return tuple(found)
