"""The cells of a study: all combinations of its sweep's levels, numbered as in the long form.

A cell keeps its number in the short form and under `--set`, because published tables and files of draws refer to it.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sawtooth.counted import counted
from sawtooth.study import Assignment, Study
from sawtooth.study.paths import tokens

_TAKEN = ("run", "id", "cell", "arm", "replicate", "seed", "round", "item")
"""What columns of a plan, and dimensions of a figure, are called."""


@dataclass(frozen=True, slots=True)
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
    if study.sweep == study.full_sweep and _apart(study.sweep):
        return [Cell(number, combination, _factors(combination)) for number, combination in enumerate(_combinations(study.sweep), 1)]
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


def samples(study: Study) -> list[Cell]:
    """Cells that have among them every level of the long form and of this one, in order: of large studies far fewer than all."""
    found: list[Cell] = []
    for sweep in (study.sweep, study.full_sweep):
        # Where a level sets something else than the others do, what is not set depends on all of them.
        alike = all(len({frozenset(assignment.path for assignment in level) for level in block}) == 1 for block in sweep)
        combinations = _one_at_a_time(sweep) if alike else _combinations(sweep)
        found += [Cell(number, combination, _factors(combination)) for number, combination in enumerate(combinations, 1)]
    return found


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
            text = f"these are {counted(number, 'cell')} x {counted(arms, 'arm')} x {most} = {runs:,} runs"
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


def _apart(blocks: Sequence[Sequence[Sequence[Assignment]]]) -> bool:
    """Whether no two blocks set the same, so that no two combinations are one."""
    paths = [{assignment.path for level in block for assignment in level} for block in blocks]
    return len(set[str]().union(*paths)) == sum(map(len, paths))


def _one_at_a_time(blocks: Sequence[Sequence[Sequence[Assignment]]]) -> Iterator[list[Assignment]]:
    """Of each block every level, beside the first ones of the others."""
    for at, block in enumerate(blocks):
        for level in block:
            chosen = [*(other[0] for other in blocks[:at]), level, *(other[0] for other in blocks[at + 1 :])]
            yield [assignment for each in chosen for assignment in each]
    if not blocks:
        yield []


def _combinations(blocks: Sequence[Sequence[Sequence[Assignment]]]) -> list[list[Assignment]]:
    return [[assignment for level in levels for assignment in level] for levels in itertools.product(*blocks)]


def _factors(combination: Sequence[Assignment]) -> dict[str, Any]:
    return {assignment.path: assignment.value for assignment in combination}


def _key(factors: Mapping[str, Any]) -> str:
    return json.dumps(factors, sort_keys=True)
