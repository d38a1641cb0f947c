"""Doing a plan: batches go to an executor, results to the dataset, progress to the terminal.

`execute` takes any `concurrent.futures.Executor`. Workers write the parts themselves and return a receipt, so records never
travel through a scheduler. Killed at any moment, at most the batches in progress are lost; the same call goes on from there.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from types import FrameType
from typing import Protocol

import polars as pl
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from sawtooth import _core, calibration
from sawtooth.backends import netns, qemu, sim, uml
from sawtooth.dataset import Dataset
from sawtooth.plan import Plan

_KERNELS = {"uml": uml, "qemu": qemu, "netns": netns}
BACKENDS = {"sim": sim, **_KERNELS}


@dataclass(frozen=True)
class Receipt:
    """What became of a batch."""

    batch: int
    runs: int
    failed: int
    deliveries: int
    seconds: float


@dataclass(frozen=True)
class Summary:
    """What became of a call of `execute`.

    Attributes:
        runs: runs done now. resumed: runs that were there already. failed: runs that failed, in this call.
        deliveries: segments delivered in the runs done now.
        seconds: wall time.
        damaged: parts that were unreadable and have been made anew.

    """

    runs: int
    resumed: int
    failed: int
    deliveries: int
    seconds: float
    damaged: list[str]


class Interrupted(Exception):
    """The user stopped the run; what was finished is stored."""


class Reporter(Protocol):
    """Is told how far things are."""

    def begin(self, total: int, done: int, cost: float) -> None:
        """`total` runs, of which `done` were there; `cost` deliveries to be simulated."""
        ...

    def advance(self, runs: int, cost: float, failed: int) -> None:
        """A batch is done."""
        ...

    def end(self) -> None:
        """No more will come."""
        ...


def execute(
    plan: Plan,
    dataset: Dataset,
    executor: Executor | None = None,
    jobs: int | None = None,
    reporter: Reporter | None = None,
) -> Summary:
    """Does every run of the plan that the dataset lacks.

    Args:
        plan: what to do.
        dataset: where results go; must have been created for this plan.
        executor: where to do it; by default `jobs` threads of this process (the simulator releases the interpreter lock).
        jobs: threads; by default one per processor. Of guests never more than fit into the machine, and in real time one.
        reporter: is told about progress.

    Raises:
        Interrupted: after Ctrl-C, when the batches in progress are stored.
        DatasetError: if results cannot be written.

    """
    started = time.monotonic()
    done, damaged = dataset.done(range(len(plan.batches)))
    todo = [index for index in range(len(plan.batches)) if index not in done]
    costs = {index: sum(plan.runs[run].cost for run in plan.batches[index]) for index in todo}
    resumed = sum(len(plan.batches[index]) for index in done)
    own = executor is None
    kernel = _KERNELS.get(plan.study.backend)
    side_by_side = os.cpu_count() or 1
    if kernel and todo:
        scenarios = [run.scenario for run in plan.runs]
        dataset.record_kernels(kernel.provenance(scenarios))
        for text in sorted({said for scenario in set(scenarios) if (said := _beyond(plan.study.backend, scenario))}):
            print(f"warning: {text}", file=sys.stderr)
        # More guests than fit would take memory and, in real time, time from each other.
        side_by_side = kernel.parallel(scenarios)
        jobs = min(jobs or side_by_side, side_by_side)
    if reporter:
        reporter.begin(len(plan.runs), resumed, sum(costs.values()))
    workers = executor or ThreadPoolExecutor(max_workers=jobs or side_by_side)
    runs = failed = deliveries = 0
    futures: dict[Future[Receipt], int] = {}
    interrupt = _Interrupt()
    try:
        with interrupt:
            # Longest first, so that no long batch is left for the end.
            for index in sorted(todo, key=lambda index: (-costs[index], index)):
                futures[workers.submit(run_one_batch, plan, dataset, index)] = index
            pending = set(futures)
            while pending and not interrupt.requested:
                finished, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in finished:
                    receipt = future.result()
                    runs, failed = runs + receipt.runs, failed + receipt.failed
                    deliveries += receipt.deliveries
                    if reporter:
                        reporter.advance(receipt.runs, costs[receipt.batch], receipt.failed)
    finally:
        for future in futures:
            future.cancel()
        if own:
            workers.shutdown(wait=True, cancel_futures=True)
        else:
            for future in futures:
                _settle(future)
        if reporter:
            reporter.end()
    if interrupt.requested:
        raise Interrupted
    return Summary(runs, resumed, failed, deliveries, time.monotonic() - started, damaged)


def _settle(future: Future[Receipt]) -> None:
    try:
        future.result()
    except CancelledError:
        pass
    except Exception:  # the first failure is already on its way to the caller
        pass


def run_one_batch(plan: Plan, dataset: Dataset, index: int) -> Receipt:
    """Runs one batch and stores it. A run that fails is recorded with its message."""
    started = time.monotonic()
    batch = plan.batches[index]
    runs = [plan.runs[run] for run in batch]
    outcome = BACKENDS[plan.study.backend].run_batch([run.scenario for run in runs], [run.seed for run in runs])
    tables = {name: frame.with_columns(pl.col("run") + pl.lit(batch.start, pl.UInt32)) for name, frame in outcome.tables.items()}
    notes = [_beyond(plan.study.backend, run.scenario) for run in runs]
    status = pl.DataFrame({
        "run": pl.Series(list(batch), dtype=pl.UInt32),
        "status": ["failed" if at in outcome.errors else "ok" for at in range(len(runs))],
        "message": pl.Series([outcome.errors.get(at) or notes[at] for at in range(len(runs))], dtype=pl.String),
    })  # fmt: skip
    dataset.write_batch(index, tables, status)
    seconds = time.monotonic() - started
    dataset.log(batch=index, runs=len(runs), failed=len(outcome.errors), seconds=round(seconds, 4),
                deliveries=outcome.deliveries, events=outcome.events)  # fmt: skip
    return Receipt(index, len(runs), len(outcome.errors), outcome.deliveries, seconds)


@functools.cache
def _beyond(backend: str, scenario: str) -> str | None:
    """What a scenario asks of a backend's links beyond what they reached when they were calibrated."""
    return calibration.unreachable(backend, _core.kernel_settings(scenario)) if backend in _KERNELS else None


