"""What a plan comes to before it runs, in numbers: for `sawtooth plan`, and for the explorer."""

from __future__ import annotations

import json
import math
import os
from typing import Any

from sawtooth import _core
from sawtooth.backends.registry import BACKENDS
from sawtooth.counted import counted, form
from sawtooth.plan import Plan, Run
from sawtooth.recognise import written
from sawtooth.study.sweep import axis_names

_WORK_PER_SECOND, _KERNEL_DELIVERIES_PER_SECOND = 2.5e7, 3e3
"""Of one core; only for estimates of time. Three events are expected of a segment that crosses three links."""
_LINUX_SECONDS_PER_SEGMENT = 1.5e-7
"""What a segment of a stack of Linux takes besides its events: a scoreboard, timestamps, buffers, rate samples. Measured of CUBIC over one link and two."""


def facts(made: Plan) -> dict[str, Any]:
    """A plan for programs: name and question, `runs`, `cells`, arms and replicates, `deliveries` and memory that they take, `seconds` on all cores of this machine, and `axes`."""
    study = made.study
    return {
        "name": study.name, "question": study.question, "runs": len(made.runs), "cells": len(made.cells), "arms": list(study.arms), "repeat": study.repeat,
        **({"until": study.until.facts} if study.until else {}), **({"own_repeats": dict(study.own_repeats)} if study.own_repeats else {}),
        "deliveries": made.cost, **made.demand.facts(), "seconds": round(seconds(made, cores()), 1), "axes": axes(made),
    }  # fmt: skip


def cores() -> int:
    """Of this machine."""
    return os.cpu_count() or 1


def axes(made: Plan) -> dict[str, list[str]]:
    """What is varied, by name, and its levels as people write them."""
    paths = list(dict.fromkeys(path for cell in made.cells for path in cell.factors))
    names = axis_names(paths)
    return {names[path]: list(dict.fromkeys(_level(cell.factors[path]) for cell in made.cells if path in cell.factors)) for path in paths}


def _level(value: object) -> str:
    return written(value if isinstance(value, str) else json.dumps(value))


def seconds(made: Plan, cores: int) -> float:
    """How long a plan takes, at most about: in real time runs are one after the other and take their own time, too."""
    backend = BACKENDS[made.study.backend]
    if not backend.clocks:
        return (sum(made.work) / _WORK_PER_SECOND + _of_linux(made) * _LINUX_SECONDS_PER_SEGMENT) / cores
    real = [run for run in made.runs if backend.clock(_core.kernel_settings(run.scenario)["time"]) == "real"]
    in_turn = sum(run.cost for run in real)
    waiting = sum(_core.kernel_settings(run.scenario)["duration_secs"] for run in real)
    return waiting + (in_turn + (made.cost - in_turn) / cores) / _KERNEL_DELIVERIES_PER_SECOND


def _of_linux(made: Plan) -> float:
    """Segments of a plan that a stack of Linux sends."""
    study = made.study
    base = str(study.scenario.get("stack", ""))
    own = {arm: [str(each.value) for each in assigned if each.path == "stack"] for arm, assigned in study.arms.items()} or {"": []}
    linux = {arm for arm, stacks in own.items() if [base, *stacks][-1].startswith("linux")}
    # Runs are looked at one by one, of which there may be a million, only where arms differ.
    if not linux or len(linux) == len(own):
        return made.cost if linux else 0.0
    return sum(run.cost for run in made.runs if run.arm in linux)


def on_kernel(made: Plan, run: Run) -> float:
    """How long one run on a real kernel takes by itself, at most about: in real time as long as it lasts, too."""
    keys = _core.kernel_settings(run.scenario)
    real = BACKENDS[made.study.backend].clock(keys["time"]) == "real"
    return (keys["duration_secs"] if real else 0.0) + run.cost / _KERNEL_DELIVERIES_PER_SECOND


def notes(made: Plan) -> list[str]:
    """What of this machine a run would be too much for."""
    # As much as what refuses a run before it starts takes it to have: no more than its container may take.
    return made.notes(_core.machine_memory() or math.inf)


def amount(made: Plan) -> str:
    """Segments and time, in words."""
    fewest = ", of the fewest runs" if made.study.until else ""
    segments = f"{'about' if made.random else 'at most about'} {made.cost:,.0f} {form(made.cost, 'segment', 'segments')}{fewest}"
    return f"{segments}, {duration(seconds(made, cores()))} on {counted(cores(), 'idle core')}"


def duration(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 1:
        return "less than a second"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
