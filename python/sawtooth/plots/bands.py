"""Cumulative curves with bands: the share of values that are no larger, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from sawtooth.plots import facets
from sawtooth.plots.steps import Steps, by_row
from sawtooth.plots.style import named, plain_ticks


def draw(
    panels: Sequence[Mapping[str, Steps]],
    titles: tuple[Sequence[str], Sequence[str]],
    names: Sequence[str],
    labels: tuple[str, str],
    *,
    scale: str = "linear",
    own: bool = False,
) -> Figure:
    """One panel per entry, one step curve per name in the legend, with the n of each behind its name.

    Args:
        panels: of each panel, curve to distribution.
        titles: of rows and columns.
        names: of all curves, in order.
        labels: of x and y.
        scale: of x.
        own: whether each row has a horizontal axis of its own.

    """
    groups = by_row(panels, len(titles[0])) if own else [panels]
    laid = facets.grid(*titles, height=2.7, share_x="row" if own else True)
    order = facets.in_order(names)
    # Every panel is as wide as others of its axis: also a curve that is at 1 before their ends goes on to there.
    limits = [_limits(group, scale) for group in groups for _ in group]
    for axis, curves, (low, high) in zip(laid.axes, panels, limits, strict=True):
        for name, steps in curves.items():
            if not len(steps.x):
                continue
            look = facets.look(order[name])
            whole = steps.share[-1] >= 1 - 1e-9
            end = [high] if whole else []
            ends = [-1] if whole else []
            # It rises from 0 at the first value.
            x, share = np.concatenate([steps.x[:1], steps.x, end]), np.concatenate([[0.0], steps.share, steps.share[ends]])
            axis.step(x, share, where="post", color=look["color"], linestyle=look["linestyle"], linewidth=1.3, label=named(name))
            low_band, high_band = (np.concatenate([each, each[ends]]) for each in (steps.low, steps.high))
            axis.fill_between(x[1:], low_band, high_band, step="post", color=look["color"], alpha=0.18, linewidth=0)
            if not whole:
                # What did not end is beyond all that is drawn.
                axis.plot(steps.x[-1], steps.share[-1], ">", color=look["color"], markersize=5, clip_on=False)
        axis.set_ylim(0, 1.0)
        axis.set_xscale(scale)
        axis.set_xlim(low, high)
    if scale == "log":
        for axis in laid.left if own else laid.axes[:1]:
            plain_ticks(axis.xaxis)
    laid.label(*labels)
    laid.legend(names)
    return laid.made


def _limits(panels: Sequence[Mapping[str, Steps]], scale: str) -> tuple[float, float]:
    """Of the horizontal axis: all values with a little room, on a linear scale from 0 if it is near."""
    values = np.concatenate([steps.x for curves in panels for steps in curves.values()] or [np.zeros(0)])
    if scale == "log":
        values = values[values > 0]
        low, high = (float(values.min()), float(values.max())) if values.size else (0.1, 1.0)
        room = max((high / low) ** 0.03, 1.03)
        return low / room, high * room
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    room = 0.03 * (high - low) or 0.03 * max(abs(high), 1.0)
    return 0.0 if 0 <= low < 0.5 * high else low - room, high + room
