"""The report of a study that names no kind of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sawtooth
from sawtooth import measures
from sawtooth.cli import app
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
    [(GRID, "rate (Mbit/s)"), (CASES, "cc"), (TIED, "delay (ms)")],
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


def test_a_table_of_blocks_says_that_it_is_of_means_over_their_flows(tmp_path: Path) -> None:
    said = "Mean over the flows of a block within each run."
    for count, keys in ((1, ""), (2, ', name = "f", count = 2')):
        (tmp_path / "s.toml").write_text(SCENARIO.replace('path = ["l"]', f'path = ["l"]{keys}') + GRID)
        plan = make_plan(Study.load(tmp_path / "s.toml"))
        dataset = Dataset.create(tmp_path / f"out{count}", plan)
        execute(plan, dataset)
        (grid,) = report(dataset).sections[0].grids
        assert (said in grid.caption) is (count == 2)


TABLES = """
[sweep]
"links.l.queue" = [{ name = "drop_tail", limit = "20 packets" }, { name = "codel" }]
"links.l.delay" = ["5 ms", "10 ms"]
"""


def test_a_level_that_is_a_table_is_read_as_words(tmp_path: Path) -> None:
    text = SCENARIO + TABLES + '[[findings]]\nclaim = "fast"\nis = "above"\nmetric = "goodput_bps"\nthan = "1 Mbit/s"\n'
    (tmp_path / "s.toml").write_text(text)
    plan = make_plan(Study.load(tmp_path / "s.toml"))
    dataset = Dataset.create(tmp_path / "out", plan)
    execute(plan, dataset)
    made = report(dataset)
    page = made.write(tmp_path / "report").read_text()
    assert "drop_tail (limit = 20 packets)" in page
    assert "codel" in page
    for figure in (tmp_path / "report/figures").glob("*.svg"):
        page += figure.read_text()
    assert not re.search(r"\{(&#34;|&quot;|\"|')name", page)
    told = CliRunner().invoke(app, ["plan", str(tmp_path / "s.toml")]).output
    assert "drop_tail (limit = 20 packets), codel" in told


UNFINISHED = """
repeat = 3
[draws]
start = { distribution = "uniform", low = "0", high = "100" }
[scenario]
duration = "TIME"
links.l = { rate = "10 Mbit/s", delay = "20 ms", queue = { name = "drop_tail", limit = "40 packets" } }
[[scenario.flows]]
path = ["l"]
start = "start * 1 ms"
source = { name = "bulk", size = "1 MB" }
[arms]
reno = { cc = "reno" }
slow = { cc = "reno", "links.l.rate" = "1 Mbit/s" }
"""


def differences(tmp_path: Path, time: str) -> tuple[list[str], dict[str, object]]:
    (tmp_path / "s.toml").write_text(UNFINISHED.replace("TIME", time))
    plan = make_plan(Study.load(tmp_path / "s.toml"))
    dataset = Dataset.create(tmp_path / "out", plan)
    execute(plan, dataset)
    made = report(dataset)
    (grid,) = [grid for grid in made.grids if grid.name == "differences"]
    return list(made.summary), grid.frame.row(0, named=True)


def test_what_did_not_finish_is_at_least_so_much_and_is_compared_by_its_bounds(tmp_path: Path) -> None:
    lines, row = differences(tmp_path, "5 s")
    assert lines[0].startswith("completion time: from 1.0")
    assert lines[0].endswith(" s (slow; 3 of 3 runs did not finish)")
    assert " to at least 4.9" in lines[0]
    # It takes at least so much longer: no run of it finished, and that is enough.
    assert (row["difference"], row["high"], row["unfinished"], row["verdict"]) == (None, None, 3, "more")
    assert isinstance(row["low"], float)
    assert row["low"] > 3.5


SLOW = """
repeat = 3
[draws]
start = { distribution = "uniform", low = "0", high = "100" }
[scenario]
duration = "20 s"
links.l = { rate = "100 kbit/s", delay = "20 ms", queue = { name = "drop_tail", limit = "10 packets" } }
[[scenario.flows]]
path = ["l"]
start = "start * 1 ms"
"""


def test_a_slow_flow_is_headed_by_its_goodput(tmp_path: Path) -> None:
    dataset = sawtooth.run(SLOW, tmp_path / "out")
    made = report(dataset)
    # Not by throughput_bps, which counts whole segments.
    assert re.match(r"goodput: 9[67]\.\d+ kbit/s$", made.summary[0])
    assert not any("throughput" in line for line in made.summary)


def test_the_rate_of_a_transfer_is_that_until_its_last_byte_and_not_until_the_end_of_the_run(tmp_path: Path) -> None:
    rates: list[float] = []
    for time in ("5 s", "50 s"):
        dataset = sawtooth.run(UNFINISHED.replace("TIME", time).partition("[arms]")[0], tmp_path / time.replace(" ", ""))
        flows = dataset.flows().collect()
        rate = measures.observe(dataset, measures.Asked(measures.measure("transfer_rate_bps")))["value"]
        assert rate.to_list() == pytest.approx((8e15 / flows["completion_ns"]).to_list())
        rates.append(float(rate.to_numpy().mean()))
        made = report(dataset)
        assert made.summary[0].startswith("completion time: ")
        assert not any("throughput" in line for line in made.summary)
    assert rates[0] == rates[1]


def test_of_what_nobody_finished_nothing_is_said_to_differ(tmp_path: Path) -> None:
    lines, row = differences(tmp_path, "300 ms")
    assert lines[0].count("at least") == 2
    assert (row["difference"], row["low"], row["high"], row["verdict"]) == (None, None, None, "cannot distinguish")


MANY = """
repeat = 4
[draws]
start = { distribution = "uniform", low = "0", high = "1" }
[scenario]
duration = "5 s"
stack = "linux"
links.l = { rate = "10 Mbit/s", delay = "20 ms", queue = { name = "drop_tail", limit = "40 packets" } }
flows = [{ path = ["l"] }, { path = ["l"], start = "start * 1 s" }]
[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }
[sweep]
"links.l.queue.limit" = ["5 packets", "10 packets", "20 packets", "40 packets"]
"""


def test_how_many_differences_are_told_by_themselves_and_not_beside_so_many(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(MANY)
    plan = make_plan(Study.load(tmp_path / "s.toml"))
    dataset = Dataset.create(tmp_path / "out", plan)
    execute(plan, dataset)
    (section,) = [each for each in report(dataset).sections if each.title == "Differences to reno"]
    (grid,) = section.grids
    alone = sum(
        row["verdict"] == "cannot distinguish" and ((row["low"] or -1) > 0 or (row["high"] or 1) < 0) for row in grid.frame.to_dicts()
    )
    assert alone > 0
    assert f" Of {alone} the interval leaves 0 out" in section.paragraphs[0]


def test_the_summary_says_that_a_number_of_several_flows_is_one_flows(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        SCENARIO.replace(
            'flows = [{ path = ["l"] }]', 'flows = [{ path = ["l"], count = 3, name = "many" }, { path = ["l"], name = "one" }]'
        )
    )
    made = report(sawtooth.run(tmp_path / "s.toml", tmp_path / "out"))
    assert made.summary[0].startswith("goodput (a flow's, mean over those of a block): from ")
    # A transfer alone is no mean, whatever goes on beside it.
    (tmp_path / "t.toml").write_text(
        SCENARIO.replace(
            'flows = [{ path = ["l"] }]',
            'flows = [{ path = ["l"], count = 3, name = "many" }, { path = ["l"], name = "one", source = { name = "bulk", size = "10 kB" } }]',
        )
    )
    made = report(sawtooth.run(tmp_path / "t.toml", tmp_path / "sized"))
    assert [line.partition(":")[0] for line in made.summary][-2:] == ["completion time", "rate until the last byte"]
