"""The cells of a study: all combinations of its sweep's levels, numbered as in the long form.

A cell keeps its number in the short form and under `--set`, because published tables and files of draws refer to it.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sawtooth.study import Assignment, Study
from sawtooth.study.paths import tokens

_TAKEN = ("run", "id", "cell", "arm", "replicate", "seed", "round", "item")
"""What columns of a plan, and dimensions of a figure, are called."""


@dataclass(frozen=True)
class Cell:
    """One combination of levels.

    Attributes:
        number: from 1, in nesting order, the last axis varying fastest.
        assignments: what it puts into the tree.
        factors: path and value of each axis.

    """

    number: int
    assignments: Sequence[Assignment]
    factors: Mapping[str, Any]

    @property
    def key(self) -> str:
        """A text that identifies the combination, whatever its number."""
        return _key(self.factors)


def cells(study: Study) -> list[Cell]:
    """All cells of the study in nesting order."""
    check_size(study)
    numbers = {_key(_factors(combination)): number for number, combination in enumerate(_combinations(study.full_sweep), 1)}
    made: list[Cell] = []
    following = len(numbers) + 1
    for combination in _combinations(study.sweep):
        factors = _factors(combination)
        number = numbers.get(_key(factors))
        if number is None:
            number, following = following, following + 1
        made.append(Cell(number, combination, factors))
    return made


def check_size(study: Study) -> None:
    """Refuses a study of more runs, or with more draws, than its limits allow, before any is made.

    Raises:
        StudyError: at what asks for most of them.

    """
    for sweep in (study.full_sweep, study.sweep):
        number = math.prod(len(block) for block in sweep)
        arms, limit = max(1, len(study.arms)), study.limits["runs"]
        runs = number * (arms * study.most if study.until else sum(map(study.repeat_of, study.arms or [""])))
        if runs > limit:
            most = f"{study.most:,} replicates" if study.until else study.counted
            text = f"these are {number:,} cells x {arms} arms x {most} = {runs:,} runs"
            origin = max(study.repeat_origins, key=study.repeat_origins.__getitem__) if study.most > number * arms else "sweep"
            raise study.document.exceeds("runs", runs, limit, text, origin)
    for name, draw in study.draws.items():
        drawn = number * study.most * draw.get("count", 1)
        if drawn > study.limits["draws"]:
            text = f"`{name}` is drawn {drawn:,} times in all"
            raise study.document.exceeds("draws", drawn, study.limits["draws"], text, f"draws.{name}.count")


def axis_names(paths: Sequence[str]) -> dict[str, str]:
    """A short name for each axis: the last part of its path, or all of it where that is not unique, or means something else in a plan."""
    last = {path: str(tokens(path)[-1]) for path in paths}
    taken = [*_TAKEN, *(f"{name}_value" for name in last.values())]
    return {path: name if [*last.values(), *taken].count(name) == 1 else path for path, name in last.items()}


def _combinations(blocks: Sequence[Sequence[Sequence[Assignment]]]) -> list[list[Assignment]]:
    return [[assignment for level in levels for assignment in level] for levels in itertools.product(*blocks)]


def _factors(combination: Sequence[Assignment]) -> dict[str, Any]:
    return {assignment.path: assignment.value for assignment in combination}


def _key(factors: Mapping[str, Any]) -> str:
    return json.dumps(factors, sort_keys=True)
