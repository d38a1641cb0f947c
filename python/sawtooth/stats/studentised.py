"""The bootstrap-t interval of a mean (Efron, The Jackknife, the Bootstrap and Other Resampling Plans, 1982, section 10.10).

Each resample has its own t; their quantiles stand for Student's. It follows skewness, and where many values are alike it says by itself
when they are too few: a resample without variation is infinitely many standard errors away, and so is the end that needs it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sawtooth.stats.interval import Vector

RESAMPLES = 999
_SEED = 1


def mean_ends(data: Vector, level: float) -> tuple[float, float]:
    """Limits of the mean of values of shape (n,), n >= 2, not all alike; always the same for the same data.

    Infinite where resamples without variation reach into a tail, or the level asks for more of a tail than there are resamples in it.
    """
    t = _resampled(data.tobytes())
    at = int((RESAMPLES + 1) * (1 - level) / 2 + 1e-9)
    if at < 1:
        return -np.inf, np.inf
    lowest, highest = float(t[at - 1]), float(t[-at])
    middle, spread = float(data.mean()), float(data.std(ddof=1))
    return middle - spread * highest, middle - spread * lowest


# A verdict asks for the same values at several levels, and the sign test whether they have an interval.
@lru_cache(maxsize=256)
def _resampled(sample: bytes) -> Vector:
    """The t of each resample of values with these bits, in order."""
    data = np.frombuffer(sample, dtype=np.float64)
    drawn = data[_draws(data.size)]
    off = drawn.mean(axis=1) - data.mean()
    # Sums of the same values in another order differ by rounding.
    scale = 1e-12 * float(np.abs(data).max())
    off[np.abs(off) <= scale] = 0.0
    error = drawn.std(axis=1, ddof=1)
    alike = error <= scale
    t = np.where(alike, np.where(off == 0, 0.0, np.copysign(np.inf, off)), off / np.where(alike, 1.0, error))
    t.sort()
    return t


@lru_cache(maxsize=64)
def _draws(n: int) -> NDArray[np.int64]:
    return np.random.default_rng(_SEED).integers(0, n, (RESAMPLES, n))
