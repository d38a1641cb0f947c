"""One quantity against another, a point per case, with lines of constant ratio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from sawtooth.plots.style import COLOURS, MARKERS, figure, legend_above, named
from sawtooth.stats import Interval


def ratios(
    data: Mapping[str, Mapping[str, Sequence[tuple[Interval, Interval]]]], lines: Mapping[str, float], x_label: str, y_label: str
) -> Figure:
    """One panel per key of `data`, from zero on both axes; `lines` gives a name to ratios y / x."""
    made, axes = figure(4.3 * len(data) + 0.8, 3.5, columns=len(data), share_x=True, share_y=True)
    every = [pair for panel in data.values() for series in panel.values() for pair in series]
    right, top = (1.08 * max(pair[side].estimate for pair in every) for side in (0, 1))
    for axis, (title, panel) in zip(axes, data.items(), strict=True):
        for at, (name, pairs) in enumerate(panel.items()):
            axis.errorbar([x.estimate for x, _ in pairs], [y.estimate for _, y in pairs], fmt=MARKERS[at], color=COLOURS[at], markersize=4,
                          xerr=np.array([x.reach() for x, _ in pairs]).T, yerr=np.array([y.reach() for _, y in pairs]).T,
                          elinewidth=0.7, alpha=0.8, label=named(name))  # fmt: skip
        for style, (name, ratio) in zip(("--", ":", "-."), lines.items(), strict=False):
            axis.plot([0, right], [0, right * ratio], color="0.4", linewidth=0.9, linestyle=style, label=named(name))
        axis.set_title(title, fontsize=9)
        axis.set_xlabel(x_label)
        axis.set_xlim(0, right)
        axis.set_ylim(0, top)
    axes[0].set_ylabel(y_label)
    legend_above(made, axes[0])
    return made
