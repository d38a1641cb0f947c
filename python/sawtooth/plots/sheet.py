"""Figures of several studies on one sheet: under each other's eyes, with what was asked above and what was found below each.

Figures keep their proportions and stand in rows that fill the width; rows are broken so that figures come nearest to the size that they
have by themselves, and so the letters in all of them to one size.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import image
from matplotlib.figure import Figure

from sawtooth.plots import style
from sawtooth.storage import write_atomically

# Inches.
_WIDTH, _MARGIN, _GAP = 16.0, 0.35, 0.3
# How much a figure may be enlarged where its row is not full.
_LARGEST = 1.25
_POINTS_PER_INCH, _LEADING, _DPI = 72, 1.35, 130


@dataclass(frozen=True)
class Remark:
    """A line below a figure: one word in a colour, and what it is about."""

    word: str
    colour: str
    text: str


@dataclass(frozen=True)
class Tile:
    """A figure with what stands above and below it."""

    title: str
    text: str
    figure: Figure
    remarks: Sequence[Remark] = field(default_factory=list[Remark])


@dataclass(frozen=True)
class _Line:
    """A line of text: its left end and baseline in inches from the sheet's upper left corner."""

    x: float
    y: float
    text: str
    size: float
    colour: str = "#1b1f24"
    bold: bool = False


@dataclass(frozen=True)
class _Placed:
    """A figure and where it stands, in inches from the sheet's upper left corner."""

    figure: Figure
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Sheet:
    """A sheet of tiles, laid out."""

    width: float
    height: float
    lines: Sequence[_Line]
    placed: Sequence[_Placed]

    def write(self, directory: Path, name: str) -> None:
        """Writes `name`.svg, in which figures stay drawings, and `name`.png."""
        directory.mkdir(parents=True, exist_ok=True)
        write_atomically(directory / f"{name}.svg", self.svg().encode())
        with io.BytesIO() as buffer:
            image.imsave(buffer, self.pixels(), format="png")
            write_atomically(directory / f"{name}.png", buffer.getvalue())

    def svg(self) -> str:
        """The sheet as SVG text; the same figures give the same text."""
        within = "".join(_nested(placed) for placed in self.placed)
        return style.svg(self._page()).replace("</svg>", f"{within}</svg>")

    def pixels(self, dpi: int = _DPI) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
        """The sheet as an image of shape (height, width, 4): red, green, blue and opacity."""
        sheet = _rendered(self._page(), dpi)
        for placed in self.placed:
            drawn = _rendered(placed.figure, dpi * placed.width / placed.figure.get_figwidth())
            top, left = round(placed.y * dpi), round(placed.x * dpi)
            room = sheet[top : top + drawn.shape[0], left : left + drawn.shape[1]]
            room[:] = drawn[: room.shape[0], : room.shape[1]]
        return sheet

    def _page(self) -> Figure:
        """The sheet without its figures."""
        page = Figure(figsize=(self.width, self.height))
        for line in self.lines:
            page.text(line.x / self.width, 1 - line.y / self.height, line.text, fontproperties=style.font(line.size, bold=line.bold),
                      color=line.colour, va="baseline", parse_math=False)  # fmt: skip
        return page


def sheet(title: str, tiles: Sequence[Tile]) -> Sheet:
    """The tiles in their order, from the upper left; at least one."""
    width = _WIDTH - 2 * _MARGIN
    y = _MARGIN + 0.25
    lines = [_Line(_MARGIN, y, title, 14, bold=True)]
    y += 0.2
    placed: list[_Placed] = []
    for row, height in _rows(tiles, width):
        above = [_above(tile, height * _aspect(tile)) for tile in row]
        below = [_below(tile, height * _aspect(tile)) for tile in row]
        head = max(_depth(text) for text in above)
        x = _MARGIN
        for tile, heading, remarks in zip(row, above, below, strict=True):
            lines += [_moved(line, x, y) for line in heading]
            placed.append(_Placed(tile.figure, x, y + head, height * _aspect(tile), height))
            lines += [_moved(line, x, y + head + height) for line in remarks]
            x += height * _aspect(tile) + _GAP
        y += head + height + max(_depth(text) for text in below) + _GAP
    return Sheet(_WIDTH, y + _MARGIN - _GAP, lines, placed)


# --- rows ---------------------------------------------------------------------------------------------------------------


def _aspect(tile: Tile) -> float:
    width, height = tile.figure.get_size_inches()
    return float(width / height)


def _rows(tiles: Sequence[Tile], width: float) -> list[tuple[Sequence[Tile], float]]:
    """Rows with the height of their figures: of all ways to break them the one that enlarges and shrinks figures least."""
    best: list[tuple[float, list[tuple[Sequence[Tile], float]]]] = [(0.0, [])]
    for end in range(1, len(tiles) + 1):
        ways: list[tuple[float, list[tuple[Sequence[Tile], float]]]] = []
        for begin in range(end):
            row = tiles[begin:end]
            filling = (width - _GAP * (len(row) - 1)) / sum(_aspect(tile) for tile in row)
            if filling > 0:
                natural = [tile.figure.get_figheight() for tile in row]
                cost = best[begin][0] + sum(math.log(filling / height) ** 2 for height in natural)
                ways.append((cost, [*best[begin][1], (row, min(filling, _LARGEST * max(natural)))]))
        best.append(min(ways, key=lambda way: way[0]))
    return best[-1][1]


# --- texts --------------------------------------------------------------------------------------------------------------


def _above(tile: Tile, width: float) -> list[_Line]:
    return _set([(tile.title, 10, True), (tile.text, 9, False)], width)


def _below(tile: Tile, width: float) -> list[_Line]:
    lines: list[_Line] = []
    for remark in tile.remarks:
        indent = style.extent(f"{remark.word}: ", 8, bold=True)
        for at, text in enumerate(style.wrapped(remark.text, 8, width - indent)):
            y = _depth(lines) + 8 * _LEADING / _POINTS_PER_INCH
            if at == 0:
                lines.append(_Line(0.0, y, f"{remark.word}:", 8, remark.colour, bold=True))
            lines.append(_Line(indent, y, text, 8))
    return lines


def _set(texts: Iterable[tuple[str, float, bool]], width: float) -> list[_Line]:
    lines: list[_Line] = []
    for text, size, bold in texts:
        for part in style.wrapped(text, size, width, bold=bold):
            lines.append(_Line(0.0, _depth(lines) + size * _LEADING / _POINTS_PER_INCH, part, size, bold=bold))
    return lines


def _depth(lines: Sequence[_Line]) -> float:
    """How far down the lines reach, with the room that letters need below the last baseline."""
    return max((line.y for line in lines), default=0.0) + (0.04 if lines else 0.0)


def _moved(line: _Line, x: float, y: float) -> _Line:
    return _Line(line.x + x, line.y + y, line.text, line.size, line.colour, line.bold)


# --- drawing ------------------------------------------------------------------------------------------------------------


def _rendered(made: Figure, dpi: float) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    with style.drawing(made), io.BytesIO() as buffer, mpl.rc_context({"savefig.transparent": False}):
        made.savefig(buffer, format="png", dpi=dpi)
        buffer.seek(0)
        return np.round(image.imread(buffer) * 255).astype(np.uint8)


def _nested(placed: _Placed) -> str:
    """A figure's drawing as a part of a larger one; both count in points."""
    x, y, width, height = (inches * _POINTS_PER_INCH for inches in (placed.x, placed.y, placed.width, placed.height))
    text = style.svg(placed.figure)
    return re.sub(r'width="[^"]*" height="[^"]*"', f'x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}"', text, count=1)
