"""Statistics over replicates. The unit of replication is a run.

Effect size and interval come first, p-values second; "cannot distinguish" is a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import stats as scipy_stats

Vector = NDArray[np.float64]
FEWEST_FOR_MEDIAN = 6


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval.

    Attributes:
        estimate, low, high: in the unit of the data.
        n: number of observations.
        kind: how the interval was made, for captions.

    """

    estimate: float
    low: float
    high: float
    n: int
    kind: str

    def excludes(self, value: float) -> bool:
        """Whether `value` lies outside."""
        return not self.low <= value <= self.high

    def reach(self) -> tuple[float, float]:
        """Distances below and above the estimate, for error bars; not a number where there is no interval."""
        if not np.isfinite(self.high - self.low):
            return np.nan, np.nan
        return self.estimate - self.low, self.high - self.estimate

    def words(self, spec: str) -> str:
        """Estimate, interval and its kind, each number formatted by `spec`."""
        if not np.isfinite(self.high - self.low):
            return f"{self.estimate:{spec}} ({self.kind})"
        return f"{self.estimate:{spec}} ({self.low:{spec}} to {self.high:{spec}}, {self.kind})"


def vector(values: Sequence[float] | Vector) -> Vector:
    """The values as binary64, shape (n,)."""
    return np.asarray(values, dtype=np.float64)


def mean_interval(values: Sequence[float] | Vector, level: float = 0.95) -> Interval:
    """Mean with Student's t interval.

    Args:
        values: shape (n,). With n = 1 the interval is infinite; without variation it is the value itself.
        level: coverage.

    """
    data = vector(values)
    mean = float(data.mean())
    if data.size < 2:
        return Interval(mean, -np.inf, np.inf, int(data.size), "n = 1: no interval")
    half = float(scipy_stats.t.ppf(0.5 + level / 2, data.size - 1)) * float(data.std(ddof=1)) / float(np.sqrt(data.size))
    return Interval(mean, mean - half, mean + half, int(data.size), f"{level:.0%} t interval")


def prediction_interval(values: Sequence[float] | Vector, of_mean: int = 1, level: float = 0.95) -> Interval:
    """Where a future mean of `of_mean` replicates lies with probability `level`, if replicates are normal and exchangeable.

    With s the standard deviation of n values: mean +- t s sqrt(1/n + 1/of_mean) (Hahn and Meeker, Statistical Intervals, 1991,
    section 4.7).
    """
    data = vector(values)
    mean = float(data.mean())
    if data.size < 2:
        return Interval(mean, -np.inf, np.inf, int(data.size), "n = 1: no interval")
    width = float(data.std(ddof=1)) * float(np.sqrt(1 / data.size + 1 / of_mean))
    half = float(scipy_stats.t.ppf(0.5 + level / 2, data.size - 1)) * width
    return Interval(mean, mean - half, mean + half, int(data.size), f"{level:.0%} prediction interval")


def bootstrap_interval(values: Sequence[float] | Vector, level: float = 0.95, seed: int = 1) -> Interval:
    """Median with BCa bootstrap interval (Efron 1987), 2,000 resamples from a fixed seed.

    Of fewer than 6 values even the full range covers the median with less than 95 % (1 - 2 * 0.5^5 = 94 %): the interval is infinite.
    """
    data = vector(values)
    median = float(np.median(data))
    if data.size < FEWEST_FOR_MEDIAN:
        return Interval(median, -np.inf, np.inf, int(data.size), f"n = {data.size}: too few for an interval")
    if float(np.ptp(data)) == 0.0:
        return Interval(median, median, median, int(data.size), "no variation")
    found = cast(
        Any,
        scipy_stats.bootstrap((data,), np.median, confidence_level=level, n_resamples=2000, method="BCa", rng=np.random.default_rng(seed)),
    )
    low, high = (float(found.confidence_interval.low), float(found.confidence_interval.high))
    if not np.isfinite(low):  # degenerate jackknife: half of the data alike
        low, high = (float(np.quantile(data, 0.5 - level / 2)), float(np.quantile(data, 0.5 + level / 2)))
    return Interval(median, low, high, int(data.size), f"{level:.0%} BCa bootstrap")


@dataclass(frozen=True)
class Paired:
    """A paired comparison, second minus first.

    Attributes:
        difference: mean difference with t interval.
        effect: mean difference in standard deviations of the differences (Cohen's d_z); 0 without variation.
        p_t, p_wilcoxon: two-sided p-values; 1 where all differences are 0.

    """

    difference: Interval
    effect: float
    p_t: float
    p_wilcoxon: float


def paired(first: Sequence[float] | Vector, second: Sequence[float] | Vector, level: float = 0.95) -> Paired:
    """Compares two treatments under common random numbers; position i of both is one replicate.

    Raises:
        ValueError: if they differ in length.

    """
    a, b = vector(first), vector(second)
    if a.shape != b.shape:
        raise ValueError("paired data must be of one length")
    d = b - a
    difference = mean_interval(d, level)
    spread = float(d.std(ddof=1)) if d.size > 1 else 0.0
    if spread == 0.0:
        p = 1.0 if float(d.mean()) == 0.0 else 0.0
        return Paired(difference, 0.0, p, p)
    p_t = float(cast(Any, scipy_stats.ttest_rel(b, a)).pvalue)
    p_w = float(cast(Any, scipy_stats.wilcoxon(d)).pvalue)
    return Paired(difference, float(d.mean()) / spread, p_t, p_w)


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for their number by Holm's step-down procedure (Scandinavian Journal of Statistics 6, 1979)."""
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, at in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = running
    return adjusted


def jain(shares: Sequence[float] | Vector) -> float:
    """Jain's fairness index (sum x)^2 / (n sum x^2) (Jain, Chiu and Hawe, DEC-TR-301, 1984).

    It is 1 when all shares are alike and 1/n when one has everything. Without any throughput there is nothing to share: 0, as the
    published HighSpeed study has it.
    """
    data = vector(shares)
    squares = float((data**2).sum())
    return float(data.sum()) ** 2 / (data.size * squares) if squares > 0 else 0.0


def spearman(x: Sequence[float] | Vector, y: Sequence[float] | Vector) -> float:
    """Spearman's rank correlation."""
    return float(cast(Any, scipy_stats.spearmanr(vector(x), vector(y))).statistic)


def spearman_interval(x: Sequence[float] | Vector, y: Sequence[float] | Vector, seed: int = 1) -> tuple[float, float, float]:
    """Spearman's rank correlation with its 95 % percentile bootstrap interval, 1,000 resamples from a fixed seed."""
    first, second = vector(x), vector(y)
    generator = np.random.default_rng(seed)
    draws = (generator.integers(0, first.size, first.size) for _ in range(1000))
    # A resample without variation has no rank correlation.
    resampled = [spearman(first[at], second[at]) for at in draws if np.ptp(first[at]) > 0 and np.ptp(second[at]) > 0]
    low, high = (float(np.quantile(resampled, q)) for q in (0.025, 0.975))
    return spearman(first, second), low, high
