"""One difference against another, with intervals both ways."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from sawtooth.plots.difference import LINEAR_BELOW
from sawtooth.plots.style import COLOURS, figure
from sawtooth.stats import Vector


def differences(series: Mapping[str, tuple[Vector, Vector, Vector, Vector, Vector, Vector]], x_label: str, y_label: str) -> Figure:
    """A panel per series of (x, x low, x high, y, y low, y high), each of shape (n,); x on a signed logarithmic scale."""
    made, axes = figure(4.2 * len(series), 3.6, columns=len(series), share_y=True)
    for at, (axis, (name, (x, x_low, x_high, y, y_low, y_high))) in enumerate(zip(axes, series.items(), strict=True)):
        axis.errorbar(x, y, xerr=np.abs(np.vstack([x - x_low, x_high - x])), yerr=np.abs(np.vstack([y - y_low, y_high - y])), fmt=".",
                      color=COLOURS[at], ecolor=COLOURS[at], elinewidth=0.5, alpha=0.5, markersize=4)  # fmt: skip
        axis.set_xscale("symlog", linthresh=LINEAR_BELOW, linscale=0.5)
        axis.set_xticks([-1e6, -1e4, -1e2, 0, 1e2, 1e4, 1e6])
        axis.minorticks_off()
        axis.axhline(0, color="black", linewidth=0.6)
        axis.axvline(0, color="black", linewidth=0.6)
        axis.set_title(name, fontsize=9)
        axis.set_xlabel(x_label)
    axes[0].set_ylabel(y_label)
    return made
