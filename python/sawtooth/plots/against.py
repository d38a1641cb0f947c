"""One quantity against another, a point per case, with lines of constant ratio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from sawtooth.plots.style import COLOURS, MARKERS, figure, legend_above
from sawtooth.stats import Interval


def ratios(
    data: Mapping[str, Mapping[str, Sequence[tuple[Interval, Interval]]]],
    lines: Mapping[str, float],
    x_label: str,
    y_label: str,
) -> Figure:
    """One panel per key of `data`, logarithmic on both axes; `lines` gives a name to ratios y / x."""
    made, axes = figure(3.6 * len(data) + 0.4, 3.7, columns=len(data), share_x=True, share_y=True)
    every = [pair for panel in data.values() for series in panel.values() for pair in series]
    left, right = (float(pick([x.estimate for x, _ in every])) for pick in (min, max))
    for axis, (title, panel) in zip(axes, data.items(), strict=True):
        axis.set_xscale("log")
        axis.set_yscale("log")
        ends = np.array([left / 1.2, right * 1.2])
        for name, ratio in lines.items():
            axis.plot(ends, ends * ratio, color="0.5", linewidth=0.8, linestyle="--")
            axis.annotate(name, (ends[0], ends[0] * ratio), (2, 5), textcoords="offset points", fontsize=7, color="0.35")
        for at, (name, pairs) in enumerate(panel.items()):
            axis.errorbar([x.estimate for x, _ in pairs], [y.estimate for _, y in pairs], fmt=MARKERS[at], color=COLOURS[at], markersize=4,
                          xerr=np.array([x.reach() for x, _ in pairs]).T, yerr=np.array([y.reach() for _, y in pairs]).T,
                          elinewidth=0.7, alpha=0.8, label=name)  # fmt: skip
        axis.set_title(title)
        axis.set_xlabel(x_label)
    axes[0].set_ylabel(y_label)
    legend_above(made, axes[0])
    return made
