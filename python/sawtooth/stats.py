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
        values: shape (n,). With n = 1 the interval is infinite, with none there is no mean; without variation it is the value itself.
        level: coverage.

    """
    data = vector(values)
    if not data.size:
        return Interval(np.nan, np.nan, np.nan, 0, "no run tells it")
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
        p_t, p_wilcoxon: two-sided p-values; 1 where all differences are 0. Not a number of a single pair, like its effect.

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
    if d.size < 2:
        return Paired(difference, np.nan, np.nan, np.nan)
    spread = float(d.std(ddof=1))
    if spread == 0.0:
        p = 1.0 if float(d.mean()) == 0.0 else 0.0
        return Paired(difference, 0.0, p, p)
    p_t = float(cast(Any, scipy_stats.ttest_rel(b, a)).pvalue)
    p_w = float(cast(Any, scipy_stats.wilcoxon(d)).pvalue)
    return Paired(difference, float(d.mean()) / spread, p_t, p_w)


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for their number by Holm's step-down procedure (Scandinavian Journal of Statistics 6, 1979).

    One that is not a number belongs to no test: it stays and does not count.
    """
    order = sorted((at for at, p in enumerate(p_values) if not np.isnan(p)), key=lambda at: p_values[at])
    adjusted = [float("nan")] * len(p_values)
    running = 0.0
    for rank, at in enumerate(order):
        running = max(running, min(1.0, (len(order) - rank) * p_values[at]))
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
    draws = np.array([generator.integers(0, first.size, first.size) for _ in range(1000)])
    ranks = [np.asarray(cast(Any, scipy_stats.rankdata(data[draws], axis=1)), dtype=np.float64) for data in (first, second)]
    a, b = (each - each.mean(axis=1, keepdims=True) for each in ranks)
    spread = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    # A resample without variation has no rank correlation.
    varied = spread > 0
    resampled = (a * b).sum(axis=1)[varied] / spread[varied]
    low, high = (float(np.quantile(resampled, q)) for q in (0.025, 0.975))
    return spearman(first, second), low, high


@dataclass(frozen=True)
class Means:
    """Two means that are compared by their ratio, first over second.

    Attributes:
        first, second: the means.
        variances: the squared standard error of each.
        covariance: of the two means; not 0 for paired data.
        freedom: degrees of freedom of each variance; infinite where it is known, 0 where one observation says nothing about it.
        paired: whether both variances come from the same n pairs.

    """

    first: float
    second: float
    variances: tuple[float, float]
    covariance: float
    freedom: tuple[float, float]
    paired: bool

    @property
    def testable(self) -> bool:
        """Whether the data say how far the means can be trusted."""
        return min(self.freedom) > 0

    def contrast(self, factor: float) -> tuple[float, float, float]:
        """First less `factor` times second, its standard error, and its degrees of freedom (Welch and Satterthwaite unless paired)."""
        a, b = self.variances[0], factor**2 * self.variances[1]
        variance = max(0.0, a - 2 * factor * self.covariance + b)
        if self.paired or variance == 0.0:
            freedom = min(self.freedom)
        else:
            doubt = a**2 / self.freedom[0] + b**2 / self.freedom[1]
            freedom = variance**2 / doubt if doubt > 0 else np.inf
        return self.first - factor * self.second, float(np.sqrt(variance)), float(freedom)


def means_of_pairs(first: Sequence[float] | Vector, second: Sequence[float] | Vector) -> Means:
    """Means under common random numbers; position i of both is one replicate.

    Raises:
        ValueError: if they differ in length.

    """
    a, b = vector(first), vector(second)
    if a.shape != b.shape:
        raise ValueError("paired data must be of one length")
    n = a.size
    if n < 2:
        return Means(float(a.mean()), float(b.mean()), (0.0, 0.0), 0.0, (0.0, 0.0), paired=True)
    spread = np.cov(a, b) / n
    variances = float(spread[0, 0]), float(spread[1, 1])
    return Means(float(a.mean()), float(b.mean()), variances, float(spread[0, 1]), (n - 1.0, n - 1.0), paired=True)


