"""Marks of validity as a report has them: one entry per rule, all marks in a file, in every format."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sawtooth
from sawtooth import Study
from sawtooth.report import pdf, report
from sawtooth.report.document import Report
from sawtooth.report.validity import MOST_SHOWN

STUDY = """
name = "marked"
repeat = 2
[draws]
start = { distribution = "uniform", low = "0", high = "100" }
[scenario]
duration = "1 s"
stack = "linux"
links.l = { rate = "20 Mbit/s", delay = "5 ms", queue = { name = "drop_tail", limit = "100 packets" } }
[[scenario.flows]]
name = "many"
path = ["l"]
start = "start * 1 ms"
source = { name = "bulk", size = "20 kB" }
[[scenario.flows]]
name = "large"
path = ["l"]
source = { name = "bulk", size = "100 kB" }
[sweep]
"links.l.delay" = ["5 ms", "10 ms", "20 ms", "150 ms"]
[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("marked")
    (folder / "s.toml").write_text(STUDY)
    return report(sawtooth.run(Study.load(folder / "s.toml"), out=folder / "out", jobs=1))


def test_what_one_rule_finds_is_one_entry_with_all_that_it_marks_counted(made: Report) -> None:
    assert made.validity is not None
    # Short transfers see no congestion anywhere: that hides no transfer that one cell alone did not finish.
    assert [entry.rule.code for entry in made.validity.entries] == ["SW705", "SW707", "SW709"]
    often, rare, _ = made.validity.entries
    assert often.where == "In all 4 cells, arms reno, cubic, flows many, large, in 2 of 2 runs"
    assert often.marks > MOST_SHOWN
    assert rare.where == "In 1 of 4 cells, arms reno, cubic, flow large, in 2 of 2 runs"
    assert rare.example.startswith("delay 150 ms, reno, large: not finished when the run ended")
    assert made.validity.said == "3 rules mark numbers of all 4 cells, which may be about something else than they seem"
    assert made.facts()["marks"][1] == {
        "code": "SW707", "severity": "warning", "summary": rare.rule.summary, "where": rare.where, "example": rare.example, "marks": 2,
        "advice": rare.rule.advice,
    }  # fmt: skip


def test_every_mark_is_in_the_table_with_its_cell(made: Report, tmp_path: Path) -> None:
    made.write(tmp_path, ["csv"])
    table = pl.read_csv(tmp_path / "tables" / "validity.csv")
    assert table.columns == ["cell", "delay", "arm", "item", "code", "runs", "of", "text"]
    assert made.validity is not None
    assert table.height == sum(entry.marks for entry in made.validity.entries)
    assert table.filter(code="SW707")["delay"].to_list() == ["150 ms"] * 2


def test_every_format_that_has_text_tells_them(made: Report, tmp_path: Path) -> None:
    made.write(tmp_path, ["html", "md"])
    html, markdown = ((tmp_path / name).read_text(encoding="utf-8") for name in ("report.html", "report.md"))
    pages = "\n".join(text for text, _, _ in pdf.lines(made))
    said = "3 rules mark numbers of all 4 cells, which may be about something else than they seem"
    for text in (html, markdown, pages):
        flat = " ".join(text.split())
        # Once above the figures, and once with what they are.
        assert flat.index(said) < flat.index("SW705")
        assert "SW707" in flat
        assert "delay 150 ms, reno, large: not finished" in flat.replace("\\", "")
    assert 'href="tables/validity.csv"' in html
    assert "(tables/validity.csv)" in markdown
