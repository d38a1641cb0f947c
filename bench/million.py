"""What a large plan takes before and after its runs: planning, handing out, storing, resuming, packing and reporting as many cells as are asked for, each with one replicate.

    python bench/million.py 100000 --work DIR            or            ... --differ structure            or            ... --dask local:2

Seconds are processor time of this process and wall time; memory is the most that this process has had so far. Packing and the report are commands of their own, with
their own. Runs send nothing, so what is left is what surrounds them.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from sawtooth import clusters
from sawtooth.execute import Summary, _Execution, execute
from sawtooth.jobs import Task, Terms, versions
from sawtooth.plan import Plan, make_plan
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pages import table

Found = TypeVar("Found")

# Two axes, so that each cell differs from all others in a quantity that it is simulated with.
STUDY = """
name = "cells"
question = "How many cells may a study have?"
repeat = 1
seed = 7
limits = {{ runs = 2000000 }}

[vars]
Tp = "20 ms"
R = "1 Mbit/s"

[scenario]
duration = "1 us"
stack = "ns2"
links.bottleneck = {{ rate = "R", delay = "Tp", queue = {{ name = "drop_tail", limit = "10 packets" }} }}

[[scenario.flows]]
path = ["bottleneck"]
cc = {{ name = "reno" }}

[sweep]
"{delay}" = [{delays}]
"{rate}" = [{rates}]
"""
AXES = {"variables": ("vars.Tp", "vars.R"), "structure": ("links.bottleneck.delay", "links.bottleneck.rate")}


# What is most of a process is told by the kernel (proc(5)): of getrusage it is at least what the process had that started it.
COMMAND = """
import time
from pathlib import Path
from sawtooth import cli
try:
    cli.main()
finally:
    print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0], time.process_time())
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cells", type=int, help="how many, in hundreds")
    parser.add_argument("--work", type=Path, required=True, help="a directory for results, which is emptied")
    parser.add_argument(
        "--differ", choices=AXES, default="variables", help="in what cells differ: in variables, or in the links themselves"
    )
    parser.add_argument("--dask", help="do the runs on a cluster, such as local:2")
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    rows: list[list[str]] = []

    def step(name: str, do: Callable[[], Found]) -> Found:
        wall, cpu = time.monotonic(), time.process_time()
        found = do()
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        rows.append([name, f"{time.process_time() - cpu:.1f}", f"{time.monotonic() - wall:.1f}", f"{most:.2f}"])
        return found

    plan = step("plan", lambda: make_plan(Study.parse(text(options.cells, options.differ), Path("cells.toml"))))
    dataset = step("store the plan", lambda: Dataset.create(options.work, plan))
    step("make all jobs, as workers get them", lambda: handed_out(plan, dataset))
    step("do the runs", lambda: run(plan, dataset, options.dask))
    again = step("open, resume: nothing is left", lambda: execute(plan, Dataset.create(options.work, plan)))
    assert (again.runs, again.resumed) == (0, options.cells)
    before = Dataset(options.work).digest
    step("read all rows", lambda: Dataset.open(options.work).flows().collect())
    rows.append(["`sawtooth compact`", *apart("compact", str(options.work))])
    rows.append(["`sawtooth report`", *apart("report", str(options.work))])
    assert Dataset(options.work).digest == before
    print(table(["Step", "Processor, s", "Wall, s", "Memory so far, GB"], rows, "lrrr"))
    print(f"\n{options.cells:,} cells in {len(plan.batches):,} batches")


def apart(*words: str) -> list[str]:
    """What a command takes: seconds of processors and of the wall, and memory."""
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", COMMAND, *words], stdout=subprocess.PIPE, text=True, check=True)
    kilobytes, seconds = done.stdout.split()[-2:]
    return [f"{float(seconds):.1f}", f"{time.monotonic() - began:.1f}", f"{float(kilobytes) / 1e6:.2f}"]


def handed_out(plan: Plan, dataset: Dataset) -> None:
    """Makes every job and packs it, and does none."""
    with ThreadPoolExecutor(1) as nobody:
        execution = _Execution(plan, dataset, nobody, None, None, None, None)
        execution.terms = Terms(versions(), dataset.shelf.folder, "")
        for _ in execution._calls([Task(index, batch) for index, batch in enumerate(plan.batches)]):
            pass


def run(plan: Plan, dataset: Dataset, address: str | None) -> Summary:
    if address is None:
        return execute(plan, dataset)
    with contextlib.ExitStack() as stack:
        crew = stack.enter_context(clusters.connected(address, lambda said: print(said, file=sys.stderr)))
        return execute(plan, dataset, crew.executor, crew=crew)


def text(cells: int, differ: str = "variables") -> str:
    """A study of so many cells, which differ in variables or in structure."""
    delays = ", ".join(f'"{number} ms"' for number in range(1, cells // 100 + 1))
    rates = ", ".join(f'"{number} kbit/s"' for number in range(1000, 1100))
    delay, rate = AXES[differ]
    return STUDY.format(delay=delay, rate=rate, delays=delays, rates=rates)


if __name__ == "__main__":
    main()
