"""What `sawtooth plan` prints."""

from __future__ import annotations

import json
import os

from rich.table import Table

from sawtooth import _core, streams
from sawtooth.backends.registry import BACKENDS
from sawtooth.cli.output import print_json
from sawtooth.plan import Plan
from sawtooth.recognise import written
from sawtooth.study.sweep import axis_names

_WORK_PER_SECOND, _KERNEL_DELIVERIES_PER_SECOND = 2.5e7, 3e3
"""Of one core; only for the estimate of time that `plan` prints. Three events are expected of a segment that crosses three links."""


def show(made: Plan, *, as_json: bool) -> None:
    """Prints runs, axes, cost and time of a plan."""
    cores = os.cpu_count() or 1
    seconds = _seconds(made, cores)
    if as_json:
        loaded = made.study
        print_json({
            "name": loaded.name, "question": loaded.question, "runs": len(made.runs), "cells": len(made.cells),
            "arms": list(loaded.arms), "repeat": loaded.repeat, **({"until": loaded.until.facts} if loaded.until else {}), **({"own_repeats": dict(loaded.own_repeats)} if loaded.own_repeats else {}), "deliveries": made.cost, **made.demand.facts(), "seconds": round(seconds, 1),
            "axes": _axes(made),
        })  # fmt: skip
        return
    # What the study calls things is text: nothing in it is a style.
    console = streams.Console(markup=False, emoji=False, highlight=False)
    console.print(f"{made.study.name}: {made.study.question}")
    table = Table("axis", "levels", box=None, pad_edge=False)
    for name, levels in _axes(made).items():
        table.add_row(name, ", ".join(levels))
    if made.study.arms:
        table.add_row("arm", ", ".join(made.study.arms))
    for arm, backends in made.study.other_arms.items():
        table.add_row("left out", f"{arm}: only for {', '.join(backends)}")
    console.print(table)
    notes = made.notes(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    until = [f"replicates: {made.study.until.words}"] if made.study.until else []
    fewest = ", of the fewest runs" if until else ""
    segments = f"{'about' if made.random else 'at most about'} {made.cost:,.0f} segments{fewest}, {_duration(seconds)} on {cores} cores"
    console.print("\n".join([f"{made.size}; {segments}", *until, str(made.demand), *notes]))


def _axes(made: Plan) -> dict[str, list[str]]:
    paths = list(dict.fromkeys(path for cell in made.cells for path in cell.factors))
    names = axis_names(paths)
    return {names[path]: list(dict.fromkeys(_level(cell.factors[path]) for cell in made.cells if path in cell.factors)) for path in paths}


def _level(value: object) -> str:
    return written(value if isinstance(value, str) else json.dumps(value))


def _seconds(made: Plan, cores: int) -> float:
    """How long a plan takes, at most about: in real time runs are one after the other and take their own time, too."""
    backend = BACKENDS[made.study.backend]
    if not backend.clocks:
        return sum(made.work) / _WORK_PER_SECOND / cores
    real = [run for run in made.runs if backend.clock(_core.kernel_settings(run.scenario)["time"]) == "real"]
    in_turn = sum(run.cost for run in real)
    waiting = sum(_core.kernel_settings(run.scenario)["duration_secs"] for run in real)
    return waiting + (in_turn + (made.cost - in_turn) / cores) / _KERNEL_DELIVERIES_PER_SECOND


def _duration(seconds: float) -> str:
    if seconds < 1:
        return "less than a second"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
