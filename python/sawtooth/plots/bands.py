"""Cumulative curves with bands: the share of values that are no larger, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from sawtooth.plots import facets
from sawtooth.plots.steps import Steps
from sawtooth.plots.style import named, plain_ticks


def draw(
    panels: Sequence[Mapping[str, Steps]],
    titles: tuple[Sequence[str], Sequence[str]],
    names: Sequence[str],
    labels: tuple[str, str],
    *,
    scale: str = "linear",
) -> Figure:
    """One panel per entry, one step curve per name in the legend, with the n of each behind its name.

    Args:
        panels: of each panel, curve to distribution.
        titles: of rows and columns.
        names: of all curves, in order.
        labels: of x and y.
        scale: of x.

    """
    laid = facets.grid(*titles, height=2.7)
    order = facets.in_order(names)
    for axis, curves in zip(laid.axes, panels, strict=True):
        for name, steps in curves.items():
            look = facets.look(order[name])
            axis.step(
                steps.x, steps.share, where="post", color=look["color"], linestyle=look["linestyle"], linewidth=1.3, label=named(name)
            )
            axis.fill_between(steps.x, steps.low, steps.high, step="post", color=look["color"], alpha=0.18, linewidth=0)
            if len(steps.share) and steps.share[-1] < 1 - 1e-9:
                # What did not end is beyond all that is drawn.
                axis.plot(steps.x[-1], steps.share[-1], ">", color=look["color"], markersize=5, clip_on=False)
        axis.set_ylim(0, 1.0)
    laid.axes[0].set_xscale(scale)
    if scale == "log":
        plain_ticks(laid.axes[0].xaxis)
    else:
        ends = [float(steps.x[-1]) for curves in panels for steps in curves.values() if len(steps.x)]
        starts = [float(steps.x[0]) for curves in panels for steps in curves.values() if len(steps.x)]
        low, high = min(starts, default=0.0), max(ends, default=1.0)
        room = 0.03 * (high - low) or 0.03 * max(abs(high), 1.0)
        laid.axes[0].set_xlim(0.0 if 0 <= low < 0.5 * high else low - room, high + room)
    laid.label(*labels)
    laid.legend(names)
    return laid.made
