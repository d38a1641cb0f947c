"""Every replicate by itself: lines from arm to arm with the difference beside, and points with boxes or violins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sawtooth.estimates import Bound, Estimate
from sawtooth.plots import facets
from sawtooth.plots.along import along
from sawtooth.plots.style import COLOURS, named, plain_ticks
from sawtooth.stats import Vector


@dataclass(frozen=True)
class Pairs:
    """A panel of pairs.

    Attributes:
        least: that each value may be, shape (levels, replicates), the base first; not a number where there is no run.
        most: that it may be, same shape; the same where the value is known.
        against: of each level but the base, how far it is from that.

    """

    least: NDArray[np.float64]
    most: NDArray[np.float64]
    against: Sequence[Estimate]

    @property
    def values(self) -> NDArray[np.float64]:
        """What is drawn: the value, or the bound that there is."""
        known = np.where(np.isfinite(self.least), self.least, self.most)
        return np.where(np.isfinite(known), known, np.nan)


def pairs(
    panels: Sequence[Pairs],
    titles: tuple[Sequence[str], Sequence[str]],
    levels: Sequence[str],
    labels: tuple[str, str, str],
    *,
    ratio: bool = False,
) -> Figure:
    """One panel per entry of `panels`: a line per replicate over the levels, and at the right what they differ in, on a scale of its own.

    That scale has its 0 (of ratios its 1) at the mean of the base, and is otherwise that of the values: what looks as large is as large.

    Args:
        panels: values, and what they differ in.
        titles: of rows and columns.
        levels: the base first.
        labels: of x, the values, and the scale at the right.
        ratio: whether they are divided by the base.

    """
    # The scale at the right has the place of a row's title.
    together = [", ".join(part for part in (row, column) if part) for row in titles[0] for column in titles[1]]
    others = [f"{level}\n{'/' if ratio else '-'} {levels[0]}" for level in levels[1:]]
    held = along(([""], together), [*levels, *others], each=0.8, height=2.9, share_y=False)
    held.name()
    last = {
        id(axis)
        for axis, after in zip(held.laid.axes, [*held.laid.axes[1:], held.laid.left[0]], strict=True)
        if any(after is each for each in held.laid.left)
    }
    for axis, one in zip(held.laid.axes, panels, strict=True):
        values = one.values
        for line in values.T:
            there = np.flatnonzero(~np.isnan(line))
            axis.plot(there, line[there], "-o", color=COLOURS[0], linewidth=0.8, markersize=3.5, alpha=0.55, zorder=2)
        bounds = (one.least != one.most) & ~np.isnan(values)
        for at, number in np.argwhere(bounds).tolist():
            facets.arrow(axis, (at, float(values[at, number])), COLOURS[0], down=not np.isfinite(one.least[at, number]))
        known: Vector = values[0][~np.isnan(values[0])]
        base = float(np.mean(known)) if known.size else np.nan
        if np.isfinite(base):
            _beside(axis, one.against, base, len(levels), labels[2] if id(axis) in last else "", ratio)
        axis.axvline(len(levels) - 0.5, color="0.6", linewidth=0.8)
        # Arrows need room.
        axis.margins(y=0.16 if bounds.any() or any(each.bound for each in one.against) else 0.08)
    held.label(labels[0], labels[1])
    return held.laid.made


def _beside(axis: Axes, against: Sequence[Estimate], base: float, levels: int, label: str, ratio: bool) -> None:
    """What levels differ in from the base, and the scale of that."""
    if ratio and base == 0:
        return

    def to_values(other: float) -> float:
        return other * base if ratio else other + base

    def to_others(value: float) -> float:
        return value / base if ratio else value - base

    shown = [_moved(each, to_values, turned=ratio and base < 0) for each in against]
    for at, each in enumerate(shown):
        place = levels + at, each.interval.estimate
        if np.isfinite(each.interval.estimate):
            reach = np.array([facets.reach(each.interval)]).T
            axis.errorbar(*place, yerr=reach, marker="D", markersize=5, color="black", capsize=3, elinewidth=1.2, zorder=3)
        elif not each.bound:
            facets.nothing(axis, place[0], "black")
        facets.marks(axis, place, each, "black")
    if not any(each.values for each in shown):
        return
    axis.plot([0, levels + len(against) - 0.5], [base, base], color="0.35", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    functions: Any = (to_others, to_values)
    scale = axis.secondary_yaxis("right", functions=functions)
    scale.set_ylabel(label)


def _moved(each: Estimate, to: Callable[[float], float], *, turned: bool) -> Estimate:
    """The estimate on another scale, which may be the other way round."""
    low, high = sorted((to(each.interval.low), to(each.interval.high)))
    bound = _TURNED.get(each.bound, each.bound) if turned else each.bound
    return replace(
        each, interval=replace(each.interval, estimate=to(each.interval.estimate), low=low, high=high), most=to(each.most), bound=bound
    )


_TURNED: Mapping[Bound, Bound] = {"at least": "at most", "at most": "at least"}


@dataclass(frozen=True)
class Group:
    """What the replicates of one place have.

    Attributes:
        values: shape (n,), not a number where nothing bounds it. bounds: what each is, if it is no value.
        quartiles: the first, the median and the third, not a number where they are not known; None for no box.
        centre: the median with its interval.
        violin: places and densities, to be drawn around; None for none.

    """

    values: Vector
    bounds: Sequence[Bound]
    quartiles: tuple[float, float, float] | None
    centre: Estimate
    violin: tuple[Vector, Vector] | None = None


def groups(
    panels: Sequence[Mapping[str, Sequence[Group | None]]],
    titles: tuple[Sequence[str], Sequence[str]],
    levels: Sequence[str],
    names: Sequence[str],
    labels: tuple[str, str],
    *,
    scale: str = "linear",
) -> Figure:
    """One panel per entry of `panels`: at each level, beside each other, every name's points, box or violin, and median with interval.

    Args:
        panels: of each panel, name to what is at each level.
        titles: of rows and columns.
        levels: along x.
        names: of all, in order.
        labels: of x and y.
        scale: of y.

    """
    held = along(titles, levels, each=0.34 * len(names) + 0.3, height=2.8, dodged=True)
    order = facets.in_order(names)
    # What is left free between two levels is wider than what is between two names of one.
    room = 0.7 / max(len(names), 1)
    every: list[Estimate] = []
    for axis, curves in zip(held.laid.axes, panels, strict=True):
        if scale == "log":
            axis.set_yscale("log")
        for name, found in curves.items():
            at = order[name]
            look = facets.look(at)
            for level, group in enumerate(found):
                if group is None:
                    continue
                middle = level + (at - (len(names) - 1) / 2) * room
                _group(axis, middle, 0.8 * room, group, str(look["color"]), str(look["markerfacecolor"]))
                every.append(group.centre)
            axis.plot([], [], "o", color=look["color"], markerfacecolor=look["markerfacecolor"], label=named(name))
        axis.grid(visible=False, axis="x")
    held.name()
    _limits(held.laid.axes[0], [group for curves in panels for found in curves.values() for group in found if group is not None], scale)
    held.label(*labels)
    held.laid.legend(names)
    return held.laid.made


def _group(axis: Axes, middle: float, width: float, group: Group, colour: str, face: str) -> None:
    """Box or violin in the left of its place, points over it, and the median with its interval at the right."""
    body = middle - 0.12 * width
    half = 0.3 * width
    if group.violin is not None:
        heights, density = group.violin
        reach = half * density / density.max()
        axis.fill_betweenx(heights, body - reach, body + reach, color=colour, alpha=0.22, linewidth=0)
    elif group.quartiles is not None:
        low, _, high = group.quartiles
        drawn = group.values[np.isfinite(group.values)]
        if drawn.size:
            ends = low if np.isfinite(low) else float(drawn.min()), high if np.isfinite(high) else float(drawn.max())
            axis.fill_between([body - half, body + half], *ends, color=colour, alpha=0.22, linewidth=0)
    if group.quartiles is not None and np.isfinite(group.quartiles[1]):
        axis.plot([body - half, body + half], [group.quartiles[1]] * 2, color=colour, linewidth=1.4)
    # Side by side by their order, not by chance: the same figure is the same picture.
    ranks = np.argsort(np.argsort(group.values, kind="stable"), kind="stable")
    places = body + ((ranks * 0.618034) % 1.0 - 0.5) * 1.2 * half
    axis.plot(
        places,
        group.values,
        "o",
        color=colour,
        markerfacecolor=face,
        markersize=2.8 if len(group.values) <= _MANY else 1.6,
        alpha=0.75,
        zorder=3,
    )
    for x, y, bound in zip(places, group.values, group.bounds, strict=True):
        if bound and np.isfinite(y):
            facets.arrow(axis, (float(x), float(y)), colour, down=bound == "at most")
    interval, beside = group.centre.interval, middle + 0.36 * width
    below, above = facets.reach(interval)
    if np.isfinite(below):
        axis.plot([beside, beside], [interval.estimate - below, interval.estimate + above], color="black", linewidth=1.0)
    axis.plot(beside, interval.estimate, "D", color=colour, markeredgecolor="black", markersize=4, zorder=4)
    facets.marks(axis, (beside, interval.estimate), group.centre, "black")


_MANY = 60
"""Beyond so many points in one place they are small."""


def _limits(axis: Axes, found: Sequence[Group], scale: str) -> None:
    """So far that every point and interval is there; from 0 unless that hides what is to be seen."""
    ends = [float(value) for group in found for value in group.values if np.isfinite(value)]
    for group in found:
        ends += [end for end in (group.centre.interval.low, group.centre.interval.high) if np.isfinite(end) and (scale != "log" or end > 0)]
    up, down = (any(side in group.bounds for group in found) for side in ("at least", "at most"))
    if scale == "log":
        positive = [end for end in ends if end > 0] or [1.0]
        axis.set_ylim(min(positive) / (2.0 if down else 1.3), max(positive) * (2.0 if up else 1.3))
        plain_ticks(axis.yaxis)
        return
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    if 0 <= low < 0.5 * high:
        low = 0.0
    span = (high - low) or abs(high) * 0.1 or 1.0
    axis.set_ylim(low if low == 0 else low - (0.14 if down else 0.06) * span, high + (0.14 if up else 0.06) * span)
