"""What a whole consists of, for many cases: horizontal bars of stacked parts, in small multiples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from sawtooth.plots.style import COLOURS, figure, legend_above, named

_ROW, _HEAD, _FOOT = 0.19, 0.55, 0.75
_ROOM = 1.16
"""Of the longest bar: the axis' length, so that the total has room behind it."""


@dataclass(frozen=True)
class Part:
    """What a bar consists of: its name, its colour by number, and whether it is hatched: the counterpart of the plain one of this colour."""

    name: str
    colour: int
    hatched: bool = False


@dataclass(frozen=True)
class Group:
    """Bars that belong together, one below the other: their names, and of each its parts, in the order of all."""

    name: str
    bars: Mapping[str, Sequence[float]]


def horizontal(panels: Mapping[str, Sequence[Group]], parts: Sequence[Part], x_label: str) -> Figure:
    """A panel per key of `panels`, each on its own scale, two in a row; behind each bar stands its total. Parts that no bar has are left out.

    Args:
        panels: title to groups of bars; all have the same groups and bars.
        parts: as many as each bar has values.
        x_label: with the unit.

    """
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    most = max(sum(len(group.bars) + 0.6 for group in groups) for groups in panels.values())
    width, height = 9.6 if columns > 1 else 6.5, rows * (_ROW * most + _HEAD) + _FOOT
    made, axes = figure(width, height, rows=rows, columns=columns, share_y=True)
    every = np.array([values for groups in panels.values() for group in groups for values in group.bars.values()], dtype=float)
    present = [at for at in range(len(parts)) if (every[:, at] > 0).any()]
    for axis, (title, groups) in zip(axes, panels.items(), strict=False):
        places: list[float] = []
        names: list[str] = []
        values: list[Sequence[float]] = []
        below = 0.0
        for group in groups:
            for name, bar in group.bars.items():
                places.append(below)
                names.append(f"{group.name}, {name}" if group.name and name else group.name or name)
                values.append(bar)
                below += 1.0
            below += 0.6
        table = np.array(values, dtype=float)
        left = np.zeros(len(places))
        for at in present:
            axis.barh(places, table[:, at], 0.8, left=left, color=COLOURS[parts[at].colour], hatch="////" if parts[at].hatched else "",
                      edgecolor="white", linewidth=0.3, label=named(parts[at].name))  # fmt: skip
            left += table[:, at]
        for place, total in zip(places, left, strict=True):
            if total == 0:
                continue
            axis.annotate(f"{total:,.0f}" if total >= 100 else f"{total:,.1f}", (total, place), xytext=(3, 0), textcoords="offset points", va="center",
                          fontsize=6.5)  # fmt: skip
        axis.set_xlim(0, _ROOM * max(float(left.max()), 1e-9))
        axis.set_ylim(below - 1.0, -0.6)
        axis.set_yticks(places, names, fontsize=7)
        axis.set_title(title, loc="left", fontsize=9)
        axis.grid(visible=False, axis="y")
        axis.set_axisbelow(True)
        axis.tick_params(axis="y", length=0)
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    for axis in axes[max(0, len(panels) - columns) : len(panels)]:
        axis.set_xlabel(x_label)
    legend_above(made, axes[0])
    return made
