"""How far two treatments are apart: the difference and the ratio of their means, by the same rule as a mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from sawtooth.stats.interval import Interval, Vector, percent, unbounded, unvaried, vector
from sawtooth.stats.mean import FAR, OPEN, made_ready, mean
from sawtooth.stats.means import Means, means_of_groups, means_of_pairs, ratio_interval
from sawtooth.stats.once import once
from sawtooth.stats.quantiles import t_quantile

_DRAWS = 4000
_SEED = 1
_NOISE = 1e-13
"""Share of a value by which sums in another order may differ."""


def difference(
    first: Sequence[float] | Vector, second: Sequence[float] | Vector, paired: bool = True, level: float = 0.95, times: float = 1.0
) -> Interval:
    """The mean of `first` less `times` the mean of `second`.

    Args:
        first: one value per run.
        second: likewise.
        paired: whether position i of both is one replicate, under common random numbers: the interval is that of the mean of the
            differences by the rule. Otherwise it is Welch's t interval. Where all values are above 0 it is no narrower than the
            log-scale one of two lognormal means, at either end.
        level: coverage.
        times: a factor of the second.

    Raises:
        ValueError: if paired data differ in length.

    """
    a, b = _both(first, second, paired)
    return _difference(a, b, paired=paired, level=level, times=times)


def differences_made_ready(pairs: Iterable[tuple[Vector, Vector]], level: float = 0.95, times: float = 1.0) -> None:
    """Makes the means that intervals of paired differences rest on, of many pairs of samples at once, for whoever asks for each.

    Args:
        pairs: as `first` and `second` of `difference`, each finite.
        level: coverage.
        times: a factor of the second of each.

    """
    # Which mean each asks for, by whether 0 means nothing.
    asked: dict[bool, list[Vector]] = {True: [], False: []}
    for first, second in pairs:
        a, b = _both(first, second, True)
        if a.size < 2:
            continue
        still_a, still_b = _still(a, times * b)
        if still_a != still_b:
            asked[True].append(a if still_b else times * b)
        else:
            asked[not (times > 0 and _positive(a, b))].append(apart(a, times * b))
    for origin, samples in asked.items():
        made_ready(samples, level, origin=origin)


@once
def _difference(a: Vector, b: Vector, *, paired: bool, level: float, times: float) -> Interval:
    n = int(min(a.size, b.size))
    if paired and n > 1 and (level_of := _less_a_constant(a, times * b, level)) is not None:
        return level_of
    logs = n > 1 and times > 0 and _positive(a, b)
    if paired:
        found = mean(apart(a, times * b), level, origin=not logs)
        named = found.kind.removeprefix(f"{percent(level)} ").removesuffix(" interval")
    else:
        found, named = _welch(a, b, level, times), "Welch t"
    if not logs or found.low == found.high or not np.isfinite(found.high - found.low):
        return found
    ends = _quantiles(_lognormal(a.tobytes(), b.tobytes(), paired, times), _tails(level))
    low, high = min(found.low, ends[0]), max(found.high, ends[1])
    middle = found.estimate
    if max(middle - low, high - middle) > OPEN * (float(a.mean()) + times * float(b.mean())):
        return unbounded(
            middle, n, f"n = {n} does not suffice: by lognormal distributions a mean may be beyond {OPEN:.0f} times its estimate"
        )
    named = named.replace(" and ", ", ")
    return Interval(middle, low, high, n, f"{percent(level)} {named} and log-scale interval")


def _less_a_constant(a: Vector, b: Vector, level: float) -> Interval | None:
    """Of pairs one side of which is always the same: the interval of the other's mean, less that; None of other pairs."""
    still_a, still_b = _still(a, b)
    if still_a == still_b:
        return None
    if still_b:
        return mean(a, level).less(float(b[0]))
    found, by = mean(b, level), float(a[0])
    return replace(found, estimate=by - found.estimate, low=by - found.high, high=by - found.low)


def _still(a: Vector, b: Vector) -> tuple[bool, bool]:
    """Of each side, whether it is always the same."""
    one, other = (bool(np.ptp(side) <= _NOISE * float(np.abs(side).max())) for side in (a, b))
    return one, other


