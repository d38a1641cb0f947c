"""What a run is called: in words, in a figure's title and a capture's comments, and in the names of files that are written of it.

A run of a study that options alter is none of the study's runs, though it has the number of one: both say so.
"""

from __future__ import annotations

import re

from sawtooth.plan import Plan, Run
from sawtooth.study import Study

_DIGITS = 8
"""Of the run's identity, in a name."""
_QUOTED = re.compile(r"""^(["'])(.*)\1$""", re.DOTALL)


def title(plan: Plan, run: Run) -> str:
    """Study and run in one line."""
    cell = next(cell for cell in plan.cells if cell.number == run.cell)
    factors = ", ".join(f"{path.split('.')[-1]} {value}" for path, value in cell.factors.items())
    arm = f", {run.arm}" if run.arm else ""
    # What number a later one has depends on what the others came to.
    number = f"run {run.index}: " if run.round == 1 else ""
    with_these = f", with {altered}" if (altered := overrides(plan.study)) else ""
    return f"{plan.study.name}, {number}cell {run.cell}{f' ({factors})' if factors else ''}{arm}, replicate {run.replicate}{with_these}"


def name(plan: Plan, run: Run) -> str:
    """For files: `run-N`; of an altered run with its identity, so that it takes no other's place."""
    return f"run-{run.index}{f'-{run.id[:_DIGITS]}' if overrides(plan.study) else ''}"


def overrides(study: Study) -> str:
    """What options make of the study's runs, as `PATH = VALUE`; empty if that is nothing."""
    found: list[str] = []
    for option in study.document.options:
        path, _, value = option.partition("=")
        # How many runs there are, and how much they may take, alters none.
        if path != "repeat" and not path.startswith("limits."):
            text = _QUOTED.sub(r"\2", value)
            found.append(f"{path} = {text}")
    return ", ".join(found)
