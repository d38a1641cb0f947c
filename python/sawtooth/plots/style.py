"""The look of all figures, and how they are written."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

mpl.use("Agg")

# Okabe and Ito's palette: told apart by colour-blind readers, and in print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")

_SETTINGS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.fonttype": "path",
    "svg.hashsalt": "sawtooth",
    "figure.constrained_layout.use": True,
}


def figure(
    width: float,
    height: float,
    rows: int = 1,
    columns: int = 1,
    *,
    share_x: bool = False,
    share_y: bool = False,
    heights: Sequence[float] | None = None,
) -> tuple[Figure, list[Axes]]:
    """A figure of `width` x `height` inches with its axes in reading order; `heights` of the rows are relative."""
    with mpl.rc_context(_SETTINGS):
        made = Figure(figsize=(width, height))
        axes = made.subplots(rows, columns, squeeze=False, sharex=share_x, sharey=share_y, height_ratios=heights)
        return made, [axis for row in axes for axis in row]


def legend_above(made: Figure, axis: Axes) -> None:
    """One line of legend above all panels, where it hides nothing; the names are those of `axis`."""
    handles, labels = axis.get_legend_handles_labels()
    made.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False, fontsize=8)


def svg(made: Figure) -> str:
    """The figure as SVG text; the same figure gives the same text."""
    with mpl.rc_context(_SETTINGS):
        buffer = io.StringIO()
        made.savefig(buffer, format="svg", metadata={"Date": None, "Creator": "sawtooth"})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def write(made: Figure, directory: Path, name: str) -> None:
    """Writes `name`.svg and `name`.png."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"{name}.svg").write_text(svg(made), encoding="utf-8")
    with mpl.rc_context(_SETTINGS):
        made.savefig(directory / f"{name}.png", dpi=160)
