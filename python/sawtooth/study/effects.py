"""What is varied and makes no difference: levels, arms and options whose runs are the same, as the core builds them.

A warning, not an error: such runs can be done, and their results say that nothing has changed. Usually something nearer to a flow or a link has the last
word. Levels are compared in the first cell, those that are alike there in every other one, so a study that means what it says is asked little.

What counts is what a scenario says, not where: an arm that gives each flow the congestion control that they all have anyway makes no difference.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from sawtooth import _core
from sawtooth.errors import StudyWarning
from sawtooth.study import Assignment, Study
from sawtooth.study.assign import Tree
from sawtooth.study.document import shown
from sawtooth.study.overlap import axis_of, place_of
from sawtooth.study.paths import tokens

Built = Mapping[tuple[int, str], str]
"""The text of a scenario of each cell, by its position in the plan, and arm."""
_WORD = re.compile(r"[^\W\d]\w*")


def warnings(study: Study, built: Built) -> list[StudyWarning]:
    """What makes no difference in a study, in the order of the file."""
    return [*_Effects(study, built).warnings()]


class _Effects:
    """Compares the scenarios of one study."""

    def __init__(self, study: Study, built: Built) -> None:
        self.study, self.built = study, built
        self.arms = list(study.arms) or [""]
        self.sizes = [len(block) for block in study.sweep]
        self.cells = math.prod(self.sizes)
        first = json.loads(built[0, self.arms[0]])
        # Every cell draws its own numbers; those are not what is looked at here.
        self.drawn = {name: first["vars"][name] for name in study.draws}
        self.by_draws = self._used_by_draws()

    def warnings(self) -> Iterator[StudyWarning]:
        for origin, group in itertools.groupby(self.study.base, key=lambda assignment: assignment.origin):
            if origin.startswith("--set") and (warning := self._option([*group])):
                yield warning
        for at, block in enumerate(self.study.sweep):
            yield from self._axis(at, block)
        yield from self._same_arms()

    # --- levels

    def _axis(self, at: int, block: Sequence[Sequence[Assignment]]) -> Iterator[StudyWarning]:
        if len(block) < 2 or any(map(self._concerns_draws, block)):
            return
        step = math.prod(self.sizes[at + 1 :])
        same = self._alike([(level * step, self.arms[0]) for level in range(len(block))])
        pairs = [(first, level) for level, first in enumerate(same) if first != level and self._everywhere(at, first, level)]
        if len(pairs) == len(block) - 1:
            yield self._of_axis(block)
            return
        for first, level in pairs:
            origin, other = block[level][0].origin, place_of(self.study, block[first][0].origin)
            yield StudyWarning(
                f"this level makes no difference to the one{other}: their runs will be the same but for their random numbers",
                self.study.document.place(origin),
                _hint(self.study, [assignment.path for assignment in block[level]]),
            )

    def _everywhere(self, at: int, first: int, second: int) -> bool:
        """Whether two levels of an axis are alike with all levels of the others, and all arms."""
        step = math.prod(self.sizes[at + 1 :])
        others = (cell for cell in range(self.cells) if cell // step % self.sizes[at] == first)
        shift = (second - first) * step
        return all(self._alike([(cell, arm), (cell + shift, arm)])[1] == 0 for cell in others for arm in self.arms)

    def _of_axis(self, block: Sequence[Sequence[Assignment]]) -> StudyWarning:
        paths = list(dict.fromkeys(assignment.path for level in block for assignment in level))
        names = " and ".join(f"`{path}`" for path in paths[:3])
        place = self.study.document.place(axis_of(block[0][0].origin), key=True)
        return StudyWarning(
            f"the levels of {names} make no difference: runs will be the same but for their random numbers", place, _hint(self.study, paths)
        )

    # --- arms

    def _same_arms(self) -> Iterator[StudyWarning]:
        same = self._alike([(0, arm) for arm in self.arms])
        for index, first in enumerate(same):
            if first == index:
                if warning := self._idle(self.arms[index]):
                    yield warning
                continue
            one, other = self.arms[first], self.arms[index]
            if all(self._alike([(cell, one), (cell, other)])[1] == 0 for cell in range(self.cells)):
                path = _arm(other)
                place = self.study.document.place(path, key=True)
                paths = [assignment.path for name in (one, other) for assignment in self.study.arms[name]]
                yield StudyWarning(
                    f"the arm `{other}` makes no difference to `{one}`{place_of(self.study, _arm(one), key=True)}: their runs will be the same",
                    place,
                    _hint(self.study, paths),
                )

    def _idle(self, arm: str) -> StudyWarning | None:
        """Of an arm whose settings reach nothing, if it is known why: one that says what is so by default is none."""
        settings = self.study.arms.get(arm, ())
        why = _cause(self.study, [each.path for each in settings])
        if why is None or self._concerns_draws(settings):
            return None
        if any(self._matters(json.loads(self.built[cell, arm]), settings) for cell in range(self.cells)):
            return None
        place = self.study.document.place(_arm(arm), key=True)
        return StudyWarning(f"the arm `{arm}` makes no difference: its runs are the same without what it sets", place, why)

    # --- options

    def _option(self, group: Sequence[Assignment]) -> StudyWarning | None:
        """Of what one option sets, if runs are the same without it."""
        overwritten = True
        for cell in range(self.cells):
            for arm in self.arms:
                tree = json.loads(self.built[cell, arm])
                kept = [each for each in group if at_steps(tree, tokens(each.path)) == each.value]
                overwritten = overwritten and not kept
                if self._concerns_draws(kept) or (kept and self._matters(tree, kept)):
                    return None
        path, place = group[0].path, self.study.document.place(group[0].origin)
        if overwritten:
            later = [
                *(level for block in self.study.sweep for each in block for level in each),
                *itertools.chain(*self.study.arms.values()),
            ]
            setting = next((each for each in later if _leads(each.path, path)), None)
            where = place_of(self.study, axis_of(setting.origin), key=True) if setting else ""
            return StudyWarning(
                f"`{path}` makes no difference: every run sets it once more{where}", place, "change it there, or leave it out"
            )
        return StudyWarning(
            f"`{path}` = {shown(group[0].value)} makes no difference: runs are the same without it", place, _hint(self.study, [path])
        )

    def _matters(self, tree: Tree, kept: Iterable[Assignment]) -> bool:
        """Whether a scenario is another without these settings."""
        without = cast(Tree, json.loads(json.dumps(tree)))
        for each in kept:
            *before, last = tokens(each.path)
            table = at_steps(without, before)
            if not isinstance(table, dict) or last not in table:
                return True
            del table[last]
        try:
            return self._same([json.dumps(tree), json.dumps(without)])[1] != 0
        except _core.ScenarioError:
            return True

    # --- parts

    def _alike(self, chosen: Sequence[tuple[int, str]]) -> list[int]:
        return self._same([self._text(self.built[each]) for each in chosen])

    def _same(self, texts: list[str]) -> list[int]:
        return _core.alike(texts, kernel=self.study.on_kernels)

    def _text(self, text: str) -> str:
        if not self.drawn:
            return text
        tree = json.loads(text)
        return json.dumps({**tree, "vars": {**tree["vars"], **self.drawn}})

    def _concerns_draws(self, assignments: Iterable[Assignment]) -> bool:
        return any(self.by_draws & {each.path, str(tokens(each.path)[-1])} for each in assignments)

    def _used_by_draws(self) -> set[str]:
        """Names that draws have to do with: theirs, and those that variables among them use."""
        variables: Tree = self.study.scenario.get("vars", {})
        found: set[str] = set()
        texts = [value for draw in self.study.draws.values() for value in draw.values()]
        while texts:
            new = {word for text in texts if isinstance(text, str) for word in _WORD.findall(text)} - found
            found |= new
            texts = [variables[name] for name in new if name in variables]
        return found


def _arm(name: str) -> str:
    return f'arms."{name}"' if "." in name else f"arms.{name}"


def _leads(path: str, to: str) -> bool:
    return path == to or path.startswith((f"{to}.", f"{to}[")) or to.startswith((f"{path}.", f"{path}["))


def _hint(study: Study, paths: Sequence[str]) -> str:
    """Why it may be so."""
    usual = "something nearer to a flow or a link has the last word, or it is so by default; leave it out if that is meant"
    return _cause(study, paths) or usual


def _cause(study: Study, paths: Sequence[str]) -> str | None:
    """Why what is at one of these paths is not read, if that can be seen."""
    flows: Any = study.scenario.get("flows")
    for path in paths:
        first, *rest = tokens(path)
        if first == "vars" and rest:
            return f"no value uses `{rest[0]}`: write it where it is meant, or leave it out"
        if isinstance(flows, list) and all(isinstance(flow, dict) and first in flow for flow in cast(list[Any], flows)):
            return f"each flow has its own `{first}`: set `flows[*].{path}`, or leave theirs out"
    return None


def at_steps(tree: Any, steps: Iterable[str | int]) -> Any:
    """What is at a path in a tree; None if nothing is."""
    for step in steps:
        try:
            tree = tree[step]
        except (KeyError, IndexError, TypeError):
            return None
    return tree
