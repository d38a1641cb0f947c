"""The report of a study that names no kind of its own."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sawtooth.execute import execute
from sawtooth.plan import make_plan
from sawtooth.report import generic, report
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study

SCENARIO = """
[scenario]
duration = "2 s"
links.l = { rate = "10 Mbit/s", delay = "5 ms" }
flows = [{ path = ["l"] }]
"""
GRID = """
[sweep]
"cc" = ["reno", "cubic"]
"links.l.rate" = ["5 Mbit/s", "10 Mbit/s"]
"""
CASES = """
[[sweep]]
cases = [{ cc = "reno" }, { cc = "cubic", "links.l.rate" = "5 Mbit/s" }]
"""
TIED = """
[[sweep]]
cases = [{ cc = "reno", "links.l.delay" = "1 ms" }, { cc = "reno", "links.l.delay" = "2 ms" }, { cc = "cubic", "links.l.delay" = "1 ms" }]
"""


def test_a_cell_that_no_run_tells_yet_has_no_point_in_the_figure() -> None:
    rows = [(1, "a", 1, 5e6), (1, "a", 2, 6e6), (1, "b", 1, 7e6), (2, "a", 1, 8e6)]
    runs = pl.DataFrame(rows, ["cell", "arm", "replicate", "sum_bps"], orient="row")
    (plot,) = generic._plot(runs, pl.DataFrame({"cell": [1, 2, 3], "rate": ["1", "2", "3"]}), ["a", "b"])  # pyright: ignore[reportPrivateUsage]
    drawn = [[float(y) for y in curve.lines[0].get_ydata()] for curve in plot.figure.axes[0].containers]
    assert str(drawn) == str([[5.5, 8.0, float("nan")], [7.0, float("nan"), float("nan")]])


@pytest.mark.parametrize(
    ("sweep", "axis"),
    [(GRID, "rate"), (CASES, "cc"), (TIED, None)],
    ids=["a grid has its last factor as axis", "cases have the factor that tells them apart", "what is no grid has no figure"],
)
def test_the_figure_of(sweep: str, axis: str | None, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SCENARIO + sweep)
    plan = make_plan(Study.load(tmp_path / "s.toml"))
    dataset = Dataset.create(tmp_path / "out", plan)
    execute(plan, dataset)
    made = report(dataset)
    plots = made.sections[0].plots
    assert [plot.figure.axes[0].get_xlabel() for plot in plots] == ([axis] if axis else [])
    assert f"{len(plan.cells)} combinations" in made.summary[0]
