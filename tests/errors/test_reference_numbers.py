"""Numbers of a published table that cannot be: refused where the file is read, by a plan, by `sawtooth compare` and from Python, with the cell's place."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import sawtooth
from sawtooth import cli
from sawtooth.errors import DatasetError, StudyError
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
"""
REFERENCE = """\
[[references]]
name = "paper"
file = "paper.csv"
[references.columns]
goodput_bps = { column = "thr", unit = "Mbit/s", SPREAD }
"""
HEAD = "# of a paper\nrate_mbps,thr,spread,n\n2,1.8,0.1,10\n"
LEFT = "leave it empty if it is not known"
WRONG = {
    "a mean that is none": ("sd", "nan,0.1,10", "4:3", "`nan` in column `thr` is no number", LEFT),
    "an infinite mean": ("sd", "-inf,0.1,10", "4:3", "`-inf` in column `thr` is no number", LEFT),
    "a mean beyond all numbers": ("sd", "1e999,0.1,10", "4:3", "`1e999` in column `thr` is no number", LEFT),
    "a mean as a program writes it": ("sd", "1_8,0.1,10", "4:3", "`1_8` in column `thr` is no number", LEFT),
    "a deviation below 0": ("sd", "1.9,-0.1,10", "4:7", "`-0.1` in column `spread` is below 0", f"0 or more is needed; {LEFT}"),
    "a deviation that is none": ("sd", "1.9, NaN ,10", "4:8", "`NaN` in column `spread` is no number", f"0 or more is needed; {LEFT}"),
    "an interval below 0": ("ci", "1.9,-1e-3,10", "4:7", "`-1e-3` in column `spread` is below 0", f"0 or more is needed; {LEFT}"),
    "an infinite interval": ("ci", "1.9,inf,10", "4:7", "`inf` in column `spread` is no number", f"0 or more is needed; {LEFT}"),
    "no observation": ("sd", "1.9,0.1,0", "4:11", "`0` in column `n` is no number of observations", f"a whole number from 1 on is needed; {LEFT}"),
    "less than none": ("ci", "1.9,0.1,-3", "4:11", "`-3` in column `n` is no number of observations", f"a whole number from 1 on is needed; {LEFT}"),
    "half an observation": ("sd", "1.9,0.1,10.5", "4:11", "`10.5` in column `n` is no number of observations", f"a whole number from 1 on is needed; {LEFT}"),
}  # fmt: skip


def written(folder: Path, row: str) -> Path:
    table = folder / "paper.csv"
    table.write_text(f"{HEAD}4,{row}\n")
    return table


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ran")
    (folder / "s.toml").write_text(STUDY)
    sawtooth.run(folder / "s.toml", folder / "out")
    return folder / "out"


@pytest.mark.parametrize(("spread", "row", "at", "message", "hint"), WRONG.values(), ids=WRONG.keys())
def test_a_study_is_not_planned(spread: str, row: str, at: str, message: str, hint: str, tmp_path: Path) -> None:
    table = written(tmp_path, row)
    columns = REFERENCE.replace("SPREAD", f'{spread} = "spread", n = "n"')
    (tmp_path / "s.toml").write_text(STUDY + columns)
    with pytest.raises(StudyError) as found:
        make_plan(Study.load(tmp_path / "s.toml"))
    assert (found.value.message, found.value.hint) == (f"{table}:{at}: {message}", hint)
    place = found.value.place
    assert place is not None and place.line == (STUDY + columns).count("\n")
    # A column is named by the key of it, or, of the mean, by all that is said of it.
    named = next((f'"{column}"' for column in ("spread", "n") if f"`{column}`" in message), columns.splitlines()[-1].partition(" = ")[2])
    assert place.text[place.column - 1 : place.end_column - 1] == named


