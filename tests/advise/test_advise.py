"""`sawtooth advise`: what it compares, which runs its verdicts are made of, and that they are those of the study that it leaves."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

from sawtooth import advising, cli, measures
from sawtooth.advising import Advice, objective
from sawtooth.advising.setting import setting
from sawtooth.analysis import Dataset
from sawtooth.cli import advise_text
from sawtooth.errors import StudyError
from sawtooth.report import report as make_report
from sawtooth.report.answers import Answers
from sawtooth.study import Study
from sawtooth.study.assign import Tree
from tests.conftest import ROOT


def study(scenario: Tree | None = None, flow: Tree | None = None, **others: Any) -> Study:
    link = {"rate": "10 Mbit/s", "delay": "10 ms", "loss": 0.002, "queue": {"name": "drop_tail", "limit": "60 packets"}}
    whole: Tree = {
        "duration": "4 s",
        "stack": "linux",
        "cc": "cubic",
        "links": {"l": link},
        "flows": [{"name": "a", "path": ["l"], **(flow or {})}],
    }
    return Study.of({"name": "asked", "scenario": {**whole, **(scenario or {})}, **others})


def advised(directory: Path, asked: Study | None = None, **keys: Any) -> Advice:
    return advising.advise(advising.prepare(asked or study(), **keys), directory)


FEW: dict[str, Any] = {"controls": ["present", "reno", "bbr"], "queues": ["present", "codel"], "repeat": 4, "confirm": 2, "fresh": 8}


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("beside") / "r"
    advised(directory, **FEW, beside="cubic")
    return directory


def test_the_present_choice_is_there_once_and_all_queues_hold_as_much() -> None:
    made = advising.prepare(study(), controls=["cubic", "reno"], queues=["present", "drop_tail", "codel"])
    assert [each.name for each in made.choices] == ["present (cubic, drop_tail)", "cubic, codel", "reno, drop_tail", "reno, codel"]
    arms = made.ranking().arms
    assert [(each.path, each.value) for each in arms["reno, codel"]] == [("flows[0].cc", "reno"), ("links.l.queue.name", "codel")]
    # A queue whose parameters are set keeps them to itself, and how much it holds is kept.
    queue = {"name": "codel", "target": "15 ms", "limit": "33 packets"}
    link = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": queue}
    made = advising.prepare(study({"links": {"l": link}}), controls=["present"], queues=["pie", "codel"])
    assert [each.name for each in made.choices] == ["present (cubic, codel (target 15 ms))", "cubic, pie", "cubic, codel"]
    assert [each.arm(made.setting) for each in made.choices[1:]] == [
        {"links.l.queue": {"limit": "33 packets", "name": name}} for name in ("pie", "codel")
    ]


@pytest.mark.parametrize(
    ("flow", "name"),
    [
        ({}, "power"),
        ({"source": {"name": "bulk", "size": "1 MB"}}, "completion"),
        ({"arrivals": {"rate": 5, "size": "10 kB"}}, "completion"),
        ({"source": {"name": "on_off", "rate": "1 Mbit/s"}}, "delay"),
    ],
)
def test_the_traffic_says_what_is_ranked_by(flow: Tree, name: str) -> None:
    assert objective.default(setting(study(flow=flow))) == name


def test_verdicts_are_of_runs_that_chose_nothing_and_all_choices_share_their_random_numbers(tmp_path: Path) -> None:
    found = advised(tmp_path / "r", **FEW)
    ranking, verdicts = Dataset.open(tmp_path / "r" / "ranking"), Dataset.open(tmp_path / "r")
    assert not set(ranking.runs["seed"]) & set(verdicts.runs["seed"])
    for each in (ranking, verdicts):
        assert each.runs.group_by("replicate").agg(pl.col("seed").n_unique())["seed"].unique().to_list() == [1]
    assert (ranking.study.repeat, verdicts.study.repeat) == (4, 8)
    assert {*verdicts.runs["arm"]} == {"present (cubic, drop_tail)", *(each.choice.name for each in found.judged)}
    assert [each.choice.name for each in found.ranking if each.choice is not found.experiment.present][:2] == [
        each for each in verdicts.study.arms if not each.startswith("present")
    ]


def test_numbers_are_those_of_scipy_and_verdicts_those_of_the_report(tmp_path: Path) -> None:
    found = advised(tmp_path / "r", **FEW)
    dataset = Dataset.open(tmp_path / "r")
    flows = dataset.flows(factors=True).with_columns(power=pl.col("goodput_bps") / (pl.col("srtt_mean_ns") / 1e6)).collect()
    by_arm = {str(arm): rows.sort("replicate")["power"].to_numpy() for (arm,), rows in flows.group_by("arm")}
    present = by_arm["present (cubic, drop_tail)"]
    report = Answers(dataset)
    answers = {spec.name: verdict.answer for spec, verdict in zip(report.shown.findings, report.verdicts(), strict=True)}
    assert len(found.judged) == 3
    (pair,) = found.pairs
    first, second = (by_arm[choice.name] for choice in (pair.first, pair.second))
    order = [each.choice for each in found.ranking if each.choice is not found.experiment.present]
    assert (pair.first, pair.second) == (order[0], order[1])
    assert pair.ratio is not None
    assert pair.ratio.estimate == pytest.approx(first.mean() / second.mean())
    assert pair.p is not None
    assert pair.p >= min(scipy_stats.ttest_rel(first, 1.05 * second).pvalue, 1.0) * 0.99
    assert (
        pair.answer
        == {"yes": "better", "no": "not better", "cannot distinguish": "no difference shown"}[
            answers[f"apart: {pair.first.name} / {pair.second.name}"]
        ]
    )
    for each in found.judged:
        own = by_arm[each.choice.name]
        assert each.value.estimate == pytest.approx(own.mean())
        if each.choice is found.experiment.present:
            assert (each.answer, each.p, each.ratio) == ("", None, None)
            continue
        assert each.ratio is not None
        assert each.ratio.estimate == pytest.approx(own.mean() / present.mean())
        assert each.ratio.low < each.ratio.estimate < each.ratio.high
        assert (
            each.answer
            == {"yes": "better", "no": "not better", "cannot distinguish": "no difference shown"}[answers[f"verdict: {each.choice.name}"]]
        )
        # Our intervals are at no end narrower than Student's, so no p is below that of the t test times the number of verdicts that Holm leaves.
        t = scipy_stats.ttest_rel(own, 1.05 * present).pvalue
        assert each.p is not None
        assert each.p >= min(t, 1.0) * 0.99
        assert (each.p < 0.05) == (each.answer in ("better", "not better"))


def test_power_is_a_rate_per_millisecond_wherever_it_is_told(beside: Path) -> None:
    verdicts = [verdict for verdict in Answers(Dataset.open(beside)).verdicts() if "by power" in verdict.claim]
    # Two choices beside the present one, and beside each other.
    assert len(verdicts) == 3
    for verdict in verdicts:
        assert {each.unit for each in verdict.weighed} == {"bit/s per ms"}
        assert re.search(r"\d kbit/s per ms against .*\d kbit/s per ms, ", verdict.numbers)
    assert "kbit/s per ms" in make_report(Dataset.open(beside)).write(beside / "report").read_text()
    forest = (beside / "report" / "figures" / "forest-of-verdicts.svg").read_text()
    assert forest.count("kbit/s per ms") >= 2
    # Two blocks: the mean of their rates over the mean of their times.
    two = study({"flows": [{"name": "a", "path": ["l"]}, {"name": "b", "path": ["l"]}]})
    assert measures.measure(objective.objective(setting(two), "power").asked.metric).unit == "bit/s per ms"


def test_harm_is_what_a_neighbour_loses_of_what_it_has_alone(beside: Path) -> None:
    dataset = Dataset.open(beside)
    found = advised(beside, **FEW, beside="cubic")
    rows = dataset.flows(factors=True).filter(flow="neighbour").collect()
    mean = {str(arm): float(np.mean(each["goodput_bps"].to_numpy())) for (arm,), each in rows.group_by("arm")}
    for each in found.judged:
        assert each.harm is not None
        queue = "drop_tail" if each.choice.queue is None else "codel"
        assert each.harm.share.estimate == pytest.approx(1 - mean[each.choice.name] / mean[f"alone, {queue}"])
        kin = "present (cubic, drop_tail)" if queue == "drop_tail" else "cubic, codel" if "cubic, codel" in mean else "cubic itself, codel"
        assert each.harm.own_kind.estimate == pytest.approx(1 - mean[kin] / mean[f"alone, {queue}"])
    # Alone it has the link.
    assert dataset.flows(factors=True).filter(pl.col("arm").str.starts_with("alone")).collect()["flow"].unique().to_list() == ["neighbour"]


def test_the_present_choice_is_held_against_the_neighbours_own_kind_too(tmp_path: Path) -> None:
    few: dict[str, Any] = {"controls": ["present", "reno"], "queues": ["present", "fq_codel"], "repeat": 3, "confirm": 3, "fresh": 8}
    link = {"rate": "20 Mbit/s", "delay": "10 ms", "loss": 0.002, "queue": {"name": "drop_tail", "limit": "60 packets"}}
    found = advised(tmp_path / "r", study({"links": {"l": link}, "cc": "bbr", "duration": "10 s"}), **few, beside="reno")
    (present,) = (each for each in found.judged if each.choice is found.experiment.present)
    assert present.harm is not None
    assert present.harm.verdict == "more than its own kind"
    assert present.harm.share.low > present.harm.own_kind.high
    assert found.words.endswith(" The present choice is shown to do a flow of reno more harm than its own kind.")
    # What is its own kind's is so only where the neighbour has that congestion control.
    said = {each.choice.name: each.harm.verdict for each in found.judged if each.harm is not None}
    assert {name for name, verdict in said.items() if verdict == "its own kind"} == {name for name in said if name.startswith("reno, ")}
    claims = [each["name"] for each in found.studies[1].tree["findings"]]
    assert "harmless: present (bbr, drop_tail)" in claims


def test_the_advice_tells_more_harm_from_what_is_not_shown(beside: Path) -> None:
    found = advised(beside, **FEW, beside="cubic")
    (present,) = (each for each in found.judged if each.choice is found.experiment.present)
    assert present.harm is not None
    one, two = (
        replace(each, answer="better", harm=replace(present.harm, verdict=verdict, none=False))
        for each, verdict in zip(
            (each for each in found.judged if each is not present), ("more than its own kind", "no difference shown"), strict=True
        )
    )
    assert replace(found, judged=[one, two, present]).words == (
        f"Advice: keep the present choice. Better, but shown to do a flow of cubic more harm than its own kind: {one.choice.name}."
        f" Better, but not shown to do a flow of cubic no more harm than its own kind: {two.choice.name}."
    )
    fine = replace(two, harm=replace(present.harm, verdict="no more than its own kind", none=True), ratio=None)
    assert replace(found, judged=[one, fine, present]).words == (
        f"Advice: {two.choice.name}. It does a flow of cubic no more harm than its own kind."
        f" Better, but shown to do a flow of cubic more harm than its own kind: {one.choice.name}."
    )


def test_flows_without_a_name_keep_what_they_are_called_beside_a_neighbour(tmp_path: Path) -> None:
    link = {"rate": "10 Mbit/s", "delay": "10 ms", "loss": 0.002}
    asked = Study.of({"duration": "2 s", "links": {"l": link}, "flows": [{"path": ["l"]}]})
    few: dict[str, Any] = {"controls": ["cubic"], "queues": ["present"], "repeat": 2, "fresh": 2}
    found = advised(tmp_path / "r", asked, **few, beside="reno")
    assert Dataset.open(tmp_path / "r").flows().collect()["flow"].unique().sort().to_list() == ["flow", "neighbour"]
    assert [each.harm is not None for each in found.judged] == [True, True]


def test_of_choices_that_are_equal_in_every_run_one_is_judged(tmp_path: Path) -> None:
    # A single flow has CoDel's queue for itself, whether flows have queues of their own or not.
    few: dict[str, Any] = {"controls": ["reno"], "queues": ["codel", "fq_codel", "pie"], "repeat": 3, "fresh": 6, "confirm": 2}
    link = {"rate": "10 Mbit/s", "delay": "10 ms", "loss": 0.002, "queue": {"name": "drop_tail", "limit": "500 packets"}}
    found = advised(tmp_path / "r", study({"links": {"l": link}}), **few)
    equal = {each.choice.name: each.equal.name for each in found.ranking if each.equal is not None}
    assert equal in ({"reno, fq_codel": "reno, codel"}, {"reno, codel": "reno, fq_codel"})
    assert not {each.choice.name for each in found.judged} & {*equal}
    assert len(found.judged) == 3
    # Where all are equal to the present choice they are judged all the same.
    link = {**link, "rate": "1 Gbit/s", "loss": 0.02}
    found = advised(
        tmp_path / "same",
        study({"links": {"l": link}}),
        controls=["present"],
        queues=["fq_codel"],
        repeat=2,
        fresh=6,
        bar=0.0,
        by="goodput",
    )
    assert [each.equal is found.experiment.present for each in found.ranking if each.choice.queue is not None] == [True]
    assert [each.answer for each in found.judged if each.choice.queue is not None] == ["no difference shown"]


def test_what_did_not_finish_is_a_bound_and_has_no_ratio(tmp_path: Path) -> None:
    asked = study(flow={"source": {"name": "bulk", "size": "6 MB"}})
    found = advised(tmp_path / "r", asked, controls=["reno"], queues=["present"], repeat=2, fresh=6)
    assert found.experiment.rule.objective.name == "completion"
    assert {each.finished for each in found.judged} == {False}
    assert [each.ratio for each in found.judged] == [None, None]
    assert {each.answer for each in found.judged} == {"", "no difference shown"}
    assert found.words == "Advice: keep the present choice; nothing is shown to be better."
    # That their bounds are alike does not say that nothing is random.
    assert found.notes == []
    assert [each.p for each in found.judged if each.answer] == [1.0]


def test_what_is_there_is_not_run_again(beside: Path) -> None:
    parts = [*beside.glob("parts/*"), *beside.glob("ranking/parts/*")]
    before = {part: part.stat().st_mtime_ns for part in parts}
    advised(beside, **FEW, beside="cubic")
    assert {part: part.stat().st_mtime_ns for part in parts} == before


def test_a_scenario_without_chance_says_so_and_drawn_rates_give_it_some(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    link = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"name": "drop_tail", "limit": "60 packets"}}
    few: dict[str, Any] = {"controls": ["vegas"], "queues": ["present"], "repeat": 3, "fresh": 6}
    still = advised(tmp_path / "still", study({"links": {"l": link}}), **few)
    assert [each.p for each in still.judged] == [None, None]
    assert still.notes == [
        "no replicate of the present choice differs from another, as nothing in the scenario is random: what is shown is of this one scenario alone; "
        "--vary '5 %' draws its rates and delays anew each time",
    ]
    # The table has it in place of intervals and p, the output beside the advice, and the report before all verdicts.
    advise_text.show(still)
    told = capsys.readouterr()
    row = next(line for line in told.out.splitlines() if line.startswith("vegas, drop_tail"))
    assert re.search(r" better +\d\.\d+ \(no variation\)  no variation  ", row)
    said = f"N{still.notes[0][1:]}."
    assert f"{still.words}\n{said}\n" in told.out
    assert told.err == ""
    assert Dataset.open(tmp_path / "still").study.tree["caveats"][0] == said
    varied = advised(tmp_path / "varied", study({"links": {"l": link}}), **few, vary=0.05)
    assert varied.notes == []
    draws = Dataset.open(tmp_path / "varied").runs
    assert draws["draw_advised_rate_1"].is_between(0.95, 1.05).all()
    assert draws.group_by("replicate").agg(pl.col("draw_advised_rate_1").n_unique())["draw_advised_rate_1"].unique().to_list() == [1]


def test_cells_of_a_sweep_count_by_their_geometric_mean(tmp_path: Path) -> None:
    asked = study(sweep={"links.l.rate": ["2 Mbit/s", "20 Mbit/s"]})
    found = advised(tmp_path / "r", asked, controls=["present"], queues=["fq_codel"], repeat=2, fresh=6, by="goodput")
    frame = Dataset.open(tmp_path / "r").measure("goodput_bps").filter(pl.col("arm") == "cubic, fq_codel")
    cells = frame.group_by("replicate").agg(pl.col("value").log().mean().exp())["value"].to_numpy()
    (one,) = (each for each in found.judged if each.choice.queue is not None)
    assert one.value.estimate == pytest.approx(float(cells.mean()))
    assert frame["cell"].n_unique() == 2
    # Points of both levels stand in panels of their own.
    (plot,) = [plot for plot in make_report(Dataset.open(tmp_path / "r")).plots if plot.name == "throughput-and-delay"]
    assert [axis.get_title() for axis in plot.figure.axes] == ["rate = 2 Mbit/s", "rate = 20 Mbit/s"]


def test_the_best_of_many_looks_better_in_the_runs_that_chose_it(tmp_path: Path) -> None:
    """Of choices that do the same but for chance the first of the ranking is too good there, by more than all are on average."""
    queues = [f"{{ name = 'pie', target = '{15 + at / 10} ms' }}" for at in range(1, 9)]
    few: dict[str, Any] = {"controls": ["present"], "by": "power", "repeat": 3, "confirm": len(queues), "fresh": 12}
    link = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": "pie"}
    excess: list[float] = []
    firsts: list[tuple[float, float]] = []
    for seed in range(1, 13):
        asked = study({"links": {"l": link}, "duration": "10 s"}, seed=seed)
        found = advised(tmp_path / str(seed), asked, queues=queues, **few)
        over = {each.choice: each.in_ranking - each.ratio.estimate for each in found.judged if each.ratio is not None}
        first = next(each.choice for each in found.ranking if each.choice in over)
        excess.append(over[first] - float(np.mean(list(over.values()))))
        firsts += [(each.in_ranking, each.ratio.estimate) for each in found.judged if each.choice == first and each.ratio is not None]
    assert np.mean(excess) > 2 * np.std(excess, ddof=1) / np.sqrt(len(excess)) > 0
    # And the guide has these numbers.
    ranked, fresh = (100 * (float(np.mean(values)) - 1) for values in zip(*firsts, strict=True))
    said = f"is {ranked:.2f} % above the present choice in the runs that chose it, and {-fresh:.2f} % below in the others"
    assert said in " ".join((ROOT / "docs/guides/advise.md").read_text(encoding="utf-8").split())


def test_kept_studies_run_and_report_the_same_verdicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("asked.toml").write_text(study().document.text)
    options = ["--cc", "reno", "--cc", "bbr", "--queue", "present", "--queue", "codel", "--repeat", "3", "--fresh", "8", "--confirm", "2"]
    told = json.loads(command(["advise", "asked.toml", *options, "--study", "kept.toml", "--json"], monkeypatch, capsys))
    assert told["studies"] == ["kept.toml", "kept-verdict.toml"]
    assert [row["choice"] for row in told["verdicts"]].count("present (cubic, drop_tail)") == 1
    for name, at in (("kept", "results/asked-advice/ranking"), ("kept-verdict", "results/asked-advice")):
        command(["run", f"{name}.toml", "--out", name], monkeypatch, capsys)
        assert Dataset.open(Path(name)).digest == Dataset.open(Path(at)).digest
    # What it wrote it replaces.
    command(["advise", "asked.toml", *options, "--study", "kept.toml"], monkeypatch, capsys)
    # In words the same, and nothing is run again.
    text = command(["advise", "asked.toml", *options], monkeypatch, capsys)
    assert told["advice"] in text
    assert "power (kbit/s per ms)" in text
    alone = "Choices are tested without a neighbour, and what they do to others is not told: --beside cubic puts a flow of cubic beside each, and tells its harm."
    assert f"{told['advice']}\n{alone}\n" in text
    assert alone in told["rule"]["words"]
    assert alone not in command(["advise", "asked.toml", *options, "--beside", "cubic", "--out", "beside"], monkeypatch, capsys)
    assert (Path("results/asked-advice/report/figures/throughput-and-delay.svg")).is_file()


def test_workers_elsewhere_do_the_same_to_the_byte(tmp_path: Path) -> None:
    (tmp_path / "asked.toml").write_text(study().document.text)
    options = ["--cc", "reno", "--queue", "present", "--queue", "codel", "--repeat", "2", "--fresh", "2", "--confirm", "1"]
    for out, more in (("here", []), ("there", ["--dask", "local:1"])):
        whole = [sys.executable, "-m", "sawtooth.cli", "advise", "asked.toml", *options, "--out", out, *more]
        done = subprocess.run(whole, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
    for part in (".", "ranking"):
        assert Dataset.open(tmp_path / "here" / part).digest == Dataset.open(tmp_path / "there" / part).digest


def test_the_first_is_told_from_those_that_it_is_better_than_and_from_those_that_it_is_not(tmp_path: Path) -> None:
    made = advised(tmp_path / "r", **FEW)
    every = [replace(made.judged[0], choice=advising.Choice(name, None, None), answer="better", harm=None) for name in "ABCD"]
    first, second, third, fourth = every
    pairs = [
        advising.Pair(first.choice, second.choice, "better", None, 0.01),
        advising.Pair(third.choice, first.choice, "no difference shown", None, 0.4),
        advising.Pair(first.choice, fourth.choice, "not better", None, 0.01),
    ]
    present = next(each for each in made.judged if each.choice is made.experiment.present)
    words = replace(made, judged=[*every, present], pairs=pairs).words
    assert words.endswith(
        "Better than the present choice, too: B; C; D. Of these it is shown to be better by more than 5 % than B. "
        "It is shown not to be better by more than 5 % than D: what else matters may decide. "
        "It cannot be told from C: neither is shown to be better by more than 5 % than the other."
    )


def test_what_a_fit_could_not_tell_is_said_before_anything_runs_and_in_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    guess = "The congestion control is a guess, illinois: cannot tell: illinois, cubic are about as near."
    Path("asked.toml").write_text(study(caveats=[guess]).document.text)
    monkeypatch.setattr(
        sys, "argv", ["sawtooth", "advise", "asked.toml", "--cc", "reno", "--queue", "present", "--repeat", "2", "--fresh", "4", "--json"]
    )
    with pytest.raises(SystemExit):
        cli.main()
    told = capsys.readouterr()
    assert told.err.startswith(f"caveat: {guess}\nRanked by power")
    assert json.loads(told.out)["caveats"] == [guess]
    assert guess in Path("results/asked-advice/report/report.html").read_text()
    assert Dataset.open(Path("results/asked-advice")).study.tree["caveats"][0] == guess


def command(arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setattr(sys, "argv", ["sawtooth", *arguments])
    capsys.readouterr()
    with pytest.raises(SystemExit) as raised:
        cli.main()
    assert raised.value.code == 0
    return capsys.readouterr().out


def test_a_plane_that_is_turned_has_less_at_the_right(beside: Path) -> None:
    dataset = Dataset.open(beside)
    keys: dict[str, Any] = {"kind": "plane", "metric": "goodput_bps", "of": "a", "against": "srtt_mean_ns"}
    for turned in (False, True):
        left, right = dataset.figure(**keys, turned=turned).figure.axes[0].get_xlim()
        assert (left > right) == turned


def test_a_plane_is_turned_or_not(beside: Path) -> None:
    with pytest.raises(StudyError) as refused:
        Dataset.open(beside).figure(kind="plane", metric="goodput_bps", of="a", against="srtt_mean_ns", turned="yes")
    assert (refused.value.message, refused.value.hint) == ('`turned` is true or false, found "yes"', "such as turned = true")
