"""A verdict on several cells has a table of them, and words that count them; on the terminal each has a line."""

from __future__ import annotations

import re

import pytest

import sawtooth
from sawtooth import Dataset
from sawtooth.report import by_cell, closing, report
from sawtooth.report.document import Report

STUDY = """
name = "s"
repeat = 3
[draws]
S = { distribution = "uniform", low = "0 ms", high = "500 ms" }
[scenario]
duration = "3 s"
links.l = { rate = "10 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "1 bdp" } }
flows = [{ path = ["l"], start = "S" }]
[sweep]
"links.l.rate" = ["5 Mbit/s", "10 Mbit/s"]
[[findings]]
claim = "It is fast"
metric = "goodput_bps"
is = "above"
than = "7 Mbit/s"
[[findings]]
claim = "It is fast at 10 Mbit/s"
metric = "goodput_bps"
where = { rate = "10 Mbit/s" }
is = "above"
than = "7 Mbit/s"
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("cells")
    (folder / "s.toml").write_text(STUDY)
    return report(Dataset.open(sawtooth.run(folder / "s.toml", folder / "out").directory))


def test_a_verdict_on_several_cells_has_a_table_of_them(made: Report) -> None:
    several, one = made.verdicts
    assert by_cell.table(one) is None
    grid = by_cell.table(several)
    assert grid is not None
    assert grid.frame.columns == ["cell", "value (Mbit/s)", "against (Mbit/s)", "difference (Mbit/s)", "by itself, at 95 %"]
    slow, fast = grid.frame.rows()
    assert (slow[0], slow[2], slow[4], fast[0], fast[2], fast[4]) == ("rate 5 Mbit/s", "7", "no", "rate 10 Mbit/s", "7", "yes")
    assert all(re.fullmatch(r"[+-][\d.]+ \([+-][\d.]+ to [+-][\d.]+\)", row[3]) for row in (slow, fast))


def test_beside_the_table_words_count_the_cells(made: Report) -> None:
    several, one = made.verdicts
    assert several.counted == "1 of 2 cells show it, 1 the contrary, each by itself at 95 %" and not one.counted
    html = made.html()
    assert html.count('<div class="scroll cells"') == 1
    text = re.sub(r"(?s)<svg.*?</svg>", "", html)
    assert several.counted in text and several.numbers not in text and one.numbers in text


def test_on_the_terminal_each_cell_has_a_line(made: Report) -> None:
    several, one = made.verdicts
    assert closing.whole(made) == [
        f"{several.said}: It is fast ({several.counted})",
        *(f"  {each.cell}: {each.words}" for each in several.evidence),
        one.line,
    ]
    assert made.summary == [several.line, one.line]
