"""`python -m tests.fuzz`: tries random inputs of all kinds for a time, side by side; exit code 1 if one did what none may.

Every stretch is a process of its own with bounded memory. One that dies, or that stays with an input for longer than `--patience`, is a failure
of the input it was trying; so is whatever the kind itself finds. Failures are saved below `--out` with the command that tries them again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz import attempt
from tests.fuzz.kinds import Kind, table
from tests.fuzz.tally import Failure, Tally

_STRETCH = 30.0
"""Seconds that a process tries inputs of one kind."""
_GIBIBYTES = 3
"""Of address space, beyond what the process has when it begins."""


def main() -> int:
    """The command."""
    kinds = table()
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long, in all")
    parser.add_argument("--seed", type=int, default=None, help="of the first stretch; by default another every time")
    parser.add_argument("--kind", action="append", choices=sorted(kinds), help="only this one; may be repeated")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes side by side")
    parser.add_argument("--patience", type=float, default=20.0, help="seconds that one input may take")
    parser.add_argument("--out", type=Path, default=Path("results/fuzz"), help="where failures and counts.json go")
    parser.add_argument("--replay", type=Path, metavar="SAVED", help="try this saved input of --kind once more")
    parser.add_argument("--stretch", nargs=3, metavar=("KIND", "SEED", "WORK"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.stretch:
        name, seed, work = asked.stretch
        return _stretch(kinds[name], int(seed), asked.seconds, Path(work))
    if asked.replay:
        if not asked.kind:
            parser.error("--replay needs --kind")
        with tempfile.TemporaryDirectory() as work:
            _bound_memory()
            kinds[asked.kind[0]].replay(asked.replay, Path(work))
        print("nothing is wrong with it")
        return 0
    seed = random.SystemRandom().randrange(2**32) if asked.seed is None else asked.seed
    return _Campaign([kinds[name] for name in asked.kind or kinds], asked, seed).run()


# --- one process --------------------------------------------------------------------------------------------------------


def _stretch(kind: Kind, seed: int, seconds: float, work: Path) -> int:
    _bound_memory()
    tally = kind.fuzz(seed, seconds, work)
    failures = [{"what": failure.what, "saved": str(failure.saved)} for failure in tally.failures]
    (work / "tally.json").write_text(json.dumps({"inputs": tally.inputs, "reached": tally.reached, "failures": failures}))
    return 0


def _bound_memory() -> None:
    """An input that takes memory without end ends its process, not the machine."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + _GIBIBYTES * 2**30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


# --- all of them --------------------------------------------------------------------------------------------------------


@dataclass
class _Sum:
    """What a kind has come to."""

    inputs: int = 0
    reached: int = 0
    seconds: float = 0.0
    faults: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])


