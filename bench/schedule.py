"""How evenly the workers of a sweep end: the schedule of `sawtooth.sharing`, replayed for 1, 2, 8 and 64 of them from a log of what runs took.

    make bench            or            python bench/schedule.py hstcp --replicates 30 --log runs.csv

Runs take processor time of one thread. By default those of one replicate of each cell and arm are done; every other replicate is taken to have
taken what that one did. `--log` keeps what was measured, or takes it from there if it is. Beside the shares stands what
would be if a worker had to do whole batches; the least time that there can be is that of all work shared out evenly, or of the longest run.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sawtooth import _core
from sawtooth.plan import Plan, make_plan
from sawtooth.sharing import Ends, replay, shares
from sawtooth.study import Study

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pages import table

WORKERS = (1, 2, 8, 64)
# The published study, whose runs last from a ten-thousandth to a tenth of a second, and one of segments, queues and windows.
STUDIES = ("hstcp", "tahoe-vs-reno/random")


@dataclass(frozen=True)
class Took:
    """What a run took."""

    cell: int
    arm: str
    replicate: int
    work: float
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="*", default=STUDIES)
    parser.add_argument(
        "--replicates", type=int, default=1, help="of each cell and arm, that are done; the others take what those took, in turn"
    )
    parser.add_argument("--short", action="store_true", help="the studies' short forms")
    parser.add_argument("--log", type=Path, help="a CSV file of what runs took; it is read if it is there, and else written. Of one study")
    options = parser.parse_args()
    rows: list[list[str]] = []
    for name in options.studies:
        plan = make_plan(Study.load(name, short=options.short))
        log = read(options.log) if options.log and options.log.is_file() else measured(plan, options.replicates)
        if options.log and not options.log.is_file():
            write(options.log, log)
        rows += schedules(name, plan, seconds_of(plan, log))
    header = ["Study", "Workers", "Shares", "First ends, s", "Last ends, s", "Spread", "Above the least", "Spread of whole batches"]
    print(table(header, rows, "l" + "r" * 7))


def measured(plan: Plan, replicates: int) -> list[Took]:
    """The runs of some replicates, one after the other."""
    found: list[Took] = []
    for run, work in zip(plan.runs, plan.work, strict=True):
        if run.replicate > replicates:
            continue
        began = time.thread_time()
        outcome = _core.simulate([run.scenario], [run.seed])
        found.append(Took(run.cell, run.arm, run.replicate, work, time.thread_time() - began))
        assert not outcome["errors"], outcome["errors"]
    return found


def seconds_of(plan: Plan, log: Sequence[Took]) -> list[float]:
    """What each run of a plan took, or one like it."""
    alike: dict[tuple[int, str], list[float]] = {}
    for one in log:
        alike.setdefault((one.cell, one.arm), []).append(one.seconds)
    return [alike[run.cell, run.arm][(run.replicate - 1) % len(alike[run.cell, run.arm])] for run in plan.runs]


def schedules(name: str, plan: Plan, seconds: Sequence[float]) -> list[list[str]]:
    """A row for each number of workers."""
    work = {number: [plan.work[run] for run in batch] for number, batch in enumerate(plan.batches)}
    rounds = {number: min(plan.runs[run].replicate for run in batch) for number, batch in enumerate(plan.batches)}
    rows: list[list[str]] = []
    for workers in WORKERS:
        found = shares(work, workers, rounds)
        took = [sum(seconds[plan.batches[share.batch][at]] for at in share.runs) for share in found]
        whole = [sum(seconds[run] for run in plan.batches[share.batch]) for share in shares(work, 1, rounds)]
        ends, plain = replay(took, workers), replay(whole, workers)
        rows.append(
            [name if workers == WORKERS[0] else "", f"{workers}", f"{len(found)}", *said(ends, max(seconds)), f"{plain.spread:.1%}"]
        )
    return rows


def said(ends: Ends, longest: float) -> list[str]:
    above = ends.last / max(ends.mean, longest) - 1
    return [f"{ends.first:.3f}", f"{ends.last:.3f}", f"{ends.spread:.1%}", f"{above:.1%}"]


def write(path: Path, log: Sequence[Took]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["cell", "arm", "replicate", "work", "seconds"])
        writer.writerows([one.cell, one.arm, one.replicate, f"{one.work:.0f}", f"{one.seconds:.6f}"] for one in log)


def read(path: Path) -> list[Took]:
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Took(int(row["cell"]), row["arm"], int(row["replicate"]), float(row["work"]), float(row["seconds"]))
            for row in csv.DictReader(file)
        ]


if __name__ == "__main__":
    main()
