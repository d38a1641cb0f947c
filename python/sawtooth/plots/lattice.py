"""A lattice of panels, one per combination of two factors, each with curves over a rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from sawtooth.plots.style import COLOURS, MARKERS, figure, legend_above
from sawtooth.stats import Interval


def ranks(
    data: Mapping[tuple[str, str], Mapping[str, Sequence[Interval]]], rows: Sequence[str], columns: Sequence[str], x_label: str, y_label: str
) -> Figure:
    """The panel of `rows[r]` and `columns[c]` has the curves of data[row, column], one point with interval per rank from 1."""
    made, axes = figure(2.3 * len(columns) + 0.8, 1.9 * len(rows) + 0.7, rows=len(rows), columns=len(columns), share_x=True, share_y=True)
    for at, axis in enumerate(axes):
        row, column = rows[at // len(columns)], columns[at % len(columns)]
        for series, (name, intervals) in enumerate(data[row, column].items()):
            x = np.arange(1, len(intervals) + 1) + (series - (len(data[row, column]) - 1) / 2) * 0.15
            axis.errorbar(x, [interval.estimate for interval in intervals], yerr=np.array([interval.reach() for interval in intervals]).T,
                          fmt=MARKERS[series] + "-", color=COLOURS[series], markersize=3, linewidth=0.8, capsize=1.2, elinewidth=0.7,
                          label=name)  # fmt: skip
        axis.set_title(f"{row}, {column}", fontsize=8)
        axis.set_ylim(bottom=0)
        axis.tick_params(labelsize=7)
        axis.set_xticks(range(1, max((len(intervals) for intervals in data[row, column].values()), default=1) + 1))
    made.supxlabel(x_label, fontsize=9)
    made.supylabel(y_label, fontsize=9)
    legend_above(made, axes[0])
    return made