def apart(a: Vector, b: Vector) -> Vector:
    """The differences of pairs; what is only noise of their last binary digits is none."""
    differences = a - b
    return np.where(np.abs(differences) <= _NOISE * np.maximum(np.abs(a), np.abs(b)), 0.0, differences)


def _welch(a: Vector, b: Vector, level: float, times: float) -> Interval:
    n = int(min(a.size, b.size))
    if not n:
        return Interval(np.nan, np.nan, np.nan, 0, "no run tells it")
    if n < 2:
        return unbounded(float(a.mean() - times * b.mean()), 1, "n = 1: no interval")
    middle, error, freedom = means_of_groups(a, b).contrast(times)
    if error == 0.0:
        return unvaried(middle, n, level)
    half = t_quantile(0.5 + level / 2, freedom) * error
    return Interval(middle, middle - half, middle + half, n, f"{percent(level)} Welch t interval")


def ratio(first: Sequence[float] | Vector, second: Sequence[float] | Vector, paired: bool = True, level: float = 0.95) -> Interval:
    """The mean of `first` over the mean of `second`.

    Fieller's interval, and where all values are above 0 the log-scale one: the wider at each end; that alone where Fieller's is
    unbounded, or goes to 0, because Student's t cannot tell one of the means from 0.

    Args:
        first: one value per run.
        second: likewise.
        paired: whether position i of both is one replicate.
        level: coverage.

    Raises:
        ValueError: if paired data differ in length.

    """
    a, b = _both(first, second, paired)
    n = int(min(a.size, b.size))
    if not n:
        return Interval(np.nan, np.nan, np.nan, 0, "no run tells it")
    means: Means = means_of_pairs(a, b) if paired else means_of_groups(a, b)
    fieller = ratio_interval(means, level)
    found = Interval(fieller.estimate, fieller.low, fieller.high, n, fieller.kind)
    if n < 2 or means.second == 0.0:
        return found
    ratios = a / b if paired and np.all(b != 0) else np.array([0.0, 1.0])
    if max(means.variances) == 0.0 or np.ptp(ratios) <= 1e-12 * np.abs(ratios).max():
        return unvaried(found.estimate, n, level)
    if not _positive(a, b):
        return found
    one, other = _log_means(a, b, paired)
    with np.errstate(over="ignore"):
        low, high = (float(end) for end in np.exp(np.quantile(one - other, _tails(level))))
    # As where Student's t cannot tell the second mean from 0, so where it cannot the first: a ratio of what is above 0 is above 0.
    bounded = np.isfinite(found.high - found.low) and found.low > 0
    if bounded:
        low, high = min(low, found.low), max(high, found.high)
    if high > OPEN * found.estimate or low < found.estimate / OPEN:
        why = f"by lognormal distributions the ratio may be beyond {OPEN:.0f} times or a tenth of this"
        return unbounded(found.estimate, n, f"n = {n} does not suffice: {why}")
    return Interval(found.estimate, low, high, n, f"{percent(level)} {'Fieller and ' if bounded else ''}log-scale interval")


def _both(first: Sequence[float] | Vector, second: Sequence[float] | Vector, paired: bool) -> tuple[Vector, Vector]:
    a, b = vector(first), vector(second)
    if paired and a.shape != b.shape:
        raise ValueError("paired data must be of one length")
    return a, b


def _positive(a: Vector, b: Vector) -> bool:
    return bool(a.min() > 0 and b.min() > 0)


def _tails(level: float) -> tuple[float, float]:
    tail = FAR * (1 - level)
    return tail, 1 - tail


def _quantiles(ordered: Vector, shares: tuple[float, float]) -> tuple[float, float]:
    """Of values in order, between neighbours in proportion (Hyndman and Fan's seventh: The American Statistician 50, 1996)."""
    places = [share * (ordered.size - 1) for share in shares]
    low, high = (
        float(ordered[int(at)] + (at - int(at)) * (ordered[min(int(at) + 1, ordered.size - 1)] - ordered[int(at)])) for at in places
    )
    return low, high


@lru_cache(maxsize=64)
def _pivots(n: int, which: int) -> tuple[Vector, Vector]:
    """Standard normal and chi-squared variables of n - 1 degrees of freedom, always the same."""
    generator = np.random.default_rng((_SEED, n, which))
    return generator.standard_normal(_DRAWS), generator.chisquare(n - 1, _DRAWS)


