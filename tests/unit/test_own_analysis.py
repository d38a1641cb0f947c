"""What a study's own analysis adds to its report, whose code runs, and what is said before and beside verdicts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sawtooth.cli import app
from sawtooth.errors import DatasetError, StudyError
from sawtooth.execute import execute
from sawtooth.plan import make_plan
from sawtooth.presentation import presentation
from sawtooth.report import analysed, fact, held, report
from sawtooth.results.dataset import Dataset
from sawtooth.stats import Interval
from sawtooth.study import Study

STUDY = """
repeat = 3
caveats = ["The link is assumed."]
analysis = "own.py"

[draws]
start = { distribution = "uniform", low = "0", high = "1" }

[scenario]
duration = "2 s"
links.l = { rate = "2 Mbit/s", delay = "5 ms" }
flows = [{ path = ["l"], name = "f", start = "start * 1 s" }]

[[findings]]
claim = "It carries something"
metric = "goodput_bps"
is = "above"
than = "1 kbit/s"
caveat = "Anything would."
refuted_by = "A link that carries nothing."
"""
OWN = """
from sawtooth import Dataset, stats
from sawtooth.report import Claimed, Grid, Section, fact, held


def sections(dataset: Dataset) -> list[Section]:
    values = dataset.measure("goodput_bps")["value"].to_numpy()
    low = held(lambda level: stats.mean_interval(values, level), above=1e9, unit="bit/s")
    return [Section("Mine", ["Of all runs."], grids=[Grid("mine", dataset.measure("goodput_bps"), "Each run")],
                    claims=[Claimed("It carries more than the link", [low]), Claimed("There are three", [fact(len(values) == 3, "3 runs")], refuted_by="Another number.")])]
