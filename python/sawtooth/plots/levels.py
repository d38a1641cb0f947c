"""Curves of points with intervals over levels, in panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from sawtooth.estimates import Estimate
from sawtooth.plots import facets

Curves = Mapping[str, Sequence[Estimate | None]]
_MOST_NAMED, _FEW_NAMED = 24, 5
"""Levels that are all named on an axis, and about how many are where there are more."""
_LONGEST = 16


def draw(
    panels: Sequence[Curves],
    titles: tuple[Sequence[str], Sequence[str]],
    levels: Sequence[str],
    names: Sequence[str],
    labels: tuple[str, str],
    *,
    scale: str = "linear",
    line_at: float | None = None,
    marks: Sequence[Mapping[str, Sequence[float | None]]] = (),
    marks_name: str = "",
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
        marks: of each panel, curve to published values, one per level, drawn as crosses.
        marks_name: what the legend calls them.

    """
    ordered = facets.numbers_first(levels)
    dense = ordered and len(levels) > _MOST_NAMED
    # From the end: of 1, 2, ... 100 the round ones.
    every = -(-len(levels) // _FEW_NAMED) if dense else 1
    shown = [at for at in range(len(levels)) if (at + 1) % every == 0 or at == 0]
    texts = [_broken(level) for level in levels]
    width = max(2.6, 0.09 * sum(min(max(len(part) for part in texts[at].split("\n")), 60) + 2 for at in shown))
    tilted = width > 7
    laid = facets.grid(*titles, width=min(width, max(4.5, 0.34 * len(shown))) if tilted else width)
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
            facets.points(axis, [float(place) for place in x], points, name, at, line=ordered, marker=not dense, width=line)
            given = marks[number].get(name) if marks else None
            if given is not None:
                known = [(place, value) for place, value in zip(x, given, strict=True) if value is not None]
                axis.plot(
                    [place for place, _ in known], [value for _, value in known], "x", color="black", markersize=6, markeredgewidth=1.1,
                    zorder=4, label=marks_name if at == 0 else "_",
                )  # fmt: skip
        axis.set_xticks(shown, [texts[at] for at in shown])
        if tilted:
            axis.tick_params(axis="x", labelrotation=60)
            for text in axis.get_xticklabels():
                text.set_horizontalalignment("right")
                text.set_rotation_mode("anchor")
        axis.set_xlim(-0.5, len(levels) - 0.5)
    every_point = [point for curves in panels for points in curves.values() for point in points]
    facets.limits(laid.axes[0], every_point, scale)
    if marks:
        low, high = laid.axes[0].get_ylim()
        values = [value for panel in marks for given in panel.values() for value in given if value is not None]
        laid.axes[0].set_ylim(min([low, *(0.97 * value for value in values)]), max([high, *(1.05 * value for value in values)]))
    laid.label(*labels)
    laid.legend([*names, *([marks_name] if marks else [])] if marks or len(names) > 1 else [])
    return laid.made


def _broken(level: str) -> str:
    """A level as an axis has room for it: a long one in two lines."""
    if len(level) <= _LONGEST or " " not in level:
        return level
    middle = min((at for at, letter in enumerate(level) if letter == " "), key=lambda at: abs(at - len(level) / 2))
    return f"{level[:middle]}\n{level[middle + 1 :]}"
