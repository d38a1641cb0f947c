"""Results that are open: what was computed for one question is there for the next, as long as nothing new was stored."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from sawtooth.report.answers import Answers
from sawtooth.results.dataset import Dataset

_MOST_OPEN = 8


@dataclass
class Opened:
    """Results with what has been computed of them; one question is answered at a time.

    Attributes:
        dataset: the results.
        answers: of their study.
        state: what tells whether something was stored since.
        lock: held while a question is answered.

    """

    dataset: Dataset
    answers: Answers
    state: tuple[object, ...]
    lock: threading.RLock = field(default_factory=threading.RLock)


class Shelf:
    """The results that were asked for last."""

    def __init__(self) -> None:
        self._opened: OrderedDict[Path, Opened] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, path: Path) -> Opened:
        """The results of a directory, as they are now.

        Raises:
            DatasetError: if they are none, or damaged.

        """
        state = state_of(path)
        with self._lock:
            found = self._opened.get(path)
            if found is None or found.state != state:
                dataset = Dataset(path)
                found = self._opened[path] = Opened(dataset, Answers(dataset), state)
            self._opened.move_to_end(path)
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
