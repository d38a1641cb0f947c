"""Values of the scenario that every run has another one in the place of: they are held to what their keys take as if they were run with.

What is wrong with one alone is refused wherever it is put back: beside what the sweep and the arms set otherwise, and beside all that is written. What only
some of that refuses is of the combination, which no run has.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, cast

from sawtooth import _core
from sawtooth.errors import StudyError
from sawtooth.study import draws, files
from sawtooth.study.assign import Assignment, Tree, assign
from sawtooth.study.model import Study
from sawtooth.study.paths import related, tokens
from sawtooth.study.sweep import Cell
from sawtooth.study.template import Template

Steps = tuple[str | int, ...]


def check_replaced(study: Study, cells: Sequence[Cell]) -> None:
    """Refuses what no run has and none could.

    Args:
        study: whose runs can all be made.
        cells: of it.

    Raises:
        StudyError: as if it were not replaced.

    """
    first, arms = cells[0], study.arms or {"": ()}
    together = [[each.path for level in block for each in level] for block in study.sweep]
    together += [[each.path for arm in arms.values() for each in arm]]
    blocks = [dict.fromkeys(steps for path in paths if (steps := _written(study.scenario, tokens(path)))) for paths in together]
    everything = list(itertools.chain(*blocks))
    if not everything or _refused(study, first, (), everything) is None:
        return
    ends = [first, cells[-1]] if len(cells) > 1 else [first]
    for block in blocks:
        for steps in block:
            contexts = [(cell, arm, back) for back in ([steps], list(block)) for cell in ends for arm in arms.values()]
            errors = _each(study, steps, [*contexts, (first, (), everything)])
            told = list(itertools.takewhile(lambda error: error is not None, errors))
            if len(told) == len(contexts) + 1 and told[0] is not None:
                raise told[0]


def _each(
    study: Study, steps: Steps, contexts: Sequence[tuple[Cell, Sequence[Assignment], Sequence[Steps]]]
) -> Iterator[StudyError | None]:
    """The error about what is at `steps`, if there is one, in one context after the other."""
    for cell, arm, back in contexts:
        found = _refused(study, cell, arm, back)
        yield found[1] if found is not None and found[0][: len(steps)] == steps else None


def _refused(study: Study, cell: Cell, arm: Sequence[Assignment], back: Sequence[Steps]) -> tuple[Steps, StudyError] | None:
    """Where a run would be refused that has what is written at some places, and why; None if it could be run."""
    others = [each for each in (*cell.assignments, *arm) if not any(related(tokens(each.path), steps) for steps in back)]
    applied = [*study.base, *others]
    tree = copy.deepcopy(study.scenario)
    for assignment in applied:
        assign(tree, assignment, study.document)
    try:
        files.inline(tree, study.folder, study.locator(applied))
    except StudyError as error:
        return (back[0] if len(back) == 1 else (), error)
    template = Template.of(tree, study)
    try:
        drawn = draws.draw(study, cell, template.variables, range(1, 2))
    except StudyError:
        return ((), StudyError("a draw depends on it"))
    try:
        _core.examine(template.limited(template.identity(drawn[0][0])), kernel=study.on_kernels)
    except _core.ScenarioError as error:
        return (tuple(tokens(error.path)), study.located(error, applied))
    return None


def _written(tree: Tree, path: Sequence[str | int]) -> Steps:
    """How far a path leads to what is written: all of it, or to a name that is short for a table; nothing if nothing is written there."""
    here: Any = tree
    for at, step in enumerate(path):
        if isinstance(here, str):
            return tuple(path[:at])
        if isinstance(here, dict) and step in here:
            here = cast(Tree, here)[cast(str, step)]
        elif isinstance(here, list) and isinstance(step, int) and step < len(cast(list[Any], here)):
            here = cast(list[Any], here)[step]
        else:
            return ()
    return tuple(path)
