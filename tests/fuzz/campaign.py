"""A campaign: stretches of all kinds, as many side by side as there are jobs, until the time is over."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz import attempt, counts, stretch
from tests.fuzz.counts import Counts, Fault, Run
from tests.fuzz.kinds import Kind, prepare
from tests.fuzz.tally import Failure

_STRETCH = 300.0
"""Seconds that a process tries inputs of one kind, at most."""
# Where it is there, files that live for an instant never see a disk.
_MEMORY = Path("/dev/shm")


@dataclass(frozen=True)
class Asked:
    """Attributes:
    seconds: that it takes.
    inputs: that are enough, all runs together; none: the time decides.
    jobs: processes side by side.
    patience: seconds of a processor that one input may take.
    out: where failures and counts go.
    """

    seconds: float
    inputs: int | None
    jobs: int
    patience: float
    out: Path


class Campaign:
    """One run of it; `known` is what earlier ones have come to."""

    def __init__(self, kinds: list[Kind], asked: Asked, seed: int, known: Counts) -> None:
        self._kinds = {kind.NAME: kind for kind in kinds}
        self._asked, self._counts, self._next = asked, known, seed
        self._run = Run(_commit(), seed, seed, 0, asked.jobs)
        self._counts.runs.append(self._run)
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._failed = False
        self._began = time.monotonic()

    def run(self) -> int:
        """The exit code: 0, 1 if an input did what none may, 130 if it was interrupted."""
        self._asked.out.mkdir(parents=True, exist_ok=True)
        asked = self._asked
        print(f"seed {self._next}: {', '.join(self._kinds)}, {asked.seconds:.0f} s, {asked.jobs} side by side", flush=True)
        for kind in self._kinds.values():
            prepare(kind)
        self._began = time.monotonic()
        workers = [threading.Thread(target=self._work) for _ in range(asked.jobs)]
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self._stop.set())
        for worker in workers:
            worker.start()
        # Whoever waits in `join` when a signal comes may wait for ever.
        while any(worker.is_alive() for worker in workers):
            time.sleep(0.1)
        self._save()
        self._tell()
        return 1 if self._failed else 130 if self._stop.is_set() else 0

    @property
    def _left(self) -> float:
        enough = self._asked.inputs is not None and self._counts.inputs >= self._asked.inputs
        return 0.0 if enough or self._stop.is_set() else self._asked.seconds - (time.monotonic() - self._began)

    def _work(self) -> None:
        # A stretch is cut so that a minute has room for every kind.
        longest = min(_STRETCH, self._asked.seconds * self._asked.jobs / len(self._kinds) / 2)
        while self._left > 1:
            seconds = min(longest, self._left)
            with self._lock:
                name = min(self._kinds, key=lambda name: self._counts.of(name).seconds / self._kinds[name].WEIGHT)
                self._counts.of(name).seconds += seconds
                seed, self._next = self._next, self._next + 1
                self._run.last = seed
            self._stretch(name, seed, seconds)

    def _stretch(self, name: str, seed: int, seconds: float) -> None:
        with tempfile.TemporaryDirectory(prefix="sawtooth-fuzz-", dir=_MEMORY if _MEMORY.is_dir() else None) as temporary:
            began = time.monotonic()
            tally = stretch.watched(name, seed, seconds, Path(temporary), self._asked.patience, self._stop)
            with self._lock:
                total = self._counts.of(name)
                total.add(tally)
                if self._stop.is_set():
                    total.seconds += min(0.0, time.monotonic() - began - seconds)
                for failure in tally.failures:
                    self._keep(total, failure, seed)
                self._save()
                print(f"{self._run.seconds:6.0f} s  {name:<10} seed {seed}: {tally.inputs:,} inputs, {tally.reached:,} reached; "
                      f"in all {total.inputs:,}, {total.reached:,}, {len(total.faults)} faults", flush=True)  # fmt: skip

    def _keep(self, total: counts.Sum, failure: Failure, seed: int) -> None:
        self._failed = True
        first = attempt.summary(failure.what)
        if first in total.faults:
            total.faults[first].times += 1
            return
        saved = self._asked.out / failure.kind / f"seed-{seed}-{len(total.faults)}{failure.saved.suffix}"
        saved.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(failure.saved, saved)
        saved.with_name(saved.name + ".txt").write_text(failure.what)
        total.faults[first] = Fault(1, str(saved), seed)
        print(f"  FAILED {failure.kind}: {first}\n  again: python -m tests.fuzz --kind {failure.kind} --replay {saved}", flush=True)

    def _save(self) -> None:
        """After every stretch: whatever ends the campaign, what was done counts."""
        self._run.seconds = round(time.monotonic() - self._began)
        self._counts.save(self._asked.out / "counts.json")

    def _tell(self) -> None:
        print(f"{self._counts.inputs:,} inputs, {self._counts.reached:,} reached the end; {self._asked.out / 'counts.json'}")
        for name in self._kinds:
            each = self._counts.of(name)
            share = each.reached / max(1, each.inputs)
            print(
                f"  {name:<10} {each.inputs:>10,} inputs, {share:6.1%} reached, {each.seconds:,.0f} s, {len(each.faults)} faults",
                flush=True,
            )


def _commit() -> str:
    """Of the sources, as far as git knows."""
    done = subprocess.run(["git", "describe", "--always", "--dirty"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