"""


def made(tmp_path: Path, own: str = OWN, study: str = STUDY) -> Path:
    (tmp_path / "own.py").write_text(own)
    (tmp_path / "s.toml").write_text(study)
    plan = make_plan(Study.load(tmp_path / "s.toml"))
    execute(plan, Dataset.create(tmp_path / "out", plan))
    return tmp_path / "out"


def test_a_strangers_analysis_is_not_run_unless_that_is_said(tmp_path: Path) -> None:
    planted = "from pathlib import Path\nPath('ran').touch()\n" + OWN
    out = made(tmp_path, planted.replace("'ran'", repr(str(tmp_path / "ran"))))
    found = report(Dataset.open(out))
    assert not (tmp_path / "ran").exists()
    (section,) = [each for each in found.sections if each.title == analysed.TITLE]
    assert "own.py (SHA-256 " in section.paragraphs[0]
    assert "--run-analysis" in section.paragraphs[0]
    assert [verdict.claim for verdict in found.verdicts] == ["It carries something"]
    report(Dataset.open(out), run_analysis=True)
    assert (tmp_path / "ran").exists()


def test_claims_of_an_analysis_are_decided_with_the_findings_and_stand_among_them(tmp_path: Path) -> None:
    out = made(tmp_path)
    (tmp_path / "own.py").unlink()
    done = CliRunner().invoke(app, ["report", str(out), "--run-analysis", "--json", "--format", "html,md,csv"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert [(verdict["claim"], verdict["answer"]) for verdict in told["verdicts"]] == [
        ("It carries something", "yes"),
        ("It carries more than the link", "no"),
        ("There are three", "yes"),
    ]
    assert told["caveats"] == ["The link is assumed."]
    assert told["verdicts"][0]["caveat"] == "Anything would."
    assert [verdict.get("refuted_by") for verdict in told["verdicts"]] == ["A link that carries nothing.", None, "Another number."]
    page, text = ((out / f"report/report.{form}").read_text() for form in ("html", "md"))
    for each in (page, text):
        assert (
            each.index("The link is assumed.") < each.index("It carries something") < each.index("Anything would.") < each.rindex("Mine")
        )  # contents name it before
        assert re.search(r"Refuted by:\*? A link that carries nothing\.", each)
    assert (out / "report/tables/mine.csv").read_text().count("\n") == 4
    plain = CliRunner().invoke(app, ["report", str(out), "--run-analysis", "--format", "csv"]).output.splitlines()
    assert plain[1] == "caveat: The link is assumed."
    assert plain[2].startswith("yes: It carries something [1] (") and "caveat [1]: Anything would." in plain
    whole = CliRunner().invoke(app, ["report", str(out), "--run-analysis", "--format", "csv", "--verbose"]).output.splitlines()
    assert whole[1].endswith(" But: Anything would.") and whole[-3:] == plain[-3:]


def test_an_edited_study_brings_its_analysis_along(tmp_path: Path) -> None:
    out = made(tmp_path)
    (tmp_path / "own.py").write_text(OWN.replace("There are three", "There were three"))
    done = CliRunner().invoke(app, ["report", str(out), "--run-analysis", "--study", str(tmp_path / "s.toml"), "--format", "csv"])
    assert "yes: There were three (3 runs)" in done.output


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (
            OWN.replace("values = ", "values = 1 / 0 *"),
            "own.py:7: the study's own analysis failed: ZeroDivisionError: division by zero",
        ),
        (OWN.replace("goodput_bps", "godput_bps"), "own.py:7: the study's own analysis failed: "),
        ("def sections(dataset):\n    return 3\n", "`sections` of own.py returned 3"),
        ("def sections(dataset):\n    return ['a']\n", '`sections` of own.py returned "a"'),
    ],
)
def test_an_analysis_that_fails_is_told_with_its_line(own: str, message: str, tmp_path: Path) -> None:
    out = made(tmp_path, own)
    with pytest.raises(DatasetError) as error:
        report(Dataset.open(out), run_analysis=True)
    assert error.value.message.startswith(message)


@pytest.mark.parametrize(
    ("own", "study", "message"),
    [
        (None, STUDY, "s.toml:4:12\n"),
        ("def sections(:\n", STUDY, "own.py:1:14\n"),
        ("x = 1\n", STUDY, "own.py has no function `sections`\n"),
        (OWN, STUDY.replace('"own.py"', "3"), "`analysis` must be the name of a file\n"),
        (OWN, STUDY.replace('["The link is assumed."]', '"The link"'), '`caveats` is a list of texts, found "The link"\n'),
        (OWN, STUDY.replace('["The link is assumed."]', '["a", " "]'), 'a caveat is a sentence, found " "\n'),
        (OWN, STUDY.replace('caveat = "Anything would."', "caveat = 1"), "`caveat` must be a text, found 1\n"),
        (OWN, STUDY.replace('"A link that carries nothing."', "[]"), "`refuted_by` must be a text, found []\n"),
    ],
)
def test_what_is_no_analysis_is_told_when_it_is_planned(own: str | None, study: str, message: str, tmp_path: Path) -> None:
    if own is not None:
        (tmp_path / "own.py").write_text(own)
    (tmp_path / "s.toml").write_text(study)
    with pytest.raises(StudyError) as error:
        presentation(Study.load(tmp_path / "s.toml"))
    assert message in str(error.value), str(error.value)


def test_a_number_is_held_against_limits_at_every_confidence() -> None:
    def of(level: float) -> Interval:
        return Interval(5.0, 5 - 10 * level, 5 + 10 * level, 9, "made up")

    above = held(of, above=0.0)
    assert [above.shows(level) for level in (0.4, 0.95)] == [True, False]
    assert [held(of, above=10.0).denies(level) for level in (0.4, 0.95)] == [True, False]
    assert [held(of, above=0.0, below=10.0).shows(level) for level in (0.4, 0.95)] == [True, False]
    assert held(of, below=0.0).denies(0.4)
    with pytest.raises(ValueError, match="needs a limit"):
        held(of)
    assert (fact(True, "so").shows(1.0), fact(False, "so").denies(1.0), fact(True, "so").silent) == (True, True, False)
