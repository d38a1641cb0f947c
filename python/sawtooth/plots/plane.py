"""Two measures against each other: a point per series, with the intervals of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from sawtooth.plots import facets
from sawtooth.plots.style import named, plain_ticks
from sawtooth.stats import Interval

Point = tuple[Interval, Interval]
"""Horizontal and vertical."""


def panels(
    data: Sequence[Mapping[str, Sequence[Point]]],
    titles: tuple[Sequence[str], Sequence[str]],
    names: Sequence[str],
    labels: tuple[str, str],
    *,
    scale: str = "linear",
) -> Figure:
    """One panel per entry of `data`, one colour per series, all panels on the same axes, which begin at 0 or are logarithmic.

    Args:
        data: of each panel, series to points.
        titles: of rows and columns.
        names: of all series, in order.
        labels: of x and y.
        scale: of both.

    """
    laid = facets.grid(*titles, height=2.7)
    order = facets.in_order(names)
    for axis, series in zip(laid.axes, data, strict=True):
        for name, points in series.items():
            look: dict[str, Any] = {**facets.look(order[name]), "linestyle": "none"}
            x, y = (np.array([point[side].estimate for point in points]) for side in (0, 1))
            x_reach, y_reach = (np.array([point[side].reach() for point in points]).T for side in (0, 1))
            axis.errorbar(x, y, xerr=x_reach, yerr=y_reach, markersize=5, elinewidth=1, capsize=2, label=named(name), **look)
    first = laid.axes[0]
    if scale == "log":
        first.set_xscale("log")
        first.set_yscale("log")
        plain_ticks(first.xaxis)
        plain_ticks(first.yaxis)
    else:
        ends = [[_end(point[side]) for series in data for points in series.values() for point in points] for side in (0, 1)]
        lows = [[point[side].estimate for series in data for points in series.values() for point in points] for side in (0, 1)]
        first.set_xlim(min([0.0, *lows[0]]), 1.1 * max([*ends[0], 1e-9]))
        first.set_ylim(min([0.0, *lows[1]]), 1.1 * max([*ends[1], 1e-9]))
    laid.label(*labels)
    laid.legend(names)
    return laid.made


def _end(interval: Interval) -> float:
    return interval.high if np.isfinite(interval.high) else interval.estimate
