"""What matters: effects of a full factorial as figures, and as a section of the report."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from sawtooth import stats
from sawtooth.errors import DatasetError
from sawtooth.execute import execute
from sawtooth.figures import effects
from sawtooth.plan import make_plan
from sawtooth.plots import effects as plots
from sawtooth.report import generic
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study
from tests.unit.figure_runs import STUDY, drawn, made


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return made(tmp_path_factory.mktemp("effects"))


ASKED = 'kind = "effects"\nmetric = "goodput_bps"\nof = "long"\n'


def test_the_shares_are_those_of_the_analysis_of_variance(runs: Dataset, tmp_path: Path) -> None:
    found = drawn(runs, tmp_path, ASKED)
    frame = runs.flows(factors=True).filter(pl.col("flow") == "long").collect()
    known = stats.factorial(frame, ["rate", "delay", "arm"], "goodput_bps").table()
    assert found.numbers.to_dicts() == known.to_dicts()
    assert "12 combinations, n = 3 replicates as blocks" in found.note
    assert "adjusted by Holm for the 7 effects" in found.note


def test_the_means_are_over_everything_else(runs: Dataset, tmp_path: Path) -> None:
    found = drawn(runs, tmp_path, ASKED + 'show = "means"\n')
    frame = runs.flows(factors=True).filter(pl.col("flow") == "long").collect()
    for row in found.numbers.filter(pl.col("source") == "rate").iter_rows(named=True):
        assert row["estimate"] == pytest.approx(frame.filter(rate=row["level"])["goodput_bps"].mean())
        assert row["n"] == 3
    assert found.numbers["source"].unique(maintain_order=True).to_list()[:3] == ["rate", "delay", "arm"]


def test_panels_have_analyses_of_their_own(runs: Dataset, tmp_path: Path) -> None:
    found = drawn(runs, tmp_path, ASKED + 'panels = "arm"\n')
    assert found.numbers.filter(arm="reno")["source"].to_list()[:3] == ["rate", "delay", "rate x delay"]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ('metric = "completion_ns"\nof = "short"', "did not finish it"),
        ('metric = "goodput_bps"\nof = "long"\nwhere = { rate = "1 Mbit/s", delay = "10 ms" }\narm = "reno"', "need something that varies"),
        ('metric = "goodput_bps"\nof = "long"\nshow = "means"\npanels = "arm"', "means of effects have panels of their own"),
    ],
)
def test_what_has_no_effects_says_why(keys: str, said: str, runs: Dataset, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=said):
        drawn(runs, tmp_path, f'kind = "effects"\n{keys}\n')


def test_what_is_no_full_factorial_or_has_no_replicates_says_so() -> None:
    frame = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": ["1", "2", "1", "2"], "replicate": [1, 1, 1, 1], "low": [1.0, 2.0, 3.0, 5.0]})
    frame = frame.with_columns(high="low")
    with pytest.raises(DatasetError, match="need replicates"):
        effects.analysed(frame, ["a", "b"], "m")
    alike = pl.concat([frame, frame.with_columns(replicate=pl.lit(2, pl.Int64))])
    with pytest.raises(DatasetError, match="need replicates that differ"):
        effects.analysed(alike, ["a", "b"], "m")
    noise = pl.Series([0.1, 0.0, 0.2, 0.0, 0.3, 0.1, 0.0, 0.2])
    twice = alike.with_columns(low=pl.col("low") + noise, high=pl.col("high") + noise)
    with pytest.raises(DatasetError, match="need a full factorial"):
        effects.analysed(twice.filter(~((pl.col("a") == "x") & (pl.col("b") == "2"))), ["a", "b"], "m")
    lacking = twice.filter(~((pl.col("a") == "x") & (pl.col("b") == "2") & (pl.col("replicate") == 2)))
    with pytest.raises(DatasetError, match="need two replicates"):
        effects.analysed(lacking, ["a", "b"], "m")


def test_names_of_many_effects_do_not_overlap() -> None:
    bars = [plots.Bar(f"factor {at} x another factor {at}", 0.5 / (at + 1), at < 5, "p = 0.123") for at in range(20)]
    figure = plots.shares([bars], ([""], [""]), "share (%)")
    FigureCanvasAgg(figure).draw()
    (axis,) = figure.axes
    boxes = [label.get_window_extent() for label in axis.get_yticklabels()]
    assert len(boxes) == plots.MOST
    assert not any(one.overlaps(other) for at, one in enumerate(boxes) for other in boxes[at + 1 :])
    right = axis.get_window_extent().x1
    assert all(text.get_window_extent().x1 <= right for text in axis.texts)
    assert plots.left_out([bars]) == "The 12 largest of 20 effects; the others are in the numbers."


def test_no_share_of_the_variance_is_above_all_of_it() -> None:
    figure = plots.shares([[plots.Bar("rate", 0.97, True, "p < 0.001")]], ([""], [""]), "share (%)")
    assert max(float(tick) for tick in figure.axes[0].get_xticks()) == 100


def report_of(folder: Path, text: str) -> list[str]:
    (folder / "s.toml").write_text(text)
    plan = make_plan(Study.load(folder / "s.toml"))
    dataset = Dataset.create(folder / "out", plan)
    execute(plan, dataset)
    return [section.title for section in generic.build(dataset, drawn=False).sections]


def test_the_report_says_what_matters(runs: Dataset) -> None:
    found = generic.build(runs, drawn=False).sections[1]
    assert found.title == "What matters for goodput"
    assert found.paragraphs[0].startswith("Of the variance most goes with rate (")
    assert found.grids[0].frame["effect"].to_list()[:3] == ["rate", "delay", "arm"]
    assert "= 0.000" not in found.grids[0].frame.write_csv()
    with_figures = generic.build(runs).sections[1]
    assert [plot.name for plot in with_figures.plots] == ["effects"]


def test_the_report_of_one_factor_has_no_effects(tmp_path: Path) -> None:
    alone = STUDY.replace('"links.l.delay" = ["10 ms", "20 ms", "40 ms"]\n', "").replace('cubic = { cc = "cubic" }\n', "")
    assert not [title for title in report_of(tmp_path, alone) if title.startswith("What matters")]


def test_of_one_replicate_there_are_no_effects(tmp_path: Path) -> None:
    assert not [title for title in report_of(tmp_path, STUDY.replace("repeat = 3", "repeat = 1")) if title.startswith("What matters")]
