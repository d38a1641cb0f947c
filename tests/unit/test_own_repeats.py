"""An arm with a number of replicates of its own: plans, pairs with arms that have more or fewer, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import sawtooth
from sawtooth import Dataset, stats
from sawtooth.cli import app
from sawtooth.errors import StudyError
from sawtooth.linting import lint
from sawtooth.measures import Asked, Evaluator, measure
from sawtooth.plan import make_plan
from sawtooth.report import report
from sawtooth.report.origin import design
from sawtooth.study import Study

STUDY = """
repeat = 2
[draws]
S = { distribution = "uniform", low = "0 ms", high = "20 ms" }
[scenario]
duration = "1 s"
links.l = { rate = "10 Mbit/s", delay = "10 ms" }
flows = [{ path = ["l"], count = 2 }]
[arms]
still = { "tcp.recovery" = "reno" }
varying = { repeat = 8, "flows[0].start" = "S" }
few = { repeat = 3, "flows[0].start" = "2 * S" }
[[figures]]
name = "beside"
kind = "paired"
metric = "total_goodput_bps"
[[figures]]
name = "apart"
kind = "difference"
metric = "total_goodput_bps"
x = "arm"
"""
FINDING = """
[[findings]]
claim = "{0} less {1}"
metric = "total_goodput_bps"
arm = "{0}"
is = "above"
than = {{ arm = "{1}" }}
"""
PAIRS = [("varying", "still"), ("still", "varying"), ("few", "varying"), ("still", "few")]
RANKED = """
[[findings]]
claim = "ranked"
metric = "total_goodput_bps"
is = "ranked"
along = "arm"
order = ["varying", "still"]
"""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    text = STUDY + "".join(FINDING.format(*pair) for pair in PAIRS) + RANKED
    return sawtooth.run(Study.parse(text), out=tmp_path_factory.mktemp("own") / "out", jobs=1)


def goodputs(dataset: Dataset) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    found = dataset.measure("total_goodput_bps").sort("replicate")
    return {arm: found.filter(arm=arm)["value"].to_numpy() for arm in ("still", "varying", "few")}


def test_each_arm_has_as_many_as_it_says_with_the_same_draws(dataset: Dataset, tmp_path: Path) -> None:
    made = make_plan(Study.parse(STUDY))
    assert made.size == "1 cell x 3 arms x 2 replicates (8 of varying; 3 of few) = 13 runs"
    assert dict(dataset.runs.group_by("arm").len().iter_rows()) == {"still": 2, "varying": 8, "few": 3}
    assert design(dataset) == "1 cell x 3 arms x 2 replicates (8 of varying; 3 of few)"
    by_replicate = dataset.runs.group_by("replicate").agg(pl.col("seed", "draw_S").n_unique())
    assert by_replicate.select(pl.col("seed", "draw_S").max()).row(0) == (1, 1)
    (tmp_path / "own.toml").write_text(STUDY)
    told = json.loads(CliRunner().invoke(app, ["plan", str(tmp_path / "own.toml"), "--json"]).output)
    assert (told["runs"], told["repeat"], told["own_repeats"]) == (13, 2, {"varying": 8, "few": 3})
    # The same runs as with all replicates of all arms, and no others.
    every = {run.id for run in make_plan(Study.parse(STUDY, options=["repeat=8"])).runs}
    assert len(every) == 24
    assert {run.id for run in made.runs} < every


def test_of_an_arm_that_does_not_vary_all_replicates_of_the_other_count(dataset: Dataset) -> None:
    values = goodputs(dataset)
    assert np.ptp(values["still"]) == 0 < min(np.ptp(values["varying"]), np.ptp(values["few"]))
    constant = np.full(8, values["still"][0])
    expected = {
        "varying less still": stats.difference(values["varying"], constant),
        "still less varying": stats.difference(constant, values["varying"]),
        # Of two that vary those replicates that both have.
        "few less varying": stats.difference(values["few"], values["varying"][:3]),
        "still less few": stats.difference(constant[:3], values["few"]),
    }
    verdicts = {verdict.claim: verdict for verdict in report(dataset, figures=False).verdicts}
    for claim, interval in expected.items():
        (evidence,) = verdicts[claim].evidence
        assert evidence.interval is not None
        assert (evidence.interval.low, evidence.interval.high) == pytest.approx((interval.low, interval.high))
    assert "5 of 8 runs have no value to compare" not in verdicts["few less varying"].numbers
    (ranked,) = verdicts["ranked"].evidence[0].steps
    assert ranked.interval is not None
    assert ranked.interval.n == 8


def test_tables_and_figures_of_pairs_count_the_same(dataset: Dataset) -> None:
    made = report(dataset)
    (table,) = [grid.frame for section in made.sections for grid in section.grids if grid.name == "differences"]
    of = dict(table.filter(pl.col("measure").str.starts_with("goodput")).select("arm", "runs").iter_rows())
    assert of == {"varying": 8, "few": 3}
    figures = {plot.name: plot for plot in made.plots}
    for name in ("beside", "apart"):
        frame = figures[name].numbers
        assert frame is not None
        assert dict(frame.select("arm", "n").iter_rows()) == {"varying": 8, "few": 3}
        assert frame["left_out"].sum() == 0
        assert "3 to 8 pairs of runs" in figures[name].caption


def test_a_measure_of_another_arm_is_known_where_that_does_not_vary(dataset: Dataset) -> None:
    def known(text: str) -> dict[str, int]:
        found = Evaluator(dataset, {}).observe(Asked(measure(text))).drop_nulls("value")
        return dict(found.group_by("arm").len().iter_rows())

    assert known("total_goodput_bps / arms.still.total_goodput_bps") == {"still": 2, "varying": 8, "few": 3}
    assert known("total_goodput_bps / arms.few.total_goodput_bps") == {"still": 2, "varying": 3, "few": 3}


def test_a_run_that_is_missing_is_not_taken_for_one_that_was_not_planned(dataset: Dataset) -> None:
    class Lacking(Dataset):
        def status(self) -> pl.DataFrame:
            return super().status().with_columns(status=pl.when(pl.col("run") == 1).then(pl.lit("failed")).otherwise("status"))

    lacking = Lacking(dataset.directory)
    assert lacking.runs.filter(run=1).select("arm", "replicate").row(0) == ("still", 2)
    # One run does not show that nothing varies.
    found = Evaluator(lacking, {}).observe(Asked(measure("total_goodput_bps / arms.still.total_goodput_bps"))).drop_nulls("value")
    assert dict(found.group_by("arm").len().iter_rows()) == {"still": 1, "varying": 1, "few": 1}


def test_short_forms_and_options_set_the_number_of_all_arms() -> None:
    text = STUDY.replace("[draws]", "[short]\nrepeat = 1\n[draws]")
    assert len(make_plan(Study.parse(text, short=True)).runs) == 3
    assert len(make_plan(Study.parse(text, options=["repeat=4"])).runs) == 12
    assert Study.parse(text, options=['repeat={ until = "5 %", of = "goodput_bps" }']).until is not None


def test_blocks_go_on_with_the_arms_that_have_more() -> None:
    runs = make_plan(Study.parse('order = "blocks"\n' + STUDY)).runs
    assert [run.replicate for run in runs] == [1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8]


def refused(text: str) -> str:
    with pytest.raises(StudyError) as caught:
        Study.parse(text, Path("study.toml"))
    return str(caught.value)


def test_what_is_no_number_of_replicates_is_refused_where_it_stands() -> None:
    line = 11
    for value, hint in (("0", "such as repeat = 10"), ("true", ""), ('"8"', ""), ("[8]", "")):
        told = refused(STUDY.replace("repeat = 8", f"repeat = {value}"))
        assert told.startswith(f"error: `repeat` of an arm must be a whole number of at least 1, found {value}\n")
        assert f"--> study.toml:{line}:22\n" in told
        assert hint in told
    told = refused(STUDY.replace("repeat = 8", 'repeat = { until = "5 %", of = "goodput_bps" }'))
    assert "hint: such as repeat = 10; a rule is for all arms: write it as the study's `repeat`" in told


def test_a_number_of_an_arm_and_a_rule_exclude_each_other() -> None:
    told = refused(STUDY.replace("repeat = 2", 'repeat = { until = "5 %", of = "goodput_bps" }'))
    assert told.startswith(
        "error: an arm cannot have a number of replicates of its own where a rule decides: all arms of a cell have the same then\n"
    )
    assert "--> study.toml:11:13\n" in told
    assert told.endswith("hint: leave it out, or write the study's `repeat` as a number")


def test_too_many_runs_are_blamed_on_the_arm_that_asks_for_them() -> None:
    with pytest.raises(StudyError) as caught:
        make_plan(Study.parse(STUDY.replace("repeat = 8", "repeat = 8_000_000"), Path("study.toml")))
    assert "1 cell x 3 arms x 2 replicates (8,000,000 of varying; 3 of few) = 8,000,005 runs" in str(caught.value)
    assert "--> study.toml:11:22\n" in str(caught.value)


def test_the_linter_speaks_of_each_number_where_it_is_written() -> None:
    findings = FINDING.format("varying", "still")
    hits = [hit for hit in lint(make_plan(Study.parse(STUDY + findings, Path("study.toml")))) if hit.rule.code == "SW203"]
    assert [(hit.place.line, hit.message.partition(" ")[0]) for hit in hits if hit.place] == [(2, "2"), (12, "3")]
    once = [
        hit
        for hit in lint(make_plan(Study.parse(STUDY.replace("repeat = 3", "repeat = 1"), Path("study.toml"))))
        if hit.rule.code == "SW201"
    ]
    assert [hit.place.line for hit in once if hit.place] == [12]


def test_one_run_is_no_runs() -> None:
    text = '[scenario]\nduration = "1 s"\nlinks.l = { rate = "1 Mbit/s", delay = "1 ms" }\nflows = [{ path = ["l"] }]\n'
    assert make_plan(Study.parse(f"repeat = 1\n{text}", Path("s.toml"))).size == "1 cell x 1 replicate = 1 run"
