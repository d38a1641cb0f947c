"""References that lack rows of cells which a study speaks of: refused if none has one, else told at the plan and beside what is drawn or decided."""

from __future__ import annotations

from pathlib import Path

import pytest

import sawtooth
from sawtooth.errors import DatasetError, StudyError
from sawtooth.plan import make_plan
from sawtooth.report.answers import Answers
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study

STUDY = """\
repeat = 2
[scenario]
duration = "0.3 s"
links.l = { rate = "2 Mbit/s", delay = "1 ms" }
[[scenario.flows]]
name = "f"
path = ["l"]
[[scenario.flows]]
name = "g"
path = ["l"]
[sweep]
"links.l.rate" = ["2 Mbit/s", "4 Mbit/s"]
[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }
[[references]]
name = "paper"
file = "paper.csv"
columns = { goodput_bps = { column = "thr", unit = "Mbit/s" }, other = "more" }
"""
TABLE = "rate_mbps,arm,thr,more\n2,reno,1,1\n2,cubic,1,\n4,cubic,2,\n"
"""`goodput_bps` lacks one cell, `other` all but one."""
REPRODUCED = '[[findings]]\nclaim = "c"\nmetric = "goodput_bps"\nof = "f"\nis = "reproduced"\nreference = "paper.goodput_bps"\nby = "margin"\nmargin = "300 %"\n'
RATIO = '[[findings]]\nclaim = "c"\nmetric = "goodput_bps / reference.goodput_bps"\nof = "f"\nis = "above"\nthan = 0.001\n'
CROSSES = '[[figures]]\nname = "g"\nmetric = "goodput_bps"\nof = "f"\nx = "rate"\nreference = "paper.goodput_bps"\n'
BARS = '[[figures]]\nname = "g"\nmetric = "goodput_bps / reference.goodput_bps"\nof = "f"\nx = "rate"\n'
SOME = "`paper` has no `goodput_bps` of 1 of 4 cells (rate 4 Mbit/s, reno)"


def study(folder: Path, text: str, table: str = TABLE) -> Study:
    (folder / "paper.csv").write_text(table)
    (folder / "s.toml").write_text(STUDY + text)
    return Study.load(folder / "s.toml")


def refused(folder: Path, text: str, table: str = TABLE) -> StudyError:
    with pytest.raises(StudyError) as found:
        make_plan(study(folder, text, table))
    assert found.value.place is not None
    return found.value


def at(error: StudyError) -> str:
    assert error.place is not None
    return error.place.text


def ran(folder: Path, text: str, table: str = TABLE) -> Answers:
    study(folder, text, table)
    return Answers(Dataset.open(sawtooth.run(folder / "s.toml", folder / "out").directory))


@pytest.mark.parametrize("text", [REPRODUCED, RATIO, CROSSES, BARS])
def test_a_cell_without_a_row_is_told_at_the_plan(text: str, tmp_path: Path) -> None:
    (warning,) = make_plan(study(tmp_path, text)).warnings
    assert warning.message == SOME and warning.place is not None
    assert warning.place.text in ('reference = "paper.goodput_bps"', 'metric = "goodput_bps / reference.goodput_bps"')
    assert warning.hint is not None and "`where` and `arm` choose cells, and paper.csv may have more rows" in warning.hint


@pytest.mark.parametrize("text", [REPRODUCED, RATIO])
def test_a_claim_is_not_told_of_part_of_the_cells_without_a_word(text: str, tmp_path: Path) -> None:
    (verdict,) = ran(tmp_path, text).verdicts()
    assert verdict.answer == "yes" and verdict.numbers.endswith(f". {SOME}")


@pytest.mark.parametrize(
    "text", [CROSSES, BARS, BARS.replace('x = "rate"', 'kind = "difference"\nalong = "arm"\nto = "cubic"\nx = "rate"')]
)
def test_a_caption_names_the_cells_that_nothing_was_published_of(text: str, tmp_path: Path) -> None:
    answers = ran(tmp_path, text)
    assert f"{SOME}." in answers.plot(answers.shown.figures[0]).caption


