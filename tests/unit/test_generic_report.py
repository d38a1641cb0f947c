"""The report of a study that names no kind of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.execute import execute
from sawtooth.plan import make_plan
from sawtooth.report import report
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


@pytest.mark.parametrize(
    ("sweep", "axis"),
    [(GRID, "rate"), (CASES, "cc"), (TIED, "delay")],
    ids=[
        "a grid has its last factor as axis",
        "cases have the factor that tells them apart",
        "of what is no grid the last factor is the axis, too",
    ],
)
def test_the_figure_of(sweep: str, axis: str, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SCENARIO + sweep)
    plan = make_plan(Study.load(tmp_path / "s.toml"))
    dataset = Dataset.create(tmp_path / "out", plan)
    execute(plan, dataset)
    made = report(dataset)
    assert [section.title for section in made.sections] == ["Goodput", "Round-trip time"]
    assert [plot.figure.axes[0].get_xlabel() for section in made.sections for plot in section.plots] == [axis, axis]
    assert made.summary[0].startswith("goodput: from ")
