"""Runs on real kernels, as pages show them: as they were stored, or done again.

A kernel does nothing twice: what is done again is another run of the same scenario and seed, with packets, losses and times of its own. Its packets are captured while it
is done, so that its time-sequence graph is of the very run whose windows are shown.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sawtooth import _core, forecast, taps, trace
from sawtooth.backends.registry import BACKENDS
from sawtooth.errors import DatasetError
from sawtooth.plan import Plan, Run
from sawtooth.results.dataset import Dataset
from sawtooth.trace import Trace
from sawtooth.web import sequence
from sawtooth.web.bounded import MOST_SECONDS

_FIRST_PORT = 20_000
_LISTENS = "10.0.0.2"
"""The port at which the first flow is waited for, and where (docs/guides/captures.md)."""


class NothingStoredError(DatasetError):
    """Nothing of a run's course was stored: where studies may be run, it can be done again."""

    repeatable = True


@dataclass(frozen=True)
class Kernel:
    """What a page says of the kernel.

    Attributes:
        stored: the releases on which the results were made. now: that on which it was done again.
        was: what was stored of the run's flows, a line each. stored_series: whether its course was stored, too.

    """

    stored: list[str]
    now: str | None
    was: list[str]
    stored_series: bool


def again(plan: Plan, run: Run) -> tuple[Trace, sequence.Sequences | None]:
    """Does a run once more on its kernel, and captures what its senders send if that can be captured.

    Raises:
        DatasetError: if it would take too long.
        BackendUnavailable: if this machine cannot run the kernel.
        RunFailed: with the kernel's words.

    """
    needed = forecast.on_kernel(plan, run)
    if needed > MOST_SECONDS:
        raise DatasetError(
            f"on its kernel this run takes about {forecast.duration(needed)}, and pages wait {MOST_SECONDS:.0f} s for one",
            f"`sawtooth trace STUDY --run {run.index}` has no such limit",
        )
    backend = BACKENDS[plan.study.backend].load()
    if run.cost > sequence.MOST_PACKETS or _core.kernel_settings(run.scenario)["shaper"] == "kernel":
        return trace.take(plan, run, backend), None
    with tempfile.TemporaryDirectory(prefix="sawtooth-") as folder:
        path = Path(folder) / "sender.pcapng"
        found = trace.take(plan, run, backend, taps.wanted(path, on_kernels=True))
        flows = {_FIRST_PORT + at: name for at, name in enumerate(found.flows["flow"].to_list())}
        try:
            return found, sequence.read(path, lambda ends: flows.get(_port(ends)))
        except DatasetError:
            # Nothing was sent by TCP: the run is told without.
            return found, None


def _port(connection: str) -> int:
    """Of `ADDRESS:PORT > ADDRESS:PORT`, the port that listens: that of 10.0.0.2, to whom all connections are opened."""
    ends = [end.rpartition(":") for end in connection.split(" > ")]
    return int(next(port for address, _, port in ends if address == _LISTENS))


def told(plan: Plan, dataset: Dataset, run: Run, *, done_again: bool) -> Kernel:
    """What a page says of the kernel of a run."""
    stored = sorted({str(entry["release"]) for entry in dataset.kernels if entry.get("release")})
    if not done_again:
        return Kernel(stored, None, [], stored_series=True)
    kernels = BACKENDS[plan.study.backend].kernels()
    assert kernels is not None
    image = str(_core.kernel_settings(run.scenario)["image"])
    flows = _table(dataset, "flows", run)
    was = [] if flows is None else trace.summary(Trace(run, trace.duration_of(run), flows, pl.DataFrame(), pl.DataFrame(), None))
    series = _table(dataset, "series", run)
    return Kernel(stored, kernels.release(image, fetch=False), was, stored_series=series is not None and not series.is_empty())


def stored(dataset: Dataset, run: Run) -> Trace:
    """What results tell of a run without doing it again.

    Raises:
        NothingStoredError: if nothing of its course was stored.
        DatasetError: if it has failed, or was not done yet.

    """
    flows, links, series = (_table(dataset, name, run) for name in ("flows", "links", "series"))
    if flows is None or flows.is_empty():
        raise DatasetError("nothing is stored of this run", "it has failed, or was not done yet")
    if series is None or series.is_empty():
        raise NothingStoredError(
            "this run was on a real kernel, and no series of it was stored",
            'write sample = "100 ms" in [scenario] and run the study again; or `sawtooth serve --allow-run` does this run again',
        )
    links = pl.DataFrame() if links is None else links
    return Trace(run, trace.duration_of(run), flows, links, series, _table(dataset, "queues", run))


def _table(dataset: Dataset, name: str, run: Run) -> pl.DataFrame | None:
    return dataset.table(name).filter(pl.col("run") == run.index).collect() if name in dataset.tables else None
