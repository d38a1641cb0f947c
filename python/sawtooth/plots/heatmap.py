"""Matrices of positive numbers as heat maps, numbers written in, colours by their logarithm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter
from numpy.typing import NDArray

from sawtooth.plots.style import figure

_TICKS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50)
# Light and dark ends that no reader takes for each other; the ratio's middle is white.
_COLOURS = {"time": "YlGnBu", "ratio": "RdBu_r"}


@dataclass(frozen=True)
class Matrix:
    """A panel: its title, and values of shape (rows, columns), not a number where there is none."""

    title: str
    values: NDArray[np.float64]


@dataclass(frozen=True)
class Strip:
    """Panels side by side under one colour scale.

    Attributes:
        panels: None leaves a gap. kind: `time`, coloured from smallest to largest, or `ratio`, symmetric around 1.
        label: of the colour scale.

    """

    panels: Sequence[Matrix | None]
    kind: str
    label: str


def matrices(strips: Sequence[Strip], rows: Sequence[str], columns: Sequence[str], row_label: str, column_label: str) -> Figure:
    """Strips of heat maps below each other; all have the same rows and columns."""
    across = max(len(strip.panels) for strip in strips)
    side = 0.225
    wide, high = max(side * len(columns), 1.1) + 0.12, max(side * len(rows), 1.0) + 1.2
    made, axes = figure(wide * across + 1.7, high * len(strips), rows=len(strips), columns=across)
    for at, strip in enumerate(strips):
        own = axes[at * across : (at + 1) * across]
        norm = _norm(strip)
        first = True
        for axis, panel in zip(own, [*strip.panels, *[None] * (across - len(strip.panels))], strict=True):
            if panel is None:
                axis.set_axis_off()
                continue
            _draw(axis, panel, norm, strip.kind)
            axis.set_xticks(range(len(columns)), columns, rotation=90)
            axis.set_yticks(range(len(rows)), rows if first else [""] * len(rows))
            if at == len(strips) - 1:
                axis.set_xlabel(column_label)
            if first:
                axis.set_ylabel(row_label)
                first = False
        shown = next((axis for axis, panel in zip(own, strip.panels, strict=False) if panel is not None), None)
        if shown is None:
            continue
        bar = made.colorbar(shown.images[0], ax=own, shrink=0.8, aspect=18, pad=0.01)
        ticks = _ticks(norm)
        bar.ax.yaxis.set_major_locator(FixedLocator(ticks))
        bar.ax.yaxis.set_minor_locator(NullLocator())
        bar.ax.yaxis.set_major_formatter(StrMethodFormatter("{x:.3g}"))
        bar.ax.tick_params(labelsize=7)
        bar.set_label(strip.label, fontsize=8)
    return made


def _ticks(norm: LogNorm) -> list[float]:
    low, high = float(norm.vmin or 1), float(norm.vmax or 1)
    coarse = [float(tick) for tick in _TICKS if low <= tick <= high]
    return coarse if len(coarse) > 2 else [float(tick) for tick in np.geomspace(low, high, 4)]


def _norm(strip: Strip) -> LogNorm:
    values = np.concatenate([panel.values.ravel() for panel in strip.panels if panel is not None] or [np.ones(1)])
    finite = values[np.isfinite(values) & (values > 0)]
    if strip.kind == "ratio":
        reach = max(1.5, float(np.exp(np.abs(np.log(finite)).max()))) if finite.size else 1.5
        return LogNorm(1 / reach, reach)
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.5, 2.0)
    return LogNorm(low, high if high > low * 1.05 else low * 1.05)


def _draw(axis: Axes, panel: Matrix, norm: LogNorm, kind: str) -> None:
    colours = colormaps[_COLOURS[kind]]
    axis.imshow(np.ma.masked_invalid(panel.values), norm=norm, cmap=colours, aspect="equal")
    axis.set_title(panel.title, fontsize=9)
    axis.grid(visible=False)
    axis.tick_params(labelsize=7, length=0)
    for (row, column), value in np.ndenumerate(panel.values):
        if not np.isfinite(value):
            axis.text(column, row, "-", ha="center", va="center", fontsize=8, color="grey")
            continue
        red, green, blue, _ = colours(norm(value))
        dark = 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.45
        text = f"{value:.2f}" if value < 9.995 else f"{value:.1f}"
        axis.text(column, row, text, ha="center", va="center", fontsize=5.6, color="white" if dark else "black")
