"""Two sides of a comparison in figures: against each other, as ratios, and over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from sawtooth.plots import whiskers
from sawtooth.plots.style import COLOURS, MARKERS, figure, named
from sawtooth.stats import Interval, Vector, vector

_NARROW = 4.0
"""Up to this range (largest over smallest), ratios are read off a linear scale."""
_WIDE = 20.0
"""From this range on, values are drawn on logarithmic axes."""
MOST_LEVELS = len(COLOURS) * 2


@dataclass(frozen=True)
class Dot:
    """One row of a comparison.

    Attributes:
        label: its cell, in a few words.
        group: the level that colours it.
        first, second, ratio: with intervals.
        bound: `at least` or `at most`, where the ratio is a bound.

    """

    label: str
    group: str
    first: Interval
    second: Interval
    ratio: Interval
    bound: str = ""


@dataclass(frozen=True)
class Legend:
    """What the colours are, and every level in order, so that a level has one colour in all figures of a report."""

    title: str
    groups: Sequence[str]


def identity(dots: Sequence[Dot], names: tuple[str, str], quantity: str, tolerance: float, legend: Legend | None) -> Figure:
    """First side against second on equal axes, with the line of equality and the band of the tolerance.

    Args:
        dots: the rows.
        names: of the first side (vertical) and the second (horizontal).
        quantity: what is drawn, with its unit.
        tolerance: such as 0.05.
        legend: what the colours are; none for one colour.

    """
    made, axes = figure(6.2 if legend else 4.9, 4.8)
    axis = axes[0]
    low, high = identity_limits(dots)
    log = low > 0 and high / low > _WIDE
    line = np.geomspace(low, high, 200) if log else np.linspace(low, high, 2)
    axis.fill_between(
        line, line / (1 + tolerance), line * (1 + tolerance), color="0.88", linewidth=0, zorder=0.5, label=f"within {tolerance:.3g}"
    )
    axis.plot(line, line, color="black", linewidth=0.7, zorder=1)
    for group, members, style in _groups(dots, legend):
        across, up = ([getattr(dot, side) for dot in members] for side in ("second", "first"))
        places = [[each.estimate for each in along] for along in (across, up)]
        axis.errorbar(*places, xerr=whiskers.reaches(across, (low, high)), yerr=whiskers.reaches(up, (low, high)), linestyle="none",
                      elinewidth=0.7, markersize=4, alpha=0.85, label=named(group), **style)  # fmt: skip
        whiskers.heads(axis, across, places[1], (low, high), style["color"])
        whiskers.heads(axis, up, places[0], (low, high), style["color"], "y")
    if log:
        axis.set_xscale("log")
        axis.set_yscale("log")
        for scale in (axis.xaxis, axis.yaxis):
            decades = np.log10(high / low)
            scale.set_major_locator(LogLocator(base=10, subs=(1.0,) if decades > 3 else (1.0, 2.0, 5.0)))
            scale.set_major_formatter(FuncFormatter(_plain))
            scale.set_minor_formatter(NullFormatter())
    axis.set_xlim(low, high)
    axis.set_ylim(low, high)
    axis.set_aspect("equal", adjustable="box")
    if not log:
        axis.set_yticks(ticks := [tick for tick in axis.get_xticks() if low <= tick <= high])
        axis.set_xticks(ticks)
    axis.set_xlabel(f"{names[1]}: {quantity}")
    axis.set_ylabel(f"{names[0]}: {quantity}")
    if legend:
        _legend(made, axis, legend.title)
    return made


def ratios(dots: Sequence[Dot], names: tuple[str, str], quantity: str, tolerance: float, legend: Legend | None) -> Figure:
    """One line per row of a comparison: its ratio with interval, below each other in the order given."""
    made, axes = figure(7.4, 1.0 + 0.19 * len(dots))
    axis = axes[0]
    limits = _ratio_scale(axis, dots, tolerance)
    places = {id(dot): len(dots) - 1 - at for at, dot in enumerate(dots)}
    for group, members, style in _groups(dots, legend):
        found, heights = [dot.ratio for dot in members], [places[id(dot)] for dot in members]
        axis.errorbar([each.estimate for each in found], heights, xerr=whiskers.reaches(found, limits), linestyle="none", elinewidth=0.9,
                      markersize=4, label=named(group), **style)  # fmt: skip
        whiskers.heads(axis, found, heights, limits, style["color"])
        for dot in members:
            if dot.bound in ("at least", "at most"):
                _arrow(axis, dot.ratio.estimate, places[id(dot)], style["color"], up=dot.bound == "at least")
    axis.set_yticks([places[id(dot)] for dot in dots], [dot.label for dot in dots], fontsize=7.5)
    axis.set_ylim(-0.7, len(dots) - 0.3)
    axis.grid(visible=False, axis="y")
    axis.set_xlabel(f"{quantity}, {names[0]} / {names[1]} (ratio; grey: within {100 * tolerance:.3g} %)")
    if legend:
        _legend(made, axis, legend.title)
    return made


def _arrow(axis: Axes, value: float, place: float, colour: str, *, up: bool) -> None:
    """Points from a bound to where the value may be, a fixed length on paper."""
    axis.annotate(
        "", (value, place), (24 if up else -24, 0), xycoords="data", textcoords="offset points",
        arrowprops={"arrowstyle": "<|-", "color": colour, "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0},
    )  # fmt: skip


def sides(rows: Mapping[str, Mapping[str, Interval]], names: Sequence[str], quantity: str) -> Figure:
    """Every side's mean with its interval, one line per cell; of a mean that is a bound an arrow.

    Args:
        rows: of each cell by its name, side to mean.
        names: of the sides, in order.
        quantity: what is drawn, with its unit.

    """
    made, axes = figure(7.4, 1.2 + (0.16 + 0.1 * len(names)) * len(rows))
    axis = axes[0]
    places = {label: len(rows) - 1 - at for at, label in enumerate(rows)}
    for at, name in enumerate(names):
        colour, marker = COLOURS[at % len(COLOURS)], MARKERS[at % len(MARKERS)]
        here = [(label, of[name]) for label, of in rows.items() if name in of]
        offset = 0.5 * ((len(names) - 1) / 2 - at) / max(1, len(names) - 1)
        axis.errorbar(
            [interval.estimate for _, interval in here], [places[label] + offset for label, _ in here],
            xerr=whiskers.reaches([interval for _, interval in here], (-np.inf, np.inf)), linestyle="none", elinewidth=0.9, markersize=4,
            label=named(name), color=colour, marker=marker,
        )  # fmt: skip
        for label, interval in here:
            if interval.kind.startswith("at least"):
                _arrow(axis, interval.estimate, places[label] + offset, colour, up=True)
    axis.set_yticks(list(places.values()), list(places), fontsize=7.5)
    axis.set_ylim(-0.7, len(rows) - 0.3)
    axis.grid(visible=False, axis="y")
    axis.set_xlabel(quantity)
    made.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=len(names), frameon=False, fontsize=8)
    return made


def ratios_by_level(panels: Mapping[str, Mapping[str, Sequence[Dot]]], names: tuple[str, str], quantity: str, tolerance: float) -> Figure:
    """Every row's ratio as a faint dot, one panel per factor and one line per level, with the median of each level."""
    heights = [len(levels) for levels in panels.values()]
    made, axes = figure(6.4, 0.6 + sum(0.3 * height + 0.65 for height in heights), rows=len(panels))
    axes[0].get_gridspec().set_height_ratios([height + 1.2 for height in heights])  # pyright: ignore[reportOptionalMemberAccess]
    everything = [dot for levels in panels.values() for members in levels.values() for dot in members]
    generator = np.random.default_rng(1)
    for axis, (factor, levels) in zip(axes, panels.items(), strict=True):
        _ratio_scale(axis, everything, tolerance, estimates_only=True)
        for at, members in enumerate(levels.values()):
            values = vector([dot.ratio.estimate for dot in members])
            axis.plot(
                values, len(levels) - 1 - at + generator.uniform(-0.28, 0.28, len(values)), ".", color=COLOURS[0], alpha=0.3, markersize=4
            )
            axis.plot([np.median(values)] * 2, [len(levels) - 1.36 - at, len(levels) - 0.64 - at], color=COLOURS[1], linewidth=1.8)
        axis.set_yticks(range(len(levels) - 1, -1, -1), list(levels))
        axis.set_ylim(-0.6, len(levels) - 0.4)
        axis.grid(visible=False, axis="y")
        axis.set_title(factor, loc="left")
        axis.tick_params(axis="x", labelbottom=axis is axes[-1])
    axes[-1].set_xlabel(f"{quantity}, {names[0]} / {names[1]} (ratio; grey: within {100 * tolerance:.3g} %)")
    return made


