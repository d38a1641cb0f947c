"""Where a measure lies over replicates of which some are only known between two ends: what its centre is at least, and at most.

An end may be infinite: a run that did not finish has no most, and what is taken off a time that did not end has no least.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sawtooth.stats.centre import Centre, centre
from sawtooth.stats.interval import Interval, Vector, unbounded
from sawtooth.stats.median import median

_OPEN = "runs that did not finish leave no bound"


def centre_between(low: Vector, high: Vector, of: Centre = "mean", level: float = 0.95) -> tuple[Interval, Interval]:
    """The centres of what runs are at least and at most, each with its interval; the same one twice where all is known.

    What has no bound has an infinite estimate. A mean has none as soon as one value has none; a median goes by order, in which what has no bound is
    beyond all others, so it and the ends of its interval are known as long as those places are.

    Args:
        low: what each run is at least, shape (n,).
        high: what it is at most, likewise.
        of: one of `CENTRES`.
        level: coverage.

    """
    if np.array_equal(low, high):
        found = centre(low, of, level)
        return found, found
    if of == "geometric mean":
        exact = low == high
        if float(np.min(np.where(exact, high, low))) < 0 or bool((low[exact] <= 0).any()):
            nothing = unbounded(math.nan, len(low), "no geometric mean: a value is not above 0, or may not be")
            return nothing, nothing
        # That of a value which may be 0 may be 0.
        low = np.where(low == 0, -np.inf, low)
    return _end(low, of, level), _end(high, of, level)


def _end(values: Vector, of: Centre, level: float) -> Interval:
    known = np.isfinite(values)
    if known.all():
        return centre(values, of, level)
    if of != "median":
        return unbounded(float(values[~known][0]), len(values), _OPEN)
    if not known.any():
        return unbounded(float(values[0]), len(values), _OPEN)
    # Numbers beyond all others stand for what has no bound; interpolation towards one of them has none, either.
    bottom, top = float(values[known].min()), float(values[known].max())
    beyond = 2 * (top - bottom) + 1.0 + 2 * max(abs(top), abs(bottom))
    found = median(np.nan_to_num(values, posinf=top + beyond, neginf=bottom - beyond), level)
    ends = [math.inf if end > top else -math.inf if end < bottom else end for end in (found.estimate, found.low, found.high)]
    return replace(found, estimate=ends[0], low=ends[1], high=ends[2], kind=found.kind if math.isfinite(ends[0]) else _OPEN)