def _log_mean(data: Vector, which: int) -> Vector:
    """Draws of the logarithm of a lognormal mean, given the data (`logscale` says of what distribution)."""
    n = data.size
    logarithms = np.log(data)
    z, chi = _pivots(n, which)
    variance = float(logarithms.var(ddof=1)) * (n - 1) / chi
    return vector(logarithms.mean() - z * np.sqrt(variance / n) + variance / 2)


# A verdict asks for the same values at several levels.
@lru_cache(maxsize=1024)
def _lognormal(first: bytes, second: bytes, paired: bool, times: float) -> Vector:
    """Draws of the difference of two lognormal means, given data with these bits, in order."""
    one, other = _log_means(np.frombuffer(first), np.frombuffer(second), paired)
    with np.errstate(over="ignore", invalid="ignore"):
        drawn: Vector = np.nan_to_num(np.exp(one) - times * np.exp(other), nan=0.0)
    drawn.sort()
    return drawn


@lru_cache(maxsize=64)
def _wishart(n: int) -> tuple[Vector, Vector, Vector]:
    """Inverse Wishart matrices of n degrees of freedom in the plane, by Bartlett's decomposition: the first's variance, what they share, the second's.

    So each variance, and that of the difference, has n - 1 as it would by itself; with n - 1 here they would have n - 2, and few pairs none.
    """
    generator = np.random.default_rng((_SEED, n))
    factor = np.zeros((_DRAWS, 2, 2))
    factor[:, 0, 0] = np.sqrt(generator.chisquare(n, _DRAWS))
    factor[:, 1, 1] = np.sqrt(generator.chisquare(n - 1, _DRAWS))
    factor[:, 1, 0] = generator.standard_normal(_DRAWS)
    (first, shared), (_, second) = np.ascontiguousarray(
        np.linalg.inv(factor @ factor.transpose(0, 2, 1)).transpose(1, 2, 0), dtype=np.float64
    )
    return first, shared, second


def _log_means(a: Vector, b: Vector, paired: bool) -> tuple[Vector, Vector]:
    """Draws of the logarithms of two lognormal means, given the data; of pairs with their covariance (Bebu and Mathew, Statistics in Medicine 27, 2008)."""
    if tuple(a) > tuple(b):
        # The same draws for both orders: what the second is above the first is the mirror image.
        other, one = _log_means(b, a, paired)
        return one, other
    if not paired:
        return _log_mean(a, 0), _log_mean(b, 1)
    n = a.size
    logarithms = [np.log(a), np.log(b)]
    middles = [float(each.mean()) for each in logarithms]
    p, q, r = _root(logarithms[0] - middles[0], logarithms[1] - middles[1])
    # The root's product with each draw, and with the root again, written out: of matrices of two rows a product of arrays of them takes ten times as long.
    one, both, other = _wishart(n)
    first, second = p * p * one + 2 * p * q * both + q * q * other, q * q * one + 2 * q * r * both + r * r * other
    shared = p * q * one + (p * r + q * q) * both + q * r * other
    # Errors of both means, by Cholesky's decomposition; rounding leaves nothing below 0.
    deviation = np.sqrt(np.maximum(first, 0.0))
    slope = shared / np.where(deviation > 0, deviation, 1.0)
    z, apart_of = _pivots(n, 2)[0], _pivots(n, 3)[0]
    off = slope * z + np.sqrt(np.maximum(second - slope**2, 0.0)) * apart_of
    spread = float(np.sqrt(n))
    return middles[0] - deviation * z / spread + first / 2, middles[1] - off / spread + second / 2


def _root(a: Vector, b: Vector) -> tuple[float, float, float]:
    """The square root of the matrix of two deviations' products, which is symmetric, too: its first, shared and second element.

    In the plane it is (M + s) / t, with s the root of M's determinant and t that of its trace and 2 s: by Cayley and Hamilton.
    """
    first, shared, second = float(a @ a), float(a @ b), float(b @ b)
    s = float(np.sqrt(max(first * second - shared**2, 0.0)))
    t = float(np.sqrt(first + second + 2 * s))
    return ((first + s) / t, shared / t, (second + s) / t) if t > 0 else (0.0, 0.0, 0.0)
