"""How far a command is: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn


class Reporter(Protocol):
    """Is told how far things are."""

    def begin(self, total: int, done: int, cost: float) -> None:
        """`total` runs, of which `done` were there; `cost`: the work that is to be done (`Plan.work`)."""
        ...

    def more(self, runs: int, cost: float) -> None:
        """So many runs more are to be done."""
        ...

    def advance(self, runs: int, cost: float, failed: int) -> None:
        """A batch is done."""
        ...

    def say(self, text: str) -> None:
        """Something that the user should know meanwhile."""
        ...

    def end(self) -> None:
        """No more will come."""
        ...


class TerminalReporter:
    """A bar with rate and remaining time on a terminal."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[runs]}, left"),
            TimeRemainingColumn(),
            console=console,
        )
        # Runs differ in length by orders of magnitude: the bar shows what there is to simulate, the text counts runs.
        self._task = self._progress.add_task("simulating", runs="")
        self._total = self._done = self._new = self._failed = 0
        self._started = self._cost = 0.0

    def begin(self, total: int, done: int, cost: float) -> None:
        """See `Reporter`."""
        self._total, self._done, self._cost = total, done, cost
        self._started = time.monotonic()
        self._progress.update(self._task, total=cost, runs=f"{done:,}/{total:,} runs")
        self._progress.start()

    def more(self, runs: int, cost: float) -> None:
        """See `Reporter`."""
        self._total, self._cost = self._total + runs, self._cost + cost
        self._progress.update(self._task, total=self._cost)

    def advance(self, runs: int, cost: float, failed: int) -> None:
        """See `Reporter`."""
        self._done, self._new, self._failed = self._done + runs, self._new + runs, self._failed + failed
        text = f"{self._done:,}/{self._total:,} runs"
        if self._failed:
            text += f", {self._failed} failed"
        self._progress.update(self._task, advance=cost, runs=text)

    def say(self, text: str) -> None:
        """See `Reporter`."""
        self._progress.console.print(text, highlight=False, markup=False, emoji=False)

    def end(self) -> None:
        """See `Reporter`."""
        self._progress.stop()


class LineReporter:
    """A plain line every few seconds, for logs and pipes."""

    def __init__(self, every: float = 5.0) -> None:
        self._every = every
        self._total = self._done = self._new = self._failed = 0
        self._cost = self._spent = 0.0
        self._round = 1
        self._started = self._last = time.monotonic()

    def begin(self, total: int, done: int, cost: float) -> None:
        """See `Reporter`."""
        self._total, self._done, self._cost = total, done, cost
        self._started = self._last = time.monotonic()
        self._say()

    def more(self, runs: int, cost: float) -> None:
        """See `Reporter`."""
        self._total, self._cost, self._round = self._total + runs, self._cost + cost, self._round + 1

    def advance(self, runs: int, cost: float, failed: int) -> None:
        """See `Reporter`."""
        self._done, self._new, self._failed = self._done + runs, self._new + runs, self._failed + failed
        self._spent += cost
        if time.monotonic() - self._last >= self._every or self._done == self._total:
            self._last = time.monotonic()
            self._say()

    def say(self, text: str) -> None:
        """See `Reporter`."""
        print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        """See `Reporter`."""

    def _say(self) -> None:
        elapsed = time.monotonic() - self._started
        line = f"{f'round {self._round}: ' if self._round > 1 else ''}{self._done}/{self._total} runs"
        if self._new:
            # Runs differ in length by orders of magnitude and the longest are first, so the remaining time follows what is left of the work, not of the runs.
            left = elapsed * max(self._cost - self._spent, 0.0) / max(self._spent, 1.0)
            share = min(self._spent / max(self._cost, 1.0), 1.0)
            line += f", {100 * share:.0f} % of the work, {elapsed:.0f} s so far, about {left:.0f} s left"
        if self._failed:
            line += f", {self._failed} failed"
        print(line, file=sys.stderr, flush=True)


def reporter_for(console: Console) -> Reporter:
    """The bar on a terminal, plain lines elsewhere."""
    return TerminalReporter(console) if console.is_terminal else LineReporter()
