"""Verdicts under assumptions: decided where those are, counted over the other combinations, shown with both, and mistakes are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sawtooth.cli import app
from sawtooth.errors import StudyError
from sawtooth.execute import execute
from sawtooth.plan import make_plan
from sawtooth.report import report
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study

STUDY = """
repeat = 4
[draws]
start = { distribution = "uniform", low = "0", high = "300" }
[scenario]
duration = "2 s"
stack = "linux"
links.l = { rate = "4 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "40 packets" } }
flows = [{ name = "f", path = ["l"], start = "start * 1 ms" }]
[sweep]
"links.l.rate" = ["2 Mbit/s", "4 Mbit/s", "8 Mbit/s"]
"links.l.delay" = ["10 ms", "20 ms"]
[arms]
reno = { cc = "reno" }
slow = { cc = "reno", "tcp.receive_buffer_max" = "4 kB", "tcp.receive_buffer_default" = "4 kB" }
[[findings]]
claim = "It carries more than 3 Mbit/s"
metric = "goodput_bps"
arm = "reno"
where = { rate = "2 Mbit/s" }
is = "above"
than = "3 Mbit/s"
"""
ASSUMED = 'assumptions = ["rate"]\n'
PAIRED = """
[[findings]]
claim = "A small buffer costs something"
metric = "goodput_bps"
arm = "reno"
where = { rate = "2 Mbit/s", delay = "10 ms" }
is = "above"
than = { arm = "slow" }
assumptions = ["rate", "delay"]
"""
FIGURE = '[[figures]]\nname = "stand"\nkind = "assumptions"\nby = "rate"\n'


def made(folder: Path, text: str) -> Dataset:
    (folder / "s.toml").write_text(text)
    plan = make_plan(Study.load(folder / "s.toml"))
    dataset = Dataset.create(folder / "out", plan)
    execute(plan, dataset)
    return dataset


def refused(folder: Path, text: str) -> StudyError:
    (folder / "s.toml").write_text(text)
    with pytest.raises(StudyError) as caught:
        make_plan(Study.load(folder / "s.toml"))
    return caught.value


def test_a_verdict_is_that_of_what_is_assumed_and_says_how_many_other_combinations_say_what(tmp_path: Path) -> None:
    dataset = made(tmp_path, STUDY + ASSUMED + PAIRED + FIGURE)
    found = report(dataset)
    hangs, holds = found.verdicts
    # A flow on a link of 2 Mbit/s has no 3; on the others it has, and no assumption changes what the window of 4 kB costs.
    assert (hangs.answer, hangs.said) == ("no", "no under these assumptions")
    assert hangs.numbers.endswith("of 3 combinations of rate that were run, each by itself at 95 %: yes in 2; no in 1")
    assert hangs.standing is not None
    assert hangs.standing.answers == {("2 Mbit/s",): "no", ("4 Mbit/s",): "yes", ("8 Mbit/s",): "yes"}
    assert (holds.answer, holds.said) == ("yes", "yes")
    assert "of 6 combinations of rate, delay that were run, each by itself at 95 %: yes in 6" in holds.numbers
    assert "no under these assumptions: It carries more than 3 Mbit/s" in found.summary[0]
    (plot,) = [each for each in found.plots if each.name == "stand"]
    assert plot.numbers is not None
    assert plot.numbers.filter(claim="It carries more than 3 Mbit/s").select("rate", "answer").rows() == [
        ("2 Mbit/s", "no"), ("4 Mbit/s", "yes"), ("8 Mbit/s", "yes"),
    ]  # fmt: skip
    texts = [text.get_text() for text in plot.figure.axes[0].texts]
    # Of claims with different numbers of combinations these stand in their bars alone.
    assert [text for text in texts if text[:1].isdigit()] == ["2", "1", "1", "1", "1", "6", "2", "2", "2"]
    assert {"all", "rate 2 Mbit/s", "rate 8 Mbit/s"} <= {text.replace("\n", " ") for text in texts}


def test_programs_get_every_combination(tmp_path: Path) -> None:
    made(tmp_path, STUDY + ASSUMED)
    done = CliRunner().invoke(app, ["report", str(tmp_path / "out"), "--json", "--format", "md"])
    assert done.exit_code == 0, done.output
    (verdict,) = json.loads(done.stdout)["verdicts"]
    assert verdict["answer"] == "no"
    assert verdict["assumptions"]["factors"] == ["rate"]
    assert verdict["assumptions"]["combinations"][1] == {"rate": "4 Mbit/s", "answer": "yes"}
    assert "**no under these assumptions**" in (tmp_path / "out/report/report.md").read_text()


def test_runs_of_one_combination_alone_say_nothing_of_others(tmp_path: Path) -> None:
    text = STUDY.replace('"links.l.rate" = ["2 Mbit/s", "4 Mbit/s", "8 Mbit/s"]', '"links.l.rate" = ["2 Mbit/s"]') + ASSUMED
    (verdict,) = report(made(tmp_path, text)).verdicts
    assert (verdict.said, verdict.standing) == ("no", None)


MISTAKES = {
    "no factor": (
        'assumptions = ["rat"]\n', "the sweep has no factor `rat`", "did you mean `rate`?",
    ),
    "no level": (
        'assumptions = "delay"\n', "an assumption has one level, and the finding speaks of all of `delay`",
        'say which is assumed, such as where = { delay = "10 ms" }',
    ),
    "no names": (
        "assumptions = [1]\n", "`assumptions` is a factor, or a list of factors, found 1", "names are written in quotes",
    ),
    "a figure by what nobody assumes": (
        ASSUMED + FIGURE.replace('by = "rate"', 'by = "delay"'), "no finding of the study assumes `delay`", "they assume rate",
    ),
    "a figure of nothing": (
        FIGURE, "no finding of the study assumes anything", 'write assumptions = ["..."] in a finding, or leave it out',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("added", "message", "hint"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_told(tmp_path: Path, added: str, message: str, hint: str | None) -> None:
    found = refused(tmp_path, STUDY + added)
    assert (found.message, found.hint) == (message, hint)
    assert found.place is not None


def test_what_two_sides_differ_in_is_not_assumed(tmp_path: Path) -> None:
    other = 'claim = "x"\nmetric = "goodput_bps"\narm = "reno"\nwhere = { rate = "2 Mbit/s" }\nis = "above"\nthan = { where = { rate = "4 Mbit/s" } }\n'
    found = refused(tmp_path, f"{STUDY}[[findings]]\n{other}{ASSUMED}")
    assert (found.message, found.hint) == ("`rate` is what the two sides of the finding differ in", "it cannot be assumed, too")