def steps(lines: Mapping[str, tuple[Vector, Vector]], quantity: str) -> Figure:
    """Something over time on both sides: (seconds, value), each value holding until the next sample."""
    made, axes = figure(7.6, 3.6)
    axis = axes[0]
    for at, (name, (seconds, values)) in enumerate(lines.items()):
        axis.step(
            seconds,
            values,
            where="post",
            color=COLOURS[at],
            linewidth=1.1,
            alpha=0.9,
            label=named(name),
            linestyle=("-", (0, (4, 1.2)))[at % 2],
        )
    axis.set_xlim(left=0)
    axis.set_ylim(bottom=0)
    axis.set_xlabel("time (s)")
    axis.set_ylabel(quantity)
    made.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False, fontsize=8)
    return made


def _groups(dots: Sequence[Dot], legend: Legend | None) -> list[tuple[str, list[Dot], dict[str, Any]]]:
    """The dots of each group with the look of the group; from the seventh on, colours come again with other markers, unfilled."""
    found: list[tuple[str, list[Dot], dict[str, Any]]] = []
    here = {dot.group for dot in dots}
    for at, group in enumerate(legend.groups if legend else [""]):
        if group not in here:
            continue
        colour, again = COLOURS[at % len(COLOURS)], at >= len(COLOURS)
        look = {"color": colour, "ecolor": colour, "marker": MARKERS[at % len(MARKERS)], "markerfacecolor": "white" if again else colour}
        found.append((group, [dot for dot in dots if dot.group == group], look))
    return found


