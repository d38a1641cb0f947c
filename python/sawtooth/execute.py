"""Doing a plan: batches go to an executor, results to the dataset, progress to the terminal.

`execute` takes any `concurrent.futures.Executor`. Workers write the parts themselves and return a receipt, so records never
travel through a scheduler. Killed at any moment, at most the batches in progress are lost; the same call goes on from there.
Threads of this process share the runs of a batch (`sharing`); workers elsewhere, and kernels, do whole ones.

The first Ctrl-C or SIGTERM ends what threads of this process are at: a batch whose runs are all done is stored, of others nothing is. What workers
elsewhere have begun is waited for. The second one ends the process at once; so does the first, on the command line, where storing takes longer than people wait.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from types import FrameType
from typing import Any, Protocol

import polars as pl
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from sawtooth import _core, calibration
from sawtooth.backends import processes, registry
from sawtooth.backends.batch import Batch
from sawtooth.captures import Wanted
from sawtooth.plan import Plan, grown, regrown
from sawtooth.presentation import presentation
from sawtooth.results.dataset import Dataset
from sawtooth.results.lock import lock
from sawtooth.sharing import shares
from sawtooth.stopping import Looks
from sawtooth.tables import as_status

# A lost run is done once more this often, unless more is asked for.
_MOST_RETRIES = 3
_UINT8 = 255
# Seconds that an orderly end may take on the command line, and what is left to do at an end at once.
_ORDERLY = 0.4
_PATIENCE = 1.0


@dataclass(frozen=True)
class _Task:
    """The runs of one batch, and whether they are done once more."""

    batch: int
    runs: tuple[int, ...]
    again: bool = False


class _Shared:
    """A batch whose runs several threads do: who does the last of them stores all."""

    def __init__(
        self, plan: Plan, dataset: Dataset, task: _Task, backend: registry.Divisible, stop: _core.StopRequest, captures: Wanted | None
    ) -> None:
        self.plan, self.dataset, self.task, self.backend, self.stop = plan, dataset, task, backend, stop
        self.captures = captures
        self._lock = threading.Lock()
        self._outcomes: dict[int, Any] = {}
        self._error: MemoryError | OSError | None = None
        self._left, self._cpu, self._began = len(task.runs), 0.0, math.inf

    def do(self, some: range) -> Receipt | None:
        """Does some of its runs; its receipt if no more are left. Once it is told to stop it comes to none."""
        began, cpu = time.monotonic(), time.thread_time()
        runs = [self.plan.runs[run] for run in self.task.runs[some.start : some.stop]]
        outcome, failure = None, None
        try:
            captured = {"captures": [self.captures.of_run(self.plan, run) for run in runs]} if self.captures else {}
            outcome = self.backend.run_share([run.scenario for run in runs], [run.seed for run in runs], self.stop, **captured)
        except (MemoryError, OSError) as error:
            failure = error
        if outcome is None and failure is None:
            return None
        cpu = time.thread_time() - cpu
        with self._lock:
            self._outcomes[some.start] = outcome
            self._error = failure or self._error
            self._left, self._cpu, self._began = self._left - len(runs), self._cpu + cpu, min(self._began, began)
            if self._left:
                return None
        batch = _tried(len(self.task.runs), self._gather)
        return _store(self.plan, self.dataset, self.task, batch, self._began, self._cpu)

    def _gather(self) -> Batch:
        if self._error:
            raise self._error
        return self.backend.gather([self._outcomes[start] for start in sorted(self._outcomes)])


@dataclass(frozen=True)
class Receipt:
    """What became of a task: how many of its runs failed or were lost, and how many had before."""

    task: _Task
    failed: int
    failed_before: int
    deliveries: int


@dataclass(frozen=True)
class Summary:
    """What became of a call of `execute`.

    Attributes:
        planned: runs that there are now; with replicates by a rule more than it began with.
        runs: runs done now, also those of earlier calls that were done once more. resumed: runs that were there already, and stayed.
        failed: of the runs done now, those that failed in the end.
        deliveries: segments delivered in the runs done now.
        seconds: wall time.
        damaged: files that were damaged or missing and have been made anew.
        log_lines: numbers of lines of the log that were damaged and have been left out.
        again: runs done once more because they, or others of their batch, had been lost or had failed; some perhaps several times.

    """

    planned: int
    runs: int
    resumed: int
    failed: int
    deliveries: int
    seconds: float
    damaged: list[str]
    log_lines: list[int]
    again: int = 0


class Interrupted(Exception):
    """The user stopped the run; what was finished is stored.

    Attributes:
        signal: by which signal.

    """

    def __init__(self, number: int) -> None:
        self.signal = number
        super().__init__(signal.Signals(number).name)


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


def execute(
    plan: Plan,
    dataset: Dataset,
    executor: Executor | None = None,
    jobs: int | None = None,
    reporter: Reporter | None = None,
    *,
    retry_failed: bool = False,
    wait: bool = True,
    captures: Wanted | None = None,
) -> Summary:
    """Does every run of the plan that the dataset lacks, and once more those that were lost.

    Args:
        plan: what to do.
        dataset: where results go; must have been created for this plan.
        executor: where to do it; by default `jobs` threads of this process (the simulator releases the interpreter lock).
        jobs: threads; by default one per processor. Of guests never more than fit into the machine, and in real time one.
        reporter: is told about progress.
        retry_failed: do runs that failed, or were lost too often, once more.
        wait: for another process that is writing to the dataset.
        captures: what is captured of the runs that are done now, which the simulator does in threads of this process.

    Raises:
        Interrupted: after Ctrl-C or SIGTERM. Batches that were being stored are, and so are those that other executors' workers had begun; the
            second one ends the process at once.
        DatasetError: if results cannot be written, or another process writes to the dataset and `wait` is false.

    """
    with lock(dataset.directory, wait=wait):
        execution = _Execution(regrown(plan, dataset.runs), dataset, executor, jobs, reporter)
        execution.captures = captures
        return execution.do(retry_failed=retry_failed)


class _Execution:
    """One call of `execute`."""

    def __init__(self, plan: Plan, dataset: Dataset, executor: Executor | None, jobs: int | None, reporter: Reporter | None) -> None:
        self.plan, self.dataset, self.reporter = plan, dataset, reporter
        self.executor, self.jobs = executor, jobs
        self.captures: Wanted | None = None
        self.stop = _core.StopRequest()
        self.interrupt = _Interrupt(reporter, self.stop, waits=executor is not None)
        self.runs = self.failed = self.deliveries = self.again = 0
        self.did: set[int] = set()

    def do(self, *, retry_failed: bool) -> Summary:
        started = time.monotonic()
        plan, dataset = self.plan, self.dataset
        with contextlib.suppress(processes.StoppedError), self.interrupt:
            log_lines = dataset.settle_log()
            done, damaged = dataset.settle(range(len(plan.batches)))
            todo = [_Task(index, tuple(batch)) for index, batch in enumerate(plan.batches) if index not in done]
            again = self._once_more(failed=retry_failed)
            # What is done once more is there no longer.
            resumed = sum(len(plan.batches[index]) for index in done) - sum(len(task.runs) for task in again)
            damaged = [*dataset.mended, *damaged]
            unknown = dataset.kernels_damaged or not dataset.kernels
            side_by_side = self._prepare(needed=bool(todo or again or unknown))
            if self.reporter:
                if plan.study.until:
                    self.reporter.say(f"replicates: {plan.study.until.words}")
                self.reporter.begin(len(plan.runs), resumed, sum(self._cost(task) for task in (*todo, *again)))
            own = ThreadPoolExecutor(max_workers=side_by_side) if self.executor is None else None
            try:
                workers = self.executor or own
                assert workers is not None
                self._round(workers, todo, again)
                if plan.study.until:
                    self._until(workers)
            finally:
                if own:
                    own.shutdown(wait=True, cancel_futures=True)
                if self.reporter:
                    self.reporter.end()
            if not self.interrupt.requested:
                return Summary(
                    len(self.plan.runs),
                    self.runs,
                    resumed,
                    self.failed,
                    self.deliveries,
                    time.monotonic() - started,
                    damaged,
                    log_lines,
                    self.again,
                )
        raise Interrupted(self.interrupt.requested)

    def _round(self, workers: Executor, todo: Sequence[_Task], again: Sequence[_Task]) -> None:
        """Does tasks, and once more what was lost now, or in an earlier call; what was lost too often only if asked to."""
        self._work(workers, todo)
        again = sorted({*again, *self._once_more(failed=False)}, key=lambda task: task.batch)
        while again and not self.interrupt.requested:
            what = "a batch" if len(again) == 1 else f"{len(again)} batches"
            self._say(f"{what} in which runs were lost or had failed: done once more")
            self._work(workers, again)
            again = self._once_more(failed=False)

    def _until(self, workers: Executor) -> None:
        """More replicates, round by round, until the study's rule is met in every cell."""
        shown = presentation(self.plan.study)
        assert shown.stopping is not None
        looks = Looks(shown.stopping, shown.references)
        while not self.interrupt.requested and (more := looks.more(self.dataset)):
            had = len(self.plan.batches)
            self.plan = grown(self.plan, more)
            self.dataset.grow(self.plan)
            todo = [_Task(index, tuple(batch)) for index, batch in enumerate(self.plan.batches) if index >= had]
            if self.reporter:
                self.reporter.more(sum(len(task.runs) for task in todo), sum(self._cost(task) for task in todo))
            self._round(workers, todo, [])

    def _prepare(self, *, needed: bool) -> int:
        """How many batches are done side by side; on real kernels it is stored first which they are."""
        plan = self.plan
        kernel = registry.kernels(plan.study.backend)
        cores = os.cpu_count() or 1
        if not kernel or not needed:
            return self.jobs or cores
        scenarios = [run.scenario for run in plan.runs]
        self.dataset.record_kernels(kernel.provenance(scenarios))
        for text in sorted({said for scenario in set(scenarios) if (said := _beyond(plan.study.backend, scenario))}):
            print(f"warning: {text}", file=sys.stderr)
        # More guests than fit would take memory and, in real time, time from each other.
        fit = kernel.parallel(scenarios)
        return min(self.jobs or fit, fit)

    def _once_more(self, *, failed: bool) -> list[_Task]:
        """The runs that are to be done once more, batch by batch."""
        status = self.dataset.status()
        chosen = (pl.col("status") == "lost") & (pl.col("tries") <= _MOST_RETRIES)
        if failed:
            chosen = pl.col("status") != "ok"
        return self._tasks(status.filter(chosen)["run"].to_list())

    def _tasks(self, runs: Sequence[int]) -> list[_Task]:
        """Whole batches: what a guest measures depends, to the bit, on what it has done since it booted."""
        wanted = set(runs)
        return (
            [_Task(index, tuple(batch), again=True) for index, batch in enumerate(self.plan.batches) if wanted & set(batch)]
            if wanted
            else []
        )

    def _work(self, workers: Executor, tasks: Sequence[_Task]) -> None:
        """Does tasks; after Ctrl-C no other is begun."""
        if self.interrupt.requested:
            return
        costs = {task: self._cost(task) for task in tasks}
        pending: dict[Future[Receipt | None], _Task] = {}
        begun: set[_Task] = set()
        try:
            for task, call in self._calls(tasks):
                pending[workers.submit(*call)] = task
            self.interrupt.pending = pending
            while pending:
                finished, _ = wait_for(pending, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in finished:
                    begun.add(pending.pop(future))
                    if not future.cancelled() and (receipt := future.result()):
                        self._count(receipt, costs)
                if self.interrupt.requested:
                    begun.update(task for future, task in pending.items() if future.running())
                    for future in [future for future, task in pending.items() if task not in begun and future.cancel()]:
                        del pending[future]
        finally:
            # After a failure, too, what is in progress comes to its end.
            for future in pending:
                future.cancel()
            wait_for(pending)

    def _calls(self, tasks: Sequence[_Task]) -> Iterator[tuple[_Task, tuple[Any, ...]]]:
        """What workers are to call, the longest first, so that nothing long is left for the end: a share of a task, or all of it."""
        backend = registry.divisible(self.plan.study.backend) if self.executor is None else None
        amounts = {task.batch: [self.plan.work[run] for run in task.runs] for task in tasks}
        by_batch = {task.batch: task for task in tasks}
        if backend is None:
            for share in shares(amounts, 1):
                yield by_batch[share.batch], (do_task, self.plan, self.dataset, by_batch[share.batch])
            return
        shared = {task.batch: _Shared(self.plan, self.dataset, task, backend, self.stop, self.captures) for task in tasks}
        for share in shares(amounts, self.jobs or os.cpu_count() or 1):
            yield by_batch[share.batch], (shared[share.batch].do, share.runs)

    def _count(self, receipt: Receipt, costs: Mapping[_Task, float]) -> None:
        self.deliveries += receipt.deliveries
        task = receipt.task
        if task.again:
            self.again += len(task.runs)
        if task.batch in self.did:
            # Its runs are counted, and those that failed then.
            failed, runs, cost = receipt.failed - receipt.failed_before, 0, 0.0
        else:
            failed, runs, cost = receipt.failed, len(task.runs), costs[task]
            self.did.add(task.batch)
        self.runs, self.failed = self.runs + runs, self.failed + failed
        if self.reporter:
            self.reporter.advance(runs, cost, failed)

    def _cost(self, task: _Task) -> float:
        return sum(self.plan.work[run] for run in task.runs)

    def _say(self, text: str) -> None:
        if self.reporter:
            self.reporter.say(text)


def do_task(plan: Plan, dataset: Dataset, task: _Task) -> Receipt | None:
    """Does the runs of one batch and stores them, unless its guest is given up. A run that fails, or is lost, is recorded with its message."""
    began, cpu = time.monotonic(), time.thread_time()
    runs = [plan.runs[run] for run in task.runs]
    backend = registry.BACKENDS[plan.study.backend].load()
    try:
        batch = _tried(len(runs), lambda: backend.run_batch([run.scenario for run in runs], [run.seed for run in runs]))
    except processes.StoppedError:
        return None
    return _store(plan, dataset, task, batch, began, time.thread_time() - cpu)


def _tried(runs: int, make: Callable[[], Batch]) -> Batch:
    """A batch of so many runs; without enough memory all of them are lost, as there may be another time."""
    try:
        return make()
    except (MemoryError, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.ENOMEM:
            raise
        everything = range(runs)
        return Batch({}, dict.fromkeys(everything, "there was not enough memory"), 0, 0, lost=frozenset(everything))


def _store(plan: Plan, dataset: Dataset, task: _Task, outcome: Batch, began: float, cpu: float) -> Receipt:
    """Stores what came of a batch that was begun then, and took so much of a processor."""
    runs = [plan.runs[run] for run in task.runs]
    index = pl.Series(task.runs, dtype=pl.UInt32)
    tables = {name: frame.with_columns(run=index.gather(frame["run"])) for name, frame in outcome.tables.items()}
    before = dataset.status(task.batch) if task.again else as_status([], [], [])
    tried = {run: tries or 0 for run, tries in before.select("run", "tries").iter_rows()}
    kinds = ["lost" if at in outcome.lost else "failed" if at in outcome.errors else "ok" for at in range(len(runs))]
    status = as_status(
        task.runs,
        kinds,
        [outcome.errors.get(at) or _beyond(plan.study.backend, run.scenario) for at, run in enumerate(runs)],
        [min(tried.get(run.index, 0) + 1, _UINT8) if kind == "lost" else None for run, kind in zip(runs, kinds, strict=True)],
    )
    dataset.write_batch(task.batch, tables, status)
    dataset.log(batch=task.batch, runs=len(runs), failed=len(outcome.errors), lost=len(outcome.lost), again=task.again,
                seconds=round(time.monotonic() - began, 4), cpu=round(cpu, 4), deliveries=outcome.deliveries, events=outcome.events)  # fmt: skip
    return Receipt(task, len(outcome.errors), before.filter(pl.col("status") != "ok").height, outcome.deliveries)


def _beyond(backend: str, scenario: str) -> str | None:
    """What a scenario asks of a backend's links beyond what they reached when they were calibrated."""
    return _unreachable(backend, scenario) if registry.BACKENDS[backend].clocks else None


@functools.cache
def _unreachable(backend: str, scenario: str) -> str | None:
    return calibration.unreachable(backend, _core.kernel_settings(scenario))


class _Interrupt:
    """The first Ctrl-C or SIGTERM asks for an orderly end, and is answered at once; the second ends the process at once.

    What is ignored, as in the background of a script, stays so. `waits`: for workers that do not hear of it.
    """

    def __init__(self, reporter: Reporter | None, stop: _core.StopRequest, *, waits: bool) -> None:
        self.requested = 0
        self.pending: Mapping[Future[Receipt | None], _Task] = {}
        self._reporter, self._stop, self._waits = reporter, stop, waits
        self._previous: dict[int, Any] = {}
        self._dead_end: threading.Timer | None = None

    def __enter__(self) -> None:
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) != signal.SIG_IGN:
                    self._previous[number] = signal.signal(number, self._on_signal)
        except ValueError:  # not in the main thread: whoever is there handles signals
            pass

    def __exit__(self, *_: object) -> None:
        for number, previous in self._previous.items():
            signal.signal(number, previous)
        if self._dead_end:
            self._dead_end.cancel()
        processes.resume()

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self.requested:
            self._leave(128 + number)
        self.requested = number
        running = len({task for future, task in self.pending.items() if future.running()}) if self._waits else 0
        _tell(f"finishing {running} batch{'' if running == 1 else 'es'} in progress; again to stop now" if running else "stopping")
        if not self._waits:
            self._stop.set()
            processes.stop()
            if self._reporter:
                self._dead_end = _later(_ORDERLY, self._give_up, 128 + number)

    def _give_up(self, code: int) -> None:
        _tell("stopped: what was stored before stays; the same command goes on from there")
        self._leave(code)

    def _leave(self, code: int) -> None:
        """Ends this process without waiting for its threads: what they were at is not stored, and is done anew the next time."""
        # Whatever holds up the rest of this.
        _later(_PATIENCE, os._exit, code)
        if self._reporter:
            self._reporter.end()  # or the terminal stays without a cursor
        processes.end_all()
        os._exit(code)


def _tell(text: str) -> None:
    """Not by the reporter: it may be in the middle of a line."""
    with contextlib.suppress(OSError):
        os.write(2, f"{chr(10) if os.isatty(2) else ''}{text}\n".encode())


def _later(seconds: float, call: Callable[[int], object], code: int) -> threading.Timer:
    """Calls something after some time, unless it is cancelled or the process ends before."""
    timer = threading.Timer(seconds, call, (code,))
    timer.daemon = True
    timer.start()
    return timer


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
