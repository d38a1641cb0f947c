"""The interval of a share: how many of n did."""

from __future__ import annotations

from typing import Any, cast

from sawtooth.stats.interval import Interval, percent


def share(did: int, n: int, level: float = 0.95) -> Interval:
    """The share of n that did, with its exact interval at mid-p (Lancaster, JASA 56, 1961; Berry and Armitage, The Statistician 44, 1995).

    The exact one of Clopper and Pearson, but what was seen counts half in each tail: it covers with `level` on average over shares,
    where theirs covers with more.

    Raises:
        ValueError: if it is not 0 <= did <= n with n > 0.

    """
    if not 0 <= did <= n or not n:
        raise ValueError(f"{did} of {n} is no share")
    tail = (1 - level) / 2
    low = 0.0 if did == 0 else _solved(did, n, 1 - tail)
    high = 1.0 if did == n else _solved(did, n, tail)
    return Interval(did / n, low, high, n, f"{percent(level)} mid-p binomial interval")


def _solved(did: int, n: int, wanted: float) -> float:
    """The share with which fewer than `did`, and half of those as many, have the probability `wanted`, which falls as the share rises."""
    from scipy import special

    low, high = 0.0, 1.0
    for _ in range(60):
        p = (low + high) / 2
        fewer = float(cast(Any, special.bdtr(did - 1, n, p))) if did else 0.0
        if (fewer + float(cast(Any, special.bdtr(did, n, p)))) / 2 > wanted:
            low = p
        else:
            high = p
    return (low + high) / 2
