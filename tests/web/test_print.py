"""On paper, where nothing can be pressed or scrolled."""

from typing import Any

from playwright.sync_api import expect

from tests.web.conftest import STUDY


def printed(page: Any) -> None:
    page.emulate_media(media="print")


def test_tables_keep_their_headings_and_all_their_rows(page: Any) -> None:
    page.goto("/results?of=lab/results/queues")
    page.get_by_role("combobox", name="Table", exact=True).select_option("runs")
    table = page.get_by_role("region", name="Table runs")
    table.get_by_role("button", name="replicate").wait_for()
    printed(page)
    expect(table.locator("th", has_text="replicate").locator("button")).to_be_visible()
    assert table.evaluate("each => each.scrollHeight <= each.clientHeight + 1")
    # What is of use on a screen only is not there.
    expect(page.get_by_role("button", name="Colours", exact=False)).to_be_hidden()


def test_a_study_is_there_to_its_last_line(page: Any) -> None:
    page.set_viewport_size({"width": 1200, "height": 400})
    page.goto("/studies?of=lab/studies/queues.toml")
    page.locator(".cm-line").first.wait_for()
    printed(page)
    last = page.locator(".cm-line", has_text=STUDY.splitlines()[-1])
    last.wait_for()
    assert page.locator(".cm-scroller").evaluate("each => each.scrollHeight <= each.clientHeight + 1")
    assert page.locator(".cm-scroller").evaluate("each => each.scrollWidth <= each.clientWidth + 1")
