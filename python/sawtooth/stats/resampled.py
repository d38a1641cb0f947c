"""Intervals from resamples, of fixed seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from sawtooth.stats.interval import Interval, Vector, percent, unbounded, vector

FEWEST_FOR_MEDIAN = 6


def bootstrap_interval(values: Sequence[float] | Vector, level: float = 0.95, seed: int = 1) -> Interval:
    """Median with BCa bootstrap interval (Efron 1987), 2,000 resamples from a fixed seed.

    Of fewer than 6 values even the full range covers the median with less than 95 % (1 - 2 * 0.5^5 = 94 %): the interval is infinite.
    """
    data = vector(values)
    median = float(np.median(data))
    if data.size < FEWEST_FOR_MEDIAN:
        return unbounded(median, int(data.size), f"n = {data.size}: too few for an interval")
    if float(np.ptp(data)) == 0.0:
        return Interval(median, median, median, int(data.size), "no variation")
    from scipy import stats as scipy_stats

    found = cast(
        Any,
        scipy_stats.bootstrap((data,), np.median, confidence_level=level, n_resamples=2000, method="BCa", rng=np.random.default_rng(seed)),
    )
    low, high = (float(found.confidence_interval.low), float(found.confidence_interval.high))
    if not np.isfinite(low):  # degenerate jackknife: half of the data alike
        low, high = (float(np.quantile(data, 0.5 - level / 2)), float(np.quantile(data, 0.5 + level / 2)))
    return Interval(median, low, high, int(data.size), f"{percent(level)} BCa bootstrap")
