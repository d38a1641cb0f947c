"""Pairs of which runs did not finish: what they differ in is at least, or at most, so much, and is never that of the others alone."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from matplotlib.figure import Figure

from sawtooth import stats
from sawtooth.figures import pairs
from sawtooth.plots import levels, replicates
from sawtooth.plots.style import svg
from sawtooth.results.dataset import Dataset
from tests.unit.figure_runs import STUDY, drawn, made

KNOWN = np.array([1.0, 2.0, 3.0, 4.0])
OTHER = np.array([2.0, 3.5, 4.0, 4.5])
LATE = np.array([2.0, 3.5, np.inf, 4.5])
"""As `OTHER`, with one that is only known to be at least that."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    # A size that Cubic and Reno bring to an end in some runs only.
    text = STUDY.replace('"300 kB"', '"230 kB"').replace('["1 Mbit/s", "5 Mbit/s"]', '["1 Mbit/s", "2 Mbit/s", "5 Mbit/s"]')
    return made(tmp_path_factory.mktemp("pairs"), text)


def arrows(figure: Figure) -> list[float]:
    """How far arrows go up on paper; below 0 those that go down."""
    svg(figure)
    return [float(text.xyann[1]) for axis in figure.axes for text in cast(Any, axis.texts) if text.arrow_patch is not None]


@pytest.mark.parametrize(("form", "made_of"), [("difference", stats.difference), ("ratio", stats.ratio)])
def test_what_did_not_finish_makes_a_difference_a_bound_on_its_side(form: str, made_of: Any) -> None:
    later = pairs.of_pairs((OTHER, LATE), (KNOWN, KNOWN), form)
    least = made_of(OTHER, KNOWN)
    assert (later.n, later.unfinished, later.bound) == (4, 1, "at least")
    assert (later.interval.estimate, later.interval.low, later.interval.high) == (least.estimate, least.low, math.inf)
    assert later.interval.kind == f"{least.kind}, 1 of 4 unfinished: at least"
    sooner = pairs.of_pairs((KNOWN, KNOWN), (OTHER, LATE), form)
    most = made_of(KNOWN, OTHER)
    assert (sooner.unfinished, sooner.bound) == (1, "at most")
    assert (sooner.interval.estimate, sooner.interval.low, sooner.interval.high) == (most.estimate, -math.inf, most.high)
    both = pairs.of_pairs((OTHER, LATE), (OTHER, LATE), form)
    assert both.bound == "not bounded" and math.isnan(both.interval.estimate)
    # Where both bounds are known, the interval holds both.
    between = pairs.of_pairs((OTHER, OTHER + 1), (KNOWN, KNOWN), form)
    assert (between.bound, between.interval.estimate, between.most) == ("between", least.estimate, made_of(OTHER + 1, KNOWN).estimate)
    assert (between.interval.low, between.interval.high) == (least.low, made_of(OTHER + 1, KNOWN).high)


def test_a_ratio_of_what_is_below_0_has_its_bounds_the_right_way_round() -> None:
    # The numerator is below 0, or the divisor.
    assert pairs.of_pairs((-LATE, -OTHER), (KNOWN, KNOWN), "ratio").bound == "at most"
    assert pairs.of_pairs((OTHER, LATE), (-KNOWN, -KNOWN), "ratio").bound == "at most"
    assert pairs.of_pairs((-KNOWN, -KNOWN), (OTHER, LATE), "ratio").bound == "at least"
    around = pairs.of_pairs((KNOWN, KNOWN), (-OTHER, OTHER), "ratio")
    assert around.bound == "not bounded" and math.isnan(around.interval.estimate)


def test_an_arrow_points_to_where_the_difference_may_be() -> None:
    up, down = pairs.of_pairs((OTHER, LATE), (KNOWN, KNOWN), "difference"), pairs.of_pairs((KNOWN, KNOWN), (OTHER, LATE), "difference")
    panel = {"a": [up, pairs.of_pairs((KNOWN, KNOWN), (OTHER, OTHER), "difference"), down]}
    shown = levels.draw([panel], ([""], [""]), ["1", "2", "3"], ["a"], ("x", "y"), line_at=0.0)
    up_on_paper, down_on_paper = arrows(shown)
    assert up_on_paper > 0 > down_on_paper
    # One end each where runs did not finish.
    (bars,) = shown.axes[0].collections
    ends = [segment[:, 1].tolist() for segment in cast(Any, bars).get_segments()]
    assert ends[0] == pytest.approx([up.interval.low, up.interval.estimate])
    assert ends[2] == pytest.approx([down.interval.estimate, down.interval.high])


def test_lines_of_pairs_have_arrows_on_the_side_that_is_open() -> None:
    below = replicates.Pairs(
        np.array([KNOWN, -LATE]), np.array([KNOWN, -OTHER]), [pairs.of_pairs((-LATE, -OTHER), (KNOWN, KNOWN), "difference")]
    )
    shown = replicates.pairs([below], ([""], [""]), ["a", "b"], ("", "y", "difference"))
    # Of the run, and of the mean difference beside.
    assert sorted(np.sign(arrows(shown)).tolist()) == [-1, -1]


def test_a_figure_of_differences_leaves_no_pair_out_that_did_not_finish(runs: Dataset, tmp_path: Path) -> None:
    keys = 'metric = "completion_ns"\nof = "short"\n'
    placed = {"difference": 'x = "delay"\ncurves = "rate"', "paired": 'panels = "rate"\nrows = "delay"'}
    for kind, places in placed.items():
        found = drawn(runs, tmp_path, f'kind = "{kind}"\n{keys}{places}')
        rows = found.numbers
        assert rows.height == 9 and set(rows["n"]) == {3} and not any(rows["left_out"])
        bounds, open_ = rows.filter(bound="at least"), rows.filter(bound="not bounded")
        assert bounds.height and open_.height
        assert f"Arrows: of {rows['unfinished'].sum()} of 27 pairs a run did not finish, the value is at least that." in found.note
        assert f"{open_.height} points (↕) of runs that did not finish, which nothing bounds" in found.note
