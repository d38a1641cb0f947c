"""Curves of points with intervals over levels, in panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.ticker import NullLocator

from sawtooth.estimates import Estimate
from sawtooth.plots import facets, shifts
from sawtooth.plots.along import Along, along
from sawtooth.plots.style import named
from sawtooth.plots.ticks import Ticks
from sawtooth.stats import Interval

Curves = Mapping[str, Sequence[Estimate | None]]


@dataclass(frozen=True)
class Second:
    """What stands on an axis of its own at the right: curves of each panel, and what the axis is called."""

    panels: Sequence[Curves]
    label: str


def draw(
    panels: Sequence[Curves],
    titles: tuple[Sequence[str], Sequence[str]],
    levels: Sequence[str],
    names: Sequence[str],
    labels: tuple[str, str],
    *,
    scale: str = "linear",
    line_at: float | None = None,
    marks: Sequence[Mapping[str, Sequence[Interval | None]]] = (),
    marks_name: str = "",
    dashed: Sequence[Mapping[str, float]] = (),
    joined: bool = True,
    second: Second | None = None,
    boundary: float | None = None,
    boundary_name: str = "",
) -> Figure:
    """One panel per entry of `panels`, one curve per name, one point with its interval per level.

    Points are joined where levels have an order: where each begins with a number. Of many levels in order only some are named, and curves have no
    markers.

    Args:
        panels: of each panel, curve to points, one per level.
        titles: of rows and columns.
        levels: along x.
        names: of all curves, in order.
        labels: of x and y.
        scale: of y.
        line_at: where a line stands that values are held against, such as 0 of differences.
        marks: of each panel, curve to published values, one per level, drawn as crosses with their intervals.
        marks_name: what the legend calls them.
        dashed: of each panel, curve to a value that a dashed line stands at.
        joined: whether points are, where levels have an order.
        second: what stands on the right axis, dashed.
        boundary: where along the levels, counted from 0, a vertical line stands.
        boundary_name: what the legend calls it.

    """
    held = along(titles, levels, valued=True)
    laid, ordered, dense = held.laid, held.ordered, held.dense
    order = facets.in_order(names)
    places = np.array(held.places)
    for number, (axis, curves) in enumerate(zip(laid.axes, panels, strict=True)):
        if boundary is not None:
            at = float(np.interp(boundary, np.arange(len(levels)), places))
            axis.axvline(at, color="0.5", linewidth=0.8, linestyle=":", zorder=1, label=named(boundary_name))
        if line_at is not None:
            axis.axhline(line_at, color="0.35", linewidth=0.8, zorder=1)
        for name, points in curves.items():
            at = order[name]
            x = places + (0 if dense else shifts.dodge(at, len(names), joined=ordered and joined))
            # Each thinner than the one before, so that of curves that coincide none is hidden.
            line = 1 + (0.4 * (len(names) - 1 - at) if dense else 0)
            x_places = [float(place) for place in x]
            facets.points(axis, x_places, points, name, at, line=ordered and joined, marker=not dense, width=line)
            for place, point in zip(x_places, points, strict=True):
                if point is not None and np.isnan(point.interval.estimate) and not point.bound:
                    facets.nothing(axis, place, facets.look(at)["color"])
            if dashed and name in dashed[number]:
                look = facets.look(at)
                axis.axhline(dashed[number][name], color=look["color"], linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
            given = marks[number].get(name) if marks else None
            if given is not None and dense:
                known = [(place, value) for place, value in zip(x_places, given, strict=True) if value is not None]
                reach = np.array([value.reach() for _, value in known]).reshape(-1, 2).T
                # Crosses would hide the curve.
                look: dict[str, Any] = {
                    **facets.look(at),
                    "marker": "o",
                    "markersize": 2.6,
                    "alpha": 0.55,
                    "markeredgewidth": 0,
                    "linestyle": "none",
                }
                axis.errorbar(
                    [place for place, _ in known], [value.estimate for _, value in known],
                    yerr=reach if np.isfinite(reach).any() else None, elinewidth=0.6, label=marks_name if at == 0 else "_", **look,
                )  # fmt: skip
        if marks and not dense:
            _crosses(
                axis, marks[number], {name: shifts.dodge(order[name], len(names), joined=ordered and joined) for name in curves}, marks_name
            )
    held.name()
    every_point = [point for curves in panels for points in curves.values() for point in points]
    facets.limits(laid.axes[0], every_point, scale)
    published = [mark for panel in marks for given in panel.values() for mark in given if mark is not None]
    values = [mark.estimate for mark in published]
    values += [value for panel in dashed for value in panel.values()]
    if values:
        low, high = laid.axes[0].get_ylim()
        # A cross has a size, which on a logarithmic axis is a factor.
        less, more = (0.87, 1.15) if scale == "log" else (0.97, 1.05)
        low, high = min([low, *(less * value for value in values)]), max([high, *(more * value for value in values)])
        ends = [end for mark in published for end in (mark.low, mark.high) if np.isfinite(end) and (scale != "log" or end > 0)]
        laid.axes[0].set_ylim(min([low, *ends]), max([high, *ends]))
    held.label(*labels)
    if second is not None:
        _on_the_right(held, second, names, labels[1])
    laid.legend(names, [*([marks_name] if marks else []), *([boundary_name] if boundary is not None else [])])
    return laid.made


_BREAK = Path([(0.0, 0.0), (0.0, 0.3), (-0.5, 0.6), (0.5, 1.0), (0.0, 1.3), (0.0, 1.6)])
"""Of an axis, from its foot up."""


def on_axis(made: Figure, ticks: Ticks, scale: str) -> None:
    """Puts all panels on an axis with its ticks; a break at the foot tells of one that does not begin at 0. One that has not room for all that was drawn, such as published values, is left as it is."""
    first = made.axes[0]
    panels = [axis for axis in made.axes if axis is first or first.get_shared_y_axes().joined(first, axis)]
    lowest = min(axis.dataLim.minposy if scale == "log" else axis.dataLim.y0 for axis in panels)
    if lowest < ticks.low or max(axis.dataLim.y1 for axis in panels) > ticks.high:
        return
    for axis in panels:
        axis.set_yscale("log" if scale == "log" else "linear")
        axis.set_yticks(ticks.places, ticks.names)
        axis.yaxis.set_minor_locator(NullLocator())
        axis.set_ylim(ticks.low, ticks.high)
        if ticks.broken:
            for colour, wide in (("white", 3.5), ("black", 1.0)):
                axis.plot(
                    0,
                    0,
                    marker=_BREAK,
                    markersize=24,
                    markerfacecolor="none",
                    markeredgecolor=colour,
                    markeredgewidth=wide,
                    transform=axis.transAxes,
                    clip_on=False,
                    zorder=5,
                )


def _crosses(axis: Axes, marks: Mapping[str, Sequence[Interval | None]], beside: Mapping[str, float], called: str) -> None:
    """Draws published values as crosses, beside their curves' points; one that is the same for all curves once, in their middle."""
    known: list[tuple[float, Interval]] = []
    for place, level in enumerate(zip(*(marks[name] for name in beside if name in marks), strict=True)):
        given = {name: mark for name, mark in zip((name for name in beside if name in marks), level, strict=True) if mark is not None}
        if len(given) > 1 and len({(mark.estimate, mark.low, mark.high) for mark in given.values()}) == 1:
            known.append((place + float(np.mean([beside[name] for name in given])), next(iter(given.values()))))
        else:
            known += [(place + beside[name], mark) for name, mark in given.items()]
    reach = np.array([value.reach() for _, value in known]).reshape(-1, 2).T
    told = bool(np.isfinite(reach).any())
    # A little beside the points, so that neither's interval hides the other's.
    aside = 0.4 * shifts.dodge(1, 2) if told else 0.0
    axis.errorbar(
        [place + aside for place, _ in known], [value.estimate for _, value in known], yerr=reach if told else None,
        fmt="x", color="black", markersize=6, markeredgewidth=1.1, elinewidth=0.8, capsize=2, zorder=4, label=named(called),
    )  # fmt: skip


