"""One number of the replicates of a cell, with its interval, and with how many of them are only bounds.

A replicate that did not come to an end is known to be at least something. Then a mean is at least the mean of what is known, without an upper
end. A median is what it is as long as fewer than half are bounds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from sawtooth import stats
from sawtooth.stats import Centre, Interval, Vector

_UNFINISHED = re.compile(r", \d+ of \d+ unfinished: at least$")
"""What `of_bounds` adds to the kind of an interval."""


@dataclass(frozen=True)
class Estimate:
    """An estimate of replicates.

    Attributes:
        interval: estimate, low and high; where it is a bound, the estimate is one and high is infinite.
        n: how many runs were to tell it.
        unfinished: how many of them are only bounds; unknown: how many tell nothing.
        bound: whether the estimate is only a lower bound.

    """

    interval: Interval
    n: int
    unfinished: int = 0
    unknown: int = 0
    bound: bool = False

    def over(self, divisor: float) -> Estimate:
        """The same in a unit that is so many times as large."""
        return replace(self, interval=self.interval.over(divisor))


def of_frame(frame: pl.DataFrame, statistic: Centre) -> Estimate:
    """What the runs of a frame (low, high) are together."""
    known = frame.filter(pl.col("low").is_not_null() & pl.col("high").is_not_null())
    return of_bounds(known["low"].to_numpy(), known["high"].to_numpy(), statistic, frame.height - known.height)


def of_bounds(low: Vector, high: Vector, statistic: Centre, unknown: int = 0) -> Estimate:
    """What runs are together of which each is known from `low` to `high`, shape (n,)."""
    n, unfinished = len(low) + unknown, int((low != high).sum())
    if not unfinished:
        return Estimate(stats.centre(low, of=statistic), n, 0, unknown)
    lower, upper = stats.centre(low, of=statistic), math.inf
    exact = statistic == "median" and float(np.median(low)) == float(np.median(high))
    if exact:
        upper = _upper(high, statistic)
    kind = lower.kind if exact else f"{lower.kind}, {unfinished} of {n} unfinished: at least"
    return Estimate(Interval(lower.estimate, lower.low, upper, lower.n, kind), n, unfinished, unknown, bound=not exact)


def _upper(high: Vector, statistic: Centre) -> float:
    """The upper end of an interval of values some of which have no upper bound: they are taken as larger than all others."""
    finite = high[np.isfinite(high)]
    top = float(finite.max()) if finite.size else 0.0
    beyond = abs(top) * 2 + 1.0
    end = stats.centre(np.where(np.isfinite(high), high, beyond), of=statistic).high
    return math.inf if end > top else end


def said(estimates: Iterable[Estimate], statistic: Centre, what: str = "runs") -> str:
    """What a caption says of its points: of how many runs they are, by which methods their intervals are, and what is not known."""
    found = list(estimates)
    if not found:
        return "No runs."
    n = {estimate.n for estimate in found}
    plural = {"mean": "Means", "median": "Medians", "geometric mean": "Geometric means"}[statistic]
    if max(n) < 2:
        text = "A single run each: no interval."
    else:
        kinds = list(dict.fromkeys(_UNFINISHED.sub("", estimate.interval.kind) for estimate in found))
        text = f"{plural} of {number(n)} {what}; {_or(kinds)}."
    unfinished, unknown = sum(estimate.unfinished for estimate in found), sum(estimate.unknown for estimate in found)
    if unfinished:
        total = sum(estimate.n for estimate in found)
        text += f" Arrows: {unfinished} of {total} runs did not finish it, the value is at least that."
    if unknown:
        text += f" {unknown} of {sum(estimate.n for estimate in found)} runs do not tell it."
    return text


def number(n: set[int]) -> str:
    """A number, or a range of some."""
    return f"{min(n)} to {max(n)}" if len(n) > 1 else str(max(n, default=0))


def _or(kinds: Sequence[str]) -> str:
    return kinds[0] if len(kinds) == 1 else f"{'; '.join(kinds[:-1])}; or {kinds[-1]}"
