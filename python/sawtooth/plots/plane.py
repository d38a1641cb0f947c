"""Two measures against each other: a point per series, with the intervals of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from sawtooth.plots.style import COLOURS, MARKERS, figure, legend_above, named, plain_ticks
from sawtooth.stats import Interval

Point = tuple[Interval, Interval]
"""Horizontal and vertical."""


def panels(data: Mapping[str, Mapping[str, Sequence[Point]]], x_label: str, y_label: str, *, scale: str = "linear") -> Figure:
    """One panel per key of `data`, one colour per series, all panels on the same axes, which begin at 0 or are logarithmic."""
    made, axes = figure(max(2.6 * len(data) + 0.6, 4.5), 3.2, columns=len(data), share_x=True, share_y=True)
    names = list(dict.fromkeys(name for series in data.values() for name in series))
    for axis, (title, series) in zip(axes, data.items(), strict=True):
        for name, points in series.items():
            at = names.index(name)
            x, y = (np.array([point[side].estimate for point in points]) for side in (0, 1))
            x_reach, y_reach = (np.array([point[side].reach() for point in points]).T for side in (0, 1))
            axis.errorbar(x, y, xerr=x_reach, yerr=y_reach, fmt=MARKERS[at % len(MARKERS)], color=COLOURS[at % len(COLOURS)],
                          markersize=5, linewidth=1, capsize=2, label=named(name))  # fmt: skip
        axis.set_title(title, fontsize=9)
        axis.set_xlabel(x_label)
    if scale == "log":
        axes[0].set_xscale("log")
        axes[0].set_yscale("log")
        plain_ticks(axes[0].xaxis)
        plain_ticks(axes[0].yaxis)
    else:
        ends = [[point[side].high if point[side].n > 1 else point[side].estimate for series in data.values() for points in series.values() for point in points]
                for side in (0, 1)]  # fmt: skip
        axes[0].set_xlim(0, 1.1 * max([*ends[0], 1e-9]))
        axes[0].set_ylim(0, 1.1 * max([*ends[1], 1e-9]))
    axes[0].set_ylabel(y_label)
    if len(names) > 1:
        legend_above(made, max(axes, key=lambda axis: len(axis.get_legend_handles_labels()[1])))
    return made
