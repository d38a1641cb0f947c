"""Matrices of numbers as heat maps, numbers written in where there is room; unknown cells are hatched."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter
from numpy.typing import NDArray

from sawtooth.estimates import Estimate
from sawtooth.plots import facets, shifts
from sawtooth.plots.style import extent, figure, plain

_TICKS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50)
# Light and dark ends that no reader takes for each other; the ratio's middle is white.
_Colour = tuple[float, float, float, float]
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
        dark = _dark(colours(norm(value)))
        text = f"{value:.2f}" if value < 9.995 else f"{value:.1f}"
        axis.text(column, row, text, ha="center", va="center", fontsize=5.6, color="white" if dark else "black")


def _dark(colour: _Colour) -> bool:
    """Whether text on a colour must be white."""
    red, green, blue, _ = colour
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.45


@dataclass(frozen=True)
class Colours:
    """What colours stand for: the scale, `linear` or `log`, and a centre that they are symmetrical around; None if they go from small to large."""

    scale: str = "linear"
    centre: float | None = None


def estimates(
    panels: Sequence[Sequence[Sequence[Estimate | None]]],
    titles: tuple[Sequence[str], Sequence[str]],
    levels: tuple[Sequence[str], Sequence[str]],
    labels: tuple[str, str, str],
    colours: Colours,
) -> Figure:
    """One heat map per entry of `panels`, all with one scale of colours.

    In each cell stands its number, if there is room in all. A number in brackets is one whose interval holds the centre; `≥` or `≤` is before one
    that is only a bound, whose cell is hatched thinly, and one between two bounds has both. A cell of which nothing is known is grey and hatched.

    Args:
        panels: of each panel, rows of cells: y, then x.
        titles: of rows and columns of panels.
        levels: along x, and along y.
        labels: of x, y and the colours.
        colours: what they stand for.

    """
    x, y = levels
    texts = [[[_text(cell, colours.centre) for cell in row] for row in panel] for panel in panels]
    across, down = _across(titles), _down(titles)
    needed = max((extent(text, _NUMBER) for panel in texts for row in panel for text in row), default=0.0) + 0.1
    room = needed * len(x) * across <= _WIDEST and _LOWEST * len(y) * down <= _HIGHEST
    longest = max(extent(plain(level, _LONGEST), 8) for level in x)
    wide = (
        max(needed, min(longest + 0.12, 0.9, _WIDEST / (len(x) * across)), 0.34)
        if room
        else max(0.02, min(0.34, _WIDEST / (len(x) * across)))
    )
    high = max(_LOWEST, 0.26) if room else max(0.02, min(0.26, _HIGHEST / (len(y) * down)))
    left = max(extent(plain(level, _LONGEST), 8) for level in y)
    tilted = longest + 0.05 > wide
    below = 0.8 * longest if tilted else 0.2
    laid = facets.grid(
        *titles, width=max(wide * len(x), 1.2) + 0.15 + (left + 1.0) / across, height=max(high * len(y), 0.5) + 0.35 + (below + 0.3) / down
    )
    norm = _scale([cell for panel in panels for row in panel for cell in row], colours)
    map_ = colormaps["YlGnBu" if colours.centre is None else "RdBu_r"]
    shown = None

    def colour(value: float) -> _Colour:
        """Of a value; white where it has none."""
        found: Any = map_(norm(value)) if np.isfinite(value) else (1.0, 1.0, 1.0, 1.0)
        return found

    for axis, panel, words in zip(laid.axes, panels, texts, strict=True):
        values = np.array([[np.nan if cell is None else cell.interval.estimate for cell in row] for row in panel], dtype=float)
        if isinstance(norm, LogNorm):
            values = np.where(values > 0, values, np.nan)
        shown = axis.imshow(np.ma.masked_invalid(values), norm=norm, cmap=map_, aspect="auto", interpolation="nearest")
        axis.grid(visible=False)
        axis.tick_params(length=0, labelsize=8)
        for row, cells in enumerate(panel):
            for column, cell in enumerate(cells):
                _mark(axis, (column, row), cell)
                if room:
                    _write(axis, (column, row), words[row][column], cell, colour(values[row, column]))
        axis.set_xticks(*_named(x, wide), rotation=60 if tilted else 0)
        if tilted:
            for text in axis.get_xticklabels():
                text.set_horizontalalignment("right")
                text.set_rotation_mode("anchor")
        axis.set_yticks(*_named(y, high))
        if shifts.numbers_first(y):
            axis.set_ylim(-0.5, len(y) - 0.5)
    laid.label(*labels[:2])
    if shown is not None:
        bar = laid.made.colorbar(shown, ax=list(laid.axes), shrink=0.9, aspect=18, pad=0.02)
        bar.set_label("\n".join(textwrap.wrap(labels[2], max(20, int(11 * laid.made.get_figheight())))))
        if isinstance(norm, LogNorm):
            bar.ax.yaxis.set_major_locator(FixedLocator(_around(norm) if colours.centre else _ticks(norm)))
            bar.ax.yaxis.set_minor_locator(NullLocator())
            bar.ax.yaxis.set_major_formatter(StrMethodFormatter("{x:.3g}"))
    return laid.made


_NUMBER = 7
"""Size of the numbers in cells, in points."""
_WIDEST, _HIGHEST, _LOWEST = 8.5, 9.0, 0.2
"""All cells together, and the least height of one with a number, in inches."""
_LONGEST = 60
"""Letters of a level."""


def short(value: float) -> str:
    """A number for a cell, with three digits."""
    size = abs(value)
    if size >= 99.95 or value == 0:
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 9.995 else f"{value:.2f}" if size >= 0.095 else f"{value:.2g}"


SIGNS = {"at least": "≥ ", "at most": "≤ "}
"""Before a number that is a bound."""


def _text(cell: Estimate | None, centre: float | None) -> str:
    if cell is None or not np.isfinite(cell.interval.estimate):
        return "↕" if cell is not None and cell.bound else ""
    text = SIGNS.get(cell.bound, "") + " to ".join(map(short, cell.values))
    held = centre is not None and not cell.interval.excludes(centre)
    return f"({text})" if held else text


def _write(axis: Axes, place: tuple[int, int], text: str, cell: Estimate | None, colour: _Colour) -> None:
    """A number into a cell; over thin hatching on a ground of its own."""
    ground: dict[str, Any] = {"boxstyle": "square,pad=0.05", "facecolor": colour, "edgecolor": "none"}
    look: dict[str, Any] = {"bbox": ground} if cell is not None and cell.bound else {}
    axis.text(*place, text, ha="center", va="center", fontsize=_NUMBER, color="white" if _dark(colour) else "black", **look)


def _mark(axis: Axes, place: tuple[int, int], cell: Estimate | None) -> None:
    """Hatches a cell that is unknown, or only bounded."""
    unknown = cell is None or not np.isfinite(cell.interval.estimate)
    if not unknown and cell is not None and not cell.bound:
        return
    axis.add_patch(
        Rectangle(
            (place[0] - 0.5, place[1] - 0.5), 1, 1, facecolor="0.93" if unknown else "none", edgecolor="0.55" if unknown else "0.35",
            hatch="xxxx" if unknown else "////", linewidth=0,
        )
    )  # fmt: skip


def _scale(cells: Sequence[Estimate | None], colours: Colours) -> Normalize:
    known = np.array([value for cell in cells if cell is not None for value in cell.values])
    if colours.scale == "log":
        known = known[known > 0]
        if colours.centre is not None:
            reach = float(np.exp(np.abs(np.log(known / colours.centre)).max())) if known.size else 1.0
            reach = max(reach, 1.05)
            return LogNorm(colours.centre / reach, colours.centre * reach)
        low, high = (float(known.min()), float(known.max())) if known.size else (0.5, 2.0)
        return LogNorm(low, high if high > low * 1.05 else low * 1.05)
    if colours.centre is not None:
        reach = float(np.abs(known - colours.centre).max()) if known.size else 1.0
        reach = reach or max(abs(colours.centre), 1.0) * 0.05
        return Normalize(colours.centre - reach, colours.centre + reach)
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    return Normalize(low, high if high > low else low + (abs(low) * 0.05 or 1.0))


def _around(norm: LogNorm) -> list[float]:
    """Ticks of logarithmic colours around a centre, which is one of them."""
    low, high = float(norm.vmin or 1), float(norm.vmax or 1)
    return [float(tick) for tick in np.geomspace(low, high, 5)]


def _named(levels: Sequence[str], size: float) -> tuple[list[int], list[str]]:
    """Which levels are named along an axis whose cells are so large, in inches: as many as there is room for."""
    every = max(1, int(np.ceil(0.14 / size)))
    places = list(range(0, len(levels), every))
    return places, [plain(levels[at], _LONGEST) for at in places]


def _across(titles: tuple[Sequence[str], Sequence[str]]) -> int:
    rows, columns = titles
    return len(columns) if len(rows) > 1 else min(len(columns), facets.MOST_COLUMNS + 1)


def _down(titles: tuple[Sequence[str], Sequence[str]]) -> int:
    rows, columns = titles
    return len(rows) if len(rows) > 1 else -(-len(columns) // _across(titles))
