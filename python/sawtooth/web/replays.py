"""Runs that are looked at in detail: done once more, one at a time and no longer than a limit, and kept for the next question.

A simulated run is deterministic: what is done again is what was stored, and whether it is so is told. A run on a real kernel is told by the series that were stored with
it; it is done again, and then it is another one, only where the explorer may run studies.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import polars as pl

from sawtooth import fates, trace
from sawtooth.errors import DatasetError, RunFailed, StudyError
from sawtooth.plan import Plan, Run, make_plan, regrown
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study, shipped
from sawtooth.trace import Trace
from sawtooth.web import kernels
from sawtooth.web.bounded import Bounded
from sawtooth.web.kernels import Kernel
from sawtooth.web.opened import Opened
from sawtooth.web.problems import NotAllowedError
from sawtooth.web.sequence import Sequences
from sawtooth.web.whatif import DROP, Change, changed

RECORD = ("variables", "episodes", "limited")
_MOST_WAIT = 120.0
"""For the runs of other questions."""
_MOST_WAITING = 12
"""Questions that wait at a time: a hundred pages leave room for those that ask for something else."""
_MOST_KEPT, _MOST_KEPT_BYTES = 6, 1.5e9
_Kept = OrderedDict[Hashable, Any]


@dataclass(frozen=True)
class Replay:
    """A run in detail.

    Attributes:
        plan, run: which. trace: what it did.
        again: whether it was done again; else it is told by what was stored.
        same: whether that is what was stored; None if it cannot be told.
        change: what happens otherwise, in words.
        kernel: what is said of its kernel, if it has one. sequences: what its senders sent, if it was captured meanwhile.

    """

    plan: Plan
    run: Run
    trace: Trace
    again: bool
    same: bool | None
    change: str | None = None
    kernel: Kernel | None = None
    sequences: Sequences | None = None


class Replays:
    """Does runs again, and keeps the last of them."""

    def __init__(self, *, allow_run: bool) -> None:
        self._allow_run = allow_run
        self._busy, self._waiting = threading.Lock(), threading.BoundedSemaphore(_MOST_WAITING)
        self._plans: _Kept = OrderedDict()
        self._kept: _Kept = OrderedDict()

    def found(self, opened: Opened, number: str) -> tuple[Plan, Run]:
        """The run of results that has this number.

        Raises:
            DatasetError: if there is none.

        """
        plan = self._once(self._plans, _key(opened), lambda: _plan(opened.dataset))
        which = int(number) if number.isdecimal() and len(number) < 10 else len(plan.runs)
        # Runs in blocks do not stand in the order of their numbers.
        run = next((run for run in plan.runs if run.index == which), None)
        if run is None:
            raise DatasetError(f"there is no run `{number[:40]}`", f"these results have runs 0 to {len(plan.runs) - 1}")
        return plan, run

    def taken(self, opened: Opened, number: str, change: Change | None = None, *, again: bool = False) -> Replay:
        """A run in detail, as it was or with a change.

        Args:
            opened: the results.
            number: of the run.
            change: what happens otherwise.
            again: a run on a real kernel is done again, too.

        Raises:
            NotAllowedError: for that, where nothing may be run.
            DatasetError: if there is no such run, or nothing was stored that would tell of it.
            RunFailed: with the backend's words, or if it takes too long.

        """
        plan, run = self.found(opened, number)
        if plan.study.on_kernels:
            return self._of_kernel(opened, plan, run, change, again=again)
        if change is None:
            return self.once(opened, run, "trace", lambda: _simulated(plan, run, opened.dataset))
        fork, told = self._forked(opened, run, change)
        return self.once(opened, fork, "trace", lambda: replace(_simulated(plan, fork, None), change=told))

    def once(self, opened: Opened, run: Run, what: Hashable, make: Callable[[], Any]) -> Any:
        """What is made of a run, which is made one at a time and kept."""
        return self._once(self._kept, (*_key(opened), run.index, run.scenario, what), make)

    def _once(self, kept: _Kept, key: Hashable, make: Callable[[], Any]) -> Any:
        with self._turn():
            if key not in kept:
                kept[key] = make()
            kept.move_to_end(key)
            while len(kept) > _MOST_KEPT or (len(kept) > 1 and sum(map(_bytes, kept.values())) > _MOST_KEPT_BYTES):
                kept.popitem(last=False)
            return kept[key]

    @contextmanager
    def _turn(self) -> Generator[None]:
        """Within it no other run is done."""
        busy = RunFailed("the explorer is busy with other runs", "ask again")
        if not self._waiting.acquire(blocking=False):
            raise busy
        try:
            if not self._busy.acquire(timeout=_MOST_WAIT):
                raise busy
            try:
                yield
            finally:
                self._busy.release()
        finally:
            self._waiting.release()

    def _of_kernel(self, opened: Opened, plan: Plan, run: Run, change: Change | None, *, again: bool) -> Replay:
        if change is not None:
            raise DatasetError(
                "a run on a real kernel has no other futures", "what it does is not the same twice; simulated runs are forked"
            )
        if again:
            if not self._allow_run:
                raise NotAllowedError("do a run on a real kernel again")
            return self.once(opened, run, "again", lambda: _on_kernel(plan, run, opened.dataset))
        kernel = kernels.told(plan, opened.dataset, run, done_again=False)
        return Replay(plan, run, kernels.stored(opened.dataset, run), again=False, same=None, kernel=kernel)

    def _forked(self, opened: Opened, run: Run, change: Change) -> tuple[Run, str]:
        packet, told = None, change.told
        if change.kind == DROP:
            # The link is looked at first: of one that there is not no packet is searched.
            changed(run.scenario, change, 1)
            met: Met = self.once(opened, run, change, lambda: packet_at(run, change))
            packet = met.place
            whose = "" if change.number is not None else f" and {met.named}"
            told = f"{told}, which is number {packet:,} of those that come to it{whose}"
        return run.written_as(changed(run.scenario, change, packet)), told


class Met(NamedTuple):
    """A packet that comes to a link: its `place` among those that do, from 1 on, and what it is of which flow."""

    place: int
    kind: str
    number: int
    flow: str

    @property
    def named(self) -> str:
        """In words."""
        return f"{'segment' if self.kind == 'data' else 'datagram'} {self.number:,} of {self.flow}"


def packet_at(run: Run, change: Change) -> Met:
    """The first packet of data that comes to a link from a moment on.

    Raises:
        DatasetError: if there is none, or there are too many before.

    """
    duration = trace.duration_of(run)
    if fates.packets_until(run, change.at) > fates.MOST_PACKETS:
        raise DatasetError("too many packets come before that to find the one", "choose an earlier moment")
    ahead = max(duration / 100, 0.1)
    while True:
        until = min(change.at + ahead, duration)
        rows = (
            fates.recorded_packets(run, 0.0, until, Bounded())
            .filter(link=change.link, direction="forward")
            .sort("arrived_ns", maintain_order=True)
        )
        wanted = (pl.col("arrived_ns") >= round(change.at * 1e9)) & (pl.col("kind") != "ack")
        if change.flow:
            wanted &= pl.col("flow") == change.flow
        if change.number is not None:
            wanted &= pl.col("number") == change.number
        found = rows.select(wanted.arg_true())
        if found.height:
            at = int(found.item(0, 0))
            return Met(at + 1, *rows.select("kind", "number", "flow").row(at))
        if until >= duration:
            raise DatasetError(f"no packet comes to {change.link} from {change.at:g} s on", "choose an earlier moment, or another link")
        ahead *= 4


def _bytes(kept: Any) -> int:
    """What takes the room of what is kept: its tables."""
    if isinstance(kept, pl.DataFrame):
        return int(kept.estimated_size())
    if isinstance(kept, Replay):
        return sum(_bytes(part) for part in (kept.trace.series, kept.trace.queues, *kept.trace.recorded.values(), kept.sequences))
    if isinstance(kept, Sequences):
        return _bytes(kept.capture)
    frames = (getattr(kept, name, None) for name in ("packets", "capture", "series", "marks"))
    return sum(_bytes(frame) for frame in frames if frame is not None)


def _key(opened: Opened) -> tuple[Hashable, ...]:
    return (opened.dataset.directory, opened.state)


def _plan(dataset: Dataset) -> Plan:
    """The plan of results, as they were made."""
    manifest = dataset.manifest
    if not dataset.planned:
        raise DatasetError("these results have no runs that could be done again", "they are of what was watched")
    try:
        text = (dataset.directory / "study.toml").read_text(encoding="utf-8")
        known = shipped.of_text(text)
        study = Study.parse(
            text,
            known or Path(cast(str, manifest.get("study_path", "study.toml"))),
            short=bool(manifest.get("short", False)),
            options=cast(list[str], manifest.get("options", [])),
            # Any file that a stranger's results name could be read otherwise; those of a study that comes along are known.
            files=[known.parent] if known else False,
        )
        return regrown(make_plan(study), dataset.runs)
    except StudyError as error:
        # Files that a study names are not among its results; and what could be said once may be refused today.
        raise DatasetError(
            f"from what was stored these runs cannot be done again: {error.message}",
            "do one where its study is: `sawtooth trace STUDY --run N`",
        ) from None


def _simulated(plan: Plan, run: Run, stored: Dataset | None) -> Replay:
    taken = trace.take(plan, run, Bounded(), record=RECORD)
    return Replay(plan, run, taken, again=True, same=None if stored is None else _is_stored(stored, run, taken))


def _on_kernel(plan: Plan, run: Run, stored: Dataset) -> Replay:
    taken, sequences = kernels.again(plan, run)
    told = kernels.told(plan, stored, run, done_again=True)
    return Replay(plan, run, taken, again=True, same=_is_stored(stored, run, taken), kernel=told, sequences=sequences)


def _is_stored(dataset: Dataset, run: Run, taken: Trace) -> bool | None:
    """Whether a run's flows are those that were stored."""
    if "flows" not in dataset.tables:
        return None
    stored = dataset.table("flows").filter(pl.col("run") == run.index).collect()
    if stored.is_empty():
        return None
    shared = [name for name in taken.flows.columns if name in stored.columns and name != "run"]
    return stored.select(shared).equals(taken.flows.select(shared), null_equal=True)
