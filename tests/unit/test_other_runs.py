"""A results directory of other runs: what is refused names the key that differs, and not what no run depends on."""

from __future__ import annotations

from pathlib import Path

import pytest

import sawtooth
from sawtooth import SawtoothError, Study
from sawtooth.errors import StudyError
from sawtooth.report.edited import shown_as

STUDY = """
name = "s"
repeat = 2
[scenario]
duration = "1 s"
links.l = { rate = "1 Mbit/s", delay = "10 ms" }
flows = [{ path = ["l"] }]
[sweep]
"links.l.rate" = ["1 Mbit/s", "2 Mbit/s"]
"links.l.delay" = ["10 ms", "20 ms"]
[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }
[short]
"scenario.duration" = "0.5 s"
"""
RENO, CUBIC = STUDY.splitlines(keepends=True)[11:13]
RATES, DELAYS = STUDY.splitlines(keepends=True)[8:10]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "s.toml").write_text(STUDY)
    sawtooth.run(tmp_path / "s.toml", tmp_path / "out", jobs=1)
    return tmp_path / "s.toml"


def refused(study: Path, *, short: bool = False, options: tuple[str, ...] = ()) -> str:
    out = study.parent / "out"
    with pytest.raises(SawtoothError) as raised:
        sawtooth.run(study, out, short=short, options=options)
    return str(raised.value).replace(f"{study.parent}/", "")


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ('duration = "1 s"', 'duration = "2 s"', '`scenario.duration` was "1 s" (s.toml:5:12)'),
        ('duration = "1 s"', 'duration = "1 s"\nrecord = ["waits"]', "`scenario.record` was not set (s.toml:6:1)"),
        ("repeat = 2\n", "", "`repeat` was 2 and is not set (s.toml:1:1)"),
        (RENO + CUBIC, CUBIC + RENO, "the order of `arms` was reno, cubic (s.toml:11:2)"),
        (RATES + DELAYS, DELAYS + RATES, "the order of `sweep` was links.l.rate, links.l.delay (s.toml:8:2)"),
    ],
)
def test_a_run_and_a_report_name_the_key_that_differs(old: str, new: str, differs: str, study: Path) -> None:
    assert old in STUDY
    study.write_text(STUDY.replace(old, new))
    assert refused(study).startswith(f"error: out holds results of another version of this study: {differs}\nhint: ")
    with pytest.raises(StudyError) as raised:
        shown_as(sawtooth.Dataset.open(study.parent / "out"), study)
    words, _, place = differs.rpartition(" (")
    assert raised.value.message.endswith(f": {words}")
    assert f"{raised.value.place}".endswith(place.removesuffix(")"))


def test_a_name_that_was_edited_is_not_what_makes_other_runs(study: Path) -> None:
    study.write_text(STUDY.replace('"s"', '"t"'))
    assert sawtooth.run(study, study.parent / "out").edited
    study.write_text(STUDY.replace('duration = "1 s"', 'duration = "1 s"\nrecord = ["waits"]'))
    told = refused(study)
    assert "holds results of another study: of `t`, not of `s`\n" in told
    assert told.endswith(
        "if `s` is that study with another name, what makes other runs of it is that `scenario.record` was not set (s.toml:6:1)"
    )


def test_where_the_file_says_the_same_it_is_the_options_or_the_form(study: Path) -> None:
    assert "another version of this study: options were none\n" in refused(study, options=("repeat=3",))
    same = "another version of this study: other scenarios, seeds or draws (`short`, or a file that it names has changed)\n"
    assert same in refused(study, short=True)


def test_of_a_damaged_file_nothing_is_told(study: Path) -> None:
    (study.parent / "out" / "study.toml").write_text(Study.load(study).document.text.replace("reno", "bic"))
    study.write_text(STUDY.replace("repeat = 2", "repeat = 3"))
    assert "16 runs, not 24 (`short`, or a file that it names has changed)\n" in refused(study)