def _legend(made: Figure, axis: Axes, title: str) -> None:
    handles, labels = axis.get_legend_handles_labels()
    shown = [(handle, label) for handle, label in zip(handles, labels, strict=True) if not label.startswith("within ")]
    made.legend(
        [handle for handle, _ in shown],
        [label for _, label in shown],
        title=title,
        title_fontsize=8,
        loc="outside right upper",
        frameon=False,
        fontsize=8,
    )


def identity_limits(dots: Sequence[Dot]) -> tuple[float, float]:
    """Limits of both axes that hold all means with some room; multiplicative where these are positive and far apart."""
    values = vector([side.estimate for dot in dots for side in (dot.first, dot.second)])
    low, high = float(values.min()), float(values.max())
    if low > 0 and high / low > _WIDE:
        return low / 1.4, high * 1.4
    room = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
    return (low - room if low == 0 else max(0.0, low - room)), high + room


def ratio_limits(dots: Sequence[Dot], tolerance: float, *, estimates_only: bool = False) -> tuple[float, float]:
    """Between which an axis of ratios lies."""
    estimates = [dot.ratio.estimate for dot in dots]
    low, high = min(*estimates, 1 / (1 + tolerance), 1.0), max(*estimates, 1 + tolerance)
    if not estimates_only:
        spread = max(high / low, 1.1)
        low = max(low / spread, min([low, *(dot.ratio.low for dot in dots if np.isfinite(dot.ratio.low))]))
        high = min(high * spread, max([high, *(dot.ratio.high for dot in dots if np.isfinite(dot.ratio.high))]))
    room = (high / low) ** 0.05
    return low / room, high * room


def _ratio_scale(axis: Axes, dots: Sequence[Dot], tolerance: float, *, estimates_only: bool = False) -> tuple[float, float]:
    """Draws the band and sets a scale that holds all ratios, and their intervals unless those reach far beyond."""
    low, high = ratio_limits(dots, tolerance, estimates_only=estimates_only)
    axis.axvspan(1 / (1 + tolerance), 1 + tolerance, color="0.88", linewidth=0, zorder=0.5)
    axis.axvline(1, color="black", linewidth=0.7, zorder=1)
    if high / low > _NARROW:
        axis.set_xscale("log")
        steps_of_ten = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if high / low < 10 else (1.0, 2.0, 5.0)
        marks = [base * 10.0**power for power in range(-6, 7) for base in steps_of_ten]
        shown = [mark for mark in marks if low <= mark <= high]
        if len(shown) > 8:
            shown = [mark for mark in shown if f"{mark:e}".startswith("1")]
        axis.xaxis.set_major_locator(FixedLocator(shown))
        axis.xaxis.set_major_formatter(FuncFormatter(_plain))
        axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlim(low, high)
    return low, high


def _plain(value: float, _: int) -> str:
    return f"{value:g}"
