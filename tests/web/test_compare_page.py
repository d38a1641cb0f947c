"""The page of two results beside each other, in a real browser: from one of them to the other's runs, with the keyboard, and what a checker of accessibility says."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.conftest import serving, showing
from tests.web.test_pages import violations

BOTH = "/compare?of=lab/before&beside=lab/after"


@pytest.fixture(scope="module")
def page_of_sides(browser: Any, sides: Path) -> Iterator[Any]:
    """A page of an explorer on results that can be compared."""
    with serving(sides) as explorer, showing(browser, explorer) as page:
        yield page


def test_from_results_to_those_beside_them_and_to_the_runs_of_either(page_of_sides: Any) -> None:
    page = page_of_sides
    page.goto("/results?of=lab/before")
    page.get_by_role("combobox", name="Lay beside these").select_option("lab/after")
    page.get_by_role("heading", name="before beside after").wait_for()
    assert page.get_by_role("link", name="Results").get_attribute("aria-current") == "page"
    page.get_by_label("Curves").get_by_text("after: cubic").wait_for()
    page.get_by_text("is the ratio of means of before over after").wait_for()
    page.get_by_text("another text of the study").wait_for()
    expect(page.get_by_role("region", name="Every cell").get_by_role("row")).to_have_count(5)
    page.locator("summary", has_text="Its numbers").click()
    row = page.get_by_role("region", name="Numbers of the figure").get_by_role("row").filter(has_text="after: cubic").first
    row.get_by_role("button").click()
    link = page.get_by_role("region", name="Table runs").get_by_role("link").first
    assert "of=lab%2Fafter" in link.get_attribute("href")


def test_what_is_chosen_is_in_the_address(page_of_sides: Any) -> None:
    page = page_of_sides
    page.goto(BOTH)
    page.get_by_role("combobox", name="Agrees within").select_option("20 %")
    page.get_by_text("agree within 20 %").wait_for()
    page.get_by_role("combobox", name="arm", exact=True).select_option("panels")
    page.locator(".plot .faint", has_text="reno").wait_for()
    address = page.url
    page.goto("/results")
    page.goto(address)
    page.get_by_text("agree within 20 %").wait_for()
    page.locator(".plot .faint", has_text="reno").wait_for()
    page.get_by_role("button", name="The other way round").click()
    page.get_by_role("heading", name="after beside before").wait_for()
    page.get_by_text("is the ratio of means of after over before").wait_for()


def test_sides_are_chosen_and_a_table_sorted_with_the_keyboard_alone(page_of_sides: Any) -> None:
    page = page_of_sides
    page.goto("/compare")
    page.get_by_role("combobox", name="Results").focus()
    page.get_by_role("combobox", name="Results").press("ArrowDown")
    page.get_by_role("combobox", name="Results").select_option("lab/before")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.labels[0].textContent") == "Beside"
    # Results of another study are not among them.
    assert page.get_by_role("combobox", name="Beside").locator("option").all_inner_texts() == ["choose", "lab/after (sim)"]
    page.get_by_role("combobox", name="Beside").select_option("lab/after")
    heading = page.get_by_role("region", name="Every cell").get_by_role("button", name="ratio", exact=True)
    heading.focus()
    page.keyboard.press("Enter")
    page.locator('th[aria-sort="ascending"]', has_text="ratio").wait_for()


def test_a_mistake_is_told_and_the_rest_stays(page_of_sides: Any) -> None:
    page = page_of_sides
    page.goto("/compare?of=lab/before&beside=lab/other")
    page.get_by_role("alert").get_by_text("both must be of one study").first.wait_for()
    page.goto(f"{BOTH}&metric=godput_bps")
    page.get_by_role("alert").get_by_text("godput_bps").wait_for()
    page.locator(".plot svg").first.wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("path", ["/compare", BOTH])
def test_the_page_is_accessible_and_no_wider_than_the_screen(page_of_sides: Any, path: str, width: int, scheme: str) -> None:
    page = page_of_sides
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(path)
    if path == BOTH:
        page.get_by_role("region", name="Every cell").wait_for()
        page.locator("summary", has_text="Figures of the comparison").click()
        page.get_by_role("img", name="goodput_bps: Each point is a row", exact=False).wait_for()
    page.wait_for_load_state("networkidle")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_what_is_wrong_with_a_side_is_said_once(page_of_sides: Any) -> None:
    page_of_sides.goto("/compare?of=lab/before&beside=lab/nonsuch")
    page_of_sides.get_by_text("They cannot be compared either, for the same reason.").wait_for()
    expect(page_of_sides.get_by_role("alert")).to_have_count(1)


def test_a_table_that_is_wider_than_its_box_says_that_it_can_be_moved(page_of_sides: Any) -> None:
    page = page_of_sides
    said = page.get_by_text("More columns at the right")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(BOTH)
    expect(said).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(said).to_be_visible()
    # Where all columns have room nothing is said.
    page.evaluate('document.querySelector("main").style.maxWidth = "none"')
    page.set_viewport_size({"width": 4000, "height": 900})
    expect(said).to_have_count(0)
