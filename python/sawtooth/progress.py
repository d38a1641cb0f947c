"""How far a command is: a bar on a terminal, lines elsewhere, and lines of JSON for programs."""

from __future__ import annotations

import datetime
import json
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Protocol

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from sawtooth import streams


class Reporter(Protocol):
    """Is told how far things are."""

    def begin(self, total: int, done: int, cost: float, before: float = 0.0) -> None:
        """`total` runs, of which `done` were there; `cost`: the work that is to be done (`Plan.work`), and `before` that of those that were there."""
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


class Below(Protocol):
    """What is told beside how far it is, of what is stored already."""

    def said(self) -> str:
        """In lines, for people."""
        ...

    def facts(self) -> Mapping[str, object]:
        """For programs."""
        ...


class _Bar(Progress):
    """A bar with a line below it."""

    below = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bar, and what stands below it, in as many lines as it takes."""
        yield from super().get_renderables()
        if self.below:
            yield Text(self.below)


class _Left(ProgressColumn):
    """The time that is left, by all that was done: rich's own goes by the last few batches, and the first ones come in bursts."""

    max_refresh = 0.5

    def __init__(self, tally: _Tally) -> None:
        super().__init__()
        self._tally = tally

    def render(self, task: Task) -> Text:  # noqa: ARG002 rich passes it
        """As a clock has it."""
        left = self._tally.left
        return Text("" if left is None else f"{datetime.timedelta(seconds=round(left))} left", style="progress.remaining")


class TerminalReporter:
    """A bar with rate, failures and remaining time on a terminal.

    Args:
        console: where.
        below: what stands below the bar; asked whenever a batch is done.

    """

    def __init__(self, console: Console, below: Below | None = None) -> None:
        self._tally = _Tally()
        # Runs differ in length by orders of magnitude: the bar shows what there is to simulate, the text counts runs.
        self._progress = _Bar(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:.0f} % of the work, {task.fields[runs]}"),
            _Left(self._tally),
            console=console,
        )
        self._below = below
        self._task = self._progress.add_task("simulating", runs="")

    def begin(self, total: int, done: int, cost: float, before: float = 0.0) -> None:
        """See `Reporter`."""
        self._tally.begin(total, done, cost, before)
        self._progress.update(self._task, total=before + cost, completed=before, runs=f"{done:,}/{total:,} runs")
        self._progress.start()

    def more(self, runs: int, cost: float) -> None:
        """See `Reporter`."""
        self._tally.more(runs, cost)
        self._progress.update(self._task, total=self._tally.before + self._tally.cost)

    def advance(self, runs: int, cost: float, failed: int) -> None:
        """See `Reporter`."""
        tally = self._tally
        tally.advance(runs, cost, failed)
        text = f"{tally.done:,}/{tally.total:,} runs, {tally.rate:,.3g}/s"
        if tally.failed:
            text += f", {tally.failed} failed"
        if self._below:
            self._progress.below = self._below.said()
        self._progress.update(self._task, advance=cost, runs=text)

    def say(self, text: str) -> None:
        """See `Reporter`."""
        self._progress.console.print(text, highlight=False, markup=False, emoji=False)

    def end(self) -> None:
        """See `Reporter`."""
        self._progress.stop()


class _Tally:
    """How far things are, in numbers."""

    def __init__(self) -> None:
        self.total = self.done = self.new = self.failed = 0
        self.cost = self.before = self.spent = 0.0
        self.round = 1
        self.started = self.advanced = time.monotonic()

    def begin(self, total: int, done: int, cost: float, before: float) -> None:
        """See `Reporter`."""
        self.total, self.done, self.cost, self.before = total, done, cost, before
        self.started = time.monotonic()

    def more(self, runs: int, cost: float) -> None:
        """See `Reporter`."""
        self.total, self.cost, self.round = self.total + runs, self.cost + cost, self.round + 1

    def advance(self, runs: int, cost: float, failed: int) -> None:
        """See `Reporter`."""
        self.done, self.new, self.failed = self.done + runs, self.new + runs, self.failed + failed
        self.spent += cost
        self.advanced = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self.started

    @property
    def share(self) -> float:
        """Of all work, also that of runs that were there: runs differ in length by orders of magnitude, and the longest are first."""
        return min((self.before + self.spent) / max(self.before + self.cost, 1.0), 1.0)

    @property
    def rate(self) -> float:
        """Runs per second."""
        return self.new / max(self.elapsed, 1e-3)

    @property
    def left(self) -> float | None:
        """Seconds that remain, by what was left of the work when a batch was done last; unknown before anything is done."""
        if not self.new:
            return None
        then = (self.advanced - self.started) * max(self.cost - self.spent, 0.0) / max(self.spent, 1.0)
        return max(then - (time.monotonic() - self.advanced), 0.0)


