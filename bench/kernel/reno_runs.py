"""Runs cases on kernel and simulator, each side in one batch, and keeps what is compared."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import polars as pl
from reno_cases import KERNEL, NO_RACK, PLAIN, RFC, Case, Side, ablations, scenario, starts_ms, steps
from reno_traces import Trace, trace

from sawtooth.backends import sim, uml


@dataclass(frozen=True)
class Job:
    """One run to be done; `more_lost` as in [`scenario`]."""

    case: Case
    side: Side
    start_ms: int = 100
    more_lost: tuple[int, ...] = ()
    sampled: bool = True


@dataclass(frozen=True)
class Run:
    """What one run measured."""

    completion_ms: float
    retransmits: int
    timeouts: int
    sent: int
    acks: int
    dropped: int
    counters: dict[str, int]
    trace: Trace | None

    @property
    def window(self) -> Trace:
        """The trace of a run that was sampled."""
        assert self.trace is not None
        return self.trace


class Results:
    """Runs by case and side; several of a kernel that differ only in when the flow starts."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, str], list[Run]] = {}

    def add(self, jobs: Sequence[Job], runs: Iterable[Run]) -> None:
        for job, run in zip(jobs, runs, strict=True):
            self._runs.setdefault((job.case.name, job.side.name), []).append(run)

    def all(self, case: Case, side: Side) -> list[Run]:
        return self._runs[case.name, side.name]

    def has(self, case: Case, side: Side) -> bool:
        return (case.name, side.name) in self._runs

    def of(self, case: Case, side: Side) -> Run:
        """The first run."""
        return self.all(case, side)[0]


def measure(cases: Sequence[Case], sides: Sequence[Side] | None = None) -> Results:
    """Runs every case on all its variants, or on `sides` only."""
    jobs: list[Job] = []
    for case in cases:
        if sides is None:
            jobs += [Job(case, KERNEL, start) for start in starts_ms(case)]
            jobs += [Job(case, side, sampled=sampled(case, side)) for side in (*ablations(case), RFC, *steps())]
        else:
            jobs += [Job(case, side) for side in sides]
    jobs = with_lost_retransmissions(jobs)
    results = Results()
    results.add(jobs, run(jobs))
    return results


def sampled(case: Case, side: Side) -> bool:
    """Whether its trace is looked at: half of a kernel's time goes into samples."""
    return side.backend == "sim" or side in (PLAIN, NO_RACK) or case.again


def with_lost_retransmissions(jobs: Sequence[Job]) -> list[Job]:
    """The same jobs; those of which the first retransmission is to be lost know which packet that is, from runs without that loss."""
    found = list(jobs)
    wanted = [at for at, job in enumerate(jobs) if job.case.again]
    for at, first in zip(wanted, run([jobs[at] for at in wanted]), strict=True):
        before = first.window.loss_found() - 1
        # Until the loss is found every packet was a new segment; the retransmission is the next.
        packet = jobs[at].side.handshake_packets + round(first.window.sent[before]) + 1
        found[at] = replace(jobs[at], more_lost=(packet,))
    return found


def run(jobs: Sequence[Job]) -> list[Run]:
    """One batch a backend."""
    done: dict[int, Run] = {}
    for name, backend in (("uml", uml), ("sim", sim)):
        own = [at for at, job in enumerate(jobs) if job.side.backend == name]
        if not own:
            continue
        trees = [scenario(job.case, job.side, job.start_ms, job.more_lost, sampled=job.sampled) for job in (jobs[at] for at in own)]
        batch = backend.run_batch([json.dumps(tree) for tree in trees], [1] * len(own))
        if batch.errors:
            sys.exit(f"error: {next(iter(batch.errors.values()))}")
        by_run = {table: split(frame) for table, frame in batch.tables.items()}
        for position, at in enumerate(own):
            done[at] = outcome(jobs[at], {table: frames.get(position) for table, frames in by_run.items()})
    return [done[at] for at in range(len(jobs))]


def split(frame: pl.DataFrame) -> dict[int, pl.DataFrame]:
    """A table's rows by run."""
    return {int(key[0]): part for key, part in frame.partition_by("run", as_dict=True).items()}


def outcome(job: Job, tables: dict[str, pl.DataFrame | None]) -> Run:
    """One run from its tables."""
    flows, links, series, counts = (tables.get(name) for name in ("flows", "links", "series", "counters"))
    assert flows is not None
    assert links is not None
    flow = flows.row(0, named=True)
    ways = {row["direction"]: row for row in links.iter_rows(named=True)}
    counters: dict[str, int] = {}
    if counts is not None:
        counters = dict(counts.filter(pl.col("host") == "sender").select("counter", "value").iter_rows())
    timeouts = flow["timeouts"] if job.side.backend == "sim" else counters.get("TcpExtTCPTimeouts", 0)
    return Run(
        completion_ms=math.nan if flow["completion_ns"] is None else flow["completion_ns"] / 1e6,
        retransmits=flow["retransmits"],
        timeouts=timeouts,
        sent=flow["sent_packets"],
        acks=ways["reverse"]["arrived_packets"],
        dropped=ways["forward"]["dropped_packets"],
        counters=counters,
        trace=trace(series, job.side.mss) if job.sampled and series is not None else None,
    )
