"""Two means that are compared: their difference, their ratio, and whether they are equivalent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sawtooth.stats.interval import Interval, Vector, percent, unbounded, vector
from sawtooth.stats.quantiles import t_quantile, t_tail


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
        return unbounded(np.nan if means.first == 0.0 else np.inf, n, "second mean is 0: no ratio")
    ratio = means.first / means.second
    if not means.testable:
        return unbounded(ratio, n, "n = 1: no interval")
    freedom = means.contrast(ratio)[2]
    q2 = t_quantile(0.5 + level / 2, freedom) ** 2
    a = means.second**2 - q2 * means.variances[1]
    b = means.first * means.second - q2 * means.covariance
    c = means.first**2 - q2 * means.variances[0]
    if a <= 0:
        return unbounded(ratio, n, "second mean is near 0: no interval")
    root = float(np.sqrt(max(0.0, b**2 - a * c)))
    return Interval(ratio, (b - root) / a, (b + root) / a, n, f"{percent(level)} Fieller interval")


def equivalence(means: Means, tolerance: float) -> tuple[float, float]:
    """Tests of a ratio of means against the limits 1 / (1 + tolerance) and 1 + tolerance; exchanging the means changes nothing.

    Returns:
        The p-value of "the ratio is not within" by two one-sided t tests (Schuirmann 1987; of a ratio, Sasabuchi 1980), and that of
        "the ratio is within" by the two one-sided tests of the other direction, doubled because either may reject.

    Raises:
        ValueError: if one of the means is of a single observation.

    """
    return equivalence_of_bounds(means, means, tolerance)


def equivalence_of_bounds(least: Means | None, most: Means | None, tolerance: float) -> tuple[float, float]:
    """The tests of `equivalence` for means that are known to lie between bounds, as those of times that some runs did not bring to an end.

    That the ratio is above a limit is tested of the least that it may be, that it is below one of the most. What takes longer than a run counts
    in the least as long as that, and the mean of such a time is no more than that of the whole one; so the tests keep their level.

    Args:
        least: first means at least, second ones at most; None if those have no bound.
        most: the contrary.
        tolerance: of the ratio.

    Raises:
        ValueError: if one of the means is of a single observation.

    """
    if not all(means.testable for means in (least, most) if means is not None):
        raise ValueError("one observation says nothing about its error")
    below, above = 1 / (1 + tolerance), 1 + tolerance
    if least is most and least is not None and 0.0 in (least.contrast(above)[1], least.contrast(below)[1]):
        # Where nothing varies at a limit, the means alone decide.
        within = below * least.second <= least.first <= above * least.second
        return (0.0, 1.0) if within else (1.0, 0.0)
    # Probabilities of what lies still further out: beyond the upper limit, and beyond the lower.
    over = _tail(least, above, 1) if least is not None else 1.0
    under = _tail(most, below, -1) if most is not None else 1.0
    # And those of the limits themselves being kept.
    not_over = 1 - _tail(most, above, 1) if most is not None else 1.0
    not_under = 1 - _tail(least, below, -1) if least is not None else 1.0
    return max(not_over, not_under), min(1.0, 2 * min(over, under))


def _tail(means: Means, factor: float, sign: int) -> float:
    difference, error, freedom = means.contrast(factor)
    return t_tail(sign * difference / error, freedom) if error > 0 else float(sign * difference <= 0)


def difference_interval(means: Means, level: float = 0.95) -> Interval:
    """First mean less second with its t interval."""
    difference, error, freedom = means.contrast(1.0) if means.testable else (means.first - means.second, np.inf, 1.0)
    half = t_quantile(0.5 + level / 2, freedom) * error
    kind = f"{percent(level)} t interval" if means.testable else "n = 1: no interval"
    return Interval(difference, difference - half, difference + half, 0 if np.isinf(freedom) else int(freedom) + 1, kind)
