"""Bars with intervals over many cases, in small multiples: categories within groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from sawtooth.plots.style import COLOURS, figure, legend_above, named
from sawtooth.stats import Interval

# Of the longest bar: about a line's width at the heights these panels have.
_SHORTEST = 0.015


def grouped(
    data: Mapping[str, Mapping[str, Sequence[Sequence[Interval]]]],
    groups: Sequence[str],
    categories: Sequence[str],
    x_label: str,
    y_label: str,
) -> Figure:
    """One panel per key of `data`, two in a row, on a common scale; each series has one interval per group and category.

    A bar that is too short to be seen has its number above it.
    """
    across = min(2, len(data))
    down = -(-len(data) // across)
    made, axes = figure(max(5.0 * across, 5.0), 2.5 * down + 0.4, rows=down, columns=across, share_y=True)
    pitch = len(categories) + 1.0
    every = [interval.estimate for series in data.values() for intervals in series.values() for group in intervals for interval in group]
    seen = _SHORTEST * max((value for value in every if np.isfinite(value)), default=0.0)
    for axis, (title, series) in zip(axes, data.items(), strict=False):
        wide = 0.8 / len(series)
        for at, (name, intervals) in enumerate(series.items()):
            x = np.array([group * pitch + place for group in range(len(groups)) for place in range(len(categories))])
            flat = [interval for group in intervals for interval in group]
            axis.bar(x + (at - (len(series) - 1) / 2) * wide, [interval.estimate for interval in flat], wide, color=COLOURS[at], label=named(name),
                     yerr=np.array([interval.reach() for interval in flat]).T, ecolor="black", error_kw={"linewidth": 0.7, "capsize": 1.5})  # fmt: skip
            for place, interval in zip(x + (at - (len(series) - 1) / 2) * wide, flat, strict=True):
                if interval.estimate < seen:
                    axis.annotate(f"{interval.estimate:.3g}", (place, max(interval.estimate, interval.high) if interval.n > 1 else interval.estimate),
                                  xytext=(0, 2), textcoords="offset points", ha="center", va="bottom", rotation=90, fontsize=5.5,
                                  color=COLOURS[at])  # fmt: skip
        # The name of a group stands below its middle category.
        names = [
            f"{category}\n{group}" if place == len(categories) // 2 else category
            for group in groups
            for place, category in enumerate(categories)
        ]
        ticks = [group * pitch + place for group in range(len(groups)) for place in range(len(categories))]
        axis.set_xticks(ticks, names, fontsize=7)
        axis.set_xlabel(x_label)
        axis.set_title(title, fontsize=9)
        axis.grid(visible=False, axis="x")
    for axis in axes[len(data) :]:
        axis.set_axis_off()
    for axis in axes[::across]:
        axis.set_ylabel(y_label)
    legend_above(made, axes[0])
    return made
