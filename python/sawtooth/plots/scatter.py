"""Points in a plane: two measures of single runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sawtooth.estimates import Bound
from sawtooth.plots import facets
from sawtooth.plots.style import named, plain_ticks
from sawtooth.stats import Vector


@dataclass(frozen=True)
class Points:
    """Points of single runs: x and y, each of shape (n,), not a number where nothing bounds it; and what each is that is no value."""

    x: Vector
    y: Vector
    x_bounds: Sequence[Bound]
    y_bounds: Sequence[Bound]

    @property
    def placed(self) -> NDArray[np.bool_]:
        """Which points have a place."""
        return np.isfinite(self.x) & np.isfinite(self.y)

    def over(self, x_divisor: float, y_divisor: float) -> Points:
        """The same in other units."""
        return replace(self, x=self.x / x_divisor, y=self.y / y_divisor)


def runs(
    panels: Sequence[Mapping[str, Points]],
    titles: tuple[Sequence[str], Sequence[str]],
    names: Sequence[str],
    labels: tuple[str, str],
    *,
    scale: str = "linear",
) -> Figure:
    """One panel per entry of `panels`, one colour per name; arrows point from what is only a bound to where the value may be.

    Args:
        panels: of each panel, name to points.
        titles: of rows and columns.
        names: of all series, in order.
        labels: of x and y.
        scale: of both axes.

    """
    laid = facets.grid(*titles, height=2.7)
    order = facets.in_order(names)
    for axis, series in zip(laid.axes, panels, strict=True):
        for name, points in series.items():
            look: dict[str, Any] = {**facets.look(order[name]), "linestyle": "none"}
            many = sum(len(each.x) for each in series.values()) > _MANY
            axis.plot(points.x, points.y, markersize=3 if many else 4.5, alpha=0.6, label=named(name), **look)
            for x, y, *bounds in zip(points.x, points.y, points.x_bounds, points.y_bounds, strict=True):
                by = [{"": 0, "at most": -14}.get(bound, 14) for bound in bounds]
                if any(by) and np.isfinite([x, y]).all():
                    _arrow(axis, (x, y), (by[0], by[1]), str(look["color"]))
    first = laid.axes[0]
    every = [points for series in panels for points in series.values()]
    sides = (
        (
            np.concatenate([points.x[points.placed] for points in every]),
            [bound for points in every for bound in points.x_bounds],
            first.xaxis,
        ),
        (
            np.concatenate([points.y[points.placed] for points in every]),
            [bound for points in every for bound in points.y_bounds],
            first.yaxis,
        ),
    )
    for values, bounds, which in sides:
        above, below = (0.14 if side in bounds else 0.05 for side in ("at least", "at most"))
        set_limits = first.set_xlim if which is first.xaxis else first.set_ylim
        if scale == "log":
            positive = values[values > 0]
            (first.set_xscale if which is first.xaxis else first.set_yscale)("log")
            set_limits(float(positive.min()) / (2.0 if below > 0.1 else 1.3), float(positive.max()) * (2.0 if above > 0.1 else 1.3))
            plain_ticks(which)
        else:
            low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
            if low == high:
                high = 1.0
            span = high - low
            set_limits(low - below * span if low < 0 else 0.0, high + above * span if high > 0 else 0.0)
    laid.label(*labels)
    laid.legend(names)
    return laid.made


_MANY = 200
"""Beyond so many points in a panel they are small."""


def _arrow(axis: Axes, place: tuple[float, float], by: tuple[int, int], colour: str) -> None:
    """From a bound to where the value may be; `by` in points."""
    look = {"arrowstyle": "<-", "color": colour, "lw": 1.0}
    axis.annotate("", place, xytext=by, textcoords="offset points", arrowprops=look)
