"""Bands of distributions over runs: they say what is known at both ends, and where nothing came to an end."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from sawtooth import stats
from sawtooth.figures.cdf import _of_runs as of_runs  # pyright: ignore[reportPrivateUsage]
from sawtooth.plots import bands
from sawtooth.plots.style import plain_ticks, svg

ALL = np.ones(10, dtype=bool)


def test_where_all_ended_the_band_is_that_of_a_share_of_runs() -> None:
    found = of_runs(np.arange(1.0, 11.0), ALL, "")
    for at, (low, high) in enumerate(zip(found.low, found.high, strict=True), 1):
        exact = stats.share(at, 10)
        assert (low, high) == (pytest.approx(exact.low), pytest.approx(exact.high))
    assert found.low[-1] == pytest.approx(0.05 ** (1 / 10), abs=1e-6), "mid-p: half of p^10 is 2.5 %"
    assert found.high[-1] == 1.0


def test_after_the_first_that_did_not_end_the_band_is_greenwoods() -> None:
    ended = ALL.copy()
    ended[4] = False
    found = of_runs(np.arange(1.0, 11.0), ended, "")
    assert list(found.x) == [1, 2, 3, 4, 6, 7, 8, 9, 10]
    assert found.low[3] == pytest.approx(stats.share(4, 10).low)
    # Of five at risk one ended: S = 0.6 x 0.8, its variance after Greenwood S^2 (4/(10 x 6) + 1/(5 x 4)).
    survival, log = 0.48, np.log(0.48)
    reach = 1.959964 * np.sqrt(4 / 60 + 1 / 20) / -log
    assert (1 - found.high[4], 1 - found.low[4]) == (
        pytest.approx(survival ** np.exp(reach), rel=1e-4),
        pytest.approx(survival ** np.exp(-reach), rel=1e-4),
    )
    assert found.low[-1] == pytest.approx(stats.share(9, 9).low)


def test_where_nothing_ended_there_is_a_line_at_0_as_long_as_it_is_known() -> None:
    found = of_runs(np.array([3.0, 5.0, 4.0]), np.zeros(3, dtype=bool), "")
    assert (list(found.x), list(found.share)) == ([3.0, 5.0], [0.0, 0.0])
    assert found.high[0] == pytest.approx(stats.share(0, 3).high)


def test_a_single_run_has_no_band() -> None:
    found = of_runs(np.array([3.0]), np.ones(1, dtype=bool), "")
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()
    assert svg(bands.draw([{"a": found}], ([""], [""]), ["a"], ("x", "y")))


@pytest.mark.parametrize(("low", "high"), [(0.03, 900.0), (1.0, 40.0), (20.0, 31.0), (1e-3, 1e7), (1234.0, 2345.0)])
@pytest.mark.parametrize("width", [1.8, 4.0])
def test_names_at_logarithmic_ticks_do_not_overlap(low: float, high: float, width: float) -> None:
    made = Figure(figsize=(width, 2.5))
    axis = made.subplots()
    axis.set_xscale("log")
    axis.set_xlim(low, high)
    plain_ticks(axis.xaxis)
    canvas = FigureCanvasAgg(made)
    canvas.draw()
    names = zip(axis.get_xticks(), axis.get_xticklabels(), strict=True)
    inside = [label.get_window_extent() for place, label in names if low <= place <= high]
    assert inside
    assert all(first.x1 <= second.x0 for first, second in pairwise(inside))
