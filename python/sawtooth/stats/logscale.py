"""The mean of lognormal data: its generalised interval (Krishnamoorthy and Mathew, Journal of Statistical Planning and Inference 115, 2003).

With m and s the mean and the standard deviation of n logarithms, Z standard normal and C of chi-squared with n - 1 degrees of freedom,

    m - Z s sqrt((n - 1) / C) / sqrt(n) + s^2 (n - 1) / (2 C)

has as its quantiles the limits of the logarithm of the mean. They are found without random numbers: given C the variable is normal, and
its distribution is the average of those over the quantiles of C.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, cast

import numpy as np

from sawtooth.stats.interval import Vector

_NODES = 200
_HALVINGS = 50


def mean_end(rows: Vector, q: Vector) -> Vector:
    """The limit of the means that lies above them with probability q.

    Args:
        rows: above 0, shape (m, n) with n >= 2; each row is a sample.
        q: of each row, shape (m,); above 0.5 for upper limits, below it for lower ones.

    Returns:
        Shape (m,); infinite where it is beyond binary64.

    """
    from scipy import special

    n = rows.shape[1]
    logarithms = np.log(rows)
    middle, s = logarithms.mean(axis=1), logarithms.std(axis=1, ddof=1)[:, None]
    ratio, weight = _chi_squared(n)
    centre: Vector = s**2 * ratio / 2
    spread: Vector = s * np.sqrt(ratio / n)
    low: Vector = centre[:, -1] - 10 * spread[:, 0]
    high: Vector = centre[:, 0] + 10 * spread[:, 0]
    safe = np.where(spread > 0, spread, 1.0)
    for _ in range(_HALVINGS):
        half: Vector = (low + high) / 2
        # A row's sum, unlike a product with a matrix, is the same to the bit whatever rows stand beside it.
        share = np.asarray(special.ndtr((half[:, None] - centre) / safe), dtype=np.float64)
        below = (share * weight).sum(axis=1) < q
        low, high = np.where(below, half, low), np.where(below, high, half)
    with np.errstate(over="ignore"):
        return np.exp(middle + (low + high) / 2)


@lru_cache(maxsize=64)
def _chi_squared(n: int) -> tuple[Vector, Vector]:
    """(n - 1) / C at quantiles of C, the largest ratio first, and the share that each stands for; dense where C is small."""
    from scipy import special

    u = (np.arange(_NODES) + 0.5) / _NODES
    quantile = 2 * cast(Any, special.gammaincinv((n - 1) / 2, u**2))
    weight = 2 * u
    return np.asarray((n - 1) / quantile, dtype=np.float64), np.asarray(weight / weight.sum(), dtype=np.float64)
