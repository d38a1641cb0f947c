"""What a cluster of this machine costs besides its runs: processor time of each process, and wall time, of the HighSpeed study.

    python bench/cluster.py                         or            ... --replicates 30 --batches 10

One thread of this process does the study, then one and two workers of Dask. `--batches 10` makes batches a tenth as large. What a batch costs besides
its runs is what all processes took together less what one thread takes for the same; of it what the client and the scheduler, which are one process,
take is the share that more workers cannot do. Processor seconds do not depend on what else the machine does; wall time does.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from sawtooth import clusters, jobs, memory, plan
from sawtooth.execute import execute
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pages import table

# Seconds until a cluster that has started is at rest, and for which it is looked at.
SETTLES, IDLE = 2.0, 8.0


@dataclass(frozen=True)
class Took:
    """Seconds: of the wall, of processors here and by workers; and the share of a processor that all processes take when there is nothing to do."""

    wall: float
    here: float
    workers: float
    idle: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=6, help="of each of the 768 cells and arms; the whole study has 30")
    parser.add_argument("--batches", type=int, default=1, help="how many times as many batches")
    options = parser.parse_args()
    memory.keep()
    plan._SIMULATED_WORK /= options.batches
    study = plan.make_plan(Study.load("hstcp", options=[f"repeat={options.replicates}"]))
    number = len(study.batches)
    rows: list[list[str]] = []
    alone: Took | None = None
    for address in (None, "local:1", "local:2"):
        took = measured(study, address)
        alone = alone or took
        whole, base = took.here + took.workers, alone.here
        more = (whole - base) / number
        rows.append([
            address or "one thread", f"{took.wall:.1f}", f"{alone.wall / took.wall:.2f}", f"{took.here:.1f}", f"{took.workers:.1f}",
            "" if address is None else f"{took.idle:.1%}", "" if address is None else f"{1e3 * more:.1f}", "" if address is None else f"{(whole - base) / base:.1%}",
        ])  # fmt: skip
    print(
        table(
            [
                "Workers",
                "Wall, s",
                "times as fast",
                "Client and scheduler, CPU s",
                "Workers, CPU s",
                "Idle, of a processor",
                "More for a batch, ms",
                "of its time",
            ],
            rows,
            "lrrrrrrr",
        )
    )
    print(f"\n{len(study.runs):,} runs in {number:,} batches, {1e3 * base / number:.0f} ms each")


def measured(study: plan.Plan, address: str | None) -> Took:
    """One time through the study, from the first batch that is handed out to the last that is stored."""
    with tempfile.TemporaryDirectory() as scratch:
        dataset = Dataset.create(Path(scratch) / "out", study)
        if address is None:
            began, cpu = time.monotonic(), time.process_time()
            execute(study, dataset, jobs=1)
            return Took(time.monotonic() - began, time.process_time() - cpu, 0.0, 0.0)
        with clusters.connected(address, lambda _: None) as crew:
            # What every worker imports it imports here: that is once for a command, whatever the number of batches.
            with dataset.probe() as (folder, probe):
                crew.check(jobs.Terms(jobs.versions(), folder, probe))
            time.sleep(SETTLES)
            before = time.process_time() + sum(children().values())
            time.sleep(IDLE)
            idle = (time.process_time() + sum(children().values()) - before) / IDLE
            began, cpu, theirs = time.monotonic(), time.process_time(), children()
            execute(study, dataset, crew.executor, crew=crew)
            wall, here, there = time.monotonic() - began, time.process_time() - cpu, children()
        return Took(wall, here, sum(there.values()) - sum(theirs.get(each, 0.0) for each in there), idle)


def children() -> Mapping[int, float]:
    """Processor seconds of every process that this one has started, by its number."""
    found: dict[int, float] = {}
    for process in psutil.Process().children(recursive=True):
        times = process.cpu_times()
        found[process.pid] = times.user + times.system
    return found


if __name__ == "__main__":
    main()
