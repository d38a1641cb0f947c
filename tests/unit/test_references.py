"""Published tables that a study names: how they are read, matched and used, and what is said of those that cannot be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from sawtooth import measures, reference_files
from sawtooth.errors import DatasetError, StudyError, cut
from sawtooth.execute import execute
from sawtooth.measures import Asked, Context
from sawtooth.plan import make_plan
from sawtooth.plots import levels
from sawtooth.presentation import presentation
from sawtooth.reference_files import Columns
from sawtooth.report import compare, compare_page
from sawtooth.report.answers import Answers
from sawtooth.report.compare import Question
from sawtooth.results.dataset import Dataset
from sawtooth.stats import Interval
from sawtooth.study import Study

STUDY = """
repeat = 3
[draws]
start = { distribution = "uniform", low = "0", high = "100" }
[scenario]
duration = "4 s"
links.l = { rate = "2 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "20 packets" } }
[[scenario.flows]]
name = "f"
path = ["l"]
start = "start * 1 ms"
[sweep]
"links.l.rate" = ["2 Mbit/s", "4 Mbit/s"]
[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }
"""
REFERENCE = """
[[references]]
name = "paper"
file = "paper.csv"
source = "Nobody, Nowhere 2003, table 1"
keys = { rate = "rate_kbps", arm = "protocol" }
columns = { goodput_bps = { column = "thr", unit = "Mbit/s", sd = "sd", n = 10, digits = 1 } }
"""
TABLE = "# of a paper\nrate_kbps,protocol,thr,sd,note\n2000,reno,1.8,0.1,a\n2000,cubic,1.9,0.1,\n4000,reno,,0.1,\n4000,cubic,3.7,0.1,b\n"


def ran(folder: Path, text: str, table: str = TABLE) -> Dataset:
    (folder / "paper.csv").write_text(table)
    (folder / "s.toml").write_text(STUDY + text)
    plan = make_plan(Study.load(folder / "s.toml"))
    dataset = Dataset.create(folder / "out", plan)
    execute(plan, dataset)
    return dataset


def test_rows_are_of_the_cells_that_their_keys_amount_to(tmp_path: Path) -> None:
    dataset = ran(tmp_path, REFERENCE)
    references = presentation(dataset.study, {"paper": TABLE}).references
    measure = measures.measure("goodput_bps / reference.goodput_bps", Context(references))
    found = measures.observe(dataset, Asked(measure), references)
    own = measures.observe(dataset, Asked(measures.measure("goodput_bps")))
    assert set(found.select("rate", "arm").unique().rows()) == {("2 Mbit/s", "reno"), ("2 Mbit/s", "cubic"), ("4 Mbit/s", "cubic")}
    published = {("2 Mbit/s", "reno"): 1.8e6, ("2 Mbit/s", "cubic"): 1.9e6, ("4 Mbit/s", "cubic"): 3.7e6}
    for row in found.join(own.select("run", own="value"), on="run").to_dicts():
        assert row["value"] == pytest.approx(row["own"] / published[row["rate"], row["arm"]])
    table = references["paper"].table("goodput_bps")
    assert table["error"].to_list() == pytest.approx([0.1e6 / 10**0.5] * 3)
    assert table["freedom"].to_list() == [9.0] * 3


def test_a_finding_says_whether_a_table_comes_out_again(tmp_path: Path) -> None:
    exact = ran(tmp_path, "").flows().collect()
    mean = exact.filter(pl.col("cc") == "reno")["goodput_bps"].mean()
    assert mean is not None
    text = REFERENCE.replace("arm = ", "arm = ") + "".join(
        f'[[findings]]\nclaim = "{by}"\nmetric = "goodput_bps"\nof = "f"\narm = "cubic"\nis = "reproduced"\nreference = "paper.goodput_bps"\nby = "{by}"\n{more}\n'
        for by, more in (("digits", ""), ("margin", 'margin = "300 %"'), ("prediction", ""))
    )
    second = tmp_path / "second"
    second.mkdir()
    answers = {verdict.claim: verdict for verdict in Answers(ran(second, text)).verdicts()}
    # 1.9 and 3.7 Mbit/s with halves of the last digit: two cells, one verdict each way is `mixed`, both is `yes`.
    flows = Dataset(second / "out").flows(factors=True).collect().filter(pl.col("arm") == "cubic")
    means = flows.group_by("rate").agg(pl.col("goodput_bps").mean()).sort("rate")["goodput_bps"].to_list()
    same = [f"{ours / 1e6:.1f}" == theirs for ours, theirs in zip(means, ("1.9", "3.7"), strict=True)]
    assert answers["digits"].answer == {2: "yes", 1: "mixed", 0: "no"}[sum(same)]
    assert answers["margin"].answer == "yes"
    assert answers["prediction"].answer in ("yes", "no", "mixed")
    assert "against the published 1.9 Mbit/s" in answers["digits"].numbers


def test_a_reference_stands_beside_the_points_of_a_figure(tmp_path: Path) -> None:
    figure = '[[figures]]\nname = "g"\nmetric = "goodput_bps"\nx = "rate"\nreference = "paper.goodput_bps"\n'
    plot = Answers(ran(tmp_path, REFERENCE + figure)).plot(Answers(Dataset(tmp_path / "out")).shown.figures[0])
    axis = plot.figure.axes[0]
    crosses = [line for line in axis.get_lines() if line.get_marker() == "x"]
    drawn = sorted(float(y) for line in crosses for y in list(line.get_ydata()))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType, reportArgumentType]
    assert drawn == pytest.approx([1.8, 1.9, 3.7])
    # Each with the interval of a mean of ten with a standard deviation of 0.1.
    half = 2.262157 * 0.1 / 10**0.5
    bars = [bar for bar in axis.collections if isinstance(bar, LineCollection) and (bar.get_color() == (0.0, 0.0, 0.0, 1.0)).all()]
    ends = sorted((float(low), float(high)) for bar in bars for (_, low), (_, high) in bar.get_segments())  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType, reportUnknownArgumentType]
    assert ends == [pytest.approx((middle - half, middle + half)) for middle in (1.8, 1.9, 3.7)]
    assert "Crosses: what was published, with 95 % t intervals of its means." in plot.caption
    # So are the numbers of its table, in the measure's unit; a cell that has no row is without.
    assert plot.numbers is not None
    beside = plot.numbers.select("published", "published_low", "published_high").drop_nulls().sort("published").rows()
    assert beside == [pytest.approx((middle, middle - half * 1e6, middle + half * 1e6)) for middle in (1.8e6, 1.9e6, 3.7e6)]
    assert plot.numbers["published"].null_count() == plot.numbers.height - 3


def test_a_published_value_of_all_curves_is_drawn_once_in_their_middle() -> None:
    one, other = (Interval(value, value - 1, value + 1, 10, "published") for value in (5.0, 7.0))
    points = {name: [None, None] for name in ("a", "b")}
    figure = levels.draw([points], ([""], [""]), ["x", "y"], ["a", "b"], ("", ""), marks=[{"a": [one, one], "b": [one, other]}])
    crosses = [line for line in figure.axes[0].get_lines() if line.get_marker() == "x"]
    x, y = (np.concatenate([np.asarray(of(line), dtype=float) for line in crosses]) for of in (Line2D.get_xdata, Line2D.get_ydata))
    assert y.tolist() == [5, 5, 7]
    # All stand a little aside of their points, by as much.
    assert x[0] + 1 == pytest.approx(x[1:].mean())


def test_numbers_that_nobody_published_are_called_what_they_are(tmp_path: Path) -> None:
    figure = '[[figures]]\nname = "g"\nmetric = "goodput_bps"\nx = "rate"\nreference = "paper.goodput_bps"\n'
    answers = Answers(ran(tmp_path, REFERENCE.replace("source =", 'called = "ns-3"\nsource =') + figure))
    plot = answers.plot(answers.shown.figures[0])
    assert "ns-3" in [text.get_text() for text in plot.figure.legends[0].get_texts()]
    assert "Crosses: ns-3, with 95 % t intervals of its means." in plot.caption


@pytest.mark.parametrize(
    ("columns", "table", "said"),
    [
        (
            ', sd = "sd", n = 10',
            TABLE.replace("1.8,0.1", "1.8,"),
            "Crosses: what was published, with 95 % t intervals of its means, of 2 of 3.",
        ),
        ("", TABLE, "Crosses: what was published."),
    ],
)
def test_the_caption_says_which_published_values_have_intervals(columns: str, table: str, said: str, tmp_path: Path) -> None:
    figure = '[[figures]]\nname = "g"\nmetric = "goodput_bps"\nx = "rate"\nreference = "paper.goodput_bps"\n'
    answers = Answers(ran(tmp_path, REFERENCE.replace(', sd = "sd", n = 10', columns) + figure, table))
    assert said in answers.plot(answers.shown.figures[0]).caption


def test_what_shows_a_reference_ends_with_its_source(tmp_path: Path) -> None:
    own = '[[figures]]\nname = "own"\nmetric = "goodput_bps"\nx = "rate"\n'
    beside = own.replace("own", "beside") + 'reference = "paper.goodput_bps"\ncaption = "What comes through."\n'
    ratio = own.replace("own", "ratio").replace("goodput_bps", "goodput_bps / reference.goodput_bps")
    claim = '[[findings]]\nclaim = "c"\nmetric = "goodput_bps"\nis = "reproduced"\nreference = "paper.goodput_bps"\n'
    share = '[[findings]]\nclaim = "d"\nmetric = "goodput_bps / reference.goodput_bps"\nis = "above"\nthan = 0\n'
    other = '[[findings]]\nclaim = "e"\nmetric = "goodput_bps"\nis = "above"\nthan = "0 bit/s"\n'
    answers = Answers(ran(tmp_path, REFERENCE + own + beside + ratio + claim + share + other))
    source = ". Published: Nobody, Nowhere 2003, table 1."
    plots = {spec.name: answers.plot(spec).caption for spec in answers.shown.figures}
    assert {name: caption.endswith(source) for name, caption in plots.items()} == {"own": False, "beside": True, "ratio": True}
    assert [verdict.numbers.endswith(source) for verdict in answers.verdicts()] == [True, True, False]
    # In an expression what was published is a number: that its spread does not count is said there, and nowhere else.
    exact = "In the measure the numbers of `paper` count as exact, without their published spread."
    assert [name for name, caption in plots.items() if exact in caption] == ["ratio"]
    assert [exact in verdict.numbers for verdict in answers.verdicts()] == [False, True, False]
    # Of a reference without a source nothing is said.
    unnamed = tmp_path / "unnamed"
    unnamed.mkdir()
    without = Answers(ran(unnamed, REFERENCE.replace('source = "Nobody, Nowhere 2003, table 1"\n', "") + beside + claim))
    assert "Published:" not in without.plot(without.shown.figures[0]).caption + without.verdicts()[0].numbers


def test_cells_that_no_row_is_of_are_told(tmp_path: Path) -> None:
    dataset = ran(tmp_path, REFERENCE)
    references = presentation(dataset.study, {"paper": TABLE.replace("2000", "7000").replace("4000", "9000")}).references
    with pytest.raises(DatasetError, match="no row of the reference `paper`") as caught:
        measures.observe(dataset, Asked(measures.measure("reference.goodput_bps", Context(references))), references)
    assert "`keys` says which column is which factor" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("paper.csv", "papers.csv"), "No such file"),
        (('column = "thr"', 'column = "thro"'), "has no column `thro`"),
        (('unit = "Mbit/s"', 'unit = "Mbits"'), "unknown unit `Mbits`"),
        (("n = 10, ", ""), "only with its number of observations"),
        (('sd = "sd", ', ""), "only with its standard deviation or interval"),
        (("rate = ", "rat = "), "the study has no factor `rat`"),
        (('name = "paper"', 'name = "a paper"'), "cannot be the name of a reference"),
        (("source", "sauce"), "unknown key `sauce`"),
        (("digits = 1", "digits = 1.5"), "`digits` is a whole number"),
        (('column = "thr"', 'column = "note"'), "is no number"),
    ],
)
def test_a_reference_that_cannot_be_used_is_told_with_its_place(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    (tmp_path / "paper.csv").write_text(TABLE)
    (tmp_path / "s.toml").write_text(STUDY + REFERENCE.replace(*change))
    with pytest.raises(StudyError) as caught:
        make_plan(Study.load(tmp_path / "s.toml"))
    assert message in caught.value.message
    assert caught.value.place is not None and caught.value.place.line >= STUDY.count("\n")


def test_units_that_do_not_fit_are_told(tmp_path: Path) -> None:
    (tmp_path / "paper.csv").write_text(TABLE)
    finding = '[[findings]]\nclaim = "c"\nmetric = "srtt_mean_ns"\nof = "f"\nis = "reproduced"\nreference = "paper.goodput_bps"\n'
    (tmp_path / "s.toml").write_text(STUDY + REFERENCE + finding)
    with pytest.raises(StudyError, match="is in Mbit/s, `srtt_mean_ns` in ns"):
        make_plan(Study.load(tmp_path / "s.toml"))


def test_compare_holds_results_against_a_reference_of_their_study_or_a_file(tmp_path: Path) -> None:
    dataset = ran(tmp_path, REFERENCE)
    named = compare.compare(dataset.directory, [], Question(reference="paper"))
    assert named.sides == ("out", "paper")
    # Of the column that is called like a measure, against that measure; rates in the unit that results have.
    rows = {(row.factors["rate"], row.arm): row for row in named.rows}
    assert {key: (row.metric.name, row.second.estimate) for key, row in rows.items()} == {
        ("2 Mbit/s", "reno"): ("goodput_bps", 1.8e6), ("2 Mbit/s", "cubic"): ("goodput_bps", 1.9e6), ("4 Mbit/s", "cubic"): ("goodput_bps", 3.7e6),
    }  # fmt: skip
    assert {row.digits for row in named.rows} <= {"same", "other"}
    assert [(x.what, x.side, x.why) for x in named.unmatched] == [("rate 4 Mbit/s, reno", "out", "paper has no number of it")]
    columns = compare.published("thr", sd="sd", n="10", unit="Mbit/s", factors=["rate=rate_kbps", "arm=protocol"])
    (tmp_path / "again.csv").write_text(TABLE)
    for asked, others in (
        (Question(("goodput_bps",), reference=str(tmp_path / "again.csv"), published=columns), []),
        (Question(("goodput_bps",), published=columns), [tmp_path / "again.csv"]),
    ):
        filed = compare.compare(dataset.directory, others, asked)
        assert [(row.cell, row.arm, row.ratio, row.p_within) for row in filed.rows] == [
            (row.cell, row.arm, row.ratio, row.p_within) for row in named.rows
        ]
    # And an expression may ask for it.
    shared = compare.compare(dataset.directory, [], Question(("goodput_bps / reference.goodput_bps",)))
    assert {row.arm for row in shared.rows} == {"cubic / reno"}


def test_means_and_their_ratio_stand_beside_the_verdict(tmp_path: Path) -> None:
    asked = Question(reference="paper")
    dataset = ran(tmp_path, REFERENCE)
    comparison = compare.compare(dataset.directory, [], asked)
    wanted = ["verdict", "first", "second", "ratio", "ratio_low", "ratio_high"]
    page = compare_page.page(comparison, dataset.directory, [], asked)
    for frame in (comparison.frame(), page.sections[0].grids[0].frame):
        at = frame.columns.index("verdict")
        assert frame.columns[at : at + len(wanted)] == wanted


def test_a_directory_and_a_reference_of_one_name_are_told_apart(tmp_path: Path) -> None:
    dataset = ran(tmp_path, REFERENCE)
    alike = dataset.directory.rename(tmp_path / "paper")
    comparison = compare.compare(alike, [], Question(reference="paper"))
    assert comparison.sides == ("paper", "paper (reference)")
    assert {row.sides for row in comparison.rows} == {comparison.sides}
    assert {entry.side for entry in comparison.unmatched} == {"paper"}
    heads = [str(column.header) for column in compare.table(comparison).columns]
    assert heads.count("paper") == heads.count("paper (reference)") == 1


def test_digits_are_those_that_a_table_gives(tmp_path: Path) -> None:
    dataset = ran(tmp_path, "")
    mean = measures.observe(dataset, Asked(measures.measure("goodput_bps"))).filter(cell=1, arm="reno")["value"].mean()
    assert isinstance(mean, float)
    for digits, text in ((2, f"{mean / 1e6:.2f}"), (4, f"{mean / 1e6:.2f}0")):
        (tmp_path / "t.csv").write_text(f"rate_mbps,arm,goodput_mbps\n2,reno,{text}\n")
        (row,) = compare.compare(dataset.directory, [], Question(("goodput_bps",), reference=str(tmp_path / "t.csv"))).rows
        assert row.digits == ("same" if digits == 2 else "other")


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (Question(reference="papers"), "error: {out} has no reference `papers`, and there is no such file\nhint: did you mean `paper`?"),
        (
            Question(("complet_ns",), reference="paper"),
            "error: there is no measure `complet_ns`\nhint: did you mean `completion_ns`?",
        ),
        (
            Question(("completion_ns",), reference="paper"),
            "error: `thr` of paper.csv is in Mbit/s, `completion_ns` in ns\nhint: --metric names ours, --value theirs; the study says the unit of theirs at "
            "s.toml:23:52; `sawtooth run` takes a change over and runs nothing again",
        ),
        (
            Question(reference="paper", published=Columns("thru")),
            "error: `paper` has no column `thru`\nhint: known here: goodput_bps",
        ),
        (
            Question(reference="paper", published=Columns("goodput_bps", unit="bit/s")),
            "error: --unit is for a CSV file; the study says it of its reference `paper`\nhint: change it there: `sawtooth run` takes it over and runs "
            "nothing again",
        ),
        (
            Question(("goodput_bps",), reference="{folder}/paper.csv", published=Columns("thr", n="10", unit="Mbit/s", factors={"rate": "rate_kbps"})),
            "error: a number of observations says how far a mean can be trusted only with its standard deviation or interval\nhint: name the column of it "
            "by `sd` (`--sd`) or `ci` (`--ci`); without `n` the means are taken as exact",
        ),
        (
            Question(("goodput_bps",), reference="a" * 5000),
            "error: cannot read {long}: File name too long\nhint: name another, or see what `ls -ld` says of it",
        ),
        (Question(published=Columns("thr")), "error: which table is `--value` a column of?\nhint: --value names a column of a CSV of published numbers, or of a --reference"),
    ],
)  # fmt: skip
def test_what_compare_cannot_hold_results_against_is_told(asked: Question, expected: str, tmp_path: Path) -> None:
    dataset = ran(tmp_path, REFERENCE)
    with pytest.raises(DatasetError) as found:
        compare.compare(dataset.directory, [], replace(asked, reference=(asked.reference or "").format(folder=tmp_path) or None))
    assert str(found.value) == expected.format(out=dataset.directory, long=cut("a" * 5000))


def test_a_side_with_a_name_that_no_file_can_have_is_told(tmp_path: Path) -> None:
    dataset = ran(tmp_path, REFERENCE)
    with pytest.raises(DatasetError) as found:
        compare.compare(dataset.directory, [Path("a" * 5000)], Question())
    assert found.value.message == f"cannot read {cut('a' * 5000)}: File name too long"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (TABLE + "2000,reno,1.7,0.1,again\n", "paper.csv:7:11: 2 rows are of rate 2000 kbit/s, arm reno, the first in line 3"),
        (TABLE.replace("1.8,0.1", "1.8,little"), "paper.csv:3:15: `little` in column `sd` is no number"),
    ],
)
def test_a_table_that_cannot_be_relied_on_is_refused_when_a_study_is_planned(table: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(StudyError) as found:
        ran(tmp_path, REFERENCE, table)
    assert message in found.value.message
    assert found.value.place is not None


def test_a_mean_whose_error_is_not_told_while_that_of_others_is_is_not_exact(tmp_path: Path) -> None:
    dataset = ran(tmp_path, REFERENCE, TABLE.replace("1.8,0.1", "1.8,"))
    table = reference_files.of_results(dataset, ["rate"])["paper"].table("goodput_bps")
    assert [(row["error"] > 0, row["freedom"]) for row in table.to_dicts()] == [(False, 0.0), (True, 9.0), (True, 9.0)]
    rows = compare.compare(dataset.directory, [], Question(reference="paper")).rows
    assert [row.p_within is None for row in rows] == [True, False, False]
    # It is not for want of runs of ours.
    assert rows[0].why == "no published spread" and rows[0].second.kind == "no published spread: no interval"
    told = compare.summary(compare.compare(dataset.directory, [], Question(reference="paper")))
    assert any("1 rows have no published spread, so that of them nothing can be tested" in line for line in told)


def test_a_reference_that_no_cell_is_of_is_refused_when_a_study_is_planned(tmp_path: Path) -> None:
    with pytest.raises(StudyError) as found:
        ran(tmp_path, REFERENCE, TABLE.replace("2000", "2").replace("4000", "4"))
    assert str(found.value).splitlines()[-1] == (
        "hint: the first cell is rate 2 Mbit/s, arm reno; the first row rate 2 kbit/s, arm reno; `keys` says which column is which factor, and a column's name "
        "may end in its unit"
    )
    assert found.value.message == f"no row of {tmp_path / 'paper.csv'} is of a cell of this study"
    assert found.value.place is not None
    # The short form need not have a cell of it.
    text = REFERENCE + '[short]\n"links.l.rate" = ["1 Mbit/s"]\n'
    (tmp_path / "paper.csv").write_text(TABLE)
    assert make_plan(Study.parse(STUDY + text, tmp_path / "s.toml", short=True)).runs


def test_a_row_that_is_of_no_cell_is_told_at_the_plan_and_beside_the_verdict(tmp_path: Path) -> None:
    claim = '[[findings]]\nclaim = "It comes out"\nmetric = "goodput_bps"\nis = "reproduced"\nreference = "paper.goodput_bps"\nby = "margin"\nmargin = "90 %"\n'
    dataset = ran(tmp_path, REFERENCE + claim, TABLE.replace("4000,cubic", "4100,cubic"))
    warning, _ = make_plan(Study.load(tmp_path / "s.toml")).warnings
    assert warning.message == "1 row of paper.csv is of no cell of this study: rate 4100 kbit/s, arm cubic"
    assert warning.place is not None
    (verdict,) = Answers(dataset).verdicts()
    assert verdict.numbers.endswith(
        "1 of 3 published values are of no cell that was run (rate 4100 kbit/s, arm cubic). `paper` has no `goodput_bps` of 2 of 4 cells "
        "(rate 4 Mbit/s, reno; rate 4 Mbit/s, cubic). Published: Nobody, Nowhere 2003, table 1."
    )


def test_a_heat_map_says_that_the_reference_lacks_a_row_and_not_a_run(tmp_path: Path) -> None:
    figure = '\n[[figures]]\nname = "a"\nkind = "heatmap"\nmetric = "goodput_bps / references.paper.goodput_bps"\nx = "rate"\ny = "arm"\n'
    dataset = ran(tmp_path, REFERENCE + figure)
    found = Answers(dataset)
    (spec,) = found.shown.figures
    assert "Grey and hatched: 1 cell of which `paper` has no row." in found.drawn(spec).note