def _on_the_right(held: Along, second: Second, names: Sequence[str], label: str) -> None:
    """Draws the second measure. Of one curve both axes have the colours of their curves; of several dashes tell the measures apart."""
    laid, alone = held.laid, len(names) == 1
    across = max(1, len(laid.left) and len(laid.axes) // len(laid.left))
    every = [point for curves in second.panels for points in curves.values() for point in points]
    for number, (axis, curves) in enumerate(zip(laid.axes, second.panels, strict=True)):
        other = axis.twinx()
        other.spines["right"].set_visible(True)
        other.grid(visible=False)
        for name, points in curves.items():
            at = facets.in_order(names)[name]
            look = facets.look(at + 1 if alone else at)
            middle = [np.nan if point is None else point.interval.estimate for point in points]
            reach = np.array([(np.nan, np.nan) if point is None else facets.reach(point.interval) for point in points]).reshape(-1, 2).T
            other.errorbar(
                held.places, middle, yerr=reach, color=look["color"], linestyle=(0, (4, 2)) if held.ordered else "none",
                marker="" if held.dense else "s", markersize=4, linewidth=1.0, elinewidth=0.8,
            )  # fmt: skip
        facets.limits(other, every, "linear")
        if (number + 1) % across == 0 or number + 1 == len(laid.axes):
            other.set_ylabel(second.label, color=facets.look(1)["color"] if alone else "black")
        else:
            other.tick_params(labelright=False)
    if alone:
        for axis in laid.left:
            axis.set_ylabel(label, color=facets.look(0)["color"])
