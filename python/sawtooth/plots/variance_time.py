"""Variance-time plots: how fast the variance of means falls as they are taken over longer times."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from sawtooth.plots.style import COLOURS, MARKERS, figure, named
from sawtooth.stats import Vector, hurst


def variance_time(series: Mapping[str, Vector], fits: Mapping[str, hurst.Estimate] | None = None) -> Figure:
    """The variance of means of m periods, as a share of that of one period, over m; both logarithmic.

    A line of slope -1 is drawn, which traffic without memory follows; slope 2 H - 2 is that of self-similar traffic, bent down where m nears the
    length of the series.

    Args:
        series: label to counts per period, shape (N,).
        fits: label to what `hurst.aggregated_variance` found, drawn as a line over the range of the fit.

    """
    made, (axis,) = figure(4.6, 3.4)
    for at, (label, counts) in enumerate(series.items()):
        colour = COLOURS[at % len(COLOURS)]
        sizes = np.unique(np.round(np.geomspace(1, counts.size / 8, 40)))
        own = float(counts.var())
        axis.plot(
            sizes, hurst.block_variances(counts, sizes) / own, MARKERS[at % len(MARKERS)], color=colour, markersize=3, label=named(label)
        )
        if fits is not None and label in fits:
            axis.plot(fits[label].scales, fits[label].fitted / own, "-", color=colour, linewidth=0.9)
    longest = max(counts.size for counts in series.values()) / 8
    axis.plot([1, longest], [1, 1 / longest], "--", color="grey", linewidth=0.8, label="slope -1")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("periods in a mean, m")
    axis.set_ylabel("variance of means / variance")
    axis.legend(frameon=False)
    return made
