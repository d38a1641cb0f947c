"""What a worker does, wherever it is: the runs of a batch, and storing them.

A job has all that it needs, and no more: the scenarios' texts, the seeds, and where parts go. What comes back is a receipt of a few numbers. Between
machines a job is sent as bytes, beside what the worker has to be like: it is not opened by another version.
"""

from __future__ import annotations

import errno
import functools
import importlib.metadata
import math
import os
import pickle
import platform
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from sawtooth import _core, calibration, memory
from sawtooth.backends import processes, registry
from sawtooth.backends.batch import Batch
from sawtooth.errors import ClusterError, SawtoothError
from sawtooth.plan import RESULTS_EPOCH
from sawtooth.results.folder import Folder
from sawtooth.results.parts import Shelf
from sawtooth.tables import as_status

_UINT8 = 255


@dataclass(frozen=True)
class Task:
    """The runs of one batch, and whether they are done once more."""

    batch: int
    runs: range
    again: bool = False


@dataclass(frozen=True)
class Job:
    """A task with all that a worker needs for it.

    Attributes:
        task: which runs.
        backend: by its name.
        scenarios: each run's (JSON text).
        seeds: each run's.
        shelf: where parts go.
        tried: how often runs were tried that were lost before.
        failed_before: how many of its runs had failed or were lost, if it is done once more.
        captures: what is captured of each run; empty for nothing. Files are written where the worker is.

    """

    task: Task
    backend: str
    scenarios: Sequence[str]
    seeds: Sequence[int]
    shelf: Shelf
    tried: Mapping[int, int] = field(default_factory=dict[int, int])
    failed_before: int = 0
    captures: Sequence[_core.CaptureRequest] = ()


@dataclass(frozen=True)
class Receipt:
    """What became of a task: how many of its runs failed or were lost, and how many had before; what the log is to say of it."""

    task: Task
    failed: int
    failed_before: int
    deliveries: int
    entry: Mapping[str, Any]


class Shared:
    """A job that several threads do: who does the last of its runs stores all."""

    def __init__(self, job: Job, backend: registry.Divisible, stop: _core.StopRequest) -> None:
        self.job, self.backend, self.stop = job, backend, stop
        self._lock = threading.Lock()
        self._outcomes: dict[int, Any] = {}
        self._error: MemoryError | OSError | None = None
        self._left, self._cpu, self._began = len(job.seeds), 0.0, math.inf

    def do(self, some: range) -> Receipt | None:
        """Does some of its runs; its receipt if no more are left. Once it is told to stop it comes to none."""
        began, cpu = time.monotonic(), time.thread_time()
        chosen = slice(some.start, some.stop)
        outcome, failure = None, None
        try:
            outcome = self.backend.run_share(self.job.scenarios[chosen], self.job.seeds[chosen], self.stop, self.job.captures[chosen])
        except (MemoryError, OSError) as error:
            failure = error
        if outcome is None and failure is None:
            return None
        cpu = time.thread_time() - cpu
        with self._lock:
            self._outcomes[some.start] = outcome
            self._error = failure or self._error
            self._left, self._cpu, self._began = self._left - len(some), self._cpu + cpu, min(self._began, began)
            if self._left:
                return None
        return _store(self.job, _tried(len(self.job.seeds), self._gather), self._began, self._cpu)

    def _gather(self) -> Batch:
        if self._error:
            raise self._error
        return self.backend.gather([self._outcomes[start] for start in sorted(self._outcomes)])


def do(job: Job) -> Receipt | None:
    """Does the runs of one batch and stores them, unless its guest is given up. A run that fails, or is lost, is recorded with its message."""
    began, cpu = time.monotonic(), time.thread_time()
    backend = registry.BACKENDS[job.backend].load()
    try:
        batch = _tried(len(job.seeds), lambda: backend.run_batch(job.scenarios, job.seeds, job.captures))
    except processes.StoppedError:
        return None
    return _store(job, batch, began, time.thread_time() - cpu)


def give_up(job: Job, why: str) -> Receipt:
    """Records that all runs of a job are lost: they are done once more, but not for ever."""
    return _store(job, _all_lost(len(job.seeds), why), time.monotonic(), 0.0)


# --- at a worker of a cluster


@dataclass(frozen=True)
class Terms:
    """What a worker has to be like before it works: of these versions, and one that sees the folder of parts.

    Attributes:
        versions: of what decides the bytes of results, by its name.
        folder: of the parts.
        probe: a file in it, which holds its own name as long as the client is there.

    """

    versions: Mapping[str, str]
    folder: Folder
    probe: str


