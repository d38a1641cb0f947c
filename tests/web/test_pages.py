"""Pages in a real browser: what is shown, what can be done, also with the keyboard, and what a checker of accessibility says."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Error, expect

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


def violations(page: Any) -> list[str]:
    """What axe-core finds against WCAG 2 A and AA."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed: `make test` does that where there is an npm")
    # The policy of the page lets no other script in: it is run from outside.
    page.evaluate(AXE.read_text())
    for left in (2, 1, 0):
        try:
            found = page.evaluate(
                "async () => (await axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})).violations"
            )
            break
        except Error:
            # What is still being drawn may go while the checker looks at it, which it does not survive.
            if not left:
                raise
            page.wait_for_timeout(500)
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found]


def test_from_the_list_to_the_runs_of_a_point(page: Any) -> None:
    page.get_by_role("link", name="queues").click()
    page.get_by_role("heading", name="Does a short queue cost goodput?").wait_for()
    page.get_by_text("CUBIC carries more than a tenth of the link").wait_for()
    drawing = page.get_by_label("goodput (Mbit/s) by limit", exact=False)
    drawing.wait_for()
    box = drawing.locator("g[stroke] > path[transform]").last.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2 - 3, box["y"] + box["height"] / 2)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.get_by_role("heading", name="4 runs of this point").wait_for()
    rows = page.get_by_role("region", name="Table runs").get_by_role("row")
    rows.first.wait_for()
    expect(rows).to_have_count(5)


def test_points_are_joined_where_levels_have_an_order_and_nowhere_else(page: Any) -> None:
    page.goto("/results?of=lab/results/queues")
    by_limit = page.get_by_label("goodput (Mbit/s) by limit", exact=False)
    line = 'g[stroke-width="1.3"] path'
    expect(by_limit.locator(line)).to_have_count(2)
    page.get_by_role("combobox", name="arm").select_option("x")
    by_arm = page.get_by_label("goodput (Mbit/s) by arm", exact=False)
    expect(by_arm.locator("g[stroke] > path[transform]")).not_to_have_count(0)
    expect(by_arm.locator(line)).to_have_count(0)


def test_a_dimension_moves_and_what_would_be_pooled_is_refused(page: Any) -> None:
    page.goto("/results?of=lab/results/queues")
    page.get_by_role("combobox", name="arm").select_option("panels")
    page.locator(".plot .faint", has_text="reno").wait_for()
    assert "figure=" in page.url
    page.goto("/results?of=lab/results/queues&figure=" + quote('{"metric": "goodput_bps", "x": "item", "curves": "arm"}'))
    page.get_by_role("alert").get_by_text("as if they were replicates").wait_for()
    page.get_by_role("combobox", name="limit").select_option("=1 bdp")
    page.get_by_role("alert").wait_for(state="detached")


def test_runs_of_a_point_are_reached_with_the_keyboard_alone(page: Any) -> None:
    page.goto("/results?of=lab/results/queues")
    summary = page.locator("summary", has_text="Its numbers")
    # What comes after the figure must not move the focus, nor the table come after the keys.
    page.wait_for_load_state("networkidle")
    summary.focus()
    page.keyboard.press("Enter")
    page.locator("details[open]", has=summary).locator("table tbody tr").first.wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="4 runs of this point").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("path", ["/results", "/results?of=lab/results/queues"])
def test_pages_are_accessible_and_no_wider_than_the_screen(page: Any, path: str, width: int, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(path)
    page.wait_for_load_state("networkidle")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_intervals_of_a_verdict_stand_over_short_numbers_of_a_larger_unit(page: Any) -> None:
    page.goto("/results?of=lab/results/queues")
    page.locator(".verdict .plot svg").first.wait_for()
    texts = page.evaluate("[...document.querySelector('.verdict .plot svg').querySelectorAll('text')].map((each) => each.textContent)")
    assert "difference (Mbit/s)" in texts
    assert not any(len(text) > 5 and text[0].isdigit() for text in texts)


def test_what_is_drawn_has_the_colours_of_the_theme_that_is_chosen(page: Any) -> None:
    page.emulate_media(color_scheme="light")
    page.goto("/results?of=lab/results/queues")
    drawn = page.locator("section[aria-label=Workbench] .plot svg g[stroke] > path[transform]").last
    drawn.wait_for()
    inks = (
        "[...document.querySelectorAll('section[aria-label=Workbench] .plot svg [stroke^=rgb]')].map((each) => each.getAttribute('stroke'))"
    )
    light = page.evaluate(inks)
    assert "rgb(0, 114, 178)" in light
    for theme in ("light", "dark"):
        page.get_by_role("button", name="Colours:", exact=False).click()
        page.get_by_role("button", name=f"Colours: {theme}").wait_for()
    page.wait_for_function(f"{inks}.includes('rgb(86, 180, 233)')")
    assert not set(page.evaluate(inks)) & {"rgb(0, 114, 178)"}
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"


@pytest.mark.parametrize(
    ("address", "title"),
    [
        ("/results", "Results"),
        ("/results?of=lab/results/queues", "queues results"),
        ("/studies?of=lab/studies/queues.toml", "queues study"),
        ("/studies?of=shipped/gallery/incast", "incast study"),
        ("/run?of=lab/results/queues&run=13", "queues run 13"),
        ("/compare?of=lab/results/queues&beside=lab/results/other", "queues beside other"),
        ("/playground?v=1&d=1&l=10&f=cubic", "Playground"),
        ("/nonsuch", "No such page"),
    ],
)
def test_a_tab_is_called_after_its_page(page: Any, address: str, title: str) -> None:
    page.goto(address)
    expect(page).to_have_title(f"{title} · Sawtooth")


def test_a_lesson_s_tab_is_called_after_it_and_a_link_renames_it(page: Any) -> None:
    page.goto("/lessons")
    expect(page).to_have_title("Lessons · Sawtooth")
    page.locator(".card a").first.click()
    expect(page).to_have_title(re.compile(r"^[\w-]+ lesson · Sawtooth$"))


def test_panels_say_of_which_factor_their_level_is(page: Any) -> None:
    page.goto('/results?of=lab/results/queues&figure={"metric":"goodput_bps","x":"arm","panels":"limit"}')
    # Cells of verdicts are called so, too.
    page.get_by_role("region", name="Workbench").get_by_text("limit = 0.25 bdp", exact=True).wait_for()


def test_an_empty_measure_is_the_one_that_one_begins_with(page: Any) -> None:
    page.goto('/results?of=lab/results/queues&figure={"metric":"nonsuch","x":"limit"}')
    wrong = page.get_by_role("alert").filter(has_text="nonsuch")
    wrong.wait_for()
    field = page.get_by_label("Measure, or an expression of some")
    field.fill("")
    field.press("Enter")
    expect(field).to_have_value("goodput_bps")
    expect(wrong).to_have_count(0)


def test_what_adaptive_studies_come_to_is_said_from_the_least_to_the_most(page: Any) -> None:
    page.goto("/studies?of=shipped/gallery/incast")
    page.get_by_text("180 to 3,600 runs", exact=True).wait_for()
    page.goto("/studies")
    page.locator(".card", has=page.locator('a[href="/studies?of=shipped%2Fgallery%2Fincast"]')).get_by_text("180 to 3,600 runs").wait_for()
