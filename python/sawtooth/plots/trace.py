"""One run over time: windows, round-trip times and queues, one above the other."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sawtooth.plots import whole
from sawtooth.plots.style import COLOURS, figure, legend_above, named
from sawtooth.stats import Vector


@dataclass(frozen=True)
class Curve:
    """A value over time that holds until the next; all vectors are of shape (n,).

    Attributes:
        label: in the legend; curves of one label have one colour in all panels.
        t: seconds. y: in the panel's unit, NaN where there is none.
        bound: a second value, drawn as a thin broken line where it is not far above `y`.
        width: of the line, points.

    """

    label: str
    t: Vector
    y: Vector
    bound: Vector | None = None
    width: float = 0.9


@dataclass(frozen=True)
class Panel:
    """What is drawn in one panel.

    Attributes:
        label: of the vertical axis, with the unit.
        height: relative to the others.
        marks: times in seconds at which a queue dropped something, drawn as strokes at the upper edge, by label.
        strays: those at which something was lost on the wire behind it, drawn as crosses below these.
        whole: whether values are whole numbers, as of packets: then ticks are, too.

    """

    label: str
    curves: Sequence[Curve]
    height: float = 1.0
    marks: dict[str, Vector] = field(default_factory=dict[str, Vector])
    strays: dict[str, Vector] = field(default_factory=dict[str, Vector])
    whole: bool = False


@dataclass(frozen=True)
class _Sign:
    """How moments are drawn that a panel has in its field `of`: by their shape, as their colour is that of a curve."""

    of: str
    marker: str
    size: float
    words: str


_SIGNS = (_Sign("strays", "x", 4.0, "lost on the wire"), _Sign("marks", "|", 5.0, "dropped by the queue"))
"""From below."""
_TITLE_LETTERS = 120
_ROW = 0.13
"""Of the panel's height, for a row of them."""


def over_time(
    panels: Sequence[Panel], title: str, span: tuple[float, float], *, width: float = 8.0, unit_height: float = 1.6, most_points: int = 3000
) -> Figure:
    """Panels that share the time from `span[0]` to `span[1]` seconds; no curve has more points than can be seen."""
    heights = [panel.height for panel in panels]
    made, axes = figure(width, unit_height * sum(heights) + 0.6, rows=len(panels), share_x=True, heights=heights)
    labels = list(
        dict.fromkeys(label for panel in panels for label in (*(curve.label for curve in panel.curves), *panel.marks, *panel.strays))
    )
    colours = {label: COLOURS[at % len(COLOURS)] for at, label in enumerate(labels)}
    for axis, panel in zip(axes, panels, strict=True):
        _draw(axis, panel, colours, span, most_points)
    axes[-1].set_xlabel("time (s)")
    axes[0].set_xlim(*span)
    if len(labels) > 1:
        _legend(made, axes, labels, [each for each in _SIGNS if any(getattr(panel, each.of) for panel in panels)])
    axes[0].set_title(textwrap.fill(title, _TITLE_LETTERS), loc="left", fontsize=9)
    return made


def _draw(axis: Axes, panel: Panel, colours: dict[str, str], span: tuple[float, float], most_points: int) -> None:
    top = 0.0
    for curve in panel.curves:
        inside = (curve.t >= span[0]) & (curve.t <= span[1])
        t, y = thinned(curve.t[inside], curve.y[inside], most_points)
        axis.plot(t, y, drawstyle="steps-post", color=colours[curve.label], linewidth=curve.width, label=named(curve.label))
        top = max(top, float(np.nanmax(y, initial=0.0)))
    for curve in panel.curves:
        if curve.bound is not None:
            # A threshold far above the window, as before the first loss, would leave no room for the window.
            shown = np.where(curve.bound <= 1.15 * top, curve.bound, np.nan)
            inside = (curve.t >= span[0]) & (curve.t <= span[1])
            t, y = thinned(curve.t[inside], shown[inside], most_points)
            axis.plot(t, y, drawstyle="steps-post", color=colours[curve.label], linewidth=0.6, linestyle=(0, (4, 2)), alpha=0.8)
    top = top or 1.0
    edge = 1.08
    for sign in _SIGNS:
        by_label: dict[str, Vector] = getattr(panel, sign.of)
        if by_label:
            edge += _ROW
        for label, times in by_label.items():
            shown = _apart(times[(times >= span[0]) & (times <= span[1])], (span[1] - span[0]) / most_points)
            axis.plot(
                shown,
                np.full(len(shown), (edge - 0.08) * top),
                sign.marker,
                color=colours[label],
                markersize=sign.size,
                markeredgewidth=0.8,
            )
    axis.set_ylim(0.0, edge * top)
    if panel.whole:
        axis.yaxis.set_major_locator(whole.locator())
    axis.set_ylabel(panel.label)


def _apart(times: Vector, least: float) -> Vector:
    """Without those that would be drawn on the one before."""
    return times[np.unique((times / least).astype(np.int64), return_index=True)[1]]


def _legend(made: Figure, axes: Sequence[Axes], labels: Sequence[str], signs: Sequence[_Sign]) -> None:
    """Above all panels, with the curves of all of them, and what signs mean."""
    handles = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    shown = [(handles[label], label) for label in map(named, labels) if label in handles]
    shapes = [(Line2D([], [], color="0.25", marker=each.marker, markersize=each.size, linestyle=""), each.words) for each in signs]
    legend_above(made, axes[0], [*shown, *shapes])


def thinned(t: Vector, y: Vector, most: int) -> tuple[Vector, Vector]:
    """At most about `most` points that look the same: of every stretch its first point, its least and its greatest."""
    if len(t) <= most:
        return t, y
    keep: list[int] = []
    for part in np.array_split(np.arange(len(t)), most // 3):
        known = part[~np.isnan(y[part])]
        keep += [int(part[0])] if not len(known) else sorted({int(part[0]), int(known[y[known].argmin()]), int(known[y[known].argmax()])})
    keep.append(len(t) - 1)
    at = np.unique(keep)
    return t[at], y[at]
