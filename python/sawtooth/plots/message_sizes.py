"""Curves over message size, ours as lines and published ones as points, with a second axis where something else is shown beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sawtooth.plots.style import COLOURS, figure, legend_above, named
from sawtooth.stats import Vector


@dataclass(frozen=True)
class Curve:
    """A curve; `points` rather than a line; `like` is the number of the colour, by default its place in the panel."""

    label: str
    sizes: Vector
    values: Vector
    points: bool = False
    like: int | None = None


@dataclass(frozen=True)
class Panel:
    """Curves on the left axis, and on the right one what is not of the same unit; `mark` is a size to mark, bytes."""

    title: str
    label: str
    left: list[Curve]
    right_label: str = ""
    right: list[Curve] = field(default_factory=list[Curve])
    mark: float | None = None


def panels(data: Sequence[Panel], columns: int = 2) -> Figure:
    """A panel each, all with the same left axis unless they have a right one; sizes in kB."""
    columns = min(columns, len(data))
    rows = -(-len(data) // columns)
    made, axes = figure(5.2 * columns if columns > 1 else 7.5, 3.1 * rows, rows=rows, columns=columns, share_x=True)
    for at, axis in enumerate(axes):
        if at >= len(data):
            axis.set_axis_off()
            continue
        panel = data[at]
        for number, curve in enumerate(panel.left):
            _draw(axis, curve, number)
        if panel.right:
            other = axis.twinx()
            other.spines["right"].set_visible(True)
            other.grid(visible=False)
            for number, curve in enumerate(panel.right):
                _draw(other, curve, 1 + number, dashed=True)
            other.set_ylabel(panel.right_label, color=COLOURS[1])
            other.set_ylim(bottom=0)
        if panel.mark is not None:
            axis.axvline(panel.mark / 1000, color="grey", linewidth=0.8, linestyle=":")
        axis.set_ylabel(panel.label)
        axis.set_ylim(bottom=0)
        axis.set_xlim(left=0)
        if at >= len(data) - columns:
            axis.set_xlabel("message size (kB)")
            axis.tick_params(labelbottom=True)
        axis.set_title(panel.title)
    fullest = max(range(len(data)), key=lambda at: len(data[at].left))
    legend_above(made, axes[fullest])
    return made


def _draw(axis: Axes, curve: Curve, number: int, *, dashed: bool = False) -> None:
    colour = COLOURS[number if curve.like is None else curve.like]
    if curve.points:
        axis.plot(
            curve.sizes / 1000, curve.values, "o", color=colour, markersize=2.6, alpha=0.6, markeredgewidth=0, label=named(curve.label)
        )
    else:
        axis.plot(
            curve.sizes / 1000, curve.values, color=colour, linewidth=1.2, linestyle="--" if dashed else "-", label=named(curve.label)
        )