class _Interrupt:
    """The first Ctrl-C asks for an orderly end, the second ends at once."""

    def __init__(self) -> None:
        self.requested = False
        self._previous: Callable[[int, FrameType | None], object] | int | None = None

    def __enter__(self) -> None:
        try:
            self._previous = signal.signal(signal.SIGINT, self._on_signal)
        except ValueError:  # not in the main thread: whoever is there handles signals
            self._previous = None

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if self.requested:
            os._exit(130)
        self.requested = True


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
        self._started = 0.0

    def begin(self, total: int, done: int, cost: float) -> None:
        """See `Reporter`."""
        self._total, self._done = total, done
        self._started = time.monotonic()
        self._progress.update(self._task, total=cost, runs=f"{done:,}/{total:,} runs")
        self._progress.start()

    def advance(self, runs: int, cost: float, failed: int) -> None:
        """See `Reporter`."""
        self._done, self._new, self._failed = self._done + runs, self._new + runs, self._failed + failed
        rate = self._new / max(time.monotonic() - self._started, 1e-9)
        text = f"{self._done:,}/{self._total:,} runs, {rate:,.0f} runs/s"
        if self._failed:
            text += f", {self._failed} failed"
        self._progress.update(self._task, advance=cost, runs=text)

    def end(self) -> None:
        """See `Reporter`."""
        self._progress.stop()


class LineReporter:
    """A plain line every few seconds, for logs and pipes."""

    def __init__(self, every: float = 5.0) -> None:
        self._every = every
        self._total = self._done = self._new = self._failed = 0
        self._cost = self._spent = 0.0
        self._started = self._last = time.monotonic()

    def begin(self, total: int, done: int, cost: float) -> None:
        """See `Reporter`."""
        self._total, self._done, self._cost = total, done, cost
        self._started = self._last = time.monotonic()
        self._say()

    def advance(self, runs: int, cost: float, failed: int) -> None:
        """See `Reporter`."""
        self._done, self._new, self._failed = self._done + runs, self._new + runs, self._failed + failed
        self._spent += cost
        if time.monotonic() - self._last >= self._every or self._done == self._total:
            self._last = time.monotonic()
            self._say()

    def end(self) -> None:
        """See `Reporter`."""

    def _say(self) -> None:
        elapsed = time.monotonic() - self._started
        line = f"{self._done}/{self._total} runs"
        if self._new:
            # Runs differ in length by orders of magnitude, so the remaining time follows what is left to simulate.
            left = elapsed * max(self._cost - self._spent, 0.0) / max(self._spent, 1.0)
            line += f", {self._new / max(elapsed, 1e-9):,.0f} runs/s, {elapsed:.0f} s so far, about {left:.0f} s left"
        if self._failed:
            line += f", {self._failed} failed"
        print(line, file=sys.stderr, flush=True)


def reporter_for(console: Console) -> Reporter:
    """The bar on a terminal, plain lines elsewhere."""
    return TerminalReporter(console) if console.is_terminal else LineReporter()
