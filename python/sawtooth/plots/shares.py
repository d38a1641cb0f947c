"""Shares of a whole, stacked: over a numeric factor as areas, over levels as bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from sawtooth.estimates import Estimate
from sawtooth.plots.along import along
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


@dataclass(frozen=True)
class Stack:
    """A bar: the share of each part, and whether these are only lower bounds."""

    parts: Sequence[Estimate]
    bounded: bool = False


def bars(
    panels: Sequence[Sequence[Stack | None]],
    titles: tuple[Sequence[str], Sequence[str]],
    levels: Sequence[str],
    names: Sequence[str],
    labels: tuple[str, str],
    *,
    other: str = "",
) -> Figure:
    """One panel per entry of `panels`, one bar per level, one part per name; what parts leave of the whole is grey, and hatched where it is unknown.

    Args:
        panels: of each panel, a bar per level, None where there are no runs.
        titles: of rows and columns.
        levels: along x.
        names: of the parts, from below.
        labels: of x and y.
        other: what the rest of the whole is called; empty if there is none.

    """
    held = along(titles, levels)
    laid = held.laid
    top = 1.0
    for axis, stacks in zip(laid.axes, panels, strict=True):
        axis.set_axisbelow(True)
        axis.grid(visible=False, axis="x")
        for place, stack in enumerate(stacks):
            if stack is None:
                continue
            below = 0.0
            for at, part in enumerate(stack.parts):
                share = part.interval.estimate if np.isfinite(part.interval.estimate) else 0.0
                axis.bar(place, share, _WIDTH, bottom=below, edgecolor="white", linewidth=0.4, label=named(names[at]), **_part(at))
                below += share
                reach = part.interval.reach()
                if share and np.isfinite(reach[0]) and max(reach) > 0 and not part.bound and not held.dense:
                    beside = place + (at - (len(names) - 1) / 2) * min(0.1, 0.6 * _WIDTH / len(names))
                    axis.errorbar(beside, below, yerr=np.array([reach]).T, color="black", elinewidth=0.7, capsize=1.5, capthick=0.7)
            top = max(top, below)
            if stack.bounded or (other and below < 1 - 1e-6):
                look: dict[str, Any] = {"facecolor": "white", "hatch": "////"} if stack.bounded else {"facecolor": "0.85"}
                label = named("not known" if stack.bounded else other)
                axis.bar(
                    place,
                    max(1 - below, 0.0),
                    _WIDTH,
                    bottom=below,
                    edgecolor="0.6" if stack.bounded else "white",
                    linewidth=0.4,
                    label=label,
                    **look,
                )
    held.name()
    laid.axes[0].set_ylim(0, top if top > 1.001 else 1.0)
    held.label(*labels)
    laid.legend([*names, *([other] if other else []), "not known"])
    return laid.made


_WIDTH = 0.8
"""Of a bar, the distance between two being 1."""


def _part(at: int) -> dict[str, Any]:
    """Colour of a part by its number; from the seventh on colours come again, hatched."""
    again = at // len(COLOURS)
    return {"color": COLOURS[at % len(COLOURS)], "hatch": ("", "....", "\\\\\\\\", "++")[again % 4]}