@pytest.mark.parametrize("text", [REPRODUCED, RATIO, CROSSES, BARS])
def test_what_no_row_is_of_is_refused(text: str, tmp_path: Path) -> None:
    chosen = text.replace('of = "f"', 'of = "f"\narm = "reno"\nwhere = { rate = "4 Mbit/s" }')
    error = refused(tmp_path, chosen)
    who = "the figure `g`" if "figures" in text else "the finding"
    assert error.message == f"`paper` has no `goodput_bps` of any cell that {who} speaks of"
    assert at(error) in ('reference = "paper.goodput_bps"', 'metric = "goodput_bps / reference.goodput_bps"')
    # The other form of the study may have cells that were published.
    short = chosen.replace('where = { rate = "4 Mbit/s" }\n', "")
    table = TABLE.replace("2,reno,1", "2,reno,")
    assert refused(tmp_path, short, table).message == error.message
    (tmp_path / "s.toml").write_text(STUDY + short + '[short]\n"links.l.rate" = ["2 Mbit/s"]\n')
    plan = make_plan(Study.load(tmp_path / "s.toml", short=True))
    assert "`paper` has no `goodput_bps` of 1 of 1 cells (rate 2 Mbit/s, reno)" in [warning.message for warning in plan.warnings]


def test_a_figure_of_nothing_that_was_published_says_why(tmp_path: Path) -> None:
    dataset = sawtooth.run(study(tmp_path, "").path, tmp_path / "out")
    with pytest.raises(DatasetError, match=r"of what was chosen: `paper` has no `goodput_bps` of 1 of 1 cells \(rate 4 Mbit/s, reno\)"):
        dataset.figure(metric="goodput_bps / reference.goodput_bps", x="rate", of="f", arm="reno", where={"rate": "4 Mbit/s"})


def test_a_rule_for_replicates_is_told_alike(tmp_path: Path) -> None:
    until = 'repeat = { until = "5 %", of = "goodput_bps / references.paper.COLUMN" }'
    text = STUDY.replace("repeat = 2", until)
    (tmp_path / "paper.csv").write_text(TABLE)
    (tmp_path / "s.toml").write_text(text.replace("COLUMN", "goodput_bps"))
    assert SOME in [warning.message for warning in make_plan(Study.load(tmp_path / "s.toml")).warnings]
    (tmp_path / "s.toml").write_text(text.replace("COLUMN", "other"))
    (tmp_path / "paper.csv").write_text(TABLE.replace("2,reno,1,1", "2,reno,1,") + "8,reno,,1\n")
    with pytest.raises(StudyError, match="`paper` has no `other` of any cell that the rule for replicates speaks of"):
        make_plan(Study.load(tmp_path / "s.toml"))


def test_items_are_looked_up_too(tmp_path: Path) -> None:
    table = "item,thr,more\nf,1,1\nh,2,1\n"
    warning, *others = make_plan(study(tmp_path, "", table)).warnings
    assert warning.message == "1 row of paper.csv is of no cell of this study: item h" and not others
    text = REPRODUCED.replace('of = "f"\n', 'arm = "reno"\nof = "g"\n')
    assert refused(tmp_path, text, table).message == "`paper` has no `goodput_bps` of any cell that the finding speaks of"
    figure = CROSSES.replace('of = "f"\n', 'arm = "reno"\n')
    assert "`paper` has no `goodput_bps` of 2 of 4 cells (rate 2 Mbit/s, g; rate 4 Mbit/s, g)" in [
        warning.message for warning in make_plan(study(tmp_path, figure, table)).warnings
    ]
    assert "no row of" in refused(tmp_path, "", "item,thr,more\nx,1,1\nh,2,1\n").message


def test_arms_are_looked_up_even_if_nothing_else_is(tmp_path: Path) -> None:
    (warning,) = make_plan(study(tmp_path, "", "arm,thr,more\nreno,1,1\ncubik,2,1\n")).warnings
    assert warning.message == "1 row of paper.csv is of no cell of this study: arm cubik"


