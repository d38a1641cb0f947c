"""A report that is printed: nothing is cut, and no table makes the rest of the page small."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sawtooth
from sawtooth.report import report
from sawtooth.report.document import Grid, Report, Section
from tests.conftest import STUDY

ACROSS = 273 * 96 / 25.4
"""Pixels of the paper of a table that is printed across."""
UPRIGHT = 182 * 96 // 25.4
"""And of the rest."""

CLAIM = """
[[findings]]
claim = "Flows carry something"
metric = "goodput_bps"
is = "above"
than = "1 kbit/s"
"""


@pytest.fixture(scope="module")
def printed(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A page with three tables, as wide as paper, as it is when it is about to be printed."""
    folder = tmp_path_factory.mktemp("printed")
    (folder / "study.toml").write_text(STUDY + CLAIM, encoding="utf-8")
    dataset = sawtooth.run(folder / "study.toml", folder / "out")
    frame = {"cell": [1, 2], "arm": ["a", "b"], **{f"a_column_of_number_{at}": [1.5, 2.5] for at in range(30)}}
    wide, few = Grid("wide", pl.DataFrame(frame), "Wide."), Grid("few", pl.DataFrame({"cell": [1, 2], "x": [3, 4]}), "Few.")
    made = report(dataset)
    path = folder / "page.html"
    path.write_text(Report(dataset, [Section("T", grids=[wide, few]), *made.sections], []).html(), encoding="utf-8")
    page = browser.new_page(viewport={"width": int(ACROSS), "height": 900})
    page.goto(path.as_uri())
    page.emulate_media(media="print")
    yield page
    page.close()


def test_a_wide_table_is_printed_in_parts_with_all_columns_and_none_beyond_the_paper(printed: Any) -> None:
    printed.evaluate("dispatchEvent(new Event('beforeprint'))")
    parts: list[dict[str, Any]] = printed.evaluate(
        """[...document.querySelectorAll("#table-wide .scroll.part table")].map(table => ({
            heads: [...table.rows[0].cells].map(cell => cell.textContent), rows: table.rows.length, last: table.rows[2].cells.length, right: table.getBoundingClientRect().right}))"""
    )
    assert len(parts) > 1 and all(part["heads"][:2] == ["cell", "arm"] for part in parts)
    assert [name for part in parts for name in part["heads"][2:]] == [f"a_column_of_number_{at}" for at in range(30)]
    assert all(part["rows"] == 3 and part["last"] == len(part["heads"]) for part in parts)
    assert max(part["right"] for part in parts) <= ACROSS
    assert printed.evaluate("document.documentElement.scrollWidth") <= ACROSS
    assert not printed.locator("#table-wide > .scroll:not(.part)").is_visible()
    assert printed.locator("#table-few .part").count() == 0


def test_it_is_whole_again_on_the_screen(printed: Any) -> None:
    printed.evaluate("dispatchEvent(new Event('beforeprint')); dispatchEvent(new Event('afterprint'))")
    assert printed.locator(".part, .parted").count() == 0
    assert printed.locator("#table-wide table tr").first.locator("th").count() == 32


def test_paper_has_every_column(printed: Any, tmp_path: Path) -> None:
    printed.pdf(path=tmp_path / "printed.pdf", prefer_css_page_size=True)
    # The printer was told the parts, and the page is as before.
    assert (tmp_path / "printed.pdf").read_bytes().count(b"/MediaBox") > 2
    assert printed.locator(".part").count() == 0


def test_hashes_are_on_one_line_of_paper(printed: Any) -> None:
    before = printed.viewport_size
    printed.set_viewport_size({"width": UPRIGHT, "height": 900})
    hashes = printed.locator("dl.facts code").filter(has_text=re.compile("^[0-9a-f]{64}$"))
    assert hashes.count() >= 3
    assert hashes.evaluate_all("all => all.map((each) => each.getClientRects().length)") == [1] * hashes.count()
    printed.set_viewport_size(before)


def test_a_verdict_is_kept_with_its_claim_and_a_command_with_what_it_does(printed: Any) -> None:
    assert printed.locator("p:has(+ pre)").evaluate("each => getComputedStyle(each).breakAfter") == "avoid"
    before, told = printed.viewport_size, []
    # Side by side a rule for each row would keep all rows together, which no paper can: then rows are divided anywhere.
    for width in (UPRIGHT, 600):
        printed.set_viewport_size({"width": width, "height": 900})
        told.append(printed.locator("dl.verdicts dt").first.evaluate("each => getComputedStyle(each).breakAfter"))
    printed.set_viewport_size(before)
    assert told == ["auto", "avoid"]
