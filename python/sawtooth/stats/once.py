"""Intervals of the same values are made once: a report shows a cell in several figures, and decides findings on it at several levels."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import numpy as np

from sawtooth.stats.interval import Interval, Vector

# Of so many samples the intervals are kept, and of samples of so many values: at most 80 MB.
_KEPT, _LARGEST = 1 << 14, 300
_Key = tuple[object, ...]


class once:  # noqa: N801
    """The same function of samples (each of shape (n,), contiguous) and, by name, what else decides its result; it must not write to the samples.

    The key are all bits of all values: what is found is what would be computed. Errors are not kept.
    """

    def __init__(self, made: Callable[..., Interval]) -> None:
        update_wrapper(self, made)
        self._made = made
        self._kept: OrderedDict[_Key, Interval] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, *samples: Vector, **rest: Any) -> Interval:
        """What the function makes of them, or made before."""
        if any(each.size > _LARGEST for each in samples):
            return self._made(*samples, **rest)
        key = _key(samples, rest)
        found = self._found(key)
        if found is None:
            found = self._made(*(np.frombuffer(each.tobytes(), dtype=np.float64) for each in samples), **rest)
            self._keep(key, found)
        return found

    def lacks(self, *samples: Vector, **rest: Any) -> bool:
        """Whether it is worth the while to `put` what is made of these: it is not known, and would be kept."""
        return all(each.size <= _LARGEST for each in samples) and self._found(_key(samples, rest)) is None

    def put(self, found: Interval, *samples: Vector, **rest: Any) -> None:
        """Keeps what was made of samples together with that of others; it is what the function would make of these alone."""
        self._keep(_key(samples, rest), found)

    def _found(self, key: _Key) -> Interval | None:
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def _keep(self, key: _Key, found: Interval) -> None:
        with self._lock:
            self._kept[key] = found
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)


def _key(samples: tuple[Vector, ...], rest: dict[str, Any]) -> _Key:
    return (*(each.tobytes() for each in samples), *sorted(rest.items()))
