"""Student's t: intervals of normal data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sawtooth.stats.interval import Interval, Vector, percent, unbounded, unvaried, vector
from sawtooth.stats.quantiles import t_quantile


def mean_interval(values: Sequence[float] | Vector, level: float = 0.95) -> Interval:
    """Mean with Student's t interval, whatever the values: `centre` chooses by the rule.

    Args:
        values: shape (n,). With n = 1 the interval is infinite, with none there is no mean; without variation it is the value itself,
            and the kind says so instead of a level.
        level: coverage.

    """
    data = vector(values)
    if not data.size:
        return Interval(np.nan, np.nan, np.nan, 0, "no run tells it")
    mean = float(data.mean())
    if data.size < 2:
        return unbounded(mean, 1, "n = 1: no interval")
    if float(np.ptp(data)) == 0.0:
        return unvaried(mean, int(data.size), level)
    half = t_quantile(0.5 + level / 2, data.size - 1) * float(data.std(ddof=1)) / float(np.sqrt(data.size))
    return Interval(mean, mean - half, mean + half, int(data.size), f"{percent(level)} t interval")


def prediction_interval(values: Sequence[float] | Vector, of_mean: int = 1, level: float = 0.95) -> Interval:
    """Where a future mean of `of_mean` replicates lies with probability `level`, if replicates are normal and exchangeable.

    With s the standard deviation of n values: mean +- t s sqrt(1/n + 1/of_mean) (Hahn and Meeker, Statistical Intervals, 1991,
    section 4.7).
    """
    data = vector(values)
    mean = float(data.mean())
    if data.size < 2:
        return unbounded(mean, int(data.size), "n = 1: no interval")
    width = float(data.std(ddof=1)) * float(np.sqrt(1 / data.size + 1 / of_mean))
    half = t_quantile(0.5 + level / 2, data.size - 1) * width
    return Interval(mean, mean - half, mean + half, int(data.size), f"{percent(level)} prediction interval")
