"""What a sweep costs besides its packets: processor time of the HighSpeed study by what it goes into, of a run that sends nothing, and of storing samples.

    make bench            or            python bench/sweep.py --whole

Seconds are processor time of the whole process, one worker, so they do not depend on what else the machine does. The study's are of one
replicate of each of its 768 cells and arms, times thirty for the whole; `--whole` does all 23,040 runs. Storing is making tables of what was measured,
and writing them: until a batch's files are on the disk.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from sawtooth.backends import sim
from sawtooth.execute import execute
from sawtooth.plan import make_plan
from sawtooth.results.dataset import Dataset
from sawtooth.results.parts import Shelf
from sawtooth.study import Study

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pages import table

REPLICATES = 30
# Sends nothing: what is left is reading, building, and rows.
NOTHING = "duration=1 us"
# A hundred samples of each flow and link.
SAMPLED = ("repeat=1", "scenario.sample='500 ms'")


@dataclass
class Spent:
    """Processor seconds of one sweep, by what they went into."""

    runs: int = 0
    planning: float = 0.0
    simulating: float = 0.0
    storing: float = 0.0
    whole: float = 0.0

    @property
    def share(self) -> float:
        """Of storing."""
        return self.storing / self.whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--whole", action="store_true", help="all replicates of the HighSpeed study, a minute or two")
    parser.add_argument("--runs", type=int, default=3, help="of each, the least counts")
    options = parser.parse_args()
    sweeps = {
        "hstcp, whole" if options.whole else "hstcp, one replicate": () if options.whole else ("repeat=1",),
        "hstcp, one replicate, sampled each 500 ms": SAMPLED,
        "two flows that send nothing": (NOTHING, "vars.N=2"),
        "32 flows that send nothing": (NOTHING, "vars.N=32"),
    }
    rows = [row(name, least([spent(settings) for _ in range(1 if not settings else options.runs)])) for name, settings in sweeps.items()]
    print(table(["Sweep", "Runs", "Seconds", "Of a run, us", "Planning", "Simulating", "Storing"], rows, "l" + "r" * 6))


def row(name: str, one: Spent) -> list[str]:
    shares = [f"{part / one.whole:.1%}" for part in (one.planning, one.simulating, one.storing)]
    told = f"{one.whole:.2f}" + (f", x {REPLICATES} = {REPLICATES * one.whole:.0f}" if name == "hstcp, one replicate" else "")
    return [name, f"{one.runs}", told, f"{one.whole / one.runs * 1e6:.0f}", *shares]


def least(found: Sequence[Spent]) -> Spent:
    return min(found, key=lambda one: one.whole)


def spent(settings: Sequence[str]) -> Spent:
    """One sweep of the HighSpeed study, with other settings."""
    found = Spent()
    began = time.process_time()
    plan = timed(found, "planning", lambda: make_plan(Study.load("hstcp", options=settings)))
    found.runs = len(plan.runs)

    def counted(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given, **named: timed(found, name, lambda: call(*given, **named))

    with (
        tempfile.TemporaryDirectory() as scratch,
        mock.patch.object(sim, "run_share", counted("simulating", sim.run_share)),
        mock.patch.object(sim, "gather", counted("storing", sim.gather)),
        mock.patch.object(Shelf, "write", counted("storing", Shelf.write)),
    ):
        execute(plan, Dataset.create(Path(scratch) / "out", plan), jobs=1)
    found.whole = time.process_time() - began
    return found


def timed(into: Spent, name: str, call: Callable[[], Any]) -> Any:
    began = time.process_time()
    found = call()
    setattr(into, name, getattr(into, name) + time.process_time() - began)
    return found


if __name__ == "__main__":
    main()
