"""Axes of counts have whole numbers at their ticks."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import sawtooth
from sawtooth.plots import whole
from sawtooth.plots.style import figure
from sawtooth.plots.trace import Curve, Panel, over_time
from sawtooth.report import report

STUDY = """
repeat = 2
[scenario]
duration = "3 s"
links.l = { rate = "10 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "20 packets" } }
flows = [{ path = ["l"] }]
[sweep]
"links.l.queue.limit" = ["10 packets", "30 packets"]
[[figures]]
name = "levels"
metric = "%s"
[[figures]]
name = "box"
kind = "box"
metric = "%s"
[[figures]]
name = "scatter"
kind = "scatter"
metric = "srtt_mean_ns"
against = "%s"
"""


def _picture(values: list[float], top: float) -> Figure:
    made, (axes,) = figure(3, 3)
    axes.plot(values, values)
    axes.set_xlim(0, top)
    axes.set_ylim(0, top)
    return made


def _ticks(made: Figure, along: str) -> list[float]:
    axes = made.axes[0]
    low, high = axes.get_xlim() if along == "x" else axes.get_ylim()
    return [float(tick) for tick in (axes.get_xticks() if along == "x" else axes.get_yticks()) if low <= tick <= high]


@pytest.mark.parametrize(
    ("values", "top", "whole_x"), [([0, 1, 3], 3.2, True), ([0.3, 0.6, 2.5], 2.6, True), ([0, 1], 1.05, True), ([0.2, 0.9], 1.0, False)]
)
def test_ticks_are_whole_unless_means_differ_by_less(values: list[float], top: float, whole_x: bool) -> None:
    found = whole.ticked(partial(_picture, values, top), ["x"])
    assert all(tick == int(tick) for tick in _ticks(found, "x")) is whole_x
    # The other axis is not asked of.
    assert not all(tick == int(tick) for tick in _ticks(found, "y"))
    assert len(_ticks(found, "x")) >= 2


def test_figures_of_counts_have_them_on_the_axis_of_the_measure(tmp_path: Path) -> None:
    for metric, expected in (("fast_retransmits", True), ("goodput_bps", False)):
        (tmp_path / "s.toml").write_text(STUDY % (metric, metric, metric))
        made = report(sawtooth.run(tmp_path / "s.toml", tmp_path / metric))
        pictures = {plot.name: plot.figure for section in made.sections for plot in section.plots}
        assert {*pictures} >= {"levels", "box", "scatter"}
        for name, picture in pictures.items():
            if name in ("levels", "box", "scatter"):
                ticks = _ticks(picture, "x" if name == "scatter" else "y")
                assert (picture.axes[0].xaxis if name == "scatter" else picture.axes[0].yaxis).get_major_locator().__class__.__name__ == (
                    "MaxNLocator" if expected else "AutoLocator"
                )
                assert not expected or all(tick == int(tick) for tick in ticks)


@pytest.mark.parametrize("counts", [True, False])
def test_a_queue_over_time_has_them(counts: bool) -> None:
    curve = Curve("queue", np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 2.0]))
    found = over_time([Panel("queue (packets)", [curve], whole=counts)], "", (0.0, 2.0))
    assert all(tick == int(tick) for tick in _ticks(found, "y")) is counts
