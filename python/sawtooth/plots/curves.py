"""Small multiples of curves with intervals, one panel per level of a factor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from sawtooth.plots.style import COLOURS, MARKERS, figure, legend_above, named, plain_ticks
from sawtooth.stats import Interval

_MOST_NAMED, _FEW_NAMED = 24, 5
"""Levels that are all named on an axis, and about how many are where there are more."""


def panels(
    data: Mapping[str, Mapping[str, Sequence[Interval]]],
    levels: Sequence[str],
    x_label: str,
    y_label: str,
    limits: tuple[float, float],
    *,
    scale: str = "linear",
) -> Figure:
    """One panel per key of `data`, one curve per series, one point with interval per level.

    Points are joined where levels have an order: where each begins with a number. Of many levels in order only some are named, and
    curves have no markers.
    """
    ordered = all(level[:1].isdigit() for level in levels)
    dense = ordered and len(levels) > _MOST_NAMED
    # From the end: of 1, 2, ... 100 the round ones.
    every = -(-len(levels) // _FEW_NAMED) if dense else 1
    shown = [at for at in range(len(levels)) if (at + 1) % every == 0 or at == 0]
    # So wide that what is named stands beside each other.
    width = max(2.4, 0.09 * sum(min(len(max(levels[at].split("\n"), key=len)), 60) + 2 for at in shown))
    made, axes = figure(max(width * len(data) + 0.6, 4.5), 3.2, columns=len(data), share_y=True)
    for axis, (title, series) in zip(axes, data.items(), strict=True):
        for at, (name, intervals) in enumerate(series.items()):
            middle = np.array([interval.estimate for interval in intervals])
            reach = np.array([interval.reach() for interval in intervals]).T
            x = np.arange(len(levels)) + (0 if dense else (at - (len(series) - 1) / 2) * 0.12)
            marker = "" if dense else MARKERS[at % len(MARKERS)]
            # Each thinner than the one before, so that of curves that coincide none is hidden.
            line = 1 + (0.4 * (len(series) - 1 - at) if dense else 0)
            axis.errorbar(x, middle, yerr=reach, fmt=marker + _line(at, ordered),
                          color=COLOURS[at % len(COLOURS)],
                          markersize=4, linewidth=line, elinewidth=1, capsize=0 if dense else 2, label=named(name))  # fmt: skip
        axis.set_title(title, fontsize=9)
        axis.set_xticks(shown, [levels[at] for at in shown])
        axis.set_xlim(-0.5, len(levels) - 0.5)
        axis.set_xlabel(x_label)
        axis.set_yscale(scale)
        axis.set_ylim(*limits)
    if scale == "log":
        plain_ticks(axes[0].yaxis)
    axes[0].set_ylabel(y_label)
    if max(len(series) for series in data.values()) > 1:
        legend_above(made, axes[-1])
    return made


def _line(at: int, ordered: bool) -> str:
    return "" if not ordered else "-" if at < len(COLOURS) else "--"
