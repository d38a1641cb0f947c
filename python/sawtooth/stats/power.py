"""What n runs could have shown, and how many would: for `cannot distinguish`.

Of a t test of a mean against a limit, two-sided, with the spread that was observed: the noncentral t distribution (Cohen, Statistical
Power Analysis, 1988, chapter 2). The spread of few runs is itself doubtful, so these are orientations and never a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from sawtooth.stats.interval import Vector, vector
from sawtooth.stats.quantiles import t_quantile

# More replicates than this decide nothing in practice.
MOST = 1_000_000


def detectable(
    values: Sequence[float] | Vector, level: float = 0.95, power: float = 0.8, against: Sequence[float] | Vector | None = None
) -> float:
    """How far a mean must be from a limit for as many runs of this spread to tell it with probability `power`.

    Args:
        values: one per run, or paired differences; shape (n,).
        level: of the interval that must exclude the limit.
        power: above 1 - level and below 1.
        against: independent runs whose mean is the limit.

    Returns:
        In the unit of the values; infinite of fewer than 2 runs, 0 without variation.

    """
    data = vector(values)
    other = None if against is None else vector(against)
    if data.size < 2 or (other is not None and other.size < 2):
        return float("inf")
    parts = [(float(each.var(ddof=1)) / each.size, each.size - 1) for each in (data, other) if each is not None]
    variance = sum(part for part, _ in parts)
    if variance == 0.0:
        return 0.0
    freedom = variance**2 / sum(part**2 / free for part, free in parts)
    return _noncentrality(freedom, level, power) * float(np.sqrt(variance))


def replicates_needed(
    differences: Sequence[float] | Vector, margin: float, level: float = 0.95, power: float = 0.8, *, equivalent: bool = False
) -> int | None:
    """How many replicates of this spread would tell a mean from a limit that is `margin` away, with probability `power`.

    Args:
        differences: one per replicate, shape (n,).
        margin: distance of the mean from what it is compared with, in the unit of the differences; of no sign.
        level: of the interval.
        power: above 1 - level and below 1.
        equivalent: whether the interval must instead lie within `margin` of 0, where the mean is (equivalence).

    Returns:
        At least 2; nothing where one or no replicate tells the spread, the margin is 0, or more than `MOST` would be needed.

    """
    data = vector(differences)
    if data.size < 2 or not np.isfinite(margin) or margin == 0.0:
        return None
    spread = float(data.std(ddof=1))

    def enough(n: int) -> bool:
        effect = abs(margin) / spread * float(np.sqrt(n))
        if equivalent:
            # Both ends within: the estimate is off by less than margin - t s / sqrt(n) with the power.
            return _central(effect - t_quantile(0.5 + level / 2, n - 1), n - 1) >= power
        return _power(effect, n - 1, level) >= power

    if spread == 0.0:
        return 2
    high = 2
    while not enough(high):
        if high >= MOST:
            return None
        high = min(2 * high, MOST)
    low = high // 2
    while low + 1 < high:
        half = (low + high) // 2
        low, high = (low, half) if enough(half) else (half, high)
    return max(high, 2)


def _central(value: float, freedom: float) -> float:
    """The probability that Student's t is within `value` of 0."""
    from scipy import special

    return 2 * float(cast(Any, special.stdtr(freedom, max(value, 0.0)))) - 1


def _power(noncentrality: float, freedom: float, level: float) -> float:
    """The probability that a two-sided t test rejects. Its other tail, beyond the wrong limit, tells nothing and is left out."""
    from scipy import special

    return 1 - float(cast(Any, special.nctdtr(freedom, noncentrality, t_quantile(0.5 + level / 2, freedom))))


def _noncentrality(freedom: float, level: float, power: float) -> float:
    low, high = 0.0, 1.0
    while _power(high, freedom, level) < power:
        high *= 2
    for _ in range(60):
        half = (low + high) / 2
        low, high = (half, high) if _power(half, freedom, level) < power else (low, half)
    return (low + high) / 2
