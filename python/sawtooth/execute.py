"""Doing a plan: batches go to an executor, results to the dataset, progress to the terminal.

`execute` takes any `concurrent.futures.Executor`. Workers write the parts themselves and return a receipt (`jobs`), so records never
travel through a scheduler; all else of the results is written here, by one process. Killed at any moment, at most the batches in progress are lost; the
same call goes on from there. Threads of this process share the runs of a batch (`sharing`); workers elsewhere, and kernels, do whole ones.

The first Ctrl-C or SIGTERM ends what threads of this process are at: a batch whose runs are all done is stored, of others nothing is. What another
executor has begun is waited for, but not that of a cluster: its workers store what they are at, and those of this machine end. The second one ends the process at once; so does the first, on the command line, where storing takes longer than people wait.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from types import FrameType
from typing import Any, Protocol

import polars as pl

from sawtooth import _core, jobs
from sawtooth.backends import processes, registry
from sawtooth.counted import counted
from sawtooth.jobs import Job, Receipt, Shared, Task, Terms
from sawtooth.plan import Plan, grown, regrown
from sawtooth.presentation import presentation
from sawtooth.progress import Reporter
from sawtooth.results.dataset import Dataset
from sawtooth.sharing import shares
from sawtooth.stopping import Looks
from sawtooth.taps import Wanted

# A lost run is done once more this often, unless more is asked for.
_MOST_RETRIES = 3
# So many calls are with an executor at a time, unless its crew says otherwise: all workers are busy, and what waits takes little memory.
_AHEAD = 256
# Seconds that an orderly end may take on the command line, and what is left to do at an end at once.
_ORDERLY = 0.4
_PATIENCE = 1.0


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


class WorkersGone(Exception):
    """Whoever had batches to be done has dropped them, such as a scheduler that was ended: what was stored stays, and the same call goes on from there."""


class Crew(Protocol):
    """What is known of workers elsewhere besides their executor.

    Attributes:
        deaths: the errors by which an executor says that workers have died of a batch, or while they were at it.

    """

    deaths: tuple[type[BaseException], ...]

    def check(self, terms: Terms) -> None:
        """Raises `ClusterError` if workers that are there are not of the terms."""
        ...

    def ahead(self) -> int:
        """How many batches may be with the executor at a time."""
        ...

    def leave(self) -> None:
        """Nobody waits any longer for what workers are at: they end it by themselves, and store it, or it is done anew the next time."""
        ...


def execute(
    plan: Plan,
    dataset: Dataset,
    executor: Executor | None = None,
    jobs: int | None = None,
    reporter: Reporter | None = None,
    *,
    crew: Crew | None = None,
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
        crew: the workers of the executor, if more is known of them.
        retry_failed: do runs that failed, or were lost too often, once more.
        wait: for another process that is writing to the dataset.
        captures: what is captured of the runs that are done now, in threads of this process.

    Raises:
        Interrupted: after Ctrl-C or SIGTERM. Batches that were being stored are, and so are those that other executors' workers had begun; the
            second one ends the process at once.
        DatasetError: if results cannot be written, or another process writes to the dataset and `wait` is false.
        ClusterError: if workers of another executor are of another version, or do not see the results.
        WorkersGone: if another executor has dropped what it had to do.

    """
    with dataset.lock(wait=wait):
        execution = _Execution(regrown(plan, dataset.runs), dataset, executor, jobs, reporter, crew, captures)
        return execution.do(retry_failed=retry_failed)