def versions() -> dict[str, str]:
    """Of what decides the bytes of results, here."""
    return {
        "sawtooth": importlib.metadata.version("sawtooth"),
        "its core": _core.version(),
        "the results epoch": str(RESULTS_EPOCH),
        "polars": pl.__version__,
    }


def pack(job: Job) -> bytes:
    """A job as it is sent: the scenarios of a batch are alike, so little is left of them."""
    return zlib.compress(pickle.dumps(job, protocol=pickle.HIGHEST_PROTOCOL), level=1)


def do_packed(terms: Terms, packed: bytes) -> Receipt | None:
    """What a worker of a cluster calls.

    Raises:
        ClusterError: if the worker is not of the terms.
        SawtoothError: if results cannot be written, with the worker's name.

    """
    memory.keep()
    require(terms)
    try:
        return do(pickle.loads(zlib.decompress(packed)))
    except SawtoothError as error:
        raise _from_here(error) from None


def require(terms: Terms) -> None:
    """Raises `ClusterError` unless this process is of the terms."""
    here = versions()
    for name, wanted in terms.versions.items():
        if here.get(name) != wanted:
            raise ClusterError(
                f"the worker on {platform.node()} has {name} {here.get(name, 'unknown')}, and the client {wanted}",
                "install the same versions on all machines: nothing was done there",
            )
    _require_folder(terms.folder, terms.probe, os.getpid())


@functools.lru_cache(maxsize=8)
def _require_folder(folder: Folder, probe: str, process: int) -> None:
    """Once for each process and call of the client."""
    unseen = ClusterError(
        f"the worker on {platform.node()} does not see {folder}",
        "name a directory with --out that all machines share, by the same path, or a URL such as s3://bucket/results",
    )
    # It holds its own name; what is written beside it counts as temporary, too.
    mine = probe.replace(".tmp", f"-{platform.node()}-{process}.tmp")
    try:
        if folder.read(probe) != probe.encode():
            raise unseen
        folder.write(mine, b"")
        folder.remove(mine)
    except ClusterError:
        raise
    except SawtoothError as error:
        raise _from_here(error) from None


def _from_here(error: SawtoothError) -> ClusterError:
    """An error of this worker, with its name."""
    return ClusterError(f"the worker on {platform.node()}: {getattr(error, 'message', error)}", getattr(error, "hint", None))


# --- helpers


def _tried(runs: int, make: Callable[[], Batch]) -> Batch:
    """A batch of so many runs; without enough memory all of them are lost, as there may be another time."""
    try:
        return make()
    except (MemoryError, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.ENOMEM:
            raise
        return _all_lost(runs, "there was not enough memory")


def _all_lost(runs: int, why: str) -> Batch:
    everything = range(runs)
    return Batch({}, dict.fromkeys(everything, why), 0, 0, lost=frozenset(everything))


def _store(job: Job, outcome: Batch, began: float, cpu: float) -> Receipt:
    """Stores what came of a batch that was begun then, and took so much of a processor."""
    task, count = job.task, len(job.seeds)
    index = pl.Series(list(task.runs), dtype=pl.UInt32)
    tables = {name: frame.with_columns(run=index.gather(frame["run"])) for name, frame in outcome.tables.items()}
    kinds = ["lost" if at in outcome.lost else "failed" if at in outcome.errors else "ok" for at in range(count)]
    status = as_status(
        list(task.runs),
        kinds,
        [outcome.errors.get(at) or beyond(job.backend, scenario) for at, scenario in enumerate(job.scenarios)],
        [min(job.tried.get(run, 0) + 1, _UINT8) if kind == "lost" else None for run, kind in zip(task.runs, kinds, strict=True)],
    )
    job.shelf.write(task.batch, {**tables, "status": status})
    entry = {
        "batch": task.batch, "runs": count, "failed": len(outcome.errors), "lost": len(outcome.lost), "again": task.again,
        "seconds": round(time.monotonic() - began, 4), "cpu": round(cpu, 4), "deliveries": outcome.deliveries, "events": outcome.events,
    }  # fmt: skip
    return Receipt(task, len(outcome.errors), job.failed_before, outcome.deliveries, entry)


def beyond(backend: str, scenario: str) -> str | None:
    """What a scenario asks of a backend's links beyond what they reached when they were calibrated."""
    return _unreachable(backend, scenario) if registry.BACKENDS[backend].clocks else None


@functools.cache
def _unreachable(backend: str, scenario: str) -> str | None:
    return calibration.unreachable(backend, _core.kernel_settings(scenario))
