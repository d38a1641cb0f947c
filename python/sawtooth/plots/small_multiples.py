"""A lattice of panels, one per combination of two factors, each with curves over the levels of a third."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from sawtooth.plots.style import COLOURS, MARKERS, figure, legend_above, named
from sawtooth.stats import Interval


def curves(
    data: Mapping[tuple[str, str], Mapping[str, Sequence[Interval]]],
    rows: Sequence[str],
    columns: Sequence[str],
    levels: Sequence[str],
    x_label: str,
    y_label: str,
    lowest: float = 0.0,
) -> Figure:
    """The panel of `rows[r]` and `columns[c]` has the curves of data[row, column], one point with interval per level.

    Args:
        data: by row, column and name of the curve.
        rows: from the top.
        columns: from the left.
        levels: names on the horizontal axes, at equal distances.
        x_label: of the whole lattice.
        y_label: of the whole lattice.
        lowest: where the vertical axes begin.

    """
    size = 2.3 * len(columns) + 0.8, 1.9 * len(rows) + 0.7
    made, axes = figure(max(size[0], 4.5), size[1], rows=len(rows), columns=len(columns), share_x=True, share_y=True)
    for at, axis in enumerate(axes):
        row, column = rows[at // len(columns)], columns[at % len(columns)]
        panel = data[row, column]
        for series, (name, intervals) in enumerate(panel.items()):
            x = np.arange(len(intervals)) + (series - (len(panel) - 1) / 2) * 0.08
            axis.errorbar(x, [interval.estimate for interval in intervals], yerr=np.array([interval.reach() for interval in intervals]).T,
                          fmt=MARKERS[series] + "-", color=COLOURS[series], markersize=3, linewidth=0.8, capsize=1.2, elinewidth=0.7,
                          label=named(name))  # fmt: skip
        axis.set_title(f"{row}, {column}", fontsize=8)
        axis.tick_params(labelsize=7)
        axis.set_xticks(range(len(levels)), levels)
        axis.set_xlim(-0.5, len(levels) - 0.5)
    axes[0].set_ylim(bottom=lowest)
    made.supxlabel(x_label, fontsize=9)
    made.supylabel(y_label, fontsize=9)
    legend_above(made, axes[0])
    return made