class _Execution:
    """One call of `execute`."""

    def __init__(
        self,
        plan: Plan,
        dataset: Dataset,
        executor: Executor | None,
        jobs: int | None,
        reporter: Reporter | None,
        crew: Crew | None,
        captures: Wanted | None,
    ) -> None:
        self.plan, self.dataset, self.reporter = plan, dataset, reporter
        self.executor, self.jobs, self.crew = executor, jobs, crew
        self.terms: Terms | None = None
        self.captures = captures
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
            mine = plan.mine
            todo = [Task(index, plan.batches[index]) for index in mine if index not in done]
            again = self._once_more(failed=retry_failed)
            # What is done once more is there no longer.
            resumed = sum(len(plan.batches[index]) for index in done.intersection(mine)) - sum(len(task.runs) for task in again)
            damaged = [*dataset.mended, *damaged]
            unknown = dataset.kernels_damaged or not dataset.kernels
            side_by_side = self._prepare(needed=bool(todo or again or unknown))
            if self.reporter:
                if plan.study.until:
                    self.reporter.say(f"replicates: {plan.study.until.words}")
                    if plan.shard:
                        first = f"a shard does the first {plan.study.repeat:,} of each cell"
                        self.reporter.say(f"{first}; running the study into the merged directory does those that the rule asks for besides")
                cost = sum(self._cost(task) for task in (*todo, *again))
                whole = sum(self._cost(Task(index, plan.batches[index])) for index in mine)
                self.reporter.begin(self._planned, resumed, cost, whole - cost)
            try:
                with self._workers(side_by_side) as workers:
                    self._round(workers, todo, again)
                    # A rule looks at all results, of which a shard has some.
                    if plan.study.until and not plan.shard:
                        self._until(workers)
            finally:
                if self.reporter:
                    self.reporter.end()
            if not self.interrupt.requested and (told := dataset.tidy()):
                self._say(told)
            if not self.interrupt.requested:
                return Summary(
                    self._planned,
                    self.runs,
                    resumed,
                    self.failed,
                    self.deliveries,
                    time.monotonic() - started,
                    damaged,
                    log_lines,
                    self.again,
                )
        if self.crew:
            self.crew.leave()
        raise Interrupted(self.interrupt.requested)

    @property
    def _planned(self) -> int:
        """How many runs there are to be, here."""
        return sum(len(self.plan.batches[index]) for index in self.plan.mine)

    @contextlib.contextmanager
    def _workers(self, side_by_side: int) -> Generator[Executor]:
        """Threads of this process, or the executor that was given, whose workers can be held against the terms meanwhile."""
        if self.executor is None:
            own = ThreadPoolExecutor(max_workers=side_by_side)
            try:
                yield own
            finally:
                own.shutdown(wait=True, cancel_futures=True)
            return
        with self.dataset.probe() as (folder, probe):
            self.terms = Terms(jobs.versions(), folder, probe)
            if self.crew:
                self.crew.check(self.terms)
            yield self.executor

    def _round(self, workers: Executor, todo: Sequence[Task], again: Sequence[Task]) -> None:
        """Does tasks, and once more what was lost now, or in an earlier call; what was lost too often only if asked to."""
        self._work(workers, todo)
        again = sorted({*again, *self._once_more(failed=False)}, key=lambda task: task.batch)
        while again and not self.interrupt.requested:
            what = counted(len(again), "batch")
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
            todo = [Task(index, self.plan.batches[index]) for index in range(had, len(self.plan.batches))]
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
        for text in sorted({said for scenario in set(scenarios) if (said := jobs.beyond(plan.study.backend, scenario))}):
            print(f"warning: {text}", file=sys.stderr)
        # More guests than fit would take memory and, in real time, time from each other.
        fit = kernel.parallel(scenarios)
        return min(self.jobs or fit, fit)

    def _once_more(self, *, failed: bool) -> list[Task]:
        """The runs that are to be done once more, batch by batch."""
        status = self.dataset.status()
        chosen = (pl.col("status") == "lost") & (pl.col("tries") <= _MOST_RETRIES)
        if failed:
            chosen = pl.col("status") != "ok"
        return self._tasks(status.filter(chosen)["run"].to_list())

    def _tasks(self, runs: Sequence[int]) -> list[Task]:
        """Whole batches: what a guest measures depends, to the bit, on what it has done since it booted."""
        wanted = set(runs)
        return (
            [Task(index, batch, again=True) for index in self.plan.mine if not wanted.isdisjoint(batch := self.plan.batches[index])]
            if wanted
            else []
        )

    def _work(self, workers: Executor, tasks: Sequence[Task]) -> None:
        """Does tasks; after Ctrl-C no other is begun."""
        pending: dict[Future[Receipt | None], Task] = {}
        begun: set[Task] = set()
        self.interrupt.pending = pending
        calls = self._calls(tasks)
        try:
            while (not self.interrupt.requested and self._submit(workers, calls, pending)) or pending:
                finished, _ = wait_for(pending, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in finished:
                    task = pending.pop(future)
                    begun.add(task)
                    if receipt := self._receipt(future, task):
                        self._count(receipt)
                if self.interrupt.requested:
                    begun.update(task for future, task in pending.items() if future.running())
                    for future in [future for future, task in pending.items() if task not in begun and future.cancel()]:
                        del pending[future]
        except WorkersGone:
            # Nobody answers for what is left.
            pending.clear()
            raise
        finally:
            # After a failure, too, what is in progress comes to its end.
            for future in pending:
                future.cancel()
            wait_for(pending)

    def _submit(
        self, workers: Executor, calls: Iterator[tuple[Task, tuple[Any, ...]]], pending: dict[Future[Receipt | None], Task]
    ) -> bool:
        """Gives the executor more to do, as far as it should have it; whether it has anything."""
        ahead = self.crew.ahead() if self.crew else _AHEAD
        while len(pending) < ahead and (following := next(calls, None)):
            task, call = following
            pending[workers.submit(*call)] = task
        return bool(pending)

    def _receipt(self, future: Future[Receipt | None], task: Task) -> Receipt | None:
        """What a worker returned; nothing if it was told to stop."""
        if future.cancelled():
            if self.interrupt.requested:
                return None
            raise WorkersGone
        error = future.exception()
        if isinstance(error, BrokenExecutor):
            raise WorkersGone from None
        if self.crew and isinstance(error, self.crew.deaths):
            return jobs.give_up(self._job(task), "the workers that did it died")
        if self.crew and error is not None and self.interrupt.requested:
            # Ctrl-C in a terminal ends workers of this machine, too: what becomes of their tasks is any of several errors, and a resumed study does them again.
            return None
        return future.result()

    def _calls(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, tuple[Any, ...]]]:
        """What workers are to call, in the order of `shares`: a share of a task, or all of it."""
        backend = registry.divisible(self.plan.study.backend) if self.executor is None else None
        amounts = {task.batch: self.plan.work[task.runs.start : task.runs.stop] for task in tasks}
        rounds = {task.batch: min(run.replicate for run in self.plan.runs[task.runs.start : task.runs.stop]) for task in tasks}
        by_batch = {task.batch: task for task in tasks}
        self.dataset.unpack(by_batch)
        if backend is None:
            for share in shares(amounts, 1, rounds):
                job = self._job(by_batch[share.batch])
                yield job.task, (jobs.do, job) if self.terms is None else (jobs.do_packed, self.terms, jobs.pack(job))
            return
        shared: Shared | None = None
        for share in shares(amounts, self.jobs or os.cpu_count() or 1, rounds):
            # Shares of a batch follow each other.
            if shared is None or shared.job.task.batch != share.batch:
                shared = Shared(self._job(by_batch[share.batch]), backend, self.stop)
            yield shared.job.task, (shared.do, share.runs)

    def _job(self, task: Task) -> Job:
        """A task with all that a worker needs for it; made when it is handed out, since texts of scenarios take memory."""
        runs = self.plan.runs[task.runs.start : task.runs.stop]
        captures = [self.captures.of_run(self.plan, run) for run in runs] if self.captures else []
        job = Job(
            task, self.plan.study.backend, [run.scenario for run in runs], [run.seed for run in runs], self.dataset.shelf, captures=captures
        )
        if not task.again:
            return job
        before = self.dataset.status(task.batch)
        tried = {run: tries or 0 for run, tries in before.select("run", "tries").iter_rows()}
        return dataclasses.replace(job, tried=tried, failed_before=before.filter(pl.col("status") != "ok").height)

    def _count(self, receipt: Receipt) -> None:
        self.dataset.log(**receipt.entry)
        self.deliveries += receipt.deliveries
        task = receipt.task
        if task.again:
            self.again += len(task.runs)
        if task.batch in self.did:
            # Its runs are counted, and those that failed then.
            failed, runs, cost = receipt.failed - receipt.failed_before, 0, 0.0
        else:
            failed, runs, cost = receipt.failed, len(task.runs), self._cost(task)
            self.did.add(task.batch)
        self.runs, self.failed = self.runs + runs, self.failed + failed
        if self.reporter:
            self.reporter.advance(runs, cost, failed)

    def _cost(self, task: Task) -> float:
        return sum(self.plan.work[task.runs.start : task.runs.stop])

    def _say(self, text: str) -> None:
        if self.reporter:
            self.reporter.say(text)


class _Interrupt:
    """The first Ctrl-C or SIGTERM asks for an orderly end, and is answered at once; the second ends the process at once.

    What is ignored, as in the background of a script, stays so. `waits`: for workers that do not hear of it.
    """

    def __init__(self, reporter: Reporter | None, stop: _core.StopRequest, *, waits: bool) -> None:
        self.requested = 0
        self.pending: Mapping[Future[Receipt | None], Task] = {}
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
        _tell(f"finishing {counted(running, 'batch')} in progress; again to stop now" if running else "stopping")
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
