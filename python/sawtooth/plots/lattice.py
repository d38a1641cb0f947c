"""Panels in rows and columns, each a measure over a numeric factor: curves of means with intervals, every replicate a faint dot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sawtooth.plots.style import COLOURS, MARKERS, figure, named
from sawtooth.stats import Interval, Vector


@dataclass(frozen=True)
class Curve:
    """A curve: x of each point, its mean with interval, the values behind it, and which points are to be read with care (drawn hollow)."""

    x: Sequence[float]
    means: Sequence[Interval]
    values: Sequence[Vector]
    hollow: Sequence[bool]


@dataclass(frozen=True)
class Panel:
    """A panel: label to curve, and optionally a grey line for what theory says. Panels of the same `like` have one vertical scale."""

    title: str
    y_label: str
    curves: Mapping[str, Curve]
    reference: tuple[str, Sequence[float], Sequence[float]] | None = None
    like: str = ""


def lattice(
    panels: Sequence[Panel],
    across: int,
    x_label: str,
    *,
    x_scale: str = "linear",
    ticks: Sequence[float] | None = None,
    hollow: str = "",
) -> Figure:
    """The panels in reading order, `across` in a row.

    Args:
        panels: at least one.
        across: how many in a row.
        x_label: below the last ones of each column.
        x_scale: `linear` or `log`.
        ticks: of the horizontal axes; by default matplotlib's.
        hollow: what a hollow point means, for the legend.

    """
    rows = -(-len(panels) // across)
    made, axes = figure(2.75 * across + 0.3, 2.15 * rows + 0.55, rows, across)
    labels = list(dict.fromkeys(label for panel in panels for label in panel.curves))
    # A panel has room for about twenty letters of the size that titles have elsewhere.
    title_size = 9 if max(len(panel.title) for panel in panels) <= 20 else 7.5
    for at, (axis, panel) in enumerate(zip(axes, panels, strict=False)):
        for label, curve in panel.curves.items():
            _curve(axis, curve, labels.index(label), len(labels), x_scale)
        if panel.reference is not None:
            axis.plot(panel.reference[1], panel.reference[2], ":", color="grey", linewidth=1, zorder=0)
        axis.set_title(panel.title, fontsize=title_size)
        axis.set_ylabel(panel.y_label)
        axis.set_xscale(x_scale)
        if ticks is not None:
            axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            axis.minorticks_off()
        if at + across >= len(panels):
            axis.set_xlabel(x_label)
    for like in {panel.like for panel in panels if panel.like}:
        group = [axis for axis, panel in zip(axes, panels, strict=False) if panel.like == like]
        # A curve that does not change would lie on the frame.
        top = 1.04 * max(axis.get_ylim()[1] for axis in group)
        for axis in group:
            axis.set_ylim(0, top)
    for axis, panel in zip(axes, panels, strict=False):
        if not panel.like:
            axis.set_ylim(bottom=0)
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    handles = [
        Line2D([], [], color=COLOURS[at], marker=MARKERS[at], markersize=4, linewidth=1, label=named(label))
        for at, label in enumerate(labels)
    ]
    handles += [
        Line2D([], [], color="grey", linestyle=":", label=named(name))
        for name in dict.fromkeys(panel.reference[0] for panel in panels if panel.reference is not None)
    ]
    if hollow and any(any(curve.hollow) for panel in panels for curve in panel.curves.values()):
        handles.append(Line2D([], [], color="grey", marker="o", markersize=4, markerfacecolor="white", linestyle="", label=named(hollow)))
    # Narrow figures have no room for a line of all names.
    made.legend(handles=handles, loc="outside upper center", ncols=min(len(handles), 5 if across > 2 else 3), frameon=False, fontsize=8)
    return made


def _curve(axis: Axes, curve: Curve, at: int, of: int, x_scale: str) -> None:
    # Curves stand a little beside each other, so that intervals can be told apart.
    x = np.array(curve.x, dtype=np.float64)
    if x_scale == "log":
        x = x * 1.035 ** (at - (of - 1) / 2)
    elif x.size > 1:
        x = x + 0.006 * float(np.ptp(x)) * (at - (of - 1) / 2)
    places = np.repeat(x, [values.size for values in curve.values])
    axis.plot(places, np.concatenate(curve.values), ".", color=COLOURS[at], alpha=0.35, markersize=3, markeredgewidth=0)
    middle = np.array([mean.estimate for mean in curve.means])
    reach = np.array([mean.reach() for mean in curve.means]).T
    axis.errorbar(x, middle, yerr=reach, fmt="-", color=COLOURS[at], linewidth=0.9, capsize=1.5, elinewidth=0.7)
    hollow = np.array(curve.hollow, dtype=bool)
    for chosen, face in ((~hollow, COLOURS[at]), (hollow, "white")):
        axis.plot(x[chosen], middle[chosen], MARKERS[at], color=COLOURS[at], markerfacecolor=face, markersize=3.4, markeredgewidth=0.8)


def scatters(panels: Sequence[tuple[str, str, Mapping[str, tuple[Vector, Vector]]]], across: int = 2, *, scale: str = "linear") -> Figure:
    """One measure against another: panels of (x label, y label, label to x and y), shapes (n,); `symlog` shows zeros, too."""
    rows = -(-len(panels) // across)
    made, axes = figure(3.4 * across + 0.3, 2.7 * rows + 0.4, rows, across)
    for axis, (x_label, y_label, series) in zip(axes, panels, strict=False):
        for at, (label, (x, y)) in enumerate(series.items()):
            axis.plot(x, y, MARKERS[at], color=COLOURS[at], alpha=0.45, markersize=3.5, markeredgewidth=0, label=named(label))
        axis.set_xlabel(x_label)
        axis.set_ylabel(y_label)
        largest = [max((float(each[which].max()) for each in series.values() if each[which].size), default=0.0) for which in (0, 1)]
        if scale == "symlog":
            axis.set_xscale("symlog", linthresh=1, linscale=0.4)
            axis.set_yscale("symlog", linthresh=1, linscale=0.4)
            axis.set_xlim(-0.3, max(10.0, 2 * largest[0]))
            axis.set_ylim(-0.3, max(10.0, 2 * largest[1]))
        else:
            axis.set_xlim(left=0)
            axis.set_ylim(bottom=0)
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    handles = [
        Line2D([], [], color=COLOURS[at], marker=MARKERS[at], markersize=4, linestyle="", label=named(label))
        for at, label in enumerate(panels[0][2])
    ]
    made.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False, fontsize=8)
    return made
