"""The interval of a median: between two of the ordered values, whatever the distribution."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, cast

import numpy as np

from sawtooth.stats.interval import Interval, Vector, percent, unbounded, unvaried, vector


def median(values: Sequence[float] | Vector, level: float = 0.95) -> Interval:
    """Median with its interval from order statistics, interpolated (Hettmansperger and Sheather, Statistics & Probability Letters 4, 1986).

    Of n values all lie on one side of the median with 2 * 0.5^n: where that is more than 1 - level (fewer than 6 values, for 95 %) n does
    not suffice.
    """
    data = np.sort(vector(values))
    n = int(data.size)
    if not n:
        return Interval(np.nan, np.nan, np.nan, 0, "no run tells it")
    middle = float(np.median(data))
    fewest = fewest_for_median(level)
    if n > 1 and data[0] == data[-1]:
        return unvaried(middle, n, level)
    if n < fewest:
        return unbounded(middle, n, f"n = {n} does not suffice: the median takes {fewest}")
    low, high = (float(end[0]) for end in median_rows(data[None, :], level))
    return Interval(middle, low, high, n, f"{percent(level)} order-statistic interval")


def fewest_for_median(level: float = 0.95) -> int:
    """The fewest values whose range covers their median with `level`."""
    return int(np.ceil(1 - np.log2(1 - level) - 1e-9))


def median_rows(ordered: Vector, level: float = 0.95) -> tuple[Vector, Vector]:
    """Limits of the medians of samples in order, shape (m, n), of at least `fewest_for_median` values."""
    n = ordered.shape[1]
    rank, share = _between(n, level)
    # From the rank-th value inwards to the next.
    outer_low, outer_high = ordered[:, rank - 1], ordered[:, n - rank]
    low = outer_low + share * (ordered[:, rank] - outer_low)
    high = outer_high - share * (outer_high - ordered[:, n - rank - 1])
    # Rounding of values that are alike puts no end beyond the median.
    middle = np.median(ordered, axis=1)
    return np.minimum(low, middle), np.maximum(high, middle)


@lru_cache(maxsize=64)
def _between(n: int, level: float) -> tuple[int, float]:
    """The largest rank whose interval covers with at least `level`, and how far the ends lie towards the next rank's."""
    from scipy import special

    # covers[k]: probability that the median is between the values of rank k + 1 and n - k.
    covers = 1 - 2 * cast(Any, special.bdtr(np.arange(n // 2), n, 0.5))
    rank = int((covers >= level).sum())
    if rank == len(covers):
        return rank, 0.0
    gap = float((covers[rank - 1] - level) / (covers[rank - 1] - covers[rank]))
    return rank, (n - rank) * gap / (rank + (n - 2 * rank) * gap)
