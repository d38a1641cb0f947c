"""Intervals from resamples, of fixed seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


def resampled(rows: Vector, of: Callable[[Vector], Vector], seed: int = 1) -> Callable[[float], Interval]:
    """The interval, by level, of what `of` makes of the means of several samples: percentile bootstrap, 4,000 resamples from a fixed seed.

    Each sample is drawn again by itself. Of fewer than 6 values a sample has too few different resamples: the interval is infinite.

    Args:
        rows: the samples, shape (k, n).
        of: makes of means of shape (..., k) numbers of shape (...). One that is undefined in a resample (a share of none) is 0 there.
        seed: of the resamples.

    """
    n = rows.shape[1]
    estimate = float(of(rows.mean(axis=1)))
    if n < FEWEST_FOR_MEDIAN:
        return lambda _: unbounded(estimate, n, f"n = {n}: too few for an interval")
    picked = np.random.default_rng(seed).integers(n, size=(4000, *rows.shape))
    made = np.nan_to_num(of(np.take_along_axis(rows[None], picked, axis=2).mean(axis=2)), nan=0.0, posinf=np.inf, neginf=-np.inf)

    def interval(level: float) -> Interval:
        low, high = np.quantile(made, [(1 - level) / 2, (1 + level) / 2])
        return Interval(estimate, float(low), float(high), n, f"{percent(level)} percentile bootstrap")

    return interval
