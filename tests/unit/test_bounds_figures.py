"""Figures of what did not finish: known to be at least so much, at most, between two bounds, or nothing; marks, captions and tables say which."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pytest

from sawtooth import estimates
from sawtooth.errors import DatasetError
from sawtooth.estimates import Bound, Estimate
from sawtooth.figures.spec import Drawn
from sawtooth.plots import facets, replicates
from sawtooth.results.dataset import Dataset
from tests.unit.figure_runs import drawn, made

BOUNDS: dict[str, Bound] = {
    "completion_ns": "at least", "3 s - completion_ns": "at most", "-completion_ns": "at most", "1 s / completion_ns": "at most",
    "1 + 1 s / completion_ns": "between", "completion_ns - arms.cubic.completion_ns": "not bounded",
}  # fmt: skip
FIGURES = {
    "levels": 'x = "rate"', "heatmap": 'x = "rate"\ny = "delay"', "box": 'x = "rate"', "violin": 'x = "rate"',
    "plane": 'against = "srtt_mean_ns"', "scatter": 'against = "srtt_mean_ns"',
}  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return made(tmp_path_factory.mktemp("bounds"))


def figure(runs: Dataset, directory: Path, kind: str, metric: str, more: str = "") -> Drawn:
    panels = {"heatmap": 'panels = "arm"', "plane": 'curves = "arm"'}.get(kind, 'panels = "delay"\ncurves = "arm"')
    return drawn(runs, directory, f'kind = "{kind}"\nmetric = "{metric}"\nof = "short"\n{panels}\n{FIGURES[kind]}\n{more}')


@pytest.mark.parametrize("kind", FIGURES)
@pytest.mark.parametrize("metric", BOUNDS)
def test_every_kind_draws_what_is_known_and_its_table_says_what_that_is(kind: str, metric: str, runs: Dataset, tmp_path: Path) -> None:
    found = figure(runs, tmp_path, kind, metric)
    column = "y_bound" if kind in ("plane", "scatter") else "bound"
    slow = found.numbers.filter(rate="1 Mbit/s") if kind != "scatter" else found.numbers.filter(pl.col("y_unfinished"))
    assert set(slow[column]) == {BOUNDS[metric] or None}
    assert found.note.count("did not finish") >= 1


def test_a_bound_has_the_end_that_is_known_and_the_values_of_all_runs(runs: Dataset, tmp_path: Path) -> None:
    least = figure(runs, tmp_path, "levels", "completion_ns").numbers.filter(rate="1 Mbit/s").sort("arm", "delay")
    most = figure(runs, tmp_path, "levels", "3 s - completion_ns").numbers.filter(rate="1 Mbit/s").sort("arm", "delay")
    assert np.allclose(most["estimate"], 3e9 - least["estimate"])
    assert most["low"].to_list() == [-np.inf] * 6
    assert least["high"].to_list() == [np.inf] * 6
    assert most["interval"].str.ends_with("3 of 3 unfinished: at most").all()
    both = figure(runs, tmp_path, "levels", "1 + 1 s / completion_ns").numbers.filter(rate="1 Mbit/s").sort("arm", "delay")
    assert both["estimate"].to_list() == [1.0] * 6
    assert (both["most"] > 1.0).all()


def arrows(found: Drawn) -> list[Any]:
    return [text for axis in found.figure.axes for text in axis.texts if cast(Any, text).arrow_patch]


def test_arrows_point_where_the_value_may_be(runs: Dataset, tmp_path: Path) -> None:
    up, down = (arrows(figure(runs, tmp_path, "levels", metric)) for metric in ("completion_ns", "3 s - completion_ns"))
    assert {text.xyann[1] > 0 for text in up} == {True}
    assert {text.xyann[1] > 0 for text in down} == {False}
    assert len(up) == len(down) == 6


def test_a_plane_has_arrows_the_known_end_and_counts_each_run_once(runs: Dataset, tmp_path: Path) -> None:
    found = figure(runs, tmp_path, "plane", "completion_ns")
    assert len(arrows(found)) == 6
    assert "Arrows: 18 of 36 runs did not finish it, the value is at least that." in found.note
    lost = figure(runs, tmp_path, "plane", "completion_ns - arms.cubic.completion_ns", 'arm = "reno"')
    assert "3 of 6 points have no place, as nothing bounds one of the two; they are in the numbers." in lost.note


def test_a_heat_map_has_a_sign_before_bounds_and_two_numbers_between_two(runs: Dataset, tmp_path: Path) -> None:
    def texts(metric: str) -> str:
        found = figure(runs, tmp_path, "heatmap", metric)
        return " ".join(text.get_text() for axis in found.figure.axes for text in axis.texts)

    assert texts("completion_ns").count("≥") == 6
    assert texts("1 s / completion_ns").count("≤") == 6
    assert texts("1 + 1 s / completion_ns").count(" to ") == 6
    assert texts("completion_ns - arms.cubic.completion_ns").count("↕") == 6
    note = figure(runs, tmp_path, "heatmap", "1 s / completion_ns").note
    assert "Hatched thinly, with ≤: 18 of 36 runs did not finish it, the value is at most that." in note


def test_a_distribution_of_what_has_no_least_is_refused(runs: Dataset, tmp_path: Path) -> None:
    text = 'kind = "cdf"\nmetric = "3 s - completion_ns"\nof = "short"\npanels = "rate"\nrows = "delay"'
    with pytest.raises(DatasetError, match=r"of 18 of 36 values, whose runs did not finish, it is known what they are at most, or nothing"):
        drawn(runs, tmp_path, text)


def late(n: int) -> Estimate:
    """The median of eight runs the last `n` of which did not finish."""
    low = np.arange(1.0, 9.0)
    return estimates.of_bounds(low, np.where(low > 8 - n, np.inf, low), "median")


def test_a_median_whose_interval_has_no_end_has_a_head_at_the_edge() -> None:
    known, open_ = late(0), late(2)
    assert (open_.interval.estimate, open_.interval.low, open_.interval.high) == (4.5, known.interval.low, np.inf)
    assert (open_.bound, open_.open, known.open) == ("", (False, True), (False, False))
    assert late(5).bound == "at least"
    assert "A head at the edge of the axes: the interval has no end there, as runs did not finish." in estimates.said([open_], "median")
    laid = facets.grid([""], [""])
    facets.points(laid.axes[0], [0.0], [open_], "", 0, line=False)
    (head,) = (text for text in laid.axes[0].texts if cast(Any, text).arrow_patch)
    assert (cast(Any, head).xy[1], cast(Any, head).xycoords) == (1.0, ("data", "axes fraction"))
    bounds: list[Bound] = ["", "", "", "", "", "", "at least", "at least"]
    group = replicates.Group(np.arange(1.0, 9.0), bounds, None, open_)
    made_of = replicates.groups([{"a": [group]}], ([""], [""]), ["x"], ["a"], ("x", "y"))
    assert sum(text.xycoords == ("data", "axes fraction") for text in cast(Any, made_of.axes[0].texts)) == 1


def test_bounds_that_are_alike_are_not_runs_without_variation() -> None:
    found = estimates.of_bounds(np.zeros(8) + 2, np.full(8, np.inf), "mean")
    assert found.interval.kind == "bounds alike, 8 of 8 unfinished: at least"
    assert "1 point whose runs did not finish" in estimates.said([found], "mean")
