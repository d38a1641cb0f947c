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


def test_what_nothing_bounds_is_no_point_and_the_caption_says_so(some: Dataset) -> None:
    for statistic in ("mean", "median", "geometric mean"):
        found = some.figure(metric="2 s - completion_ns", x="arm", statistic=statistic)
        assert "1 point of runs that did not finish, which nothing bounds. 4 of 12 runs did not finish it." in found.caption
        assert found.numbers is not None
        assert found.numbers["estimate"].null_count() == 1
    told = estimates.of_bounds(np.array([0.0, 2.0]), np.array([math.inf, 2.0]), "geometric mean")
    assert told.interval.kind == "nothing bounds it: runs did not finish"
    assert not told.bound


@pytest.mark.parametrize("keys", [{"kind": "box"}, {"kind": "violin"}, {"kind": "cdf"}, {"kind": "scatter", "against": "goodput_bps"}])
def test_a_figure_of_every_run_refuses_what_has_no_least_value(some: Dataset, keys: dict[str, str]) -> None:
    with pytest.raises(DatasetError) as caught:
        some.figure(metric="2 s - completion_ns", **keys)
    assert caught.value.message == (
        f"`2 s - completion_ns` has no least value in 4 of 12 runs, which did not finish, and `{keys['kind']}` shows each"
    )


def test_a_plane_in_which_nothing_is_bounded_is_refused(alike: Dataset) -> None:
    with pytest.raises(DatasetError, match="nothing bounds both `2 s - completion_ns` and `goodput_bps` in any cell"):
        alike.figure(kind="plane", metric="2 s - completion_ns", against="goodput_bps")


def test_a_forest_marks_bounds(some: Dataset) -> None:
    from sawtooth.plots import forest

    verdict = some.finding(claim="c", metric="completion_ns", arm="b", is_="above", than={"arm": "a"})
    texts = [text.get_text() for text in forest.forest([verdict]).axes[0].texts]
    assert any(text.startswith("≥ +") for text in texts)
