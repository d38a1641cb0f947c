"""Whether a measure rises or falls with a factor, the others being strata.

A designed factorial is not a sample of cells: resampling them would ask how the result varies over designs that nobody has made. What
chance can change is which of a stratum's runs has which value: so values are permuted within strata (Page, Journal of the American
Statistical Association 58, 1963, for one value per level; Lehmann, Nonparametrics, 1975, section 7.2, in general).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from sawtooth.stats.interval import Vector, vector
from sawtooth.stats.quantiles import normal_quantile

PERMUTATIONS = 9999
_SEED = 1
# Larger strata are not enumerated: 8! is 40,320.
_ENUMERATED = 8
# Pairs of values of a distribution and of another that it is added to, at most.
_PAIRS = 2_000_000
# Digits of a correlation that are told apart, the steps of the last of them, and the bits that number pairs.
_DIGITS = 9
_STEPS = 10.0**_DIGITS
_PLACE = _PAIRS.bit_length()


@dataclass(frozen=True)
class Trend:
    """Monotone association of y with x within strata.

    Attributes:
        rho: Spearman's correlation within strata, averaged with weights n - 1; not a number where x varies in none.
        low, high: its approximate 95 % interval by Fisher's transformation, with the variance of Bonett and Wright (Psychometrika 65, 2000).
        p: two-sided: how often values permuted within strata are at least as far from no association.
        strata: in which x varies. n: values in them.
        method: how p was made.

    """

    rho: float
    low: float
    high: float
    p: float
    strata: int
    n: int
    method: str


def trend(strata: Sequence[tuple[Sequence[float] | Vector, Sequence[float] | Vector]], level: float = 0.95) -> Trend:
    """Whether y rises or falls with x within strata.

    Args:
        strata: x and y of each, of one length: its runs (or one value per level). Strata may differ in size; those in which x is the
            same throughout say nothing, those in which y is say that there is no association.
        level: of the interval.

    Raises:
        ValueError: if x and y of a stratum differ in length, or a value is not a number.

    """
    ranked = [pair for at, (x, y) in enumerate(strata) if (pair := _ranked(at, vector(x), vector(y))) is not None]
    n = sum(x.size for x, _ in ranked)
    if not ranked:
        return Trend(np.nan, np.nan, np.nan, np.nan, 0, 0, "x varies in no stratum")
    weights = np.array([x.size - 1 for x, _ in ranked], dtype=np.float64)
    weights /= weights.sum()
    # Each stratum's part of the correlation is x @ y.
    parts = [(weight * x, y) for weight, (x, y) in zip(weights, ranked, strict=True)]
    rho = float(sum(x @ y for x, y in parts))
    found = _exact(parts, abs(rho))
    p, method = (
        (found, "exact permutation test within strata")
        if found is not None
        else (_sampled(parts, abs(rho)), f"{PERMUTATIONS:,} permutations within strata")
    )
    low, high = _fisher(rho, parts, n - len(ranked) + 1, level)
    return Trend(rho, low, high, p, len(ranked), n, method)


def midranks(values: Vector) -> Vector:
    """Ranks from 1, those of equal values their mean; shape (n,)."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place]


def _ranked(at: int, x: Vector, y: Vector) -> tuple[Vector, Vector] | None:
    """Ranks of both less their mean, of length 1, so that their product is Spearman's correlation."""
    if x.shape != y.shape:
        raise ValueError(f"stratum {at} has {x.size} values of x and {y.size} of y")
    if np.isnan(x).any() or np.isnan(y).any():
        raise ValueError(f"stratum {at} has a value that is not a number")
    a, b = (_unit(midranks(values)) for values in (x, y))
    return (a, b) if a.any() else None


def _unit(ranks: Vector) -> Vector:
    off = ranks - ranks.mean() if ranks.size else ranks
    length = float(np.sqrt((off**2).sum()))
    return off / length if length > 0 else np.zeros_like(off)


def _exact(parts: Sequence[tuple[Vector, Vector]], observed: float) -> float | None:
    """The share of all permutations that are as far from 0; none if they are too many to be enumerated.

    Values are counted in steps of the last digit that is told apart: whole numbers are added and sorted faster than rounded ones, and are the same.
    """
    steps, shares = np.zeros(1, np.int64), np.ones(1)
    for x, y in parts:
        if x.size > _ENUMERATED:
            return None
        own, counts = np.unique(np.rint(y[_orders(x.size)] @ x * _STEPS).astype(np.int64), return_counts=True)
        if own.size * steps.size > _PAIRS:
            return None
        # Which of all pairs it is stands in the lower bits: so equal sums stay in the order of their rows, one for each value of this stratum.
        rows, places = np.arange(own.size) * steps.size, np.arange(steps.size)
        pairs = np.add.outer((own << _PLACE) + rows, (steps << _PLACE) + places).ravel()
        pairs.sort()
        sums = pairs >> _PLACE
        pairs &= (1 << _PLACE) - 1
        first = np.flatnonzero(np.diff(sums, prepend=sums[0] - 1))
        steps = sums[first]
        shares = np.add.reduceat(np.multiply.outer(counts / counts.sum(), shares).ravel()[pairs], first)
    return float(min(1.0, shares[np.abs(steps / _STEPS) >= observed - 10 ** -(_DIGITS - 2)].sum()))


@lru_cache(maxsize=16)
def _orders(n: int) -> NDArray[np.int64]:
    return np.array(list(permutations(range(n))), dtype=np.int64)


def _sampled(parts: Sequence[tuple[Vector, Vector]], observed: float) -> float:
    """The share of permutations drawn, with the one observed, that are as far from 0 (Phipson and Smyth, 2010); always the same draws."""
    generator = np.random.default_rng(_SEED)
    total = np.zeros(PERMUTATIONS)
    for x, y in parts:
        total += generator.permuted(np.broadcast_to(y, (PERMUTATIONS, y.size)), axis=1) @ x
    return float(((np.abs(total) >= observed - 1e-12).sum() + 1) / (PERMUTATIONS + 1))


def _fisher(rho: float, parts: Sequence[tuple[Vector, Vector]], size: int, level: float) -> tuple[float, float]:
    """The interval of a correlation of `size` values, that many less one being free; the whole range where they are three or fewer.

    A perfect one is taken as half a step of ranks less: its transformation is infinite.
    """
    if size <= 3:
        return -1.0, 1.0
    step = min(float(np.diff(np.unique(x)).min() * np.diff(np.unique(y)).min()) if y.any() else 1.0 for x, y in parts)
    inner = float(np.clip(rho, step / 2 - 1, 1 - step / 2))
    half = normal_quantile(0.5 + level / 2) * float(np.sqrt((1 + inner**2 / 2) / (size - 3)))
    middle = float(np.arctanh(inner))
    low, high = float(np.tanh(middle - half)), float(np.tanh(middle + half))
    return min(low, rho), max(high, rho)