def means_of_groups(first: Sequence[float] | Vector, second: Sequence[float] | Vector) -> Means:
    """Means of independent replicates, of any two numbers of them."""
    a, b = vector(first), vector(second)
    variances = [float(data.var(ddof=1)) / data.size if data.size > 1 else 0.0 for data in (a, b)]
    freedom = float(a.size - 1), float(b.size - 1)
    return Means(float(a.mean()), float(b.mean()), (variances[0], variances[1]), 0.0, freedom, paired=False)


def means_against(first: Sequence[float] | Vector, second: float, error: float = 0.0, freedom: float = np.inf) -> Means:
    """The mean of replicates against a published one with its standard error; without one it is taken as exact."""
    a = vector(first)
    variance = float(a.var(ddof=1)) / a.size if a.size > 1 else 0.0
    return Means(float(a.mean()), second, (variance, error**2), 0.0, (a.size - 1.0, freedom), paired=False)


def ratio_interval(means: Means, level: float = 0.95) -> Interval:
    """The ratio of two means with Fieller's interval (Journal of the Royal Statistical Society B 16, 1954).

    It needs no logarithms, so single values of 0 are fine. It is infinite where the second mean cannot be told from 0, or where one
    observation is all there is.
    """
    n = int(min(means.freedom)) + 1 if np.isfinite(min(means.freedom)) else 0
    if means.second == 0.0:
        return Interval(np.nan if means.first == 0.0 else np.inf, -np.inf, np.inf, n, "second mean is 0: no ratio")
    ratio = means.first / means.second
    if not means.testable:
        return Interval(ratio, -np.inf, np.inf, n, "n = 1: no interval")
    freedom = means.contrast(ratio)[2]
    q2 = float(scipy_stats.t.ppf(0.5 + level / 2, freedom)) ** 2
    a = means.second**2 - q2 * means.variances[1]
    b = means.first * means.second - q2 * means.covariance
    c = means.first**2 - q2 * means.variances[0]
    if a <= 0:
        return Interval(ratio, -np.inf, np.inf, n, "second mean is near 0: no interval")
    root = float(np.sqrt(max(0.0, b**2 - a * c)))
    return Interval(ratio, (b - root) / a, (b + root) / a, n, f"{level:.0%} Fieller interval")


def equivalence(means: Means, tolerance: float) -> tuple[float, float]:
    """Tests of a ratio of means against the limits 1 / (1 + tolerance) and 1 + tolerance; exchanging the means changes nothing.

    Returns:
        The p-value of "the ratio is not within" by two one-sided t tests (Schuirmann 1987; of a ratio, Sasabuchi 1980), and that of
        "the ratio is within" by the two one-sided tests of the other direction, doubled because either may reject.

    Raises:
        ValueError: if one of the means is of a single observation.

    """
    if not means.testable:
        raise ValueError("one observation says nothing about its error")
    below, above = 1 / (1 + tolerance), 1 + tolerance
    # Probabilities of what lies still further out: beyond the upper limit, and beyond the lower.
    over, under = _tail(means, above, 1), _tail(means, below, -1)
    if over is None or under is None:
        within = below * means.second <= means.first <= above * means.second
        return (0.0, 1.0) if within else (1.0, 0.0)
    return max(1 - over, 1 - under), min(1.0, 2 * min(over, under))


def _tail(means: Means, factor: float, sign: int) -> float | None:
    difference, error, freedom = means.contrast(factor)
    return float(scipy_stats.t.sf(sign * difference / error, freedom)) if error > 0 else None


def difference_interval(means: Means, level: float = 0.95) -> Interval:
    """First mean less second with its t interval."""
    difference, error, freedom = means.contrast(1.0) if means.testable else (means.first - means.second, np.inf, 1.0)
    half = float(scipy_stats.t.ppf(0.5 + level / 2, freedom)) * error
    kind = f"{level:.0%} t interval" if means.testable else "n = 1: no interval"
    return Interval(difference, difference - half, difference + half, 0 if np.isinf(freedom) else int(freedom) + 1, kind)