@pytest.mark.parametrize(("spread", "row", "at", "message", "hint"), WRONG.values(), ids=WRONG.keys())
def test_nothing_is_compared(
    spread: str,
    row: str,
    at: str,
    message: str,
    hint: str,
    tmp_path: Path,
    results: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = written(tmp_path, row)
    said = f"error: {table}:{at}: {message}\nhint: {hint}"
    asked = ["--metric", "goodput_bps", "--value", "thr", f"--{spread}", "spread", "--n", "n", "--unit", "Mbit/s"]
    monkeypatch.setattr(sys, "argv", ["sawtooth", "compare", str(results), "--reference", str(table), *asked])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert (ended.value.code, capsys.readouterr().err.strip()) == (2, said)
    for others, reference in ((str(table), None), (None, str(table))):
        with pytest.raises(DatasetError) as found:
            sawtooth.Dataset.open(results).compare(
                *([others] if others else []), reference=reference, metric="goodput_bps", value="thr", n="n", unit="Mbit/s",
                sd="spread" if spread == "sd" else None, ci="spread" if spread == "ci" else None,
            )  # fmt: skip
        assert str(found.value) == said


def test_a_column_of_which_nothing_is_said_is_not_taken_for_text(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY + REFERENCE.partition("[references.columns]")[0])
    for text in ("nan", "about 2"):
        (tmp_path / "paper.csv").write_text(f"rate_mbps,goodput_mbps\n2,1.8\n4,{text}\n")
        with pytest.raises(StudyError) as found:
            make_plan(Study.load(tmp_path / "s.toml"))
        assert found.value.message == f"{tmp_path / 'paper.csv'}:3:3: `{text}` in column `goodput_mbps` is no number"


def test_a_place_is_right_below_a_cell_of_several_lines(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY + REFERENCE.replace(", SPREAD", ""))
    (tmp_path / "paper.csv").write_text('rate_mbps,note,thr\n2,"one\n# two",1.8\n\n4,"a ""b"",\nc", nan\n')
    with pytest.raises(StudyError, match=r"paper\.csv:6:5: `nan`"):
        make_plan(Study.load(tmp_path / "s.toml"))


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("rate_mbps,thr\n2,1.8\n4\n", "3:1", "1 cell, where the line of names has 2"),
        ("rate_mbps,thr\n2,1.8,\n", "2:1", "3 cells, where the line of names has 2"),
        ('rate_mbps,thr\n2,"1.8\n', "2:1", "this is no line of a table: unexpected end of data"),
    ],
)
def test_a_row_with_other_cells_than_names_is_refused(text: str, at: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY + REFERENCE.replace(", SPREAD", ""))
    (tmp_path / "paper.csv").write_text(text)
    with pytest.raises(StudyError) as found:
        make_plan(Study.load(tmp_path / "s.toml"))
    assert found.value.message == f"{tmp_path / 'paper.csv'}:{at}: {message}"
    assert found.value.place is not None and found.value.place.text == 'file = "paper.csv"'


def test_rows_of_commas_and_what_is_not_known_are_no_mistakes(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY + REFERENCE.replace("SPREAD", 'sd = "spread", n = "n"'))
    (tmp_path / "paper.csv").write_text(f"{HEAD}4,1.9,,\n,,,\n")
    assert make_plan(Study.load(tmp_path / "s.toml")).runs


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("digits = 400", "`digits` is a whole number from -30 to 30"),
        ('sd = "spread", n = 0', "`n` is a whole number or a column of {table}, found 0"),
        (f'sd = "spread", n = {10**18}', "`n` is a whole number or a column of {table}, found 1000000000000000000"),
    ],
)
def test_what_the_study_says_itself_is_held_to_the_same(said: str, message: str, tmp_path: Path) -> None:
    table = written(tmp_path, "1.9,0.1,10")
    (tmp_path / "s.toml").write_text(STUDY + REFERENCE.replace("SPREAD", said))
    with pytest.raises(StudyError) as found:
        make_plan(Study.load(tmp_path / "s.toml"))
    assert found.value.message == message.format(table=table)
    assert found.value.place is not None and found.value.place.line == (STUDY + REFERENCE).count("\n")


def test_a_row_without_a_level_is_not_compared(tmp_path: Path, results: Path) -> None:
    (tmp_path / "t.csv").write_text("rate_mbps,goodput_mbps\n2,1.8\n,1.9\n")
    with pytest.raises(DatasetError) as found:
        sawtooth.Dataset.open(results).compare(reference=tmp_path / "t.csv")
    assert found.value.message == f"{tmp_path / 't.csv'}:3:1: the row does not say of which `rate` it is: column `rate_mbps` is empty"
    assert found.value.hint == "write its level, or leave the row out; every cell has one"
