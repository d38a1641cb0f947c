"""Panels in rows and columns with common axes, and what is drawn into them alike: points with intervals, arrows where a value is only a bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sawtooth.estimates import Estimate
from sawtooth.plots.style import COLOURS, MARKERS, figure, legend_above, named, plain_ticks
from sawtooth.stats import Interval

_DASHES = ("-", "--", ":", "-.")
_WIDTH, _HEIGHT = 2.6, 2.5
"""Of a panel, in inches."""
_LEGEND_LINE = 0.16
"""Height of a line of a legend, in inches."""
MOST_COLUMNS = 4
"""Panels beside each other; further ones stand below."""


@dataclass(frozen=True)
class Grid:
    """A figure of panels.

    Attributes:
        made: the figure.
        axes: of the panels, in their order.
        left, bottom: those that stand at the left and the lower edge.

    """

    made: Figure
    axes: Sequence[Axes]
    left: Sequence[Axes]
    bottom: Sequence[Axes]

    def label(self, x: str, y: str) -> None:
        """Names the axes, once for each column and row."""
        for axis in self.bottom:
            axis.set_xlabel(x)
        for axis in self.left:
            axis.set_ylabel(y)

    def legend(self, names: Sequence[str], more: Sequence[str] = ()) -> None:
        """A legend above the panels, of curves of several names, in this order, and of what is drawn beside them; of a single curve alone there is none."""
        names = [*(names if len(names) > 1 or any(names) else []), *more]
        if len(names) < 2 and not more:
            return
        handles: dict[str, Any] = {}
        for axis in self.axes:
            for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        chosen = [(handles[named(name)], named(name)) for name in names if named(name) in handles]
        lines = legend_above(self.made, self.axes[0], chosen)
        # Of a long one panels keep their height.
        self.made.set_figheight(self.made.get_figheight() + max(0, lines - 2) * _LEGEND_LINE)


def grid(
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    width: float = _WIDTH,
    height: float = _HEIGHT,
    share_x: bool | Literal["row"] = True,
    share_y: bool = True,
) -> Grid:
    """Panels of all rows and columns; a single row of many columns is broken into several.

    Args:
        rows: their titles; one empty title for none.
        columns: as rows.
        width: of a panel, in inches.
        height: of a panel, in inches.
        share_x: whether all have the same horizontal axis, or those of a `row`.
        share_y: whether all have the same vertical axis.

    """
    across = len(columns) if len(rows) > 1 else min(len(columns), MOST_COLUMNS if len(columns) > MOST_COLUMNS + 1 else MOST_COLUMNS + 1)
    down = len(rows) if len(rows) > 1 else -(-len(columns) // across)
    made, every = figure(
        max(width * across + 0.6, 4.5), max(height * down + 0.5, 3.2), rows=down, columns=across, share_x=share_x, share_y=share_y
    )
    count = len(rows) * len(columns)
    for axis in every[count:]:
        axis.remove()
    axes = every[:count]
    for at, axis in enumerate(axes):
        row, column = divmod(at, across) if len(rows) > 1 else (0, at)
        title = columns[column if len(rows) > 1 else at]
        if title and (len(rows) == 1 or row == 0):
            axis.set_title(title, fontsize=9)
        if len(rows) > 1 and column == across - 1 and rows[row]:
            axis.annotate(rows[row], (1.02, 0.5), xycoords="axes fraction", rotation=270, va="center", ha="left", fontsize=9)
    left = [axis for at, axis in enumerate(axes) if at % across == 0]
    bottom = [axis for at, axis in enumerate(axes) if at + across >= count]
    for axis in bottom:
        axis.tick_params(labelbottom=True)
    return Grid(made, axes, left, bottom)


def look(at: int) -> dict[str, Any]:
    """Colour, marker and line of the curve of this number; from the seventh on colours come again, with unfilled markers and dashes."""
    colour, again = COLOURS[at % len(COLOURS)], at // len(COLOURS)
    return {
        "color": colour, "marker": MARKERS[at % len(MARKERS)], "linestyle": _DASHES[again % len(_DASHES)],
        "markerfacecolor": "white" if again else colour,
    }  # fmt: skip


def points(
    axis: Axes,
    x: Sequence[float],
    estimates: Sequence[Estimate | None],
    name: str,
    at: int,
    *,
    line: bool,
    marker: bool = True,
    width: float = 1.0,
    small: bool = False,
) -> None:
    """A curve of points with intervals; a bound has an arrow that points to where the value may be. `small` ones are of hundreds beside each other."""
    style: dict[str, Any] = look(at) if marker else {**look(at), "marker": ""}
    if not line:
        style["linestyle"] = "none"
    middle = np.array([np.nan if point is None else point.interval.estimate for point in estimates])
    reaches = np.array([(np.nan, np.nan) if point is None else reach(point.interval) for point in estimates]).reshape(-1, 2).T
    sizes = {"markersize": 2, "elinewidth": 0.5} if small else {"markersize": 4, "elinewidth": 1}
    caps = 2 if marker and not small else 0
    axis.errorbar(x, middle, yerr=reaches, linewidth=width, capsize=caps, label=named(name), **sizes, **style)
    for place, point in zip(x, estimates, strict=True):
        if point is not None:
            marks(axis, (place, point.interval.estimate), point, style["color"])


def marks(axis: Axes, place: tuple[float, float], point: Estimate, colour: str, along: str = "y") -> None:
    """What tells that an estimate, or an end of its interval, is not known.

    A bound has an arrow to where the value may be; what is between two bounds has a mark at both; an interval without an end goes to the edge of the
    axes and has a head there; what nothing bounds is told at the foot of the axes.

    Args:
        axis: that the point is on.
        place: of the estimate.
        point: which it is.
        colour: of its curve.
        along: `y` or `x`, where the estimate's own axis is.

    """
    if point.bound == "not bounded":
        nothing(axis, place[0], colour, "↕")
    elif point.bound == "between":
        x, y = (place[0], point.most) if along == "y" else (point.most, place[1])
        axis.plot(
            [place[0], x],
            [place[1], y],
            color=colour,
            linewidth=2.5,
            alpha=0.6,
            marker="_" if along == "y" else "|",
            markersize=6,
            zorder=2,
        )
    elif point.bound:
        arrow(axis, place, colour, down=point.bound == "at most", along=along)
    for is_open, edge in zip(point.open, (0.0, 1.0), strict=True):
        if is_open:
            to = (place[0], edge) if along == "y" else (edge, place[1])
            coords: Any = ("data", "axes fraction") if along == "y" else ("axes fraction", "data")
            look: dict[str, Any] = {"arrowstyle": "-|>", "color": colour, "lw": 1.0, "shrinkA": 0, "shrinkB": 0}
            axis.annotate("", to, xycoords=coords, xytext=place, textcoords="data", arrowprops=look)


def arrow(axis: Axes, place: tuple[float, float], colour: str, *, down: bool = False, along: str = "y") -> None:
    """From a bound to where the value may be, a fixed length on paper."""
    look: dict[str, Any] = {"arrowstyle": "<-", "color": colour, "lw": 1.2}
    by = -14 if down else 14
    axis.annotate("", place, xytext=(0, by) if along == "y" else (by, 0), textcoords="offset points", arrowprops=look)


def nothing(axis: Axes, place: float, colour: str, sign: str = "∅") -> None:
    """Marks, at the foot of the axes, that a place has no value, or one that nothing bounds: it is not empty by chance."""
    axis.annotate(sign, (place, 0.02), xycoords=("data", "axes fraction"), ha="center", va="bottom", fontsize=8, color=colour)


def reach(interval: Interval) -> tuple[float, float]:
    """Distances below and above for error bars; one side alone where the other has no end."""
    low, high = interval.estimate - interval.low, interval.high - interval.estimate
    if not (np.isfinite(low) or np.isfinite(high)):
        return np.nan, np.nan
    return (low if np.isfinite(low) else 0.0), (high if np.isfinite(high) else 0.0)


def limits(axis: Axes, estimates: Sequence[Estimate | None], scale: str) -> None:
    """The vertical axis: from 0, unless something is below or it is logarithmic; so far that every interval is there."""
    ends = [x for point in estimates if point for x in (*point.values, point.interval.low, point.interval.high) if np.isfinite(x)]
    # An arrow needs room.
    up, down = (any(point is not None and point.bound == side for point in estimates) for side in ("at least", "at most"))
    if scale == "log":
        positive = [x for x in ends if x > 0] or [1.0]
        axis.set_yscale("log")
        axis.set_ylim(min(positive) / (2.0 if down else 1.3), max(positive) * (2.0 if up else 1.3))
        plain_ticks(axis.yaxis)
        return
    low, high = min([*ends, 0.0]), max([*ends, 0.0])
    if low == high:
        high = low + 1.0
    above, below = ((0.14 if arrows else 0.05) * (high - low) for arrows in (up, down))
    lowest = min((point.interval.estimate - below for point in estimates if point is not None and point.bound == "at most"), default=0.0)
    axis.set_ylim(min(low - below if low < 0 else 0.0, lowest), high + above if high > 0 else 0.0)


def in_order(names: Mapping[str, object] | Sequence[str]) -> dict[str, int]:
    """Which number each name has."""
    return {name: at for at, name in enumerate(names)}
