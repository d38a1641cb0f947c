"""`repeat = { until = ... }`: replicates by a rule."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import sawtooth
from sawtooth import called, stats, trace
from sawtooth.errors import DatasetError, StudyError
from sawtooth.execute import execute
from sawtooth.plan import make_plan
from sawtooth.report.generic import build
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study

STUDY = """
name = "until"
repeat = {{ until = "{until}", of = "{of}", max = {most} }}
[scenario]
duration = "4 s"
links.l = {{ rate = "10 Mbit/s", delay = "10 ms", loss = 0.01 }}
flows = [{{ name = "bulk", path = ["l"]{size} }}]
[arms]
reno = {{ "flows[0].cc" = "reno" }}
cubic = {{ "flows[0].cc" = "cubic" }}
[sweep]
"links.l.loss" = [0, 0.02]
"""


def text(until: str = "10 %", of: str = "goodput_bps", most: int = 40, size: str = "") -> str:
    return STUDY.format(until=until, of=of, most=most, size=size)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "until.toml"
    path.write_text(text())
    return path


def replicates(dataset: Dataset) -> dict[int, int]:
    return dict(dataset.runs.group_by("cell", maintain_order=True).agg(pl.col("replicate").max()).iter_rows())


def contents(directory: Path) -> dict[str, str]:
    files = [*(directory / "parts").iterdir(), directory / "runs.parquet"]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_each_cell_stops_where_the_rule_does(study: Path, tmp_path: Path) -> None:
    dataset = sawtooth.run(study, tmp_path / "out")
    assert dataset.complete
    goodput = dataset.flows(factors=True).select("cell", "arm", "replicate", "goodput_bps").collect().sort("replicate")
    for cell, n in replicates(dataset).items():
        ends = [stats.sequential(goodput.filter(cell=cell, arm=arm)["goodput_bps"].to_numpy(), 0.1, most=40).n for arm in ("reno", "cubic")]
        # All arms of a cell have the same replicates: as many as the one that needs most.
        assert n == max(ends)
    # Without loss all replicates are alike: that is the third look in a row.
    assert replicates(dataset)[1] == 7
    assert replicates(dataset)[2] > 7


def test_the_plan_says_the_fewest_and_the_most(study: Path) -> None:
    plan = make_plan(Study.load(study))
    assert len(plan.runs) == 2 * 2 * 5
    assert plan.size == "2 cells x 2 arms x 5 to 40 replicates = 20 to 160 runs"
    assert "until the 95 % interval of the mean of goodput_bps is within 10 % of it" in repr(plan)


def test_results_are_the_same_whatever_the_number_of_workers(study: Path, tmp_path: Path) -> None:
    for jobs in (1, 3):
        sawtooth.run(study, tmp_path / str(jobs), jobs=jobs)
    assert contents(tmp_path / "1") == contents(tmp_path / "3")


def test_the_first_replicates_are_those_of_a_fixed_number(study: Path, tmp_path: Path) -> None:
    fixed = sawtooth.run(study, tmp_path / "fixed", options=["repeat=5"])
    rule = sawtooth.run(study, tmp_path / "rule")
    assert "until" not in fixed.manifest
    assert fixed.runs["id"].to_list() == rule.runs["id"].to_list()[:20]
    assert set(rule.runs["round"][:20]) == {1}


def test_blocks_are_in_random_order_within_each_round(study: Path, tmp_path: Path) -> None:
    study.write_text('order = "blocks"\n' + study.read_text())
    dataset = sawtooth.run(study, tmp_path / "out")
    later = dataset.runs.filter(pl.col("round") == 2)
    assert later["replicate"].is_sorted()
    assert dataset.runs["round"].is_sorted()
    assert dataset.complete


def test_it_goes_on_where_it_was_killed(study: Path, tmp_path: Path) -> None:
    study.write_text(text(until="1 %", most=30).replace('"4 s"', '"60 s"'))
    whole = sawtooth.run(study, tmp_path / "whole")
    assert max(replicates(whole).values()) == 30
    out = tmp_path / "killed"
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-m", "sawtooth", "run", str(study), "--out", str(out), "--jobs", "1"], stderr=subprocess.DEVNULL
        )
        began = len(list((out / "parts").glob("batch-*"))) if out.exists() else 0
        while process.poll() is None and (not (out / "parts").exists() or len(list((out / "parts").glob("batch-*"))) < began + 2):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
    ended = sawtooth.run(study, out)
    assert ended.complete
    assert contents(out) == contents(tmp_path / "whole")


def test_a_list_of_runs_that_is_damaged_is_made_anew(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    sawtooth.run(study, out)
    before = contents(out)
    (out / "runs.parquet").write_bytes(b"nothing")
    mended = sawtooth.run(study, out)
    assert mended.complete
    assert contents(out) == before


def test_what_does_not_finish_goes_on_to_the_most(tmp_path: Path) -> None:
    path = tmp_path / "long.toml"
    path.write_text(text(of="completion_ns", most=9, size=', source = { name = "bulk", size = "1 GB" }'))
    dataset = sawtooth.run(path, tmp_path / "out")
    assert set(replicates(dataset).values()) == {9}
    section = build(dataset).sections[-1]
    assert "met in 0 of 2 cells. 2 came to 9 without it" in section.paragraphs[0]
    assert set(section.grids[0].frame["met"]) == {"no: 9 unfinished"}


def test_the_report_says_where_it_stopped(study: Path, tmp_path: Path) -> None:
    dataset = sawtooth.run(study, tmp_path / "out")
    section = build(dataset).sections[-1]
    assert section.title == "Replicates"
    assert "It was met in all cells." in section.paragraphs[0]
    assert section.grids[0].frame["within (%)"].max() <= 10  # type: ignore[operator]
    # `round` is no factor of the study.
    assert "round" not in section.grids[0].frame.columns
    few, many = replicates(dataset).values()
    assert f"2 cells x 2 arms x {few} to {many} replicates." in build(dataset).html()


def test_another_rule_is_another_study(study: Path, tmp_path: Path) -> None:
    sawtooth.run(study, tmp_path / "out")
    study.write_text(text(until="2 %"))
    with pytest.raises(DatasetError, match=r"another version of this study: `repeat\.until` was"):
        sawtooth.run(study, tmp_path / "out")


def test_runs_that_all_fail_need_no_more(study: Path, tmp_path: Path) -> None:
    study.write_text("limits = { events = 50 }\n" + text())
    plan = make_plan(Study.load(study))
    dataset = Dataset.create(tmp_path / "out", plan)
    summary = execute(plan, dataset)
    assert summary.failed == summary.planned == 20


@pytest.mark.parametrize(
    ("rule", "said", "place"),
    [
        ('{ until = "5 %" }', "`repeat` lacks `of`", "1:10"),
        ('{ of = "goodput_bps" }', "`repeat` lacks `until`", "1:10"),
        ('{ until = "5 %", of = "goodput_pbs" }', "goodput_pbs", "1:33"),
        ('{ until = "5 %", off = "goodput_bps" }', "unknown key `off`", "1:27"),
        ('{ until = "5 ms", of = "goodput_bps" }', "is a share between 0 and 100 %", "1:20"),
        ('{ until = "5 %", of = "goodput_bps", min = 1 }', "whole number of at least 2", "1:53"),
        ('{ until = "5 %", of = "goodput_bps", min = 9, max = 8 }', "less than the 9", "1:62"),
        ('{ until = "5 %", of = "goodput_bps", confidence = 2 }', "is a share between", "1:60"),
        ('{ until = "5 %", of = "mean(queues.backlog_packets)" }', "needs sample = ", "1:32"),
        ('{ until = "5 %", of = "mean(datagrams.delay_ns)" }', "needs a flow with transport", "1:32"),
        ('{ until = "5 %", of = "goodput_bps", warm_up = "1 s" }', "of a whole run", "1:47"),
        ('"often"', "must be a whole number of at least 1, or a rule", "1:10"),
        ("0", "must be a whole number of at least 1, or a rule", "1:10"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_at_its_place(rule: str, said: str, place: str) -> None:
    lines = text().splitlines()
    source = "\n".join([f"repeat = {rule}", *(line for line in lines if not line.startswith("repeat"))])
    with pytest.raises(StudyError) as caught:
        make_plan(Study.parse(source, Path("s.toml")))
    assert said in caught.value.message
    assert str(caught.value.place) == f"s.toml:{place}"


def test_the_most_runs_are_held_against_the_limit(study: Path) -> None:
    study.write_text("limits = { runs = 100 }\n" + study.read_text())
    with pytest.raises(StudyError, match="40 replicates = 160 runs"):
        make_plan(Study.load(study))


def test_what_cannot_be_drawn_of_the_last_replicate_is_told_at_the_plan(tmp_path: Path) -> None:
    (tmp_path / "starts.csv").write_text("cell,s1,s2,s3,s4,s5\n1,1,2,3,4,5\n2,1,2,3,4,5\n")
    path = tmp_path / "s.toml"
    draw = '[draws]\nstart = { distribution = "table", file = "starts.csv", row = "cell", column = "s{replicate}", unit = "ms" }\n'
    path.write_text(text(size=', start = "start"') + draw)
    with pytest.raises(StudyError, match="s40"):
        make_plan(Study.load(path))


def test_the_rule_is_of_the_results_whatever_the_study_says_by_now(study: Path, tmp_path: Path) -> None:
    dataset = sawtooth.run(study, tmp_path / "out")
    facts = json.loads((tmp_path / "out/manifest.json").read_text())["until"]
    assert facts == {"share": 0.1, "of": "goodput_bps", "confidence": 0.95, "min": 5, "max": 40}
    other = dataset.shown_as(Study.parse(text(until="1 %"), study))
    assert "within 10 % of it" in build(other).sections[-1].paragraphs[0]


def test_a_reporter_is_told_of_what_is_added(study: Path, tmp_path: Path) -> None:
    told: list[int] = []
    said: list[str] = []

    class Reporter:
        begin: Callable[..., None] = staticmethod(lambda total, _done, _cost, _before: told.append(total))
        more: Callable[..., None] = staticmethod(lambda runs, _cost: told.append(runs))
        advance = end = staticmethod(lambda *_: None)
        say: Callable[..., None] = staticmethod(said.append)

    plan = make_plan(Study.load(study))
    dataset = Dataset.create(tmp_path / "out", plan)
    summary = execute(plan, dataset, reporter=Reporter())
    assert said[0].startswith("replicates: 5 to 40 in each cell")
    assert sum(told) == summary.planned == summary.runs == dataset.runs.height


def test_any_replicate_that_a_cell_may_come_to_can_be_traced(study: Path, tmp_path: Path) -> None:
    plan = make_plan(Study.load(study))
    run = trace.choose(plan, trace.Which(cell=2, arm="cubic", replicate=9))
    assert called.title(plan, run) == "until, cell 2 (loss 0.02), cubic, replicate 9"
    made = sawtooth.run(study, tmp_path / "out").runs.filter(cell=2, arm="cubic", replicate=9)
    assert made["id"].to_list() == [run.id]
    with pytest.raises(StudyError) as caught:
        trace.choose(plan, trace.Which(replicate=41))
    assert "replicates 1 to 40" in str(caught.value.hint)


def test_a_report_between_two_rounds_says_that_more_is_to_come(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    sawtooth.run(study, out, options=["repeat=5"])
    # As if it had been killed after the first round.
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["until"] = {"share": 0.1, "of": "goodput_bps", "confidence": 0.95, "min": 5, "max": 40}
    dataset = Dataset(out)
    dataset.manifest = manifest
    assert "It was met in 0 of 2 cells. 2 have not come to an end yet" in build(dataset).sections[-1].paragraphs[0]
