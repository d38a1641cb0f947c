"""Shares of a whole over a numeric factor, stacked."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from sawtooth.plots.style import COLOURS, figure, legend_above, named
from sawtooth.stats import Vector


def stacked(x: Vector, panels: Mapping[str, Mapping[str, Vector]], x_label: str, y_label: str) -> Figure:
    """A panel per key of `panels`, whose values are label to shares, each of shape (n,) as `x`; they add up to 1."""
    made, axes = figure(2.75 * len(panels) + 0.3, 2.7, columns=len(panels), share_y=True)
    for axis, (title, parts) in zip(axes, panels.items(), strict=True):
        axis.stackplot(x, *parts.values(), labels=[named(part) for part in parts], colors=COLOURS[: len(parts)], alpha=0.8, linewidth=0)
        axis.set_title(title, fontsize=9)
        axis.set_xlabel(x_label)
        axis.set_xlim(float(x.min()), max(float(x.max()), float(x.min()) + 1))
        axis.set_ylim(0, 1)
    axes[0].set_ylabel(y_label)
    legend_above(made, axes[0])
    return made
