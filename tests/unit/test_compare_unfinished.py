"""What a comparison says of runs that did not finish, beyond the rows: of how many rows its summary is."""

from __future__ import annotations

import re
from pathlib import Path

import sawtooth
from sawtooth.report import compare
from sawtooth.report.compare import Question

STUDY = """\
name = "late"
repeat = 2
[draws]
start = { distribution = "uniform", low = "0", high = "100" }
[scenario]
duration = "2 s"
links.l = { rate = "1 Mbit/s", delay = "10 ms" }
flows = [{ path = ["l"], start = "start * 1 ms", source = { name = "bulk", size = "100 kB" } }]
[sweep]
"links.l.rate" = ["100 kbit/s", "4 Mbit/s", "8 Mbit/s"]
[arms]
whole = {}
"""


def told(text: str, directory: Path) -> str:
    (directory / "s.toml").write_text(text)
    return "\n".join(compare.summary(compare.compare(sawtooth.run(directory / "s.toml", directory / "out").directory, [], Question())))


def test_a_summary_says_of_how_many_rows_its_geometric_mean_is(tmp_path: Path) -> None:
    # At 100 kbit/s nothing comes to its end.
    text = told(f'{STUDY}slow = {{ "links.l.delay" = "100 ms" }}\n', tmp_path)
    assert "of 1 rows runs of both sides did not finish" in text
    assert "of the 2 of 3 rows all of whose runs finished, slow / whole has the geometric mean " in text


def test_the_ends_of_all_ratios_do_not_read_like_an_interval_of_their_mean(tmp_path: Path) -> None:
    text = told(f'{STUDY}slow = {{ "links.l.delay" = "100 ms" }}\n', tmp_path)
    assert re.search(r"geometric mean (\S+) \(least (\S+), most (\S+)\)", text), text


def test_of_bounds_the_geometric_mean_is_a_bound(tmp_path: Path) -> None:
    finished = STUDY.replace('"100 kbit/s", ', "")
    text = told(f'{finished}dead = {{ "links.l.loss" = 0.9 }}\n', tmp_path)
    assert "of all 2 rows dead / whole has a geometric mean of at least " in text
    # Of no row all runs finished: nothing is told of those alone.
    assert "has the geometric mean" not in text and "a mean of 0" not in text


def test_the_page_of_three_arms_some_of_which_never_finish_is_drawn(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(f'{STUDY}slow = {{ "links.l.delay" = "100 ms" }}\ndead = {{ "links.l.loss" = 0.9 }}\n')
    made = sawtooth.run(tmp_path / "s.toml", tmp_path / "out").compare()
    made.report().write(tmp_path / "page")
    page = (tmp_path / "page/report.html").read_text()
    assert "An arrow: runs did not finish, and the ratio is at least, or at most, so much." in page
    assert "Left out: 1 row whose ratio nothing bounds, as runs of both sides did not finish." in page
