"""How far one side is above another, replicate by replicate, and whether that shows a direction: for findings, and for tables of differences.

Every value is known between a low and a high one, which are one where all is known: a run that did not finish has an infinite high one.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sawtooth import stats
from sawtooth.stats import Centre, Interval, Vector
from sawtooth.stats.mean import REACHED

ROUNDING = 1e-12
"""Differences below this share of a value are of the arithmetic."""

Bounds = tuple[Vector, Vector]
"""Lows and highs, each of shape (n,)."""


@dataclass(frozen=True)
class Direction:
    """Whether one side is above another, or below it.

    Attributes:
        shows, denies: whether it is, or the contrary is, at a level.
        reach: by how much at least and at most, at a level.
        p_shown, p_denied: of the sign test, where ties leave the mean's interval unbounded and the rule takes it; None elsewhere.

    """

    shows: Callable[[float], bool]
    denies: Callable[[float], bool]
    reach: Callable[[float], tuple[Interval, Interval]]
    p_shown: float | None
    p_denied: float | None


def direction(first: Bounds, second: Bounds | None, options: Mapping[str, Any], statistic: Centre, *, below: bool) -> Direction:
    """Whether the first side is above the second, or above `bound` where that is None.

    Args:
        first: n values.
        second: as many, of the same replicates.
        options: `times` of the second, or `bound`; `equal`, whether what is equal shows it.
        statistic: of the values.
        below: whether it is asked to be below instead.

    """
    equal = bool(options.get("equal"))
    slack = ROUNDING * float(np.max(np.abs(first[0][np.isfinite(first[0])]), initial=0.0))

    # The same levels are asked for again and again.
    @functools.cache
    def reach(level: float) -> tuple[Interval, Interval]:
        return difference(first, second, options, statistic, level)

    # Where ties leave the mean's interval unbounded, it is told which way all runs point: a p of the claim, and one of the contrary.
    shown, denied = _signs(first, second, options, below=below) if statistic == "mean" else (None, None)
    if shown is not None or denied is not None:
        least, most = reach(REACHED)
        # Of pairs one side of which is always the same the interval is that of the other, which may be bounded where that of differences is not.
        shown = None if np.isfinite(most.high if below else least.low) else shown
        denied = None if np.isfinite(least.low if below else most.high) else denied

    def shows(level: float) -> bool:
        least, most = reach(level)
        beyond = -most.high if below else least.low
        return (beyond >= -slack if equal else beyond > 0) or _told(shown, level)

    def denies(level: float) -> bool:
        least, most = reach(level)
        against = least.low > (slack if equal else 0) if below else most.high < (-slack if equal else 0)
        return against or _told(denied, level)

    return Direction(shows, denies, reach, shown, denied)


def difference(
    first: Bounds, second: Bounds | None, options: Mapping[str, Any], statistic: Centre, level: float
) -> tuple[Interval, Interval]:
    """What the first side exceeds the other by, at least and at most; two intervals that are one where all is known."""
    if second is None:
        bound = float(options["bound"])
        made = [end.less(bound) for end in stats.centre_between(*first, statistic, level)]
    else:
        times = float(options["times"])
        pairs = _crossed(first, second)
        if statistic == "median":
            # By order: what has no bound is beyond all others.
            least, most = pairs[0], pairs[-1]
            return stats.centre_between(least[0] - times * least[1], most[0] - times * most[1], statistic, level)
        made = [_of_pairs(a, b, times, statistic, level) if np.isfinite(a).all() and np.isfinite(b).all() else _none(a) for a, b in pairs]
    return made[0], made[-1]


def made_ready(sides: Iterable[tuple[Bounds, Bounds]], level: float) -> None:
    """Makes what differences of means at a level rest on, of many pairs of sides at once: whoever then asks for each direction waits for less."""
    pairs = (pair for first, second in sides for pair in _crossed(first, second))
    stats.differences_made_ready((pair for pair in pairs if all(np.isfinite(side).all() for side in pair)), level)


def _crossed(first: Bounds, second: Bounds) -> list[tuple[Vector, Vector]]:
    """What a difference is at least of, and at most; one pair where all is known."""
    known = np.array_equal(first[0], first[1]) and np.array_equal(second[0], second[1])
    return [(first[0], second[1])] if known else [(first[0], second[1]), (first[1], second[0])]


def _of_pairs(a: Vector, b: Vector, times: float, statistic: Centre, level: float) -> Interval:
    if statistic == "mean":
        return stats.difference(a, b, level=level, times=times)
    return _of_geometric_means(a, times * b, level)


def _of_geometric_means(a: Vector, b: Vector, level: float) -> Interval:
    """One geometric mean less another: by the interval of their ratio, which is the geometric mean of the pairs' ratios."""
    if min(float(a.min()), float(b.min())) <= 0:
        return stats.unbounded(math.nan, len(a), "no geometric mean: a value is not above 0")
    base, ratio = stats.geometric_mean(b).estimate, stats.geometric_mean(a / b, level)
    estimate, low, high = (base * (end - 1) for end in (ratio.estimate, ratio.low, ratio.high))
    return Interval(estimate, low, high, ratio.n, f"{ratio.kind}, of their ratio")


def _none(values: Vector) -> Interval:
    return Interval(math.nan, -math.inf, math.inf, len(values), "runs that did not finish leave no bound")


def _signs(first: Bounds, second: Bounds | None, options: Mapping[str, Any], *, below: bool) -> tuple[float | None, float | None]:
    """The p of the claim, and of the contrary, by the sign test; None where the rule does not take it, or a run did not finish."""
    if not all(np.isfinite(side).all() for side in (*first, *(second or ()))):
        return None, None
    if second is None:
        against, least, most = float(options["bound"]), *first
    else:
        crossed = second[1], second[0]
        against, least, most = 0.0, differences(first, crossed, options), differences((first[1], first[0]), second, options)
    equal = bool(options.get("equal"))
    if below:
        return stats.sign_test(most, against=against, below=True, equal=equal), stats.sign_test(least, against=against)
    return stats.sign_test(least, against=against, equal=equal), stats.sign_test(most, against=against, below=True)


def _told(p: float | None, level: float) -> bool:
    return p is not None and p <= 1 - level


def differences(first: Bounds, second: Bounds | None, options: Mapping[str, Any]) -> Vector:
    """What the first side is above the second, or above the bound, of each replicate."""
    return first[0] - float(options["bound"]) if second is None else stats.apart(first[0], float(options["times"]) * second[0])
