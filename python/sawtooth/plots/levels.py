"""Curves of points with intervals over levels, in panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from sawtooth.estimates import Estimate
from sawtooth.plots import facets
from sawtooth.plots.along import along
from sawtooth.stats import Interval

Curves = Mapping[str, Sequence[Estimate | None]]


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

    """
    held = along(titles, levels)
    laid, ordered, dense = held.laid, held.ordered, held.dense
    order = facets.in_order(names)
    places = np.arange(len(levels))
    for number, (axis, curves) in enumerate(zip(laid.axes, panels, strict=True)):
        if line_at is not None:
            axis.axhline(line_at, color="0.35", linewidth=0.8, zorder=1)
        for name, points in curves.items():
            at = order[name]
            x = places + (0 if dense else facets.dodge(at, len(names)))
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
            if given is not None:
                known = [(place, value) for place, value in zip(x_places, given, strict=True) if value is not None]
                reach = np.array([value.reach() for _, value in known]).reshape(-1, 2).T
                # A little beside the points, so that neither's interval hides the other's.
                beside = 0.4 * facets.dodge(1, 2) if np.isfinite(reach).any() else 0.0
                axis.errorbar(
                    [place + beside for place, _ in known], [value.estimate for _, value in known],
                    yerr=reach if beside else None, fmt="x", color="black", markersize=6, markeredgewidth=1.1, elinewidth=0.8, capsize=2,
                    zorder=4, label=marks_name if at == 0 else "_",
                )  # fmt: skip
    held.name()
    every_point = [point for curves in panels for points in curves.values() for point in points]
    facets.limits(laid.axes[0], every_point, scale)
    published = [mark for panel in marks for given in panel.values() for mark in given if mark is not None]
    values = [mark.estimate for mark in published]
    values += [value for panel in dashed for value in panel.values()]
    if values:
        low, high = laid.axes[0].get_ylim()
        low, high = min([low, *(0.97 * value for value in values)]), max([high, *(1.05 * value for value in values)])
        ends = [end for mark in published for end in (mark.low, mark.high) if np.isfinite(end) and (scale != "log" or end > 0)]
        laid.axes[0].set_ylim(min([low, *ends]), max([high, *ends]))
    laid.label(*labels)
    laid.legend([*names, *([marks_name] if marks else [])] if marks or len(names) > 1 else [])
    return laid.made
