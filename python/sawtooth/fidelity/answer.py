"""What `sawtooth doctor --fidelity` answers: for each situation of a study what was compared that is like it, and how far both sides were apart."""

from __future__ import annotations

import functools
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sawtooth.fidelity.compared import KINDS, MEASURES, Compared, compared
from sawtooth.fidelity.nearest import REACH, K, Neighbour, nearest
from sawtooth.fidelity.situation import Asked, asked
from sawtooth.linting.setup import MOST_SETUPS
from sawtooth.plan import Plan

STACK = "linux"
AFRESH, LOOKED_AT = "drawn afresh", "looked at while the simulator was mended"
"""What is said of scenarios of either provenance."""


@dataclass(frozen=True)
class Spread:
    """Differences without their signs, of several scenarios: how many have one, the median and the worst."""

    number: int
    median: float
    worst: float


@dataclass(frozen=True)
class Near:
    """Scenarios of one provenance that are like a situation, the nearest first; all of them within `REACH`."""

    neighbours: Sequence[Neighbour]

    def spread(self, measure: str, *, of_kernel: bool = False) -> Spread | None:
        """How far the simulator was from the kernel, or the kernel from itself; None if none measured it."""
        every = [(each.row.itself if of_kernel else each.row.apart)[measure] for each in self.neighbours]
        sizes = [abs(value) for value in every if value is not None]
        return Spread(len(sizes), statistics.median(sizes), max(sizes)) if sizes else None

    @property
    def kinds(self) -> Mapping[str, int]:
        """How many are of each kind, of those that were compared packet by packet."""
        found = Counter(each.row.kind for each in self.neighbours if each.row.kind)
        return {kind: found[kind] for kind in KINDS if found[kind]}


@dataclass(frozen=True)
class Told:
    """What is told of a situation, and of how many cells and arms it is.

    Attributes:
        asked: the first flow that is in it.
        number: of cells and arms.
        groups: by provenance what is like it; empty if nothing is.
        closest: the nearest of all, whether or not it is like it; None if nothing is of that algorithm, or the flow has no place.

    """

    asked: Asked
    number: int
    groups: Mapping[str, Near]
    closest: Neighbour | None

    @property
    def far(self) -> float:
        """How far away the nearest is; infinite if there is none."""
        return self.closest.distance if self.closest else float("inf")

    @property
    def reached(self) -> bool:
        """Whether something like it was compared."""
        return bool(self.groups)


@dataclass(frozen=True)
class Answer:
    """Of a whole study.

    Attributes:
        plan: its plan.
        rows: all that was compared.
        stacks: of its flows.
        by_algorithm: its situations, those of an algorithm in the order of the study.

    """

    plan: Plan
    rows: Sequence[Compared]
    stacks: Sequence[str]
    by_algorithm: Mapping[str, Sequence[Told]]

    @property
    def other_stacks(self) -> list[str]:
        """Stacks that nothing was compared with."""
        return [stack for stack in self.stacks if stack != STACK]

    @functools.cached_property
    def cells_and_arms(self) -> int:
        """How many the study has; of more than `MOST_SETUPS` so many were looked at, evenly spaced."""
        return sum(run.replicate == 1 for run in self.plan.runs)

    def chosen(self, algorithm: str) -> Mapping[str, Told]:
        """Of an algorithm's situations those that stand for all: each of up to three, else the nearest, the middle one and the farthest."""
        every = self.by_algorithm[algorithm]
        if len(every) <= 3:
            return {f"{at}": each for at, each in enumerate(every, 1)}
        ordered = sorted(every, key=lambda each: each.far)
        return {"nearest": ordered[0], "median": ordered[(len(ordered) - 1) // 2], "farthest": ordered[-1]}

    def facts(self) -> dict[str, Any]:
        """All of it, for programs."""
        return {
            "study": self.plan.study.name,
            "backend": self.plan.study.backend,
            "stacks": list(self.stacks),
            "compared_stack": STACK,
            "cells_and_arms": self.cells_and_arms,
            "cells_and_arms_looked_at": min(self.cells_and_arms, MOST_SETUPS),
            "reach": REACH,
            "k": K,
            "compared": [
                {
                    "set": of,
                    "looked_at": not rows[0].fresh,
                    "scenarios": len(rows),
                    **{f"{name}s": list(dict.fromkeys(getattr(row, name) for row in rows)) for name in ("kernel", "date", "commit")},
                }
                for of, rows in self.sets.items()
            ],
            "situations": [_facts(each) for every in self.by_algorithm.values() for each in every],
        }

    @functools.cached_property
    def sets(self) -> Mapping[str, Sequence[Compared]]:
        """What was compared, by set."""
        found: dict[str, list[Compared]] = {}
        for row in self.rows:
            found.setdefault(row.set, []).append(row)
        return found


def answer(plan: Plan, rows: Sequence[Compared] | None = None) -> Answer:
    """What was compared with a kernel that is like the scenarios of a study.

    Args:
        plan: of the study.
        rows: what was compared; by default the table that comes along.

    """
    known = compared() if rows is None else rows
    every = asked(plan)
    alike: dict[tuple[object, ...], list[Asked]] = {}
    for each in every:
        alike.setdefault((each.algorithm, each.situation, each.unplaced, tuple(each.unlike), each.stack), []).append(each)
    told: dict[str, list[Told]] = {}
    for same in alike.values():
        told.setdefault(same[0].algorithm, []).append(_told(same, known))
    return Answer(plan, known, list(dict.fromkeys(each.stack for each in every)), told)


def _told(same: Sequence[Asked], rows: Sequence[Compared]) -> Told:
    situation = same[0].situation
    number = len({(each.cell, each.arm) for each in same})
    if situation is None:
        return Told(same[0], number, {}, None)
    closest = nearest(situation, rows, 1)
    groups: dict[str, Near] = {}
    for words, fresh in ((AFRESH, True), (LOOKED_AT, False)):
        found = [each for each in nearest(situation, [row for row in rows if row.fresh is fresh]) if each.distance <= REACH]
        if found:
            groups[words] = Near(found)
    return Told(same[0], number, groups, closest[0] if closest else None)


def _facts(told: Told) -> dict[str, Any]:
    of = told.asked
    return {
        "algorithm": of.algorithm, "stack": of.stack, "cell": of.cell, "arm": of.arm, "cells_and_arms": told.number,
        "situation": asdict(of.situation) if of.situation else None, "unplaced": of.unplaced or None, "unlike": list(of.unlike),
        "reached": told.reached, "closest": _neighbour(told.closest) if told.closest else None,
        "groups": [
            {
                "provenance": words, "looked_at": words == LOOKED_AT, "kinds": dict(near.kinds),
                "apart": {name: _spread(near.spread(name)) for name in MEASURES},
                "kernel_beside_itself": {name: _spread(near.spread(name, of_kernel=True)) for name in MEASURES},
                "neighbours": [_neighbour(each) for each in near.neighbours],
            }
            for words, near in told.groups.items()
        ],
    }  # fmt: skip


def _spread(found: Spread | None) -> dict[str, float] | None:
    return asdict(found) if found else None


def _neighbour(of: Neighbour) -> dict[str, Any]:
    row = asdict(of.row)
    return {"distance": round(of.distance, 4), **row}
