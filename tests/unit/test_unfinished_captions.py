"""Captions, tables and numbers of what did not finish: runs are counted once, bounds are no variation, and what nothing bounds says so."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sawtooth import estimates
from sawtooth.analysis import Dataset
from sawtooth.errors import DatasetError
from sawtooth.report import generic
from tests.unit.unfinished_runs import ALL, NONE, SOME, made


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return made(tmp_path_factory.mktemp("some"), ALL, SOME)


@pytest.fixture(scope="module")
def alike(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return made(tmp_path_factory.mktemp("alike"), NONE, NONE, alike=True)


def test_bounds_that_are_alike_are_no_runs_without_variation(alike: Dataset) -> None:
    found = alike.figure(metric="completion_ns", x="arm")
    assert found.caption == (
        "Means of 6 runs; 2 points whose runs did not finish. Arrows: 12 of 12 runs did not finish it, the value is at least that."
    )
    pairs = alike.figure(kind="paired", metric="completion_ns", along="arm")
    assert "without variation" not in pairs.caption
    assert pairs.numbers is not None
    assert pairs.numbers["estimate"].to_list() == [None]


@pytest.mark.parametrize(
    "keys", [{"kind": "plane", "against": "goodput_bps"}, {"kind": "latency_under_load", "x": "arm"}], ids=["plane", "latency"]
)
def test_a_run_that_is_in_several_points_is_counted_once(some: Dataset, keys: dict[str, str]) -> None:
    assert "Arrows: 4 of 12 runs did not finish it" in some.figure(metric="completion_ns", **keys).caption


def test_the_table_of_a_report_has_a_column_for_what_a_figure_has_arrows_for(some: Dataset) -> None:
    (grid,) = next(each for each in generic.build(some, drawn=False).sections if each.title == "Completion").grids
    assert "`bound`: 4 of 12 runs did not finish it, the value is at least that." in grid.caption
    assert grid.frame["bound"].to_list() == [None, "at least"]


def test_what_nothing_bounds_is_no_point_and_the_caption_says_so(alike: Dataset) -> None:
    for statistic in ("mean", "median"):
        found = alike.figure(metric="completion_ns - arms.a.completion_ns", x="arm", statistic=statistic)
        assert "2 points (↕) of runs that did not finish, which nothing bounds. 12 of 12 runs did not finish it." in found.caption
        assert found.numbers is not None
        assert found.numbers["estimate"].null_count() == 2


@pytest.mark.parametrize(("low", "most"), [([0.0, 2.0], [4.0, 2.0]), ([0.0, 2.0], [math.inf, 2.0]), ([-1.0, 2.0], [4.0, 2.0])])
def test_a_geometric_mean_of_what_may_be_0_is_at_most_so_much_and_of_what_may_be_less_none(low: list[float], most: list[float]) -> None:
    told = estimates.of_bounds(np.array(low), np.array(most), "geometric mean")
    known = math.isfinite(most[0]) and low[0] >= 0
    assert told.bound == ("at most" if known else "" if low[0] < 0 else "not bounded")
    assert math.isfinite(told.interval.estimate) == known


def test_a_plane_in_which_nothing_is_bounded_is_refused(alike: Dataset) -> None:
    metric = "completion_ns - arms.a.completion_ns"
    with pytest.raises(DatasetError, match=f"nothing bounds both `{metric}` and `goodput_bps` in any cell"):
        alike.figure(kind="plane", metric=metric, against="goodput_bps")
    with pytest.raises(DatasetError, match=f"nothing bounds both `{metric}` and `goodput_bps` in any run"):
        alike.figure(kind="scatter", metric=metric, against="goodput_bps")


def test_a_forest_marks_bounds(some: Dataset) -> None:
    from sawtooth.plots import forest

    verdict = some.finding(claim="c", metric="completion_ns", arm="b", is_="above", than={"arm": "a"})
    texts = [text.get_text() for text in forest.forest([verdict]).axes[0].texts]
    assert any(text.startswith("≥ +") for text in texts)
