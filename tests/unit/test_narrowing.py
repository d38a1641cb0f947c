"""What a terminal says while a study runs: where the widest interval of its headline measure is, and how it narrows."""

import io
import json
import re
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console
from typer.testing import CliRunner

import sawtooth
from sawtooth import narrowing, stats
from sawtooth.cli import app
from sawtooth.narrowing import Narrowing, Widest, most_failing, sparkline, widest
from sawtooth.presentation import presentation
from sawtooth.progress import TerminalReporter
from sawtooth.results.dataset import Dataset
from tests.web.conftest import STUDY


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("narrowing")
    (folder / "queues.toml").write_text(STUDY)
    return sawtooth.run(folder / "queues.toml", folder / "out")


def test_the_widest_interval_is_that_of_the_cell_whose_replicates_differ_most(made: Dataset) -> None:
    found = widest(made, presentation(made.study))
    assert found
    widths = {}
    for (limit, arm), group in made.flows(factors=True).collect().group_by("limit", "arm"):
        interval = stats.centre(group["goodput_bps"].to_numpy().astype(float))
        widths[f"limit {limit}, {arm}"] = (interval.high - interval.low) / 2 / interval.estimate
    assert found.measure == "goodput_bps"
    assert found.where == max(widths, key=lambda each: widths[each])
    assert found.share == pytest.approx(max(widths.values()))


def test_nothing_is_said_before_there_is_anything_and_looks_are_rare(
    made: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(narrowing.time, "monotonic", lambda: clock[0])
    empty = Narrowing(made.study, tmp_path)
    clock[0] += 3
    assert empty.said() == ""
    line = Narrowing(made.study, made.directory)
    assert line.said() == ""
    clock[0] += 3
    first = line.said()
    found = widest(made, presentation(made.study))
    assert found
    assert found.share is not None
    assert first == f"goodput_bps: interval ±{100 * found.share:.2g} % of the mean ▁ worst cell: {found.where}"
    assert line.said() == first
    clock[0] += 3
    assert f" % of the mean ▁▁ worst cell: {found.where}" in line.said()


def test_where_the_most_runs_fail_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "failing.toml").write_text(STUDY.replace("repeat = 4", "repeat = 2"))
    dataset = sawtooth.run(tmp_path / "failing.toml", tmp_path / "out")
    assert most_failing(dataset) is None
    status = dataset.status()
    cell = dataset.runs.filter(pl.col("run") == 3)["cell"][0]
    wrong = pl.when(pl.col("run").is_in([3, 2, 9])).then(pl.lit("failed")).otherwise("status").alias("status")
    monkeypatch.setattr(Dataset, "status", lambda _: status.with_columns(wrong))
    found = most_failing(Dataset(dataset.directory))
    assert found
    assert (found.failed, found.done) == (2, 2)
    assert found.where == " ".join(["limit", str(dataset.runs.filter(cell=cell)["limit"][0]) + ",", dataset.runs.filter(run=3)["arm"][0]])
    clock = [100.0]
    monkeypatch.setattr(narrowing.time, "monotonic", lambda: clock[0])
    line = Narrowing(dataset.study, dataset.directory)
    clock[0] += 3
    assert line.said().splitlines()[-1] == f"most failures, 2 of 2 runs: {found.where}"


def test_a_study_without_figures_is_seen_by_its_goodput(tmp_path: Path) -> None:
    text = STUDY[: STUDY.index("[[figures]]")]
    (tmp_path / "bare.toml").write_text(text)
    dataset = sawtooth.run(tmp_path / "bare.toml", tmp_path / "out")
    found = widest(dataset, presentation(dataset.study))
    assert found
    assert found.measure == "goodput_bps"


def test_what_may_be_0_is_told_in_its_own_unit_with_its_interval() -> None:
    assert Widest("gain", "arm", stats.Interval(-2e4, -1e5, 6e4, 4, ""), "bit/s").words == "mean -20 (-100 to 60) kbit/s"
    assert Widest("gain", "arm", stats.Interval(0.0, -0.5, 0.5, 4, "")).words == "mean 0 (-0.5 to 0.5)"
    assert Widest("gain", "arm", stats.Interval(2e6, 1e6, 3e6, 4, ""), "bit/s").words == "interval ±50 % of the mean"
    median = Widest("gain", "arm", stats.Interval(2e6, 1e6, 6e6, 4, ""), "bit/s", "median")
    assert median.words == "interval ±125 % of the median"
    # A share of what may be 0 is no measure of width: there the widest is that in the unit, however small its share.
    near, far = stats.Interval(1.0, -5.0, 7.0, 4, ""), stats.Interval(90.0, -10.0, 190.0, 4, "")
    assert Widest("gain", "", far).size > Widest("gain", "", near).size > Widest("gain", "", stats.Interval(1.0, 0.1, 1.9, 4, "")).size


