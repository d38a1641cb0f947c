"""What is said of references in other places than their numbers: how a finding names one, margins, units that are none, files apart by other signs."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.errors import StudyError
from sawtooth.plan import make_plan
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
columns = { goodput_bps = { column = "thr", unit = "UNIT" } }
[[findings]]
claim = "c"
metric = "goodput_bps"
is = "reproduced"
reference = "NAMED"
"""
TABLE = "rate_mbps,thr\n2,1.8\n4,3.7\n"


def refused(folder: Path, text: str, table: str = TABLE) -> tuple[str, str | None, str]:
    (folder / "paper.csv").write_text(table)
    (folder / "s.toml").write_text(text.replace("UNIT", "Mbit/s").replace("NAMED", "paper.goodput_bps"))
    with pytest.raises(StudyError) as found:
        make_plan(Study.load(folder / "s.toml"))
    place = found.value.place
    assert place is not None
    return found.value.message, found.value.hint, place.text[place.column - 1 : place.end_column - 1]


@pytest.mark.parametrize(
    ("named", "message", "hint"),
    [
        ("paper", "`paper` does not say which of its columns", "there is paper.goodput_bps"),
        ("paper.goodput_bps * 2", "`paper.goodput_bps * 2` names no column of a reference", "such as REFERENCE.COLUMN: paper.goodput_bps"),
        ("", "`` names no column of a reference", "such as REFERENCE.COLUMN: paper.goodput_bps"),
        ("papers.goodput_bps", "there is no reference `papers`", "did you mean `paper`?"),
    ],
)
def test_a_finding_names_one_column(named: str, message: str, hint: str, tmp_path: Path) -> None:
    assert refused(tmp_path, STUDY.replace("NAMED", named)) == (message, hint, f'"{named}"')


@pytest.mark.parametrize("margin", ["nan %", "inf %", "1e999 %", "five %", "%"])
def test_a_margin_is_a_number(margin: str, tmp_path: Path) -> None:
    text = f'{STUDY}by = "margin"\nmargin = "{margin}"\n'
    assert refused(tmp_path, text) == (f"`{margin}` is no share", 'such as "5 %"', f'"{margin}"')


def test_what_is_reproduced_is_a_mean(tmp_path: Path) -> None:
    found = refused(tmp_path, f'{STUDY}statistic = "median"\n')
    assert found == ("`reproduced` is of means, as what was published is", "leave it out", '"median"')


@pytest.mark.parametrize("unit", ["* 0 Mbit/s", "5 Mbit/s", "Mbit/s + 0 bit/s", "furlong"])
def test_a_unit_is_a_name(unit: str, tmp_path: Path) -> None:
    hint = "such as s, ms, bit/s, Mbit/s, kB, packets, %"
    assert refused(tmp_path, STUDY.replace("UNIT", unit)) == (f"unknown unit `{unit}`", hint, f'"{unit}"')


@pytest.mark.parametrize(("sign", "said"), [(";", "`;`"), ("\t", "a tab")])
def test_cells_stand_apart_by_commas(sign: str, said: str, tmp_path: Path) -> None:
    message, hint, at = refused(tmp_path, STUDY, TABLE.replace(",", sign))
    assert message == f"{tmp_path / 'paper.csv'}:1:1: the cells stand apart by {said}" and at == '"paper.csv"'
    assert hint == "commas are needed between them, and points in numbers"
