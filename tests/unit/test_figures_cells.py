"""`cells`: every cell has its point, in the order of the sweep or of another measure; lines are running medians; what is no such figure is refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from sawtooth.estimates import Estimate
from sawtooth.figures.spec import Drawn
from sawtooth.plots import cells
from sawtooth.results.dataset import Dataset
from sawtooth.stats import Interval
from tests.unit.figure_runs import drawn, made, refused

GOODPUT = 'kind = "cells"\nmetric = "goodput_bps"\nof = "long"\n'
RTT = GOODPUT + 'arm = "reno"\norder = "srtt_mean_ns"\n'


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return made(tmp_path_factory.mktemp("cells"))


def ticks(found: Drawn) -> list[str]:
    return [text.get_text() for text in found.figure.axes[-1].get_xticklabels()]


def test_every_cell_and_arm_has_its_mean_in_the_order_of_the_sweep(runs: Dataset, tmp_path: Path) -> None:
    found = drawn(runs, tmp_path, GOODPUT)
    assert found.numbers.height == 12
    cells_of_reno = found.numbers.filter(arm="reno")
    assert cells_of_reno["place"].to_list() == [1, 2, 3, 4, 5, 6]
    assert cells_of_reno["rate"].to_list() == ["1 Mbit/s"] * 3 + ["5 Mbit/s"] * 3
    flows = runs.flows(factors=True).collect().filter(flow="long", arm="cubic", rate="5 Mbit/s", delay="40 ms")
    (row,) = found.numbers.filter(arm="cubic", rate="5 Mbit/s", delay="40 ms").to_dicts()
    assert row["estimate"] == pytest.approx(np.mean(flows["goodput_bps"].to_numpy()))
    assert row["low"] < row["estimate"] < row["high"]
    assert ticks(found) == ["1 Mbit/s", "5 Mbit/s"]
    assert "Every cell by itself, in the order of the sweep." in found.note


def test_panels_have_places_of_their_own_and_groups_of_what_else_varies(runs: Dataset, tmp_path: Path) -> None:
    found = drawn(runs, tmp_path, GOODPUT + 'panels = "rate"\nrows = "arm"')
    assert len(found.figure.axes) == 4
    assert set(found.numbers["place"]) == {1, 2, 3}
    assert ticks(found) == ["10 ms", "20 ms", "40 ms"]
    assert found.figure.axes[-1].get_xlabel() == "cells by delay"


def test_cells_stand_in_the_order_of_another_measure(runs: Dataset, tmp_path: Path) -> None:
    found = drawn(runs, tmp_path, RTT)
    by_place = found.numbers.sort("place")
    times = {
        (row["rate"], row["delay"]): row["estimate"]
        for row in drawn(runs, tmp_path, 'kind = "cells"\nmetric = "srtt_mean_ns"\nof = "long"\narm = "reno"').numbers.to_dicts()
    }
    ordered = [times[rate, delay] for rate, delay in by_place.select("rate", "delay").rows()]
    assert ordered == sorted(times.values())
    assert by_place["cell"].to_list() != sorted(by_place["cell"].to_list())
    assert "in the order of srtt mean (mean over what is shown)" in found.note or "in the order of smoothed" in found.note


def test_a_trend_is_a_line_of_running_medians_and_is_said(runs: Dataset, tmp_path: Path) -> None:
    found = drawn(runs, tmp_path, GOODPUT + 'arm = "reno"\ntrend = 3')
    means = found.numbers["estimate"].to_numpy() / 1e6
    line = next(line for line in found.figure.axes[0].lines if len(line.get_xdata()) == 6 and line.get_linestyle() == "-")
    expected = [np.median(means[start : start + 3]) for start in (0, 0, 1, 2, 3, 3)]
    np.testing.assert_allclose(np.asarray(line.get_ydata(), dtype=float), expected)
    assert "Lines: running medians of 3 neighbouring cells." in found.note
    assert [text.get_text() for text in found.figure.legends[0].get_texts()] == ["these runs", "running median of 3"]


def test_windows_at_the_ends_are_as_wide_as_elsewhere() -> None:
    # Of values that alternate, narrower windows at the ends would jump.
    assert cells.running([0, 1] * 4, 4) == [0.5] * 8
    assert cells.running([1, 2, 30], 17) == [2, 2, 2]
    assert cells.running([math.nan, 2, 4], 2) == [2, 3, 3]


def test_what_stands_beside_is_a_cross_at_its_cell(runs: Dataset, tmp_path: Path) -> None:
    found = drawn(runs, tmp_path, GOODPUT + 'arm = "cubic"\nbeside = "arms.reno.goodput_bps"')
    reno = drawn(runs, tmp_path, GOODPUT + 'arm = "reno"').numbers["estimate"].to_list()
    assert found.numbers["beside"].to_list() == pytest.approx(reno)
    (crosses,) = [line for line in found.figure.axes[0].lines if line.get_marker() == "x"]
    np.testing.assert_allclose(np.asarray(crosses.get_ydata(), dtype=float), np.array(reno) / 1e6)


def test_a_scale_may_be_logarithmic_on_both_sides_of_zero(runs: Dataset, tmp_path: Path) -> None:
    keys = 'kind = "cells"\nmetric = "goodput_bps - arms.reno.goodput_bps"\nof = "long"\narm = "cubic"\nscale = "symlog"'
    found = drawn(runs, tmp_path, keys)
    axis = found.figure.axes[0]
    assert axis.get_yscale() == "symlog"
    low, high = axis.get_ylim()
    assert low < 0 < high
    assert found.numbers["estimate"].min() < 0 < found.numbers["estimate"].max()  # type: ignore[operator]


def test_points_without_a_value_leave_the_scale_alone() -> None:
    points = [
        (0, Estimate(Interval(0.0, 0.0, 0.0, 2, "no variation"), 2)),
        (1, Estimate(Interval(-5.0, -6.0, -4.0, 2, "95% t interval"), 2)),
    ]
    made_of = cells.draw([cells.Panel({"a": points})], ([""], [""]), ["a"], ("x", "y"), scale="symlog")
    low, high = made_of.axes[0].get_ylim()
    assert low <= -6 and high > 0


@pytest.mark.parametrize(
    ("keys", "message", "hint"),
    [
        ("trend = 2", "`trend` is a whole number of cells from 3, whose median is taken", "such as trend = 17"),
        ("trend = true", "`trend` is a whole number of cells from 3, whose median is taken", "such as trend = 17"),
        ('beside = "srtt_mean_ns"', "`beside` is in ns and `metric` in bit/s", "crosses stand on the same axis"),
        ('order = "nothing"', "there is no measure `nothing`", None),
        ('x = "rate"', "a figure of kind `cells` has no `x`", "leave it out"),
    ],
)
def test_a_mistake_is_told(tmp_path: Path, keys: str, message: str, hint: str | None) -> None:
    error = refused(tmp_path, GOODPUT + keys)
    assert error.message == message
    assert hint is None or error.hint == hint


def test_other_kinds_have_no_such_scale(tmp_path: Path) -> None:
    error = refused(tmp_path, 'metric = "goodput_bps"\nof = "long"\nx = "rate"\npanels = "delay"\nscale = "symlog"')
    assert error.message == "`scale` cannot be `symlog`"


def test_a_panel_says_of_which_factor_its_quantity_is_one(runs: Dataset, tmp_path: Path) -> None:
    found = drawn(runs, tmp_path, 'metric = "goodput_bps"\nof = "long"\nx = "rate"\npanels = "delay"\nrows = "arm"')
    assert [axis.get_title() for axis in found.figure.axes][:3] == ["delay = 10 ms", "delay = 20 ms", "delay = 40 ms"]
    # The numbers have the levels themselves, and arms are names that stand alone.
    assert found.numbers["delay"].unique(maintain_order=True).to_list() == ["10 ms", "20 ms", "40 ms"]
    assert {text.get_text() for axis in found.figure.axes for text in axis.texts} >= {"reno", "cubic"}
