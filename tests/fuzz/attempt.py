"""The input that is being tried, where the runner sees it even when the process that tries it is gone.

A kind may die of an input (a crash, no memory) or never come back from it. So it writes each input into a shared file before it tries it:

    with Attempts(NAME, work) as attempts:
        while attempts.seconds < seconds:
            attempts.begin(data)
            try:
                attempts.end(reached=try_it(data))
            except Exception:
                attempts.fail(traceback.format_exc(), data)
        return attempts.tally()

The runner saves the input of a process that died or hung, and goes on with another.
"""

from __future__ import annotations

import mmap
import re
import struct
import time
from pathlib import Path
from types import TracebackType

from tests.fuzz.tally import Failure, Tally

CURRENT = "current"
_SIZE = 1 << 24
_HEAD = struct.Struct("<QQQ")
"""Inputs begun, inputs that reached the end, length of the present one (0: none)."""


class Attempts:
    """Counts of inputs, and the present one, in `work / CURRENT`."""

    def __init__(self, kind: str, work: Path) -> None:
        self.kind, self._work = kind, work
        path = work / CURRENT
        with path.open("wb") as file:
            file.truncate(_SIZE)
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _SIZE)
        self.inputs = self.reached = 0
        self._slowest = self._since = 0.0
        self.failures: dict[str, Failure] = {}
        self._began = time.monotonic()

    def __enter__(self) -> Attempts:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._map.close()

    @property
    def seconds(self) -> float:
        """Since the first."""
        return time.monotonic() - self._began

    def begin(self, data: bytes) -> None:
        """This input is tried now."""
        self.inputs += 1
        data = data[: _SIZE - _HEAD.size]
        self._map[_HEAD.size : _HEAD.size + len(data)] = data
        self._map[: _HEAD.size] = _HEAD.pack(self.inputs, self.reached, len(data))
        self._since = time.monotonic()

    def end(self, *, reached: bool) -> None:
        """It came back."""
        self._slowest = max(self._slowest, time.monotonic() - self._since)
        self.reached += reached
        self._map[: _HEAD.size] = _HEAD.pack(self.inputs, self.reached, 0)

    def fail(self, what: str, data: bytes, suffix: str = "") -> None:
        """It came back, and did what none may. Of inputs that fail alike the first is kept."""
        self.end(reached=False)
        line = summary(what)
        if line not in self.failures:
            saved = self._work / f"failure-{len(self.failures)}{suffix}"
            saved.write_bytes(data)
            saved.with_name(f"{saved.name}.what").write_text(what)
            self.failures[line] = Failure(self.kind, what, saved)

    def tally(self) -> Tally:
        """What it came to so far."""
        return Tally(self.inputs, self.reached, self._slowest, list(self.failures.values()))


def summary(what: str) -> str:
    """What failures of one fault have in common: of a traceback the kind of exception and where in the project it came from, else the first line."""
    lines = [line.strip() for line in what.strip().splitlines() if line.strip()]
    if not lines:
        return "unknown"
    if not lines[0].startswith("Traceback"):
        return _without_values(lines[0])
    last = next((line for line in reversed(lines) if re.match(r"[\w.]+(Error|Exception|Warning|Exit)\b", line)), lines[-1])
    places = [line for line in lines if re.match(r'File ".*/(python/sawtooth|tests)/', line)]
    kind = _without_values(last) if last.startswith("AssertionError") else last.partition(":")[0]
    return f"{kind} ({re.sub(r'.*/(?=python/sawtooth|tests/)', '', places[-1])})" if places else kind


def _without_values(text: str) -> str:
    return re.sub(r"\d+", "N", re.sub(r"`[^`]*`", "`...`", text))[:200]


def leavings(kind: str, work: Path) -> list[Failure]:
    """The failures that a process had found before it died."""
    return [Failure(kind, what.read_text(), what.with_suffix("")) for what in sorted(work.glob("failure-*.what"))]


def read(work: Path) -> tuple[int, int, bytes] | None:
    """Inputs, those that reached the end, and the one that is being tried; None if the kind does not say."""
    try:
        with (work / CURRENT).open("rb") as file:
            inputs, reached, length = _HEAD.unpack(file.read(_HEAD.size))
            return inputs, reached, file.read(length)
    except (OSError, struct.error):
        return None
