"""The table of docs/development/tests.md has a row for each kind of test, and is not far from what there is."""

from __future__ import annotations

import re

import pytest

from tests.docs import summary

ROWS = {
    kind: int(number.replace(",", ""))
    for kind, number in re.findall(r"(?m)^\| ([^|]+) \| ([\d,]+) \|", summary.PAGE.read_text(encoding="utf-8"))
}


def test_each_folder_of_tests_has_a_row() -> None:
    there = {path.parent.relative_to(summary.ROOT / "tests").parts[0] for path in (summary.ROOT / "tests").glob("*/**/test_*.py")}
    assert there == summary.FOLDERS.keys()
    assert {f"`tests/{folder}`: {about}" for folder, about in summary.FOLDERS.items()} <= ROWS.keys(), f"`{summary.COMMAND}` writes them"


@pytest.mark.parametrize("row", [*summary.rust(), *summary.files()], ids=lambda row: row.kind)
def test_what_the_table_says_is_near_what_there_is(row: summary.Row) -> None:
    # Of pytest's it is not asked here: to collect all takes as long as a hundred tests.
    assert ROWS[row.kind] == pytest.approx(row.tests, rel=0.1), f"`{summary.COMMAND}` counts anew"