class _Now:
    """Says how far it is from time to time.

    Args:
        every: seconds between two times.
        below: what is told besides.

    """

    def __init__(self, every: float, below: Below | None) -> None:
        self._every, self._below = every, below
        self._tally = _Tally()
        self._last = time.monotonic()

    def begin(self, total: int, done: int, cost: float, before: float = 0.0) -> None:
        """See `Reporter`."""
        self._tally.begin(total, done, cost, before)
        self._tell()

    def more(self, runs: int, cost: float) -> None:
        """See `Reporter`."""
        self._tally.more(runs, cost)

    def advance(self, runs: int, cost: float, failed: int) -> None:
        """See `Reporter`."""
        self._tally.advance(runs, cost, failed)
        if time.monotonic() - self._last >= self._every or self._is_last():
            self._tell()

    def end(self) -> None:
        """See `Reporter`."""

    def _tell(self) -> None:
        self._last = time.monotonic()
        self._print(self._tally)

    def _is_last(self) -> bool:
        """Whether it is told whatever was told last."""
        return False

    def _print(self, tally: _Tally) -> None:
        raise NotImplementedError


class LineReporter(_Now):
    """A plain line every few seconds, for logs and pipes, and what stands below a bar whenever that is another."""

    _said = ""

    def __init__(self, every: float = 5.0, below: Below | None = None) -> None:
        super().__init__(every, below)

    def say(self, text: str) -> None:
        """See `Reporter`."""
        print(text, file=sys.stderr, flush=True)

    def _is_last(self) -> bool:
        return self._tally.done == self._tally.total

    def _print(self, tally: _Tally) -> None:
        line = f"{f'round {tally.round}: ' if tally.round > 1 else ''}{tally.done}/{tally.total} runs"
        if tally.left is not None:
            line += f", {100 * tally.share:.0f} % of the work, {tally.elapsed:.0f} s so far, about {tally.left:.0f} s left"
        if tally.failed:
            line += f", {tally.failed} failed"
        self.say(line)
        if self._below and tally.new and (said := self._below.said()) != self._said:
            self._said = said
            self.say(said)


class JsonReporter(_Now):
    """Lines of JSON, for programs: how far it is, `{"runs": 20, "planned": 240, ...}`, and what the user should know, `{"said": "..."}`."""

    def __init__(self, every: float = 0.2, below: Below | None = None) -> None:
        super().__init__(every, below)

    def more(self, runs: int, cost: float) -> None:
        """See `Reporter`."""
        super().more(runs, cost)
        self._tell()

    def say(self, text: str) -> None:
        """See `Reporter`."""
        self._write({"said": text})

    def end(self) -> None:
        """See `Reporter`."""
        self._tell()

    def _print(self, tally: _Tally) -> None:
        self._write({
            "runs": tally.done, "planned": tally.total, "failed": tally.failed, "round": tally.round, "share": round(tally.share, 4),
            "seconds": round(tally.elapsed, 3), "left": None if tally.left is None else round(tally.left, 1),
            **(self._below.facts() if self._below and tally.new else {}),
        })  # fmt: skip

    @staticmethod
    def _write(facts: Mapping[str, object]) -> None:
        print(json.dumps(facts), file=sys.stderr, flush=True)


def reporter_for(console: streams.Console, *, as_json: bool = False, below: Below | None = None) -> Reporter:
    """The bar on a terminal, plain lines elsewhere, lines of JSON if they are asked for; each with what is told besides."""
    if as_json:
        return JsonReporter(below=below)
    return TerminalReporter(console, below) if console.redraws else LineReporter(below=below)
