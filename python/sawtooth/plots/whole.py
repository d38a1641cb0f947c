"""Axes of counts: ticks at whole numbers, as there is no half a timeout."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import AutoLocator, MaxNLocator

_FEW = 2.0
"""An axis of no more may be one of means that differ by less than one."""


def ticked(picture: Callable[[], Figure], along: Collection[str]) -> Figure:
    """A picture in which some linear axes have whole numbers at their ticks.

    Args:
        picture: what makes it.
        along: which axes: `x`, `y`, or `right` for vertical ones that stand there.

    """
    made = picture()
    for axes in made.axes:
        upright = "right" if str(axes.yaxis.get_label_position()) == "right" else "y"
        for name, axis in (("x", axes.xaxis), (upright, axes.yaxis)):
            # Ticks that somebody has chosen stay, and so do those of a logarithmic axis.
            if name in along and isinstance(axis.get_major_locator(), AutoLocator) and _is_whole(axes, "x" if name == "x" else "y"):
                axis.set_major_locator(locator())
    return made


def locator() -> MaxNLocator:
    """Where ticks of an axis of counts are."""
    return MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True, min_n_ticks=1)


def _is_whole(axes: Axes, along: str) -> bool:
    """Whether an axis is long enough for whole numbers to tell its values apart, or has no others."""
    low, high = axes.get_xlim() if along == "x" else axes.get_ylim()
    if abs(high - low) > _FEW:
        return True
    lines = [np.asarray(line.get_xdata() if along == "x" else line.get_ydata(), dtype=np.float64) for line in axes.get_lines()]
    values = np.concatenate([each.ravel() for each in lines] or [np.zeros(0)])
    values = values[np.isfinite(values)]
    return bool(values.size) and bool((values == np.round(values)).all())
