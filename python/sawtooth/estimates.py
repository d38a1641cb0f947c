"""One number of the replicates of a cell, with its interval, and with how many of them are only bounds.

A replicate that did not come to an end is known to be at least something. Then a mean is at least the mean of what is known, without an upper
end; and what has it as its divisor, or less it, is at most something. A median is what it is as long as fewer than half are bounds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from sawtooth import stats
from sawtooth.stats import Centre, Interval, Vector

_UNFINISHED = re.compile(r", \d+ of \d+ unfinished: at (?:least|most)$")
"""What `of_bounds`, and pairs of runs, add to the kind of an interval."""
_MADE = re.compile(r"(?P<level>[\d.]+)% (?P<methods>.+) interval$")
"""The kind of an interval that there is: its level and its methods."""
_WITHOUT = {
    "no variation": "without variation", "n = 1: no interval": "of a single run", "no run tells it": "of no run",
    "second mean is near 0": "without an interval: the divisor's mean is near 0", "no pair of runs is known": "of no pair of runs that is known",
    "no geometric mean": "without a geometric mean: a value is not above 0", "second mean is 0": "without a ratio: the divisor's mean is 0",
    "nothing bounds it": "of runs that did not finish, which nothing bounds",
}  # fmt: skip
"""What the kind of an interval that is none begins with, and how captions count such points."""


LEAST, MOST = ", of the least that it may be", ", of the most that it may be"
"""What the kind of an interval ends in that has one end only, as runs did not finish."""
_NOTHING = Interval(math.nan, -math.inf, math.inf, 0, "nothing bounds it: runs did not finish")


@dataclass(frozen=True)
class Estimate:
    """An estimate of replicates.

    Attributes:
        interval: estimate, low and high; where the estimate is a bound, the end beyond it is that of the other bound, or infinite without one.
        n: how many runs were to tell it.
        unfinished: how many of them are only bounds; unknown: how many tell nothing.
        bound: `at least` or `at most` where the estimate is only that.

    """

    interval: Interval
    n: int
    unfinished: int = 0
    unknown: int = 0
    bound: Literal["", "at least", "at most"] = ""

    def over(self, divisor: float) -> Estimate:
        """The same in a unit that is so many times as large."""
        return replace(self, interval=self.interval.over(divisor))

    def within(self, least: float, most: float) -> Estimate:
        """The same without what is beyond what it can be."""
        return replace(self, interval=self.interval.within(least, most))


def of_frame(frame: pl.DataFrame, statistic: Centre, within: tuple[float, float] = (-math.inf, math.inf)) -> Estimate:
    """What the runs of a frame (low, high) are together, by a measure that is `within` these limits: nothing beyond is part of the interval."""
    known = frame.filter(pl.col("low").is_not_null() & pl.col("high").is_not_null())
    found = of_bounds(known["low"].to_numpy(), known["high"].to_numpy(), statistic, frame.height - known.height)
    return found.within(*within)


def of_bounds(low: Vector, high: Vector, statistic: Centre, unknown: int = 0) -> Estimate:
    """What runs are together of which each is known from `low` to `high`, shape (n,)."""
    n, unfinished = len(low) + unknown, int((low != high).sum())
    if not unfinished:
        return Estimate(stats.centre(low, of=statistic), n, 0, unknown)
    lower, upper = stats.centre(low, of=statistic) if np.isfinite(low).all() else _NOTHING, math.inf
    if not math.isfinite(lower.estimate):
        # Such as 5 s less a time that did not end, or the geometric mean of what may be 0.
        return Estimate(replace(_NOTHING, n=len(low)), n, unfinished, unknown)
    exact = statistic == "median" and float(np.median(low)) == float(np.median(high))
    if exact:
        upper = _upper(high, statistic)
    kind = lower.kind if exact else f"{lower.kind}, {unfinished} of {n} unfinished: at least"
    return Estimate(Interval(lower.estimate, lower.low, upper, lower.n, kind), n, unfinished, unknown, bound="" if exact else "at least")


def _upper(high: Vector, statistic: Centre) -> float:
    """The upper end of an interval of values some of which have no upper bound: they are taken as larger than all others."""
    finite = high[np.isfinite(high)]
    top = float(finite.max()) if finite.size else 0.0
    beyond = abs(top) * 2 + 1.0
    end = stats.centre(np.where(np.isfinite(high), high, beyond), of=statistic).high
    return math.inf if end > top else end


def said(
    estimates: Iterable[Estimate],
    statistic: Centre,
    what: str = "runs",
    *,
    mark: str = "Arrows",
    counted: tuple[int, int, int] | None = None,
) -> str:
    """What a caption says of its points: of how many runs they are, by which methods their intervals are, and what is not known.

    Args:
        estimates: the points.
        statistic: that they are.
        what: they are of.
        mark: what shows that a value is at least so much.
        counted: how many runs there are, are unfinished, and tell nothing; without it each point is of runs of its own.

    """
    found = list(estimates)
    if not found:
        return "No runs."
    n = {estimate.n for estimate in found}
    plural = {"mean": "Means", "median": "Medians", "geometric mean": "Geometric means"}[statistic]
    text = "A single run each: no interval." if max(n) < 2 else f"{plural} of {number(n)} {what}{intervals(found)}."
    total, unfinished, unknown = counted or (sum(getattr(estimate, name) for estimate in found) for name in ("n", "unfinished", "unknown"))
    if unfinished:
        bound = any(math.isfinite(estimate.interval.estimate) for estimate in found if estimate.unfinished)
        text += f" {f'{mark}: ' if bound else ''}{unfinished} of {total} runs did not finish it{', the value is at least that' if bound else ''}."
    if unknown:
        text += f" {unknown} of {total} runs do not tell it."
    return text


def intervals(estimates: Iterable[Estimate]) -> str:
    """How the intervals of points are made, for a sentence about the points: by which methods, and how many have none and why."""
    methods: dict[str, dict[str, None]] = {}
    without: dict[str, int] = {}
    for estimate in estimates:
        kind = _UNFINISHED.sub("", estimate.interval.kind)
        made = _MADE.match(kind)
        if made:
            methods.setdefault(made["level"], {}).update(dict.fromkeys(re.split(", | and ", made["methods"])))
        elif estimate.bound and kind.startswith("no variation"):
            # Bounds that are alike do not say that runs are.
            without["whose runs did not finish"] = without.get("whose runs did not finish", 0) + 1
        else:
            why = next((said for start, said in _WITHOUT.items() if kind.startswith(start)), kind.partition(":")[0])
            without[why] = without.get(why, 0) + 1
    parts = [f"with {level} % intervals ({_or(list(served))})" for level, served in methods.items()]
    others = [f"of {counted({n}, 'point')} {why}" if "n =" in why else f"{counted({n}, 'point')} {why}" for why, n in without.items()]
    text = " and ".join(parts)
    return f"{f' {text}' if text else ''}{''.join(f'; {other}' for other in others)}"


def counted(n: set[int], what: str) -> str:
    """A number of things, or a range of numbers: `1 point`, `3 to 5 points`."""
    return f"{number(n)} {what if n == {1} else f'{what}s'}"


def number(n: set[int]) -> str:
    """A number, or a range of some."""
    return f"{min(n)} to {max(n)}" if len(n) > 1 else str(max(n, default=0))


def _or(kinds: Sequence[str]) -> str:
    return kinds[0] if len(kinds) == 1 else f"{', '.join(kinds[:-1])} or {kinds[-1]}"
