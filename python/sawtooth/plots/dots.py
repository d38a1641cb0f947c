"""Small multiples of values by category, one dot with interval per category and series, on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from sawtooth.plots import shifts
from sawtooth.plots.style import COLOURS, MARKERS, figure, named
from sawtooth.stats import Interval

_TICKS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 30, 50)


def multiples(
    data: Mapping[str, Mapping[str, Sequence[Interval | None]]],
    categories: Sequence[str],
    x_label: str,
    y_label: str,
    across: int = 4,
) -> Figure:
    """One panel per key of `data`; each series has an interval, or None, per category."""
    across = min(across, len(data))
    down = math.ceil(len(data) / across)
    wide = max(0.185 * len(categories), 1.2) + 0.1
    if len(data) <= 3:
        wide *= 1.35
    made, axes = figure(max(wide * across + 0.6, 3.4), 1.55 * down + (1.9 if down == 1 else 1.2), rows=down, columns=across, share_y=True)
    names = list(next(iter(data.values())))
    for axis, (title, series) in zip(axes, data.items(), strict=False):
        for at, name in enumerate(names):
            _series(axis, series.get(name, []), at, shifts.dodge(at, len(names), step=0.22), name)
        axis.set_title(title, fontsize=9)
    for axis in axes[len(data) :]:
        axis.set_axis_off()
    _finish(made, axes[: len(data)], categories, across, x_label, y_label)
    return made


def _series(axis: Axes, intervals: Sequence[Interval | None], at: int, shift: float, name: str) -> None:
    shown = [(x, interval) for x, interval in enumerate(intervals) if interval is not None]
    middle = np.array([interval.estimate for _, interval in shown])
    # An interval that reaches below zero ends at the bottom of the logarithmic scale.
    reach = np.array([interval.reach() for _, interval in shown]).reshape(-1, 2).T
    reach[0] = np.minimum(reach[0], 0.9 * middle) if middle.size else reach[0]
    axis.errorbar(np.array([x for x, _ in shown], dtype=float) + shift, middle, yerr=reach, fmt=MARKERS[at], color=COLOURS[at],
                  markersize=3, linewidth=0, elinewidth=0.8, capsize=1.2, label=named(name))  # fmt: skip


def _finish(made: Figure, axes: Sequence[Axes], categories: Sequence[str], across: int, x_label: str, y_label: str) -> None:
    axes[0].set_yscale("log")
    low, high = axes[0].get_ylim()
    ticks = [tick for tick in _TICKS if low <= tick <= high]
    for at, axis in enumerate(axes):
        axis.set_xlim(-0.7, len(categories) - 0.3)
        lowest = at + across >= len(axes)
        axis.set_xticks(range(len(categories)), categories if lowest else [""] * len(categories), rotation=90, fontsize=7)
        if lowest and at < len(axes) - len(axes) % across and len(axes) % across:
            # Below is an empty place: these names hang into it rather than push the next row down.
            for name in axis.get_xticklabels():
                name.set_in_layout(False)
        if len(ticks) >= 2:
            axis.yaxis.set_major_locator(FixedLocator(ticks))
            axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axis.yaxis.set_minor_locator(NullLocator())
        axis.tick_params(axis="y", labelsize=7)
    if across == len(axes):
        axes[0].set_ylabel(y_label)
        for axis in axes:
            axis.set_xlabel(x_label)
    else:
        made.supylabel(y_label, fontsize=9)
        made.supxlabel(x_label, fontsize=9)
    handles, labels = axes[0].get_legend_handles_labels()
    made.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False, fontsize=8)
