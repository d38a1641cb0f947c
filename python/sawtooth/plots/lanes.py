"""Lanes of events over time: bars for those that last, marks for those that do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sawtooth.plots import facets
from sawtooth.plots.style import extent, named, plain
from sawtooth.stats import Vector


@dataclass(frozen=True)
class Events:
    """Events of one lane and name: from when, how long (None: no time), in s, shape (n,), and which had not ended."""

    lane: int
    name: str
    start: Vector
    lasted: Vector | None
    open: NDArray[np.bool_]


def draw(
    panels: Sequence[Sequence[Events]],
    titles: tuple[Sequence[str], Sequence[str]],
    lanes: Sequence[str],
    names: Sequence[str],
    span: tuple[float, float],
) -> Figure:
    """One panel per entry of `panels`, below each other if there is one column; all with the same lanes and time.

    Args:
        panels: of each panel, its events.
        titles: of rows and columns.
        lanes: from above.
        names: of all kinds of events, in order: their colours.
        span: from and to, in s.

    """
    left = max(extent(plain(lane, 60), 9) for lane in lanes)
    laid = facets.grid(
        *titles, width=(6.0 if len(titles[1]) == 1 else 3.2) + left / len(titles[1]), height=max(0.24 * len(lanes), 0.6) + 0.35
    )
    order = facets.in_order(names)
    room = 0.02 * (span[1] - span[0]) or 1.0
    for axis, events in zip(laid.axes, panels, strict=True):
        for each in events:
            # Names beside each other within their lane: what coincides hides nothing.
            height = 0.8 / len(names)
            below = each.lane - 0.4 + order[each.name] * height
            colour = str(facets.look(order[each.name])["color"])
            if each.lasted is None:
                middle = np.full(len(each.start), below + height / 2)
                axis.plot(each.start, middle, "|", color=colour, markersize=max(4.0, 14 * height), label=named(each.name))
                continue
            # An edge of its own: what is short is a line and not nothing.
            axis.broken_barh(
                list(zip(each.start.tolist(), each.lasted.tolist(), strict=True)), (below + 0.08 * height, 0.84 * height), facecolor=colour,
                edgecolor=colour, linewidth=0.6, label=named(each.name),
            )  # fmt: skip
            ends = (each.start + each.lasted)[each.open]
            if len(ends):
                axis.plot(ends, np.full(len(ends), below + height / 2), ">", color=colour, markersize=5, clip_on=False)
        axis.set_yticks(range(len(lanes)), [plain(lane, 60) for lane in lanes])
        axis.tick_params(axis="y", length=0)
        axis.grid(visible=False, axis="y")
        axis.set_ylim(len(lanes) - 0.5, -0.5)
        axis.set_xlim(span[0] - room, span[1] + room)
    laid.label("time (s)", "")
    laid.legend(names)
    return laid.made
