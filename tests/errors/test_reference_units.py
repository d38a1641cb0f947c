"""References in units of another kind than what they are held against: both sides are named, and the place is that of what has to be changed."""

from __future__ import annotations

from pathlib import Path

import pytest

import sawtooth
from sawtooth.errors import DatasetError, StudyError
from sawtooth.plan import make_plan
from sawtooth.report import compare
from sawtooth.report.compare import Question
from sawtooth.study import Study

STUDY = """\
repeat = 2
[scenario]
duration = "0.2 s"
links.l = { rate = "2 Mbit/s", delay = "1 ms" }
flows = [{ path = ["l"] }]
[sweep]
"links.l.rate" = ["2 Mbit/s", "4 Mbit/s"]
[[references]]
name = "paper"
file = "paper.csv"
[references.columns]
"""
TABLE = "rate_mbps,thr,wait_ms,share\n2,1.8,3,50\n4,3.7,2,60\n"
FINDING = '[[findings]]\nclaim = "c"\nmetric = "METRIC"\nis = "reproduced"\nreference = "paper.COLUMN"\n'
FIGURE = '[[figures]]\nname = "g"\nmetric = "METRIC"\nx = "rate"\nreference = "paper.COLUMN"\n'
DECLARED = {
    "called like a measure": (
        'goodput_bps = { column = "thr", unit = "ms" }', "", "", '"ms"',
        "`goodput_bps` is in ms, and the measure `goodput_bps` in bit/s",
        "`unit` says what paper.csv has; what is of another kind than the measure is called otherwise",
    ),
    "of a column whose name says another": (
        'goodput_bps = "wait_ms"', "", "", '"wait_ms"',
        "`goodput_bps` is in ms, as the name of its column `wait_ms` ends in, and the measure `goodput_bps` in bit/s",
        "`unit` says what paper.csv has; what is of another kind than the measure is called otherwise",
    ),
    "called like a measure but for its unit": (
        'goodput = { column = "thr", unit = "ms" }', "goodput_bps", "goodput", '"ms"',
        "`paper.goodput` is in ms, `goodput_bps` in bit/s",
        "`unit` says what the file has; `paper.goodput` is held against `goodput_bps` at {used}",
    ),
    "called in a unit of the measure's kind": (
        'carried_mbps = { column = "thr", unit = "ms" }', "goodput_bps", "carried_mbps", '"ms"',
        "`paper.carried_mbps` is in ms, `goodput_bps` in bit/s",
        "`unit` says what the file has; `paper.carried_mbps` is held against `goodput_bps` at {used}",
    ),
    "of which no unit is said": (
        'carried = "thr"', "goodput_bps", "carried", '"thr"',
        "`paper.carried` is in plain numbers, `goodput_bps` in bit/s",
        "`unit` says what the file has; `paper.carried` is held against `goodput_bps` at {used}",
    ),
}  # fmt: skip


def refused(folder: Path, text: str) -> StudyError:
    (folder / "paper.csv").write_text(TABLE)
    (folder / "s.toml").write_text(STUDY + text)
    with pytest.raises(StudyError) as found:
        make_plan(Study.load(folder / "s.toml"))
    return found.value


def shown(error: StudyError) -> str:
    assert error.place is not None
    return error.place.text[error.place.column - 1 : error.place.end_column - 1]


@pytest.mark.parametrize("use", [FINDING, FIGURE])
@pytest.mark.parametrize(("column", "metric", "name", "at", "message", "hint"), DECLARED.values(), ids=DECLARED.keys())
def test_a_wrong_unit_is_told_where_it_is_declared(
    use: str, column: str, metric: str, name: str, at: str, message: str, hint: str, tmp_path: Path
) -> None:
    asked = use.replace("METRIC", metric).replace("COLUMN", name) if metric else ""
    error = refused(tmp_path, f"{column}\n{asked}")
    line = (STUDY + f"{column}\n{asked}").count("\n")
    assert (error.message, error.hint) == (message, hint.format(used=f"{tmp_path / 's.toml'}:{line}:13"))
    assert shown(error) == at and error.place is not None and error.place.line == STUDY.count("\n") + 1


@pytest.mark.parametrize("use", [FINDING, FIGURE])
def test_a_wrong_column_is_told_where_it_is_named(use: str, tmp_path: Path) -> None:
    columns = 'goodput_bps = { column = "thr", unit = "Mbit/s" }\nwait = "wait_ms"\n'
    error = refused(tmp_path, columns + use.replace("METRIC", "goodput_bps").replace("COLUMN", "wait"))
    assert error.message == "`paper.wait` is in ms, `goodput_bps` in bit/s" and shown(error) == '"paper.wait"'
    declared = f"{tmp_path / 's.toml'}:{STUDY.count(chr(10)) + 2}:8"
    assert error.hint == f"in bit/s there is paper.goodput_bps; the unit of `paper.wait` is said at {declared}"


def test_a_column_called_like_a_measure_of_its_kind_is_not_to_be_changed(tmp_path: Path) -> None:
    error = refused(tmp_path, 'jain = "share"\n' + FINDING.replace("METRIC", "goodput_bps").replace("COLUMN", "jain"))
    assert error.message == "`paper.jain` is in plain numbers, `goodput_bps` in bit/s" and shown(error) == '"paper.jain"'


def test_a_comparison_says_where_the_study_declares_the_unit(tmp_path: Path) -> None:
    (tmp_path / "paper.csv").write_text(TABLE)
    (tmp_path / "s.toml").write_text(STUDY + 'wait = "wait_ms"\nthr = "thr"\n')
    sawtooth.run(tmp_path / "s.toml", tmp_path / "out")
    asked = Question(("goodput_bps",), reference="paper", published=compare.published("wait"))
    with pytest.raises(DatasetError) as found:
        compare.compare(tmp_path / "out", [], asked)
    line = STUDY.count("\n") + 1
    assert found.value.message == "`wait_ms` of paper.csv is in ms, `goodput_bps` in bit/s"
    assert found.value.hint is not None and f":{line}:8; `sawtooth run` takes a change over" in found.value.hint
    thr = compare.compare(tmp_path / "out", [], Question(("goodput_bps",), reference="paper", published=compare.published("thr")))
    assert any(f":{line + 1}:7 says another" in note for note in thr.notes)


def test_shares_may_be_told_in_percent(tmp_path: Path) -> None:
    (tmp_path / "paper.csv").write_text(TABLE)
    (tmp_path / "s.toml").write_text(STUDY + 'jain = { column = "share", unit = "%", digits = 0 }\n')
    sawtooth.run(tmp_path / "s.toml", tmp_path / "out")
    rows = compare.compare(tmp_path / "out", [], Question(("jain",), reference="paper")).rows
    assert [row.second.estimate for row in rows] == pytest.approx([0.5, 0.6])


def test_two_measures_of_a_spread_are_refused(tmp_path: Path) -> None:
    error = refused(tmp_path, 'goodput_bps = { column = "thr", unit = "Mbit/s", sd = "share", ci = "wait_ms", n = 3 }\n')
    assert error.message == "`sd` and `ci` both say how far a mean can be trusted" and shown(error) == '"wait_ms"'
