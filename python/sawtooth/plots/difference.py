"""Differences against an experiment's number or a factor's level, on a scale that is logarithmic on both sides of zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, SymmetricalLogLocator

from sawtooth import stats
from sawtooth.plots.style import COLOURS, MARKERS, figure, legend_above
from sawtooth.stats import Vector

LINEAR_BELOW = 10.0
"""Differences of less than this are drawn on a linear scale, bit/s."""


def _signed_log(axis: Axes) -> None:
    axis.set_yscale("symlog", linthresh=LINEAR_BELOW, linscale=0.5)
    axis.yaxis.set_major_locator(SymmetricalLogLocator(base=10, linthresh=LINEAR_BELOW))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.axhline(0, color="black", linewidth=0.6)


def by_experiment(series: Mapping[str, tuple[Vector, Vector, Vector, Vector]], label: str, groups: Sequence[tuple[int, str]]) -> Figure:
    """Difference against experiment: points with intervals, and a running median as trend.

    Args:
        series: name to (experiment, difference, low, high), each of shape (n,), differences in bit/s.
        label: of the vertical axis.
        groups: first experiment and name of each group, drawn as dividers.

    """
    made, axes = figure(9, 3.2 * len(series), rows=len(series))
    for at, (axis, (name, (number, difference, low, high))) in enumerate(zip(axes, series.items(), strict=True)):
        colour = COLOURS[at]
        axis.errorbar(number, difference, yerr=np.abs(np.vstack([difference - low, high - difference])), fmt="none",
                      ecolor=colour, elinewidth=0.7, alpha=0.45)  # fmt: skip
        axis.plot(number, difference, ".", color=colour, markersize=3.5, label=f"{name}: mean and 95 % interval")
        order = np.argsort(number)
        window = 17
        sorted_difference = difference[order]
        trend = [np.median(sorted_difference[max(0, i - window // 2) : i + window // 2 + 1]) for i in range(len(order))]
        axis.plot(number[order], trend, color="black", linewidth=1, label=f"running median of {window}")
        _signed_log(axis)
        for first, group in groups:
            axis.axvline(first - 0.5, color="grey", linewidth=0.5, linestyle=":")
            axis.annotate(group, (first, 1.0), xycoords=("data", "axes fraction"), fontsize=7, va="bottom", color="grey")
        axis.set_xlim(number.min() - 1, number.max() + 1)
        axis.set_ylabel(label)
        axis.legend(loc="upper left", bbox_to_anchor=(0.0, 0.97))
    axes[-1].set_xlabel("experiment")
    return made


def by_level(series: Mapping[str, Mapping[str, Vector]], factor: str, label: str) -> Figure:
    """Difference by level of a factor: every experiment as a faint dot, the median with its bootstrap interval.

    Args:
        series: name to level to differences, bit/s, shape (n,).
        factor: label of the horizontal axis.
        label: of the vertical axis.

    """
    made, axes = figure(6.5, 3.4)
    axis = axes[0]
    levels = list(next(iter(series.values())))
    generator = np.random.default_rng(1)
    width = 0.8 / len(series)
    for at, (name, groups) in enumerate(series.items()):
        for position, level in enumerate(levels):
            values = groups[level]
            x = position + (at - (len(series) - 1) / 2) * width
            axis.plot(
                x + generator.uniform(-0.3, 0.3, len(values)) * width,
                values,
                ".",
                color=COLOURS[at],
                alpha=0.25,
                markersize=3,
            )
            middle = stats.bootstrap_interval(values)
            axis.errorbar([x], [middle.estimate], yerr=[[reach] for reach in middle.reach()],
                          fmt=MARKERS[at], color=COLOURS[at], markeredgecolor="black", capsize=3, markersize=6,
                          label=f"{name}: median, 95 % BCa" if position == 0 else None)  # fmt: skip
    _signed_log(axis)
    axis.set_xticks(range(len(levels)), levels)
    axis.set_xlabel(factor)
    axis.set_ylabel(label)
    legend_above(made, axis)
    return made
