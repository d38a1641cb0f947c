"""Every cell of a design as a point with its interval, hundreds beside each other, in panels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator, SymmetricalLogLocator

from sawtooth.estimates import Estimate
from sawtooth.plots import facets, shifts
from sawtooth.plots.style import extent, named

_EACH = 0.032
"""Room of a cell, in inches."""
_SMALL = 8
_DECADES = 6
"""So far below the largest values a scale that is logarithmic on both sides becomes linear, at most."""


class Group(Protocol):
    """Neighbouring cells: how many, and their name."""

    @property
    def size(self) -> int: ...  # noqa: D102
    @property
    def name(self) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class Panel:
    """One panel.

    Attributes:
        curves: name to places and points.
        marks: places and values of crosses.
        groups: of neighbouring cells, from the left; empty for none.

    """

    curves: Mapping[str, Sequence[tuple[int, Estimate]]]
    marks: Sequence[tuple[int, float]] = ()
    groups: Sequence[Group] = field(default_factory=tuple)

    @property
    def cells(self) -> int:
        """How many cells stand beside each other."""
        return 1 + max((at for series in self.curves.values() for at, _ in series), default=0)


def draw(
    panels: Sequence[Panel],
    titles: tuple[Sequence[str], Sequence[str]],
    names: Sequence[str],
    labels: tuple[str, str],
    *,
    scale: str = "linear",
    trend: int | None = None,
    marks_name: str = "",
) -> Figure:
    """One panel per entry of `panels`.

    Args:
        panels: their curves.
        titles: of rows and columns.
        names: of all curves, in order.
        labels: of x and y.
        scale: of y: linear, log or symlog.
        trend: of how many neighbouring points medians are drawn as a line.
        marks_name: what the legend calls crosses.

    """
    most = max(panel.cells for panel in panels)
    across = len(titles[1])
    width = min(max(_EACH * most, 2.6), 9.5 if across == 1 else max(2.8, 14.0 / across))
    laid = facets.grid(*titles, width=width, height=2.6)
    trend_name = f"running median of {trend}"
    order = facets.in_order(names)
    for axis, panel in zip(laid.axes, panels, strict=True):
        for name, series in panel.curves.items():
            at = order[name]
            # Points are small, and those of a cell stand alone: they may take more of its room, and leave two fifths.
            shift = shifts.dodge(at, len(names)) * 1.5
            facets.points(axis, [place + shift for place, _ in series], [point for _, point in series], name, at, line=False, small=True)
            if trend:
                _line(axis, series, trend, facets.look(at)["color"] if len(names) > 1 else "black", trend_name)
        if panel.marks:
            axis.plot(
                [place for place, _ in panel.marks], [value for _, value in panel.marks], "x", color="0.25", markersize=2.8,
                markeredgewidth=0.5, zorder=1.8, label=named(marks_name),
            )  # fmt: skip
        axis.set_xlim(-1, panel.cells)
        _name(axis, panel, width)
        if scale == "symlog" or _crosses_zero(panel):
            axis.axhline(0, color="0.35", linewidth=0.8, zorder=1)
    every = [point for panel in panels for series in panel.curves.values() for _, point in series]
    marks = [value for panel in panels for _, value in panel.marks]
    if scale == "symlog":
        _both_sides(laid.axes, every)
    else:
        facets.limits(laid.axes[0], every, scale)
        low, high = laid.axes[0].get_ylim()
        # Crosses are seen whole, and no axis ends where points of a narrow range do not.
        laid.axes[0].set_ylim(
            min([low, *(1.04 * value for value in marks if scale != "log" or value > 0)]), max([high, *(1.04 * value for value in marks)])
        )
    laid.label(*labels)
    laid.legend(names, [*([marks_name] if any(panel.marks for panel in panels) else []), *([trend_name] if trend else [])])
    return laid.made


def running(values: Sequence[float], of: int) -> list[float]:
    """The median of each value and its neighbours that are known, always `of` of them: at the ends those that are next."""
    starts = [min(max(0, at - (of - 1) // 2), max(0, len(values) - of)) for at in range(len(values))]
    near = ([value for value in values[start : start + of] if math.isfinite(value)] for start in starts)
    return [float(np.median(each)) if each else math.nan for each in near]


def _line(axis: Axes, series: Sequence[tuple[int, Estimate]], trend: int, colour: str, name: str) -> None:
    ordered = sorted(series, key=lambda each: each[0])
    middle = running([point.interval.estimate for _, point in ordered], trend)
    places = [place for place, _ in ordered]
    axis.plot(places, middle, color=colour, linewidth=1.3, alpha=0.75, zorder=1.9, label=named(name))


def _crosses_zero(panel: Panel) -> bool:
    values = [point.interval.estimate for series in panel.curves.values() for _, point in series]
    return any(value < 0 for value in values)


def _name(axis: Axes, panel: Panel, width: float) -> None:
    """The groups by their names, with a line between two; else numbers of places."""
    if not panel.groups:
        axis.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        return
    ends = np.cumsum([group.size for group in panel.groups])
    middles = [end - (group.size + 1) / 2 for end, group in zip(ends, panel.groups, strict=True)]
    for end in ends[:-1]:
        axis.axvline(end - 0.5, color="0.6", linewidth=0.5, linestyle=":", zorder=0)
    texts = [group.name for group in panel.groups]
    axis.set_xticks(middles, texts, fontsize=_SMALL)
    axis.grid(visible=False, axis="x")
    axis.xaxis.set_minor_locator(NullLocator())
    room = min(group.size for group in panel.groups) / panel.cells * width * 0.85
    if max(extent(text, _SMALL) for text in texts) + 0.1 > room:
        axis.tick_params(axis="x", labelrotation=60)
        for text in axis.get_xticklabels():
            text.set_horizontalalignment("right")
            text.set_rotation_mode("anchor")


def _both_sides(axes: Sequence[Axes], points: Sequence[Estimate]) -> None:
    """A scale that is logarithmic on both sides of 0, and linear near it."""
    sizes = [abs(value) for point in points for value in point.values if value]
    largest = max(sizes, default=1.0)
    linear = 10.0 ** math.floor(math.log10(max(min(sizes, default=1.0), largest * 10.0**-_DECADES)))
    low, high = (
        end(value for point in points for value in (*point.values, point.interval.low, point.interval.high) if math.isfinite(value))
        for end in (min, max)
    )
    axes[0].set_yscale("symlog", linthresh=linear, linscale=0.5)
    axes[0].yaxis.set_major_locator(SymmetricalLogLocator(base=10, linthresh=linear))
    axes[0].yaxis.set_minor_locator(NullLocator())
    axes[0].set_ylim(2 * min(low, -linear), 2 * max(high, linear))
