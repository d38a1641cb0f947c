"""Intervals of a comparison that its axes do not hold are marked where they are cut."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sawtooth.plots import paired, style, whiskers
from sawtooth.plots.paired import Dot
from sawtooth.report import compare_page
from sawtooth.stats import Interval

NO_END = (-math.inf, math.inf)
NONE = Interval(1.0, *NO_END, 1, "n = 1: no interval")


def near(estimate: float, low: float, high: float) -> Interval:
    return Interval(estimate, low, high, 4, "95 % Fieller interval")


def dot(ratio: Interval, first: Interval | None = None, bound: str = "") -> Dot:
    known = near(10, 9.9, 10.1)
    return Dot("a cell", "", first or known, known, ratio, bound)


def marks(axis: Axes) -> list[tuple[str, float]]:
    """Heads, and where they are."""
    return [(str(line.get_marker()), float(line.get_xdata()[0])) for line in axis.lines if line.get_marker() in ("<", ">")]  # type: ignore[index]


def drawn(made: Figure) -> Axes:
    style.svg(made)
    return made.axes[0]


def test_an_interval_of_a_ratio_that_the_axis_does_not_hold_has_heads_at_its_ends() -> None:
    dots = [dot(near(1.1, -2, 40)), dot(near(0.9, 0.85, 0.97)), dot(near(1.0, 0.9, 40)), dot(NONE)]
    axis = drawn(paired.ratios(dots, ("a", "b"), "completion", 0.05, None))
    low, high = axis.get_xlim()
    assert marks(axis) == [("<", low), (">", high), (">", high)]
    assert whiskers.said([each.ratio for each in dots], (low, high)) == (
        " A head at the end of an axis: 2 intervals go on beyond it. Without an interval: 1 of 4 (n = 1: no interval)."
    )
    assert whiskers.said([dots[1].ratio], (low, high)) == ""


def test_a_ratio_that_is_a_bound_has_the_end_that_is_known_and_an_arrow() -> None:
    dots = [dot(near(1.1, 0.95, math.inf), bound="at least"), dot(near(1.0, -math.inf, 1.04), bound="at most")]
    axis = drawn(paired.ratios(dots, ("a", "b"), "completion", 0.05, None))
    assert len(axis.texts) == 2 and not marks(axis)
    # From estimate to the known end only.
    (bars,) = axis.collections
    assert [segment[:, 0].tolist() for segment in bars.get_segments()] == [[0.95, 1.1], [1.0, 1.04]]  # type: ignore[attr-defined]


def test_an_interval_of_a_mean_that_the_axes_of_both_sides_do_not_hold_has_heads_too() -> None:
    dots = [dot(near(1.1, 0.9, 1.2), near(11, -30, 50)), dot(near(0.9, 0.85, 0.97), near(9, 8.9, 9.1))]
    axis = drawn(paired.identity(dots, ("a", "b"), "completion (s)", 0.05, None))
    found = [(line.get_marker(), line.get_ydata()[0]) for line in axis.lines if line.get_marker() in ("v", "^")]  # type: ignore[index]
    assert found == [("v", axis.get_ylim()[0]), ("^", axis.get_ylim()[1])]
    assert paired.identity_limits(dots) == axis.get_ylim()


def test_ratios_that_cannot_be_drawn_are_counted_by_why() -> None:
    unbounded = dot(Interval(math.nan, *NO_END, 0, "no run of either side that finished bounds it"), bound="unbounded")
    dots = [dot(near(1.0, 0.9, 1.1)), unbounded, unbounded, dot(near(0.0, 0.0, 0.0))]
    assert compare_page._left_out(dots) == (  # pyright: ignore[reportPrivateUsage]
        " Left out: 2 rows whose ratio nothing bounds, as runs of both sides did not finish. Left out: 1 row without a ratio above 0."
    )
    assert compare_page._left_out(dots[:1]) == ""  # pyright: ignore[reportPrivateUsage]
