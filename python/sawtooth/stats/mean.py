"""The interval of a mean, by a written rule that is decided by the data alone: docs/concepts/statistics.md has it, numbered.

An interval is the widest of those that serve: Student's t always; the log-scale one's far end where all values are on one side of 0;
bootstrap-t where many values are alike or the data are skewed to where no logarithm helps. To choose one of them by the data would
itself cost coverage; to take the widest costs little where they agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sawtooth.stats import logscale, studentised
from sawtooth.stats.interval import Interval, Vector, percent, unbounded, unvaried, vector
from sawtooth.stats.once import once
from sawtooth.stats.quantiles import t_quantile

# Values of which this share is alike are tied.
TIED = 0.4
# Third central moment over the cubed standard deviation, from which on data are skewed.
SKEWED = 1.0
# A mean that may be this many times its estimate is not known.
OPEN = 10.0
# The t interval's near end hardly ever misses the mean of lognormal data, so the far end may miss it with nearly all of 5 %: with 4 %.
# Where values are tied it does, and the far end has its half.
FAR, FAR_TIED = 0.8, 0.5
# Up to this level what resamples say is all; beyond, where they say nothing, their ends are this many times as far as Student's would be.
REACHED, STRETCH = 0.95, 3.0
# A few resamples that happen to vary little put an end anywhere: no finite one is further than this many times Student's.
FURTHEST = 2.0
# The largest sample that is resampled; means of more are normal enough.
RESAMPLED = 300
# Rounding, as a share of the largest value.
_ROUNDING = 1e-12

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Rows:
    """Intervals of the means of samples, all of n values; each of shape (m,).

    Attributes:
        low, high: infinite where n does not suffice.
        alike: no variation; the ends are the value. logs, resampled: what served besides Student's t. open: the far end was beyond `OPEN` times the mean.

    """

    estimate: Vector
    low: Vector
    high: Vector
    alike: Flags
    logs: Flags
    resampled: Flags
    open: Flags


def mean(values: Sequence[float] | Vector, level: float = 0.95, *, origin: bool = True) -> Interval:
    """Mean with its interval by the rule; `kind` names what served, or says that n does not suffice and why.

    Args:
        values: shape (n,), finite.
        level: coverage.
        origin: whether 0 means nothing: not so of logarithms, which have none themselves.

    """
    return _mean(vector(values), level=level, origin=origin)


@once
def _mean(data: Vector, *, level: float, origin: bool) -> Interval:
    n = int(data.size)
    if not n:
        return Interval(np.nan, np.nan, np.nan, 0, "no run tells it")
    if n < 2:
        return unbounded(float(data[0]), 1, "n = 1: no interval")
    return _told(mean_rows(data[None, :], level, origin=origin), 0, n, level)


def made_ready(samples: Iterable[Vector], level: float = 0.95, *, origin: bool = True) -> None:
    """Makes the intervals of the means of many samples at once, for whoever asks for each: it takes a fraction of the time.

    Args:
        samples: each of shape (n,), finite, of any n.
        level: coverage.
        origin: as of `mean`.

    """
    by_size: dict[int, dict[bytes, Vector]] = {}
    for each in samples:
        data = vector(each)
        if data.size > 1 and _mean.lacks(data, level=level, origin=origin):
            by_size.setdefault(data.size, {})[data.tobytes()] = data
    for n, rows in by_size.items():
        made = mean_rows(np.stack([*rows.values()]), level, origin=origin)
        for at, data in enumerate(rows.values()):
            _mean.put(_told(made, at, n, level), data, level=level, origin=origin)


def _told(rows: Rows, at: int, n: int, level: float) -> Interval:
    """One of many intervals, with the names of what served."""
    estimate = float(rows.estimate[at])
    if rows.alike[at]:
        return unvaried(estimate, n, level)
    if rows.open[at]:
        return unbounded(estimate, n, f"n = {n} does not suffice: by a lognormal distribution the mean may be beyond {OPEN:.0f} times this")
    low, high = float(rows.low[at]), float(rows.high[at])
    if not np.isfinite(high - low):
        return unbounded(estimate, n, f"n = {n} does not suffice: too many values are alike, or far off")
    served = ["t", *(["log-scale"] if rows.logs[at] else []), *(["bootstrap-t"] if rows.resampled[at] else [])]
    named = served[0] if len(served) == 1 else " and ".join([", ".join(served[:-1]), served[-1]])
    return Interval(estimate, low, high, n, f"{percent(level)} {named} interval")


def mean_rows(rows: Vector, level: float = 0.95, *, origin: bool = True) -> Rows:
    """The rule for many samples at once: of shape (m, n), n >= 2."""
    n = rows.shape[1]
    spread = rows.std(axis=1, ddof=1)
    largest = np.abs(rows).max(axis=1)
    alike = np.ptp(rows, axis=1) <= _ROUNDING * largest
    # A sum of what is alike, divided by its number, may be another value in its last bit.
    estimate = np.where(alike, rows[:, 0], rows.mean(axis=1))
    half = t_quantile(0.5 + level / 2, n - 1) * spread / np.sqrt(n)
    low, high = estimate - half, estimate + half
    above, below = rows.min(axis=1) > 0, rows.max(axis=1) < 0
    skewness = _skewness(rows)
    logs = (above | below) & ~alike & origin
    many = tied(rows)
    open_ = np.zeros(len(rows), dtype=np.bool_)
    if logs.any():
        far = np.full(len(rows), -np.inf)
        far[logs] = logscale.mean_end(np.abs(rows[logs]), 1 - np.where(many[logs], FAR_TIED, FAR) * (1 - level))
        open_ = far > OPEN * np.abs(estimate)
        high, low = np.where(above & logs, np.maximum(high, far), high), np.where(below & logs, np.minimum(low, -far), low)
    towards = np.where(below, -skewness, skewness)
    skewed = np.where(logs, towards < -SKEWED, np.abs(skewness) > SKEWED)
    resampled = (skewed | many) & ~alike & ~open_ & (n <= RESAMPLED)
    # Resamples of a few values have no far tails: beyond `REACHED`, where they say nothing, their ends there are stretched, as Student's are and
    # `STRETCH` times as far, so that only what is far off is told.
    further = t_quantile(0.5 + level / 2, n - 1) / t_quantile(0.5 + REACHED / 2, n - 1)
    for at in np.flatnonzero(resampled):
        middle, reach = float(estimate[at]), FURTHEST * float(half[at])
        ends = _within(studentised.mean_ends(rows[at], level), middle, reach)
        if level > REACHED and not np.isfinite(ends).all():
            nearer = _within(studentised.mean_ends(rows[at], REACHED), middle, reach / further)
            pairs = zip(ends, nearer, strict=True)
            ends = tuple(end if np.isfinite(end) else middle + STRETCH * further * (near - middle) for end, near in pairs)
        low[at], high[at] = min(low[at], ends[0]), max(high[at], ends[1])
    unknown = open_ | ~np.isfinite(high - low)
    low, high = np.where(unknown, -np.inf, low), np.where(unknown, np.inf, high)
    return Rows(estimate, np.where(alike, estimate, low), np.where(alike, estimate, high), alike, logs, resampled, open_)


def tied(rows: Vector) -> Flags:
    """Whether a value makes up `TIED` of a row while others stand alone; data of few levels have none that stand alone."""
    ordered = np.sort(rows, axis=1)
    same = ordered[:, 1:] == ordered[:, :-1]
    if not same.any():
        return np.zeros(len(rows), dtype=np.bool_)
    edge = np.zeros((len(rows), 1), dtype=np.bool_)
    alone = ~(np.hstack([edge, same]) | np.hstack([same, edge]))
    run = np.ones(len(rows), dtype=np.int64)
    most = run.copy()
    for column in same.T:
        run = np.where(column, run + 1, 1)
        most = np.maximum(most, run)
    return (most > 1) & (most >= TIED * rows.shape[1]) & alone.any(axis=1)


def _within(ends: tuple[float, ...], middle: float, reach: float) -> tuple[float, ...]:
    """Ends no further than `reach` from the middle; infinite ones stay so."""
    return tuple(end if np.isinf(end) else min(max(end, middle - reach), middle + reach) for end in ends)


def _skewness(rows: Vector) -> Vector:
    off = rows - rows.mean(axis=1, keepdims=True)
    second = (off**2).mean(axis=1)
    return (off**3).mean(axis=1) / np.where(second > 0, second, 1.0) ** 1.5
