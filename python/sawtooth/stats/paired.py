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
    from scipy import stats as scipy_stats

    p_t = float(cast(Any, scipy_stats.ttest_rel(b, a)).pvalue)
    p_w = float(cast(Any, scipy_stats.wilcoxon(d)).pvalue)
    return Paired(difference, float(d.mean()) / spread, p_t, p_w)
