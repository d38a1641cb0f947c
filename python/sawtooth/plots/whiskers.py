"""Intervals on axes that do not hold all of them: an end that is beyond the axis has a head there, as in the forest of verdicts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from sawtooth.stats import Interval

_HEADS = {"x": ("<", ">"), "y": ("v", "^")}


def reaches(intervals: Sequence[Interval], limits: tuple[float, float]) -> NDArray[np.float64]:
    """Distances from the estimates to the ends, shape (2, n), for error bars: no farther than the axis; 0 towards an end that there is not."""
    low, high = limits
    ends = [
        (
            each.estimate - max(each.low, low) if np.isfinite(each.low) else 0.0,
            min(each.high, high) - each.estimate if np.isfinite(each.high) else 0.0,
        )
        for each in intervals
    ]
    return np.array(ends, dtype=np.float64).reshape(-1, 2).T.clip(min=0.0)


def heads(
    axis: Axes, intervals: Sequence[Interval], places: Sequence[float], limits: tuple[float, float], colour: str, along: str = "x"
) -> None:
    """Marks the ends that are beyond the axis.

    Args:
        axis: with these limits.
        intervals: that are drawn along `along`.
        places: of each on the other axis.
        limits: of the axis.
        colour: of the heads.
        along: `x` or `y`.

    """
    for each, place in zip(intervals, places, strict=True):
        for is_beyond, end, head in zip(beyond(each, limits), limits, _HEADS[along], strict=True):
            if is_beyond:
                at = (end, place) if along == "x" else (place, end)
                # Half of it lies outside of the axes.
                axis.plot(*at, head, color=colour, markersize=4, clip_on=False, zorder=4)


def beyond(each: Interval, limits: tuple[float, float]) -> tuple[bool, bool]:
    """Whether an interval's ends, of those that it has, are beyond these limits."""
    return bool(np.isfinite(each.low)) and each.low < limits[0], bool(np.isfinite(each.high)) and each.high > limits[1]


def said(intervals: Sequence[Interval], limits: tuple[float, float]) -> str:
    """What a caption says of intervals that axes with these limits do not hold, and of those that are none."""
    cut = sum(any(beyond(each, limits)) for each in intervals)
    lacking = [each.kind for each in intervals if not np.isfinite(each.low) and not np.isfinite(each.high)]
    told = f" A head at the end of an axis: {'the interval goes' if cut == 1 else f'{cut} intervals go'} on beyond it." if cut else ""
    if lacking:
        kinds = "; ".join(dict.fromkeys(lacking))
        told += f" Without an interval: {len(lacking)} of {len(intervals)} ({kinds})."
    return told
