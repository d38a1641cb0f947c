"""Where a measure lies over replicates: one function for all that figures and findings show, by the rule of docs/concepts/statistics.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from sawtooth.stats.interval import Interval, Vector, unbounded, vector
from sawtooth.stats.mean import mean
from sawtooth.stats.median import median
from sawtooth.stats.share import share

Centre = Literal["mean", "median", "geometric mean"]
CENTRES: tuple[Centre, ...] = ("mean", "median", "geometric mean")


def centre(values: Sequence[float] | Vector, of: Centre = "mean", level: float = 0.95) -> Interval:
    """The mean, median or geometric mean of independent runs with its interval; the kind names the method, or why there is none.

    Args:
        values: one per run, shape (n,). Truth values are a share: their mean has a binomial interval.
        of: one of `CENTRES`.
        level: coverage, above 0 and below 1.

    Raises:
        ValueError: if a value is not finite, `of` is none of these, or the level no level.

    """
    if not 0 < level < 1:
        raise ValueError(f"a level is between 0 and 1, not {level:g}")
    data = vector(values)
    if not np.isfinite(data).all():
        raise ValueError("an interval takes finite values: what is censored or missing has none")
    if of == "mean":
        if data.size and np.asarray(values).dtype == np.bool_:
            return share(int(data.sum()), int(data.size), level)
        return mean(data, level)
    if of == "median":
        return median(data, level)
    if of == "geometric mean":
        return geometric_mean(data, level)
    raise ValueError(f"{of!r} is none of {', '.join(CENTRES)}")


def geometric_mean(values: Sequence[float] | Vector, level: float = 0.95) -> Interval:
    """The exponential of the mean of the logarithms, whose interval is that of a mean; of values that are not all above 0 there is none."""
    data = vector(values)
    if data.size and float(data.min()) <= 0:
        return unbounded(np.nan, int(data.size), "no geometric mean: a value is not above 0")
    found = mean(np.log(data), level, origin=False)
    with np.errstate(over="ignore"):
        middle, low, high = (float(np.exp(end)) for end in (found.estimate, found.low, found.high))
    if not np.isfinite(found.high - found.low):
        low = -np.inf
    return Interval(middle, low, high, found.n, found.kind)
