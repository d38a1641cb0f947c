"""Distributions side by side, as cumulative curves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from sawtooth.plots.style import COLOURS, figure, legend_above, named, plain_ticks
from sawtooth.stats import Vector

_POINTS = 400
_DASHES = ("-", "--", ":", "-.")


def cumulative(data: Mapping[str, Mapping[str, Vector]], x_label: str, *, scale: str = "linear") -> Figure:
    """One panel per key of `data`, all on one axis of values, and one curve per series: the share of values that are no larger.

    Args:
        data: title to series to values of shape (n,).
        x_label: of the horizontal axes.
        scale: of the values, `linear` or `log`.

    """
    made, axes = figure(max(2.6 * len(data) + 0.6, 4.5), 3.2, columns=len(data), share_x=True, share_y=True)
    names = list(dict.fromkeys(name for series in data.values() for name in series))
    shares = np.linspace(0, 1, _POINTS)
    for axis, (title, series) in zip(axes, data.items(), strict=True):
        for name, values in series.items():
            if not len(values):
                continue
            at = names.index(name)
            axis.plot(np.quantile(values, shares), shares, _DASHES[at // len(COLOURS) % len(_DASHES)], color=COLOURS[at % len(COLOURS)],
                      linewidth=1.2, label=named(name))  # fmt: skip
        axis.set_xscale(scale)
        axis.set_ylim(0, 1)
        axis.set_title(title, fontsize=9)
        axis.set_xlabel(x_label)
    if scale == "log":
        plain_ticks(axes[0].xaxis)
    axes[0].set_ylabel("share of samples")
    if len(names) > 1:
        legend_above(made, max(axes, key=lambda axis: len(axis.get_legend_handles_labels()[1])))
    return made
