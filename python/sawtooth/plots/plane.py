"""Two measures against each other: a point per series, with the intervals of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sawtooth.estimates import Estimate
from sawtooth.plots import facets
from sawtooth.plots.style import named, plain_ticks

Point = tuple[Estimate, Estimate]
"""Horizontal and vertical."""


def panels(
    data: Sequence[Mapping[str, Sequence[Point]]],
    titles: tuple[Sequence[str], Sequence[str]],
    names: Sequence[str],
    labels: tuple[str, str],
    *,
    scale: str = "linear",
    turned: bool = False,
) -> Figure:
    """One panel per entry of `data`, one colour per series, all panels on the same axes, which begin at 0 or are logarithmic.

    Args:
        data: of each panel, series to points.
        titles: of rows and columns.
        names: of all series, in order.
        labels: of x and y.
        scale: of both.
        turned: whether x runs from large to small.

    """
    laid = facets.grid(*titles, height=2.7)
    order = facets.in_order(names)
    for axis, series in zip(laid.axes, data, strict=True):
        for name, points in series.items():
            look: dict[str, Any] = {**facets.look(order[name]), "linestyle": "none"}
            x, y = (np.array([point[side].interval.estimate for point in points]) for side in (0, 1))
            x_reach, y_reach = (np.array([facets.reach(point[side].interval) for point in points]).reshape(-1, 2).T for side in (0, 1))
            axis.errorbar(x, y, xerr=x_reach, yerr=y_reach, markersize=5, elinewidth=1, capsize=2, label=named(name), **look)
            for point in points:
                place = point[0].interval.estimate, point[1].interval.estimate
                if np.isfinite(place).all():
                    for side, along in zip(point, ("x", "y"), strict=True):
                        facets.marks(axis, place, side, str(look["color"]), along)
    first = laid.axes[0]
    every = [point for series in data for points in series.values() for point in points if all(side.values for side in point)]
    for side, along in enumerate(("x", "y")):
        _limits(first, along, [point[side] for point in every], scale)
    if turned:
        # All panels share their axes.
        first.invert_xaxis()
    laid.label(*labels)
    laid.legend(names)
    return laid.made


def _limits(axis: Axes, along: str, points: Sequence[Estimate], scale: str) -> None:
    """From 0, unless something is below or the axis is logarithmic; with room for arrows."""
    values = [value for point in points for value in (*point.values, point.interval.low, point.interval.high) if np.isfinite(value)]
    up, down = (any(point.bound == side for point in points) for side in ("at least", "at most"))
    limits = getattr(axis, f"set_{along}lim")
    if scale == "log":
        positive = [value for value in values if value > 0] or [1.0]
        getattr(axis, f"set_{along}scale")("log")
        limits(min(positive) / (2.0 if down else 1.3), max(positive) * (2.0 if up else 1.3))
        plain_ticks(getattr(axis, f"{along}axis"))
        return
    low, high = min([0.0, *values]), max([0.0, *values])
    span = (high - low) or 1.0
    limits(low - (0.14 if down else 0.05) * span if low < 0 else 0.0, high + (0.14 if up else 0.08) * span if high > 0 or not low else 0.0)