def test_what_may_have_been_0_once_is_told_in_its_unit_from_then_on(made: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, told = [100.0], list[str]()
    monkeypatch.setattr(narrowing.time, "monotonic", lambda: clock[0])
    near, clear = stats.Interval(0.02, -0.01, 0.05, 4, ""), stats.Interval(0.02, 0.001, 0.039, 4, "")
    looks = iter([clear, near, clear])

    def found(*_: object, in_unit: bool) -> Widest:
        return Widest("gain", "arm", next(looks), in_unit=in_unit)

    monkeypatch.setattr(narrowing, "widest", found)
    line = Narrowing(made.study, made.directory)
    for _ in range(3):
        clock[0] += 100.0
        told.append(line.said())
    assert told == [
        "gain: interval ±95 % of the mean ▁ worst cell: arm",
        "gain: mean 0.02 (-0.01 to 0.05) ▁ worst cell: arm",
        "gain: mean 0.02 (0.001 to 0.039) █▁ worst cell: arm",
    ]


@pytest.mark.parametrize(
    ("values", "bars"),
    [([], ""), ([0.0], "▁"), ([0.3, 0.3], "▁▁"), ([1.28, 0.64, 0.32, 0.16, 0.08, 0.04, 0.02, 0.01], "█▇▆▅▄▃▂▁"), ([0.1, 0.0], "▁▁")],
)
def test_bars_are_by_logarithms(values: list[float], bars: str) -> None:
    assert sparkline(values) == bars


class Below:
    def __init__(self, place: str = "reno") -> None:
        self.place = place

    def said(self) -> str:
        return f"goodput_bps: interval ±3 % of the mean ▇▁ worst cell: {self.place}\nmost failures, 1 of 2 runs: reno"

    def facts(self) -> dict[str, object]:
        return {}


@pytest.mark.parametrize("options", [[], ["--progress", "json"], ["--dask", "local:1"]], ids=["plain", "json", "dask"])
def test_a_run_tells_the_worst_cell_also_in_logs_to_programs_and_on_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setattr(narrowing, "_SOONEST", 0.0)
    monkeypatch.setattr(narrowing, "_RARELY", 0.0)
    (tmp_path / "queues.toml").write_text(STUDY)
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["run", str(tmp_path / "queues.toml"), "--out", str(out), *options])
    assert done.exit_code == 0, done.output
    dataset = Dataset(out)
    found = widest(dataset, presentation(dataset.study))
    assert found
    if "json" in options:
        last = json.loads([line for line in done.stderr.splitlines() if '"runs"' in line][-1])
        share = found.share
        assert share is not None
        ends = {"estimate": found.interval.estimate, "low": found.interval.low, "high": found.interval.high, "unit": "bit/s"}
        assert last["widest"] == {"measure": found.measure, "where": found.where, "share": round(share, 6)} | ends
    else:
        assert f"worst cell: {found.where}" in done.stderr


def test_a_place_that_a_terminal_is_too_narrow_for_goes_on_in_the_next_line() -> None:
    place = "D 100 ms, R 1 Gbit/s, queue 0.25 bdp, flows 16, cubic"
    written = io.StringIO()
    reporter = TerminalReporter(Console(file=written, force_terminal=True, width=80), Below(place))
    reporter.begin(10, 0, 4e6)
    reporter.advance(2, 1e6, 1)
    reporter.end()
    last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.getvalue())
    assert place in " ".join(last.split()) and "…" not in last


def test_the_bar_has_rate_failures_and_the_line_below_it() -> None:
    written = io.StringIO()
    reporter = TerminalReporter(
        Console(file=written, force_terminal=True, width=120),
        Below(),
    )
    reporter.begin(10, 0, 4e6)
    reporter.advance(2, 1e6, 1)
    reporter.end()
    assert "2/10 runs, " in written.getvalue()
    assert "/s, 1 failed" in written.getvalue()
    assert "goodput_bps: interval ±3 % of the mean ▇▁ worst cell: reno" in written.getvalue()
    assert "most failures, 1 of 2 runs: reno" in written.getvalue()
