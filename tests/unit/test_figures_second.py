"""A second measure on the right axis of a figure of levels, a line between levels, and what was published as dots where there is much of it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sawtooth
from sawtooth import Dataset
from sawtooth.errors import DatasetError, StudyError
from sawtooth.study import Study

STUDY = """
repeat = 2
[draws]
S = { distribution = "uniform", low = "0 s", high = "1 s" }
[scenario]
duration = "2 s"
links.l = { rate = "10 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "1 bdp" } }
flows = [{ path = ["l"], start = "S" }]
[sweep]
"links.l.delay" = [DELAYS]
[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }
[[references]]
name = "paper"
file = "p.csv"
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return run(tmp_path_factory.mktemp("second"), [5, 10, 20])


def run(folder: Path, delays: list[int]) -> Dataset:
    (folder / "p.csv").write_text("delay_ms,goodput_bps\n" + "".join(f"{delay},{1e6 * delay}\n" for delay in delays))
    (folder / "s.toml").write_text(STUDY.replace("DELAYS", ", ".join(f'"{delay} ms"' for delay in delays)))
    return sawtooth.run(Study.load(folder / "s.toml"), out=folder / "out", jobs=1)


def test_both_measures_have_an_axis_and_stand_in_the_numbers(results: Dataset) -> None:
    made = results.figure(kind="levels", metric="goodput_bps", x="delay", arm="reno", second="srtt_mean_ns", second_label="round trip")
    left, right = made.figure.axes
    assert [each.get_ylabel() for each in (left, right)] == ["goodput (Mbit/s)", "round trip (ms)"]
    srtt = results.measure("srtt_mean_ns", arm="reno").group_by("cell", maintain_order=True).agg(pl.col("value").mean())["value"].to_list()
    assert made.numbers["second_estimate"].to_list() == pytest.approx(srtt)
    assert made.numbers["second_unit"].to_list() == ["ns"] * 3
    assert right.lines[0].get_ydata().tolist() == pytest.approx([each / 1e6 for each in srtt])
    assert right.get_ylim()[0] == 0
    assert "Dashed, on the right axis: round trip." in made.caption


def test_of_several_panels_only_the_last_names_the_right_axis(results: Dataset) -> None:
    made = results.figure(kind="levels", metric="goodput_bps", x="delay", panels="arm", second="srtt_mean_ns")
    right = made.figure.axes[2:]
    assert [axis.get_ylabel() != "" for axis in right] == [False, True]
    assert right[0].get_ylim() == right[1].get_ylim()


@pytest.mark.parametrize(("boundary", "at"), [("10 ms", 1.0), ("15 ms", 1.5), ("6 ms", 0.2), ("50 ms", None)])
def test_a_boundary_stands_between_levels_by_how_far_it_is_from_each(results: Dataset, boundary: str, at: float | None) -> None:
    made = results.figure(kind="levels", metric="goodput_bps", x="delay", curves="arm", boundary=boundary)
    dotted = [line.get_xdata()[0] for line in made.figure.axes[0].lines if line.get_linestyle() == ":" and line.get_label() == boundary]
    assert dotted == ([] if at is None else [pytest.approx(at)])
    assert (boundary in [text.get_text() for text in made.figure.legends[0].get_texts()]) is (at is not None)


def test_a_boundary_of_another_kind_than_the_levels_is_said(results: Dataset) -> None:
    with pytest.raises(DatasetError, match=r"`boundary` needs levels of `delay` that are quantities of its kind, in order"):
        results.figure(kind="levels", metric="goodput_bps", x="delay", curves="arm", boundary="10 kB")


def test_a_name_of_an_axis_that_is_not_there_is_said(results: Dataset) -> None:
    with pytest.raises(StudyError) as raised:
        results.figure(kind="levels", metric="goodput_bps", x="delay", arm="reno", second_label="round trip")
    assert (raised.value.message, raised.value.hint) == ("there is no second axis to call so", "`second` says what it has")


def test_where_levels_are_dense_what_was_published_are_dots_of_the_curves_colour(tmp_path: Path, results: Dataset) -> None:
    few = results.figure(kind="levels", metric="goodput_bps", x="delay", arm="reno", reference="paper.goodput_bps")
    assert "Crosses: what was published." in few.caption
    many = run(tmp_path, list(range(1, 31))).figure(
        kind="levels", metric="goodput_bps", x="delay", arm="reno", reference="paper.goodput_bps"
    )
    assert "Dots: what was published." in many.caption
    lines = {line.get_marker(): line for line in many.figure.axes[0].lines if len(line.get_xdata()) == 30}
    assert lines["o"].get_color() == lines[""].get_color()
