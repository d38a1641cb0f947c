"""What pairs of runs differ in, or their ratio: the mean with its interval; where runs did not finish, the least and the most that it may be."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sawtooth import estimates, stats
from sawtooth.estimates import Estimate
from sawtooth.figures.levels import row as cells
from sawtooth.stats import Interval, Vector

Bounds = tuple[Vector, Vector]
"""The least and the most that the value of each run may be, each of shape (n,)."""
_Sides = tuple[Vector, Vector]


def of_pairs(first: Bounds, second: Bounds, form: str, unknown: int = 0) -> Estimate:
    """The mean of the first side less, or over, that of the second, of all pairs.

    Args:
        first: of one side.
        second: of what it is held against, in the same replicates.
        form: `difference` or `ratio`.
        unknown: how many pairs tell nothing.

    """
    known = len(first[0])
    if not known:
        return Estimate(Interval(math.nan, -math.inf, math.inf, 0, "no pair of runs is known"), unknown, 0, unknown)
    unfinished = int(((first[0] != first[1]) | (second[0] != second[1])).sum())
    if not unfinished:
        return Estimate(_made(first[0], second[0], form), known + unknown, 0, unknown)
    least, most = (_end(sides, form, beyond) for sides, beyond in zip(_ends(first, second, form), (-math.inf, math.inf), strict=True))
    return estimates.between(least, most, known + unknown, unfinished, unknown)


def row(found: Estimate) -> dict[str, object]:
    """Pairs as cells of a table: of how many the estimate is, and how many tell nothing."""
    return {**cells(found), "n": found.interval.n, "left_out": found.unknown}


def said(found: Sequence[Estimate], form: str, to: str, of: str = "") -> str:
    """Of how many pairs points are, which of them are bounds, and what is not among them; `of` is what is held against `to`, where that is one alone."""
    told = [each for each in found if each.interval.n]
    what = "Ratio of means" if form == "ratio" else "Mean difference"
    pairs = estimates.counted({each.interval.n for each in told}, "pair")
    held = f"`{of}`" if of else "each"
    text = f"{what} of {pairs} of runs, {held} {'divided by' if form == 'ratio' else 'less'} `{to}`" if told else ""
    text = f"{text}{estimates.intervals(told)}." if told else ""
    every = estimates.counted({sum(each.n for each in found)}, "pair")
    unfinished, unknown = (sum(getattr(each, name) for each in found) for name in ("unfinished", "unknown"))
    if unfinished:
        open_ = estimates.bounds_said([each.bound for each in found], f"of {unfinished} of {every} a run did not finish")
        text += f" {open_[0].upper()}{open_[1:]}"
    missing = len(found) - len(told)
    if missing:
        text += f" ∅: {missing} of {estimates.counted({len(found)}, 'point')} without a pair that is known."
    if unknown:
        text += f" Left out: {unknown} of {every} a run of which is not there or does not tell it."
    return text.strip()


def _ends(first: Bounds, second: Bounds, form: str) -> tuple[_Sides, _Sides]:
    """Both sides as they are where the one less, or over, the other is least, and where it is most."""
    (a, a_most), (b, b_most) = first, second
    if form == "difference":
        return (a, b_most), (a_most, b)
    if b_most.mean() < 0:
        # With the signs of both turned the ratio is the same.
        a, a_most, b, b_most = -a_most, -a, -b_most, -b
    if b.mean() <= 0 and (b != b_most).any():
        # What may be divided by 0 is not bounded.
        b = b_most = np.full_like(b, np.inf)
    return (a, b_most if a.mean() >= 0 else b), (a_most, b if a_most.mean() >= 0 else b_most)


def _end(sides: _Sides, form: str, beyond: float) -> Interval:
    """The interval of an end, whose estimate is `beyond` all others where it is not bounded."""
    found = _made(*sides, form) if all(np.isfinite(side).all() for side in sides) else None
    if found is not None and math.isfinite(found.estimate):
        return found
    return stats.unbounded(beyond, len(sides[0]), "runs that did not finish leave no bound")


def _made(first: Vector, second: Vector, form: str) -> Interval:
    return stats.ratio(first, second) if form == "ratio" else stats.difference(first, second)