def test_a_row_that_stands_for_every_cell_is_told(tmp_path: Path) -> None:
    (warning,) = make_plan(study(tmp_path, "", "thr,more\n1,1\n")).warnings
    assert warning.message == "paper.csv does not say of which cell its row is: it stands for all 4 cells and arms alike"
    assert warning.hint == "`keys` says which column is rate, arm"


@pytest.mark.parametrize(
    ("where", "message", "hint"),
    [
        ('{ arm = "tahoe" }', "no row of {file} has `tahoe` in column `arm`", "it has reno, cubic"),
        ('{ arm = ["reno", "tahoe"] }', "no row of {file} has `tahoe` in column `arm`", "it has reno, cubic"),
        ('{ rate_mbps = 4, arm = "reno" }', "no row of {file} has `reno` in column `arm`", "it has cubic"),
        ("{ arm = [] }", "`arm` is empty, which chooses nothing", "leave `arm` out for all, or name what is meant"),
        ("{ arm = { a = 1 } }", "`where` says no text of column `arm`", 'such as "reno", or a list of texts'),
    ],
)
def test_a_choice_that_leaves_no_row_is_refused(where: str, message: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / "paper.csv").write_text(TABLE)
    (tmp_path / "s.toml").write_text(STUDY + f"where = {where}\n")
    error = refused(tmp_path, f"where = {where}\n")
    assert (error.message, error.hint) == (message.format(file=tmp_path / "paper.csv"), hint)
    assert at(error) == f"where = {where}"


@pytest.mark.parametrize(
    ("table", "message", "place"),
    [
        ("rate_mbps,arm,thr,more\n2,reno,1,1\n,cubic,1,1\n", "3:1: the row does not say of which `rate` it is: column `rate_mbps` is empty", "file"),
        ("rate_mbps,arm,thr,more\n2,reno,1,1\n2, ,1,1\n", "3:3: the row does not say of which `arm` it is: column `arm` is empty", "file"),
        ("rate_mbps,arm,thr,more\n2,reno,1,1\ninf,reno,1,1\n", "3:1: `inf` in column `rate_mbps` is no number of Mbit/s", "file"),
        ("rate_mbps,arm,thr,more\n", " has no row below its line of names", "file"),
        ("rate_mbps,arm,thr,more\n2,reno,,1\n", "column `thr` of {file} is empty", "columns"),
    ],
)  # fmt: skip
def test_rows_that_say_nothing_are_refused(table: str, message: str, place: str, tmp_path: Path) -> None:
    error = refused(tmp_path, "", table)
    assert (
        error.message.replace(f"{tmp_path / 'paper.csv'}:", "").replace(str(tmp_path / "paper.csv"), "{file}").removeprefix("{file}")
        == message
    )
    assert at(error).startswith(place)


def test_an_empty_level_is_that_of_cells_that_leave_a_factor_alone(tmp_path: Path) -> None:
    text = STUDY.replace(
        '[sweep]\n"links.l.rate" = ["2 Mbit/s", "4 Mbit/s"]',
        '[[sweep]]\ncases = [{ "links.l.rate" = "4 Mbit/s" }, { "links.l.delay" = "2 ms" }]',
    )
    (tmp_path / "paper.csv").write_text("rate_mbps,delay_ms,arm,thr,more\n4,,reno,1,1\n,2,reno,1,1\n4,,cubic,1,1\n,2,cubic,1,1\n")
    (tmp_path / "s.toml").write_text(text + REPRODUCED)
    dataset = sawtooth.run(tmp_path / "s.toml", tmp_path / "out")
    assert not make_plan(Study.load(tmp_path / "s.toml")).warnings
    (verdict,) = Answers(dataset).verdicts()
    assert verdict.answer == "yes" and len(verdict.evidence) == 4 and "has no" not in verdict.numbers