class _Campaign:
    """Stretches of all kinds, as many side by side as there are jobs, until the time is over."""

    def __init__(self, kinds: list[Kind], asked: argparse.Namespace, seed: int) -> None:
        self.kinds = {kind.NAME: kind for kind in kinds}
        self.asked, self.seed, self.next = asked, seed, seed
        self.sums = {name: _Sum() for name in self.kinds}
        self.lock = threading.Lock()
        self.began = time.monotonic()

    def run(self) -> int:
        self.asked.out.mkdir(parents=True, exist_ok=True)
        print(f"seed {self.seed}: {', '.join(self.kinds)}, {self.asked.seconds:.0f} s, {self.asked.jobs} side by side", flush=True)
        for kind in self.kinds.values():
            if prepare := getattr(kind, "prepare", None):
                prepare()
        self.began = time.monotonic()
        workers = [threading.Thread(target=self.work) for _ in range(self.asked.jobs)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        counts = self.counts()
        (self.asked.out / "counts.json").write_text(json.dumps(counts, indent=2) + "\n")
        print(json.dumps(counts, indent=2))
        return 1 if any(each.faults for each in self.sums.values()) else 0

    @property
    def left(self) -> float:
        return self.asked.seconds - (time.monotonic() - self.began)

    def work(self) -> None:
        # A stretch is cut so that a minute has room for every kind.
        stretch = min(_STRETCH, self.asked.seconds * self.asked.jobs / len(self.kinds) / 2)
        while self.left > 1:
            seconds = min(stretch, self.left)
            with self.lock:
                name = min(self.kinds, key=lambda name: self.sums[name].seconds / self.kinds[name].WEIGHT)
                self.sums[name].seconds += seconds
                seed, self.next = self.next, self.next + 1
            self.stretch(name, seed, seconds)

    def stretch(self, name: str, seed: int, seconds: float) -> None:
        with tempfile.TemporaryDirectory(prefix="sawtooth-fuzz-") as temporary:
            work = Path(temporary)
            tally = _watched(name, seed, seconds, work, self.asked.patience)
            with self.lock:
                total = self.sums[name]
                total.inputs += tally.inputs
                total.reached += tally.reached
                for failure in tally.failures:
                    self.keep(total, failure, seed)
                elapsed = time.monotonic() - self.began
                print(f"{elapsed:6.0f} s  {name:<10} seed {seed}: {tally.inputs:,} inputs, {tally.reached:,} reached; "
                      f"in all {total.inputs:,}, {total.reached:,}, {len(total.faults)} faults", flush=True)  # fmt: skip

    def keep(self, total: _Sum, failure: Failure, seed: int) -> None:
        first = attempt.summary(failure.what)
        if first in total.faults:
            total.faults[first]["times"] += 1
            return
        saved = self.asked.out / failure.kind / f"seed-{seed}-{len(total.faults)}{failure.saved.suffix}"
        saved.parent.mkdir(parents=True, exist_ok=True)
        if failure.saved.is_dir():
            shutil.copytree(failure.saved, saved, dirs_exist_ok=True, symlinks=True)
        else:
            shutil.copyfile(failure.saved, saved)
        saved.with_name(saved.name + ".txt").write_text(failure.what)
        total.faults[first] = {"times": 1, "saved": str(saved), "seed": seed}
        print(f"  FAILED {failure.kind}: {first}\n  again: python -m tests.fuzz --kind {failure.kind} --replay {saved}", flush=True)

    def counts(self) -> dict[str, Any]:
        kinds = {
            name: {"summary": self.kinds[name].SUMMARY, "inputs": each.inputs, "reached": each.reached, "processor_seconds": round(each.seconds), "faults": each.faults}
            for name, each in self.sums.items()
        }  # fmt: skip
        return {
            "seed": self.seed, "seconds": round(time.monotonic() - self.began), "jobs": self.asked.jobs,
            "inputs": sum(each.inputs for each in self.sums.values()), "reached": sum(each.reached for each in self.sums.values()),
            "kinds": kinds,
        }  # fmt: skip


def _watched(name: str, seed: int, seconds: float, work: Path, patience: float) -> Tally:
    """A stretch in a process of its own, and what it left when it died."""
    command = [sys.executable, "-m", "tests.fuzz", "--seconds", str(seconds), "--stretch", name, str(seed), str(work)]
    told = work / "told.txt"
    with told.open("wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        seen, since = -1, time.monotonic()
        hung = False
        # A kind that does not say what it tries has to end in time.
        deadline = time.monotonic() + seconds + max(patience, 60.0)
        while process.poll() is None:
            time.sleep(0.1)
            now = attempt.read(work)
            if now is None or now[0] != seen or not now[2]:
                seen, since = now[0] if now else -1, time.monotonic()
            hung = time.monotonic() - since > patience or time.monotonic() > deadline
            if hung:
                process.kill()
                process.wait()
    if not hung and process.returncode == 0 and (work / "tally.json").exists():
        found = json.loads((work / "tally.json").read_text())
        failures = [Failure(name, failure["what"], Path(failure["saved"])) for failure in found["failures"]]
        return Tally(found["inputs"], found["reached"], failures)
    inputs, reached, data = attempt.read(work) or (0, 0, b"")
    saved = work / "fatal"
    saved.write_bytes(data)
    tail = told.read_text(errors="replace")[-4000:]
    if hung:
        what = f"an input took more than {patience:g} s"
    elif process.returncode < 0:
        what = f"killed by {signal.Signals(-process.returncode).name}{_reason(tail)}"
    else:
        what = f"exit code {process.returncode}{_reason(tail)}"
    return Tally(inputs, reached, [*attempt.leavings(name, work), Failure(name, f"{what}\n{tail}", saved)])


def _reason(tail: str) -> str:
    lines = [line for line in tail.strip().splitlines() if line.strip()]
    return f": {lines[-1][:200]}" if lines else ""


if __name__ == "__main__":
    sys.exit(main())
