"""One run over time: windows, round-trip times and queues, one above the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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
        marks: times in seconds at which something was lost, drawn at the upper edge, by label.

    """

    label: str
    curves: Sequence[Curve]
    height: float = 1.0
    marks: dict[str, Vector] = field(default_factory=dict[str, Vector])


def over_time(
    panels: Sequence[Panel], title: str, span: tuple[float, float], *, width: float = 8.0, unit_height: float = 1.6, most_points: int = 3000
) -> Figure:
    """Panels that share the time from `span[0]` to `span[1]` seconds; no curve has more points than can be seen."""
    heights = [panel.height for panel in panels]
    made, axes = figure(width, unit_height * sum(heights) + 0.6, rows=len(panels), share_x=True, heights=heights)
    labels = list(dict.fromkeys(label for panel in panels for label in (*(curve.label for curve in panel.curves), *panel.marks)))
    colours = {label: COLOURS[at % len(COLOURS)] for at, label in enumerate(labels)}
    for axis, panel in zip(axes, panels, strict=True):
        _draw(axis, panel, colours, span, most_points)
    axes[-1].set_xlabel("time (s)")
    axes[0].set_xlim(*span)
    if len(labels) > 1:
        _legend(made, axes, labels)
    axes[0].set_title(title, loc="left", fontsize=9)
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
    for label, times in panel.marks.items():
        axis.plot(times, np.full(len(times), 1.12 * top), "|", color=colours[label], markersize=5, markeredgewidth=0.7, alpha=0.8)
    axis.set_ylim(0.0, (1.2 if panel.marks else 1.08) * top)
    axis.set_ylabel(panel.label)


def _legend(made: Figure, axes: Sequence[Axes], labels: Sequence[str]) -> None:
    """Above all panels, with the curves of all of them."""
    handles = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    legend_above(made, axes[0], [(handles[label], label) for label in map(named, labels) if label in handles])


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
