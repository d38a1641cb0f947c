"""What Python asks of results: measures, figures and findings, as study files ask for them, and comparisons."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

import sawtooth
from sawtooth import measures
from sawtooth.errors import DatasetError, StudyError
from sawtooth.measures import Asked, View
from sawtooth.report import compare as side_by_side
from sawtooth.report.answers import Answers
from sawtooth.report.compare import Question
from sawtooth.results.dataset import Observation
from sawtooth.study import Study

TREE: dict[str, Any] = {
    "name": "asked",
    "question": "Which is faster?",
    "repeat": 3,
    "draws": {"start": {"distribution": "uniform", "low": "0", "high": "100"}},
    "scenario": {
        "duration": "3 s",
        "sample": "50 ms",
        "record": ["link_flows"],
        "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "20 packets"}}},
        "flows": [{"path": ["l"], "name": "f", "start": "start * 1 ms"}],
    },
    "sweep": {"links.l.rate": ["2 Mbit/s", "10 Mbit/s"]},
    "arms": {"one": {"cc": "reno"}, "two": {"cc": "cubic"}},
    "findings": [
        {"claim": "slow", "name": "slow", "metric": "goodput_bps", "is": "below", "than": "20 Mbit/s"},
        {"claim": "quick", "name": "quick", "metric": "goodput_bps", "is": "above", "than": "4 Mbit/s"},
    ],
    "figures": [{"name": "rates", "metric": "goodput_bps", "x": "rate", "caption": "How fast."}],
}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> sawtooth.Dataset:
    return sawtooth.run(TREE, tmp_path_factory.mktemp("asked") / "out")


def test_every_way_to_results_gives_what_can_be_asked(dataset: sawtooth.Dataset) -> None:
    opened = sawtooth.Dataset(dataset.directory)
    for each in (dataset, opened, sawtooth.Dataset.open(dataset.directory), opened.shown_as(Study.of(TREE))):
        assert isinstance(each, sawtooth.Dataset)
        assert each.measure("goodput_bps").height == 12


# --- measures


def test_a_measure_is_one_row_per_run_and_item(dataset: sawtooth.Dataset) -> None:
    found = dataset.measure("p95(series.srtt_ns)")
    assert found.columns == ["run", "cell", "rate", "arm", "replicate", "seed", "item", "low", "high", "value"]
    measure = measures.measure("p95(series.srtt_ns)")
    assert found.equals(measures.observe(dataset, Asked(measure, View())))
    assert found["run"].to_list() == list(range(12))


def test_a_measure_is_of_chosen_runs_and_rows(dataset: sawtooth.Dataset) -> None:
    whole = dataset.measure("goodput_bps")
    assert dataset.measure("goodput_bps", arm="two", where={"rate": "2000 kbit/s"}).equals(whole.filter(arm="two", rate="2 Mbit/s"))
    # Arms come in the order in which they are asked for.
    assert dataset.measure("goodput_bps", arm=("two", "one"))["arm"].unique(maintain_order=True).to_list() == ["two", "one"]
    late = (
        dataset.series().filter((pl.col("t_ns") >= 1e9) & (pl.col("t_ns") < 2e9)).group_by("run").agg(pl.col("srtt_ns").max()).sort("run")
    )
    windowed = dataset.measure("max(series.srtt_ns)", window=("1 s", "2 s"))
    assert windowed["value"].to_list() == late.collect()["srtt_ns"].to_list()
    assert dataset.measure("max(series.srtt_ns)", warm_up="1 s", of="f", flows="each", by=[]).height == 12
    forward = dataset.measure("links.dropped_packets", where={"direction": "forward"})
    assert forward["item"].unique().to_list() == ["l forward"]


def test_columns_tell_values_apart(dataset: sawtooth.Dataset) -> None:
    found = dataset.measure("link_flows.dropped_packets", by=["link", "direction"], of="f")
    assert found.columns[-6:] == ["item", "link", "direction", "low", "high", "value"]
    own = dataset.link_flows().filter(flow="f").sort("run", "link", "direction").collect()
    assert found["value"].to_list() == own["dropped_packets"].to_list()
    assert found.group_by("run").len()["len"].to_list() == [2] * 12


@pytest.mark.parametrize(
    ("asked", "message", "place"),
    [
        ({"metric": "p95(completoin_ns)"}, "there is no measure `completoin_ns`", "2:15"),
        ({"metric": 5}, "`metric` must be a text", "2:10"),
        ({"metric": "goodput_bps", "arm": ["one", "too"]}, "there is no arm `too`", "3:15"),
        ({"metric": "goodput_bps", "where": {"rat": "2 Mbit/s"}}, "the sweep has no factor `rat`", "5:1"),
        ({"metric": "goodput_bps", "where": {"rate": np.int64(7)}}, "`rate` has no level `7`", "5:8"),
        ({"metric": "goodput_bps", "flows": "all"}, "`flows` cannot be `all`", "3:9"),
        ({"metric": "goodput_bps", "window": ("0 s", "1 s")}, "`goodput_bps` is of a whole run", "3:1"),
        ({"metric": "max(series.srtt_ns)", "window": ["2 s", "1 s"]}, "the window ends before it begins", "3:10"),
        ({"metric": "max(series.srtt_ns)", "warm_up": "1 m"}, "unit", "3:14"),
        ({"metric": "max(series.srtt_ns)", "by": ["t_s"]}, "`by` cannot be `t_s`", "3:7"),
        ({"metric": "goodput_bps", "by": 3}, "`by` is a column, or a list of columns", "3:6"),
    ],
)
def test_a_mistake_in_a_measure_has_a_place(dataset: sawtooth.Dataset, asked: dict[str, Any], message: str, place: str) -> None:
    with pytest.raises(StudyError) as caught:
        dataset.measure(**asked)
    assert message in caught.value.message
    assert str(caught.value.place) == f"<measure>:{place}"


def test_what_no_run_has_is_told(dataset: sawtooth.Dataset) -> None:
    with pytest.raises(DatasetError, match="no run has an item `g` of `goodput_bps`"):
        dataset.measure("goodput_bps", of="g")
    with pytest.raises(StudyError, match=r"what `measure` is asked holds tables, lists, .* found a value of type set \(at `where`\)"):
        dataset.measure("goodput_bps", where={"rate"})  # pyright: ignore[reportArgumentType]


def test_what_was_not_recorded_is_told_and_not_an_empty_frame(dataset: sawtooth.Dataset) -> None:
    for name, ask in (
        ("measure", lambda: dataset.measure("mean(episodes.cwnd_after_bytes)")),
        ("figure", lambda: dataset.figure(metric="mean(episodes.cwnd_after_bytes)", x="rate")),
        ("finding", lambda: dataset.finding(claim="c", metric="mean(episodes.cwnd_after_bytes)", is_="above", than="1 B")),
    ):
        with pytest.raises(StudyError) as caught:
            ask()
        assert "the table `episodes` needs" in caught.value.message
        assert caught.value.hint == 'write record = ["episodes"] in [scenario]'
        assert caught.value.place is not None
        assert caught.value.place.name == f"<{name}>"


def test_what_was_recorded_and_did_not_happen_is_no_mistake(tmp_path: Path) -> None:
    calm = {"duration": "200 ms", "record": ["episodes"], "links": {"l": {"rate": "1 Mbit/s", "delay": "5 ms"}}, "flows": [{"path": ["l"]}]}
    assert sawtooth.run(calm, tmp_path / "out").measure("max(episodes.cwnd_after_bytes)").is_empty()


def test_what_was_watched_has_no_study_to_ask(tmp_path: Path) -> None:
    watched, *_ = sawtooth.Dataset.observe(tmp_path, Observation("seen", "What?", "live", "live", "text"))
    for ask in (lambda: watched.measure("goodput_bps"), lambda: watched.figure(metric="x"), lambda: watched.finding(claim="c")):
        with pytest.raises(DatasetError, match="holds what was watched, and no study says"):
            ask()


# --- figures


def test_a_figure_is_that_of_the_study_that_would_ask_for_it(dataset: sawtooth.Dataset, tmp_path: Path) -> None:
    made = dataset.figure(name="rates", metric="goodput_bps", x="rate", caption="How fast.")
    (own,) = Answers(dataset).plots()[0]
    assert (made.name, made.caption) == (own.name, own.caption)
    assert made.numbers is not None
    assert own.numbers is not None
    assert made.numbers.equals(own.numbers)
    assert isinstance(made.figure, Figure)
    assert made.svg == own.svg
    assert repr(made) == f"<Figure rates: {made.caption}>"
    html = made._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert html.startswith("<figure><svg")
    assert "<figcaption>How fast." in html
    for ending, begins in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".pdf", b"%PDF"), (".csv", b"arm,rate,estimate")):
        assert made.save(tmp_path / f"rates{ending}").read_bytes().startswith(begins)
    with pytest.raises(DatasetError, match=r"cannot be saved as `rates.gif`\nhint: its name ends in .svg, .png, .pdf, .csv"):
        made.save(tmp_path / "rates.gif")
    with pytest.raises(TypeError, match="a figure is saved to the path of a file, found an int"):
        made.save(3)  # pyright: ignore[reportArgumentType]


def test_a_figure_needs_no_name(dataset: sawtooth.Dataset) -> None:
    assert dataset.figure(metric="goodput_bps", x="rate", panels=None).name == "levels"
    assert dataset.figure(kind="forest").name == "forest"


def test_a_figure_of_what_are_no_replicates_is_refused_with_advice(dataset: sawtooth.Dataset) -> None:
    with pytest.raises(StudyError) as caught:
        dataset.figure(metric="goodput_bps", x="rate", curves="item")
    assert caught.value.message == ("the figure cannot be drawn: it would take 2 arms (one, two) together as if they were replicates")
    assert caught.value.hint == 'add panels = "arm" (rows will do, too), or arm = "one"'
    assert str(caught.value.place) == "<figure>:1:1"


@pytest.mark.parametrize(
    ("keys", "message", "place"),
    [
        ({"kind": "levls", "metric": "goodput_bps"}, "`kind` cannot be `levls`", "3:8"),
        ({"metric": "goodput_bps", "colour": "arm"}, "unknown key `colour`", "4:1"),
        ({"metric": "goodput_bps", "x": "rat"}, "`x` cannot be `rat`", "4:5"),
        ({"metric": ["goodput_bps", "srtt_ns"]}, "`metric` must be a text", "3:10"),
        ({}, "`figures[0]` lacks `metric`", "1:1"),
    ],
)
def test_a_mistake_in_a_figure_has_a_place(dataset: sawtooth.Dataset, keys: dict[str, Any], message: str, place: str) -> None:
    with pytest.raises(StudyError) as caught:
        dataset.figure(**keys)
    assert message in caught.value.message
    assert str(caught.value.place) == f"<figure>:{place}"


# --- findings


def test_a_finding_is_decided_with_its_evidence(dataset: sawtooth.Dataset) -> None:
    found = dataset.finding(claim="It fills the line", metric="goodput_bps", is_="above", than="1 Mbit/s")
    assert found.answer == "yes"
    assert [each.cell for each in found.evidence] == [
        "rate 2 Mbit/s, one",
        "rate 2 Mbit/s, two",
        "rate 10 Mbit/s, one",
        "rate 10 Mbit/s, two",
    ]
    lines = repr(found).splitlines()
    assert lines[0] == "<Finding yes: It fills the line>"
    assert lines[1].startswith("  rate 2 Mbit/s, one ")
    assert len(lines) == 5
    html = found._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "<b>Finding yes</b>" in html
    (mixed,) = [dataset.finding(claim="<b>", metric="goodput_bps", **{"is": "above", "than": "4 Mbit/s"})]
    assert mixed.answer == "mixed"
    assert "<b><" not in mixed._repr_html_()  # pyright: ignore[reportPrivateUsage]
    alone = dataset.finding(claim="c", metric="goodput_bps", is_="above", than="1 Mbit/s", arm="one", where={"rate": "2 Mbit/s"})
    assert repr(alone).splitlines()[1] == f"  numbers  {alone.numbers}"


def test_a_finding_may_follow_from_those_of_the_study(dataset: sawtooth.Dataset) -> None:
    # Also under the name of one of them.
    assert dataset.finding(claim="both", name="slow", is_="all", findings=["slow", "quick"]).answer == "mixed"
    assert dataset.finding(claim="one", is_="any", findings=["slow", "quick"]).answer == "yes"
    with pytest.raises(StudyError, match=r"no finding `slw` that has evidence of its own(.|\n)*<finding>:4:13(.|\n)*did you mean `slow`"):
        dataset.finding(claim="one", is_="any", findings=["slw"])


def test_a_finding_of_what_are_no_replicates_is_refused_with_advice(dataset: sawtooth.Dataset) -> None:
    with pytest.raises(StudyError) as caught:
        dataset.finding(claim="c", metric="links.dropped_packets", is_="above", than="0 packets")
    assert "as if they were replicates" in caught.value.message
    assert caught.value.hint == 'add of = "l forward"'
    with pytest.raises(StudyError, match=r"`findings\[0\]` lacks `is`"):
        dataset.finding(claim="c", metric="goodput_bps")
    with pytest.raises(StudyError, match="unknown key `thn`"):
        dataset.finding(claim="c", metric="goodput_bps", is_="above", thn="1 Mbit/s")


# --- comparisons


def test_arms_are_held_against_each_other(dataset: sawtooth.Dataset, tmp_path: Path) -> None:
    found = dataset.compare(tolerance="5 %")
    own = side_by_side.compare(dataset.directory, [], Question())
    assert found.numbers.equals(own.frame())
    assert found.numbers.select("metric", "rate", "arm").rows() == [
        ("goodput_bps", "2 Mbit/s", "two / one"),
        ("goodput_bps", "10 Mbit/s", "two / one"),
    ]
    assert sum(found.verdicts.values()) == 2
    assert repr(found).splitlines() == ["<Comparison two against one>", *(f"  {line}" for line in found.summary)]
    html = found._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "<b>Comparison two against one</b>" in html
    assert "verdict" in html
    assert found.report(cell=2).write(tmp_path / "page").name == "report.html"


def test_datasets_are_held_against_each_other(dataset: sawtooth.Dataset, tmp_path: Path) -> None:
    slower = sawtooth.run({**TREE, "seed": 7}, tmp_path / "other")
    by_object, by_path = dataset.compare(slower, metric="links.dropped_packets", arm="one"), dataset.compare(str(slower.directory))
    assert by_object.numbers["metric"].unique().to_list() == ["links.dropped_packets"]
    assert by_object.numbers["arm"].unique().to_list() == ["one"]
    assert by_path.comparison.sides == ("out", "other")
    assert "another seed: 1 on out, 7 on other" in by_path.notes
    assert "  note: another seed: 1 on out, 7 on other" in repr(by_path).splitlines()


def test_results_are_held_against_published_numbers(dataset: sawtooth.Dataset, tmp_path: Path) -> None:
    table = tmp_path / "paper.csv"
    table.write_text("speed,arm,mean,spread\n2 Mbit/s,one,1.9,0.1\n10 Mbit/s,one,9.0,0.1\n7 Mbit/s,one,1,1\n")
    said: dict[str, Any] = {"metric": ["goodput_bps"], "value": "mean", "sd": "spread", "unit": "Mbit/s", "factors": {"rate": "speed"}}
    for found in (dataset.compare(table, n=10, digits=1, **said), dataset.compare(reference=table, n="10", digits=1, **said)):
        assert found.comparison.sides == ("out", "paper")
        assert found.numbers["second"].to_list() == [1.9e6, 9e6]
        assert any("7 Mbit/s" in entry.what for entry in found.unmatched)


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"metric": "goodput_bs"}, DatasetError, "there is no measure `goodput_bs`"),
        ({"metric": 5}, TypeError, "a measure is a text, and several are a list of them, found an int: 5"),
        ({"metric": ["goodput_bps", None]}, TypeError, "a measure is a text, and several are a list of them, found a NoneType: None"),
        ({"tolerance": 5}, DatasetError, "`5` is 500 % without a sign of it"),
        ({"tolerance": None}, TypeError, "a tolerance is a share, such as 0.05 or `5 %`, found a NoneType: None"),
        ({"flows": "all"}, DatasetError, "there is no way `all` to take flows together"),
        ({"flows": 1}, TypeError, "`flows` is mean, sum, max, min, each, found an int: 1"),
        ({"reference": "paper"}, DatasetError, "has no reference `paper`, and there is no such file"),
        ({"value": "mean"}, DatasetError, "which table is `value` a column of?"),
        ({"reference": "x.csv", "sd": 3}, TypeError, "`sd` names a column, found an int: 3"),
        ({"reference": "x.csv", "digits": 0.5}, TypeError, "`digits` is a number of decimals, found a float: 0.5"),
        ({"reference": "x.csv", "factors": ["rate"]}, TypeError, "`factors` is a table of names and columns, found a list"),
        ({"arm": 3}, TypeError, "an arm is called by its name, found an int: 3"),
    ],
)
def test_a_mistake_in_a_comparison_is_told(dataset: sawtooth.Dataset, asked: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)) as caught:
        dataset.compare(**asked)
    # Python has arguments, not options.
    assert "--" not in str(caught.value)


def test_advice_names_arguments_not_options(dataset: sawtooth.Dataset) -> None:
    with pytest.raises(DatasetError) as caught:
        dataset.compare(value="mean")
    assert caught.value.hint == "`value` names a column of a CSV of published numbers, or of a `reference`"
    with pytest.raises(DatasetError) as caught:
        dataset.compare(arm="one")
    assert caught.value.message.endswith("there is nothing to choose with `arm`")


def test_results_are_held_against_what_is_some_results(dataset: sawtooth.Dataset, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="is no results directory"):
        dataset.compare(tmp_path)
    with pytest.raises(
        TypeError, match="results are held against a Dataset, or the path of its directory or of a CSV file, found an int: 5"
    ):
        dataset.compare(5)  # pyright: ignore[reportArgumentType]
