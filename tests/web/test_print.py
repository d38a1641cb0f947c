"""On paper, where nothing can be pressed or scrolled."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.conftest import STUDY, serving, showing


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


@pytest.mark.parametrize("width", [720, 1040])
def test_no_column_of_a_table_is_cut_however_many_there_are(sides: Path, browser: Any, width: int) -> None:
    with serving(sides) as explorer, showing(browser, explorer) as page:
        # As wide as a sheet of A4, upright and across.
        page.set_viewport_size({"width": width, "height": 900})
        page.goto("/results?of=lab/before")
        page.get_by_role("combobox", name="Table", exact=True).select_option("flows")
        page.get_by_role("region", name="Table flows").get_by_role("button", name="goodput_bps").wait_for()
        for address, name in (("/compare?of=lab/before&beside=lab/after", "Every cell"), (page.url, "Table flows")):
            page.emulate_media(media="screen")
            page.goto(address)
            table = page.get_by_role("region", name=name)
            table.locator("td").first.wait_for()
            printed(page)
            ends = table.locator("td:not(:empty)").evaluate_all("all => all.map((each) => each.getBoundingClientRect().right)")
            assert len(ends) > 40 and max(ends) <= width
            # Each value is below the name of its column.
            first = table.locator("td").first
            assert first.evaluate("each => getComputedStyle(each, '::before').content") == f'"{first.get_attribute("data-title")}"'


def test_what_is_only_to_choose_or_to_press_has_no_heading(page: Any) -> None:
    page.goto("/results?of=lab/results/queues")
    heading = page.get_by_role("heading", name="Tables")
    heading.wait_for()
    printed(page)
    expect(heading).to_be_hidden()
    expect(page.get_by_role("heading", name="Where it is from")).to_be_visible()


def test_a_study_is_there_to_its_last_line(page: Any) -> None:
    page.set_viewport_size({"width": 1200, "height": 400})
    page.goto("/studies?of=lab/studies/queues.toml")
    page.locator(".cm-line").first.wait_for()
    printed(page)
    last = page.locator(".cm-line", has_text=STUDY.splitlines()[-1])
    last.wait_for()
    assert page.locator(".cm-scroller").evaluate("each => each.scrollHeight <= each.clientHeight + 1")
    assert page.locator(".cm-scroller").evaluate("each => each.scrollWidth <= each.clientWidth + 1")


def test_paper_is_white_for_whoever_chose_dark_and_has_nothing_to_unfold_or_fetch(page: Any) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto("/results?of=lab/results/queues")
    figure = page.get_by_role("region", name="Workbench").locator("figure")
    figure.locator("svg").first.wait_for()
    ground = "getComputedStyle(document.body).backgroundColor"
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    expect(figure.get_by_text("Its numbers")).to_be_visible()
    dark = page.evaluate(ground)
    printed(page)
    assert page.evaluate(ground) != dark == "rgb(20, 23, 26)"
    expect(figure.get_by_text("Its numbers")).to_be_hidden()
    expect(figure.get_by_role("link", name="SVG")).to_be_hidden()
    expect(figure.locator("svg").first).to_be_visible()


def test_of_a_setting_the_numbers_are_printed(page: Any) -> None:
    page.goto("/playground")
    page.locator("[data-done=true]").wait_for()
    printed(page)
    expect(page.locator("input[type=range]").first).to_be_hidden()
    expect(page.get_by_role("spinbutton", name="Rate, typed")).to_be_visible()
