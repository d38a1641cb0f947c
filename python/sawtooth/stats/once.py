"""Intervals of the same values are made once: a report shows a cell in several figures, and decides findings on it at several levels."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

import numpy as np

from sawtooth.stats.interval import Interval, Vector

# Of so many samples the intervals are kept, and of samples of so many values: at most 80 MB.
_KEPT, _LARGEST = 1 << 14, 300


def once(made: Callable[..., Interval]) -> Callable[..., Interval]:
    """The same function of samples (each of shape (n,), contiguous) and, by name, what else decides its result; it must not write to the samples.

    The key are all bits of all values: what is found is what would be computed. Errors are not kept.
    """

    @lru_cache(_KEPT)
    def known(samples: tuple[bytes, ...], **rest: Any) -> Interval:
        return made(*(np.frombuffer(each, dtype=np.float64) for each in samples), **rest)

    @wraps(made)
    def either(*samples: Vector, **rest: Any) -> Interval:
        if any(each.size > _LARGEST for each in samples):
            return made(*samples, **rest)
        return known(tuple(each.tobytes() for each in samples), **rest)

    return either
