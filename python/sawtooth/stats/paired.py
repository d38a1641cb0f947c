"""Two treatments under common random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from sawtooth.stats.interval import Interval, Vector, vector
from sawtooth.stats.student import mean_interval


@dataclass(frozen=True)
class Paired:
    """A paired comparison, second minus first.

    Attributes:
        difference: mean difference with t interval.
        effect: mean difference in standard deviations of the differences (Cohen's d_z). Infinite where all differences are alike and
            not 0: there is no spread to measure them by. 0 where all are 0.
        p_t, p_wilcoxon: two-sided p-values; 1 where all differences are 0. Not a number of a single pair, like its effect. Where all
            are alike and not 0, Student's t has no p (it is not a number) and that of Wilcoxon's test is exact: 2 * 0.5^n.

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
        if not d.any():
            return Paired(difference, 0.0, 1.0, 1.0)
        return Paired(difference, float(np.copysign(np.inf, d[0])), np.nan, 2 * 0.5**d.size)
    from scipy import stats as scipy_stats

    p_t = float(cast(Any, scipy_stats.ttest_rel(b, a)).pvalue)
    p_w = float(cast(Any, scipy_stats.wilcoxon(d)).pvalue)
    return Paired(difference, float(d.mean()) / spread, p_t, p_w)
