"""Rank correlations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from sawtooth.stats.interval import Vector, vector


def spearman(x: Sequence[float] | Vector, y: Sequence[float] | Vector) -> float:
    """Spearman's rank correlation."""
    from scipy import stats as scipy_stats

    return float(cast(Any, scipy_stats.spearmanr(vector(x), vector(y))).statistic)


def spearman_interval(x: Sequence[float] | Vector, y: Sequence[float] | Vector, seed: int = 1) -> tuple[float, float, float]:
    """Spearman's rank correlation with its 95 % percentile bootstrap interval, 1,000 resamples from a fixed seed."""
    from scipy import stats as scipy_stats

    first, second = vector(x), vector(y)
    generator = np.random.default_rng(seed)
    draws = np.array([generator.integers(0, first.size, first.size) for _ in range(1000)])
    ranks = [np.asarray(cast(Any, scipy_stats.rankdata(data[draws], axis=1)), dtype=np.float64) for data in (first, second)]
    a, b = (each - each.mean(axis=1, keepdims=True) for each in ranks)
    spread = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    # A resample without variation has no rank correlation.
    varied = spread > 0
    resampled = (a * b).sum(axis=1)[varied] / spread[varied]
    low, high = (float(np.quantile(resampled, q)) for q in (0.025, 0.975))
    return spearman(first, second), low, high
