"""Effects of a factorial design: bars of shares of the variance, and means of levels with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sawtooth.estimates import Estimate
from sawtooth.plots import facets, shifts
from sawtooth.plots.style import COLOURS, extent, named, plain, wrapped

MOST = 12
"""Bars of a panel."""
_BAR, _LETTERS, _NAME = 0.2, 8.0, 28
"""Height of a bar in inches; size of names in points; letters of a name at most."""


@dataclass(frozen=True)
class Bar:
    """An effect: its name, its share of the variance, whether it is told from chance, and its p in words."""

    name: str
    share: float
    clear: bool
    p: str


@dataclass(frozen=True)
class Means:
    """A panel of means: of which factor, what its curves are (empty for one without a name), the levels along x, and curve to points."""

    x: str
    of: str
    levels: Sequence[str]
    curves: Mapping[str, Sequence[Estimate | None]]


def left_out(panels: Sequence[Sequence[Bar]]) -> str:
    """What a caption says of effects that are not drawn."""
    most = max((len(bars) for bars in panels), default=0)
    return f"The {MOST} largest of {most} effects; the others are in the numbers." if most > MOST else ""


def shares(panels: Sequence[Sequence[Bar]], titles: tuple[Sequence[str], Sequence[str]], label: str) -> Figure:
    """A panel of bars per entry, the largest above; filled if told from chance, with p behind each.

    Args:
        panels: of each the effects, the largest first.
        titles: of rows and columns.
        label: of the axis.

    """
    kept = [bars[:MOST] for bars in panels]
    count = max((len(bars) for bars in kept), default=1)
    names = max((extent(_cut(bar.name), _LETTERS) for bars in kept for bar in bars), default=1.0)
    # Under its own axis, however long the measure's name is.
    lines = wrapped(label, 9, 2.5)
    laid = facets.grid(*titles, width=names + 2.6, height=_BAR * count + 0.45 + 0.17 * len(lines), share_x=True, share_y=False)
    most = max((100 * bar.share for bars in kept for bar in bars), default=1.0)
    for axis, bars in zip(laid.axes, kept, strict=True):
        at = range(len(bars))
        colours = [COLOURS[0] if bar.clear else "white" for bar in bars]
        axis.barh(at, [100 * bar.share for bar in bars], height=0.62, color=colours, edgecolor=COLOURS[0], linewidth=0.8)
        for place, bar in zip(at, bars, strict=True):
            axis.annotate(bar.p, (100 * bar.share, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=7)
        axis.set_yticks(at, [_cut(bar.name) for bar in bars], fontsize=_LETTERS)
        axis.set_ylim(len(bars) - 0.4, -0.6)
        axis.grid(visible=False, axis="y")
    # Behind the longest bar there is its p.
    laid.axes[0].set_xlim(0, max(most * 1.45, 1e-9))
    laid.axes[0].set_xticks([tick for tick in laid.axes[0].get_xticks() if tick <= 100 and tick <= most * 1.45])
    laid.label("\n".join(lines), "")
    return laid.made


def means(panels: Sequence[Means], label: str) -> Figure:
    """A panel per factor and interaction, all on one scale."""
    laid = facets.grid([""], [_title(panel) for panel in panels], share_x=False, share_y=True, height=2.7)
    for axis, panel in zip(laid.axes, panels, strict=True):
        line = shifts.numbers_first(panel.levels)
        for at, (name, series) in enumerate(panel.curves.items()):
            x = [place + shifts.dodge(at, len(panel.curves), joined=line or bool(panel.of)) for place in range(len(panel.levels))]
            facets.points(axis, x, series, name, at, line=line or bool(panel.of))
        _levels(axis, panel.levels)
        axis.set_xlabel(plain(panel.x, _NAME))
        if panel.of:
            axis.legend(
                title=plain(panel.of, _NAME),
                title_fontsize=7,
                fontsize=6.5,
                frameon=False,
                labels=[named(_cut(name)) for name in panel.curves],
            )
    for axis in laid.left:
        axis.set_ylabel(label)
    return laid.made


def _levels(axis: Axes, levels: Sequence[str]) -> None:
    """Names at ticks; slanted where they would touch."""
    slanted = sum(extent(level, 8) + 0.1 for level in levels) > 2.1
    axis.set_xticks(
        range(len(levels)),
        [_cut(level) for level in levels],
        rotation=40 if slanted else 0,
        ha="right" if slanted else "center",
        fontsize=8,
    )
    axis.set_xlim(-0.5, len(levels) - 0.5)


def _title(panel: Means) -> str:
    return plain(f"{panel.x} x {panel.of}" if panel.of else panel.x, _NAME)


def _cut(name: str) -> str:
    return plain(name, _NAME)
