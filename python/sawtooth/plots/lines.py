"""Many named lines in a panel, each named at its right end: a legend of eleven colours is no legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from sawtooth.plots.style import COLOURS, MARKERS, figure
from sawtooth.stats import Vector

_TICKS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10, 20, 50)


@dataclass(frozen=True)
class Line:
    """Points, and optionally a line of its own through them (a fit); `label` stands at the right end."""

    label: str
    x: Vector
    y: Vector
    line_x: Vector | None = None
    line_y: Vector | None = None

    @property
    def end(self) -> float:
        """Where the line ends."""
        return float(self.y[-1] if self.line_y is None else self.line_y[-1])


def labelled(
    data: Mapping[str, Sequence[Line | None]], x_label: str, y_label: str, *, scale: str = "log", x_ticks: Sequence[float] | None = None
) -> Figure:
    """One panel per key of `data`, side by side, on a common scale; line i, unless None, looks the same in every panel.

    Args:
        data: title to lines.
        x_label: of the horizontal axes.
        y_label: of the vertical axis.
        scale: `log`, or `linear` from zero.
        x_ticks: where; by default at every point.

    """
    made, axes = figure(max(3.0 * len(data), 4.2), 3.7, columns=len(data), share_y=True)
    lines = [line for panel in data.values() for line in panel if line is not None]
    lowest = min(float(np.nanmin(line.y)) for line in lines)
    highest = max(max(float(np.nanmax(line.y)), line.end) for line in lines)
    low, high = (0.0, 1.08 * highest) if scale == "linear" else (lowest / 1.15, max(highest * 1.15, lowest * 1.6))
    left = min(float((line.x if line.line_x is None else line.line_x)[0]) for line in lines)
    right = max(float(line.x[-1]) for line in lines)
    span = max(right - left, 1e-9)
    for axis, (title, panel) in zip(axes, data.items(), strict=True):
        axis.set_yscale(scale)
        axis.set_ylim(low, high)
        for at, line in enumerate(panel):
            if line is None:
                continue
            colour, marker = COLOURS[at % len(COLOURS)], MARKERS[(at + at // len(COLOURS)) % len(MARKERS)]
            own_x, own_y = (line.x, line.y) if line.line_x is None or line.line_y is None else (line.line_x, line.line_y)
            axis.plot(own_x, own_y, "--" if at >= len(COLOURS) else "-", color=colour, linewidth=0.9)
            axis.plot(line.x, line.y, marker, color=colour, markersize=3.5, markeredgewidth=0)
        _name_ends(axis, panel, span)
        axis.set_xlim(left - 0.06 * span, right + 0.62 * span)
        axis.set_title(title, fontsize=9)
        axis.set_xlabel(x_label)
        axis.set_xticks(x_ticks or np.unique(np.concatenate([line.x for line in lines])))
        ticks = [tick for tick in _TICKS if low <= tick <= high]
        if scale == "log" and len(ticks) >= 2:
            axis.yaxis.set_major_locator(FixedLocator(ticks))
            axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axis.yaxis.set_minor_locator(NullLocator())
    axes[0].set_ylabel(y_label)
    return made


def _name_ends(axis: Axes, panel: Sequence[Line | None], span: float) -> None:
    """Names at the right, spread where lines end close together, with a thin lead to each line's end."""
    order = sorted(((at, line) for at, line in enumerate(panel) if line is not None), key=lambda pair: pair[1].end)
    # Distances count on the paper, not in seconds.
    to_paper = axis.transScale + axis.transLimits
    wanted = [float(to_paper.transform((0.0, line.end))[1]) for _, line in order]
    for (at, line), y in zip(order, spread(wanted, 0.052), strict=True):
        place = float(to_paper.inverted().transform((0.0, y))[1])
        end_x = float(line.x[-1] if line.line_x is None else line.line_x[-1])
        colour = COLOURS[at % len(COLOURS)]
        axis.plot([end_x, end_x + 0.07 * span], [line.end, place], color=colour, linewidth=0.5, alpha=0.7)
        axis.annotate(line.label, (end_x + 0.08 * span, place), fontsize=6.5, va="center", color=colour)


def spread(wanted: Sequence[float], apart: float) -> list[float]:
    """Positions near the wanted ones, which ascend, at least `apart` from each other and inside of 0 to 1 if there is room."""
    # Labels that touch form a block: its members sit around the mean of what they want, moved inside as a whole.
    blocks: list[list[float]] = []

    def first(block: list[float]) -> float:
        reach = apart * (len(block) - 1)
        return max(min(sum(block) / len(block) - reach / 2, 1 - apart / 2 - reach), apart / 2)

    for want in wanted:
        blocks.append([want])
        while len(blocks) > 1 and first(blocks[-1]) < first(blocks[-2]) + apart * len(blocks[-2]) - 1e-9:
            last = blocks.pop()
            blocks[-1] = blocks[-1] + last
    return [first(block) + apart * at for block in blocks for at in range(len(block))]
