"""What is open on a page, and how it is zoomed, is there again after a reload and after Back."""

import re
from typing import Any

from playwright.sync_api import expect

OF = "/results?of=lab/results/queues"
RUN = "/run?of=lab/results/queues&run=13"


def test_tables_that_are_open_and_how_they_are_sorted_come_back(page: Any) -> None:
    page.goto(OF)
    page.get_by_label("Table", exact=True).select_option("flows")
    table = page.get_by_role("region", name="Table flows")
    table.get_by_role("button", name="goodput_bps", exact=True).click()
    table.get_by_role("button", name="goodput_bps ↑", exact=True).wait_for()
    page.locator("summary", has_text="Its numbers").click()
    numbers = page.get_by_role("region", name="Numbers of the figure")
    numbers.get_by_role("button").first.click()
    points = page.get_by_role("heading", name="4 runs of this point")
    points.wait_for()
    for go in (page.reload, lambda: (page.goto("/lessons"), page.get_by_role("heading", name="Lessons").wait_for(), page.go_back())):
        go()
        points.wait_for()
        numbers.wait_for()
        table.get_by_role("button", name="goodput_bps ↑", exact=True).wait_for()
        expect(page.get_by_label("Table", exact=True)).to_have_value("flows")
    page.get_by_role("button", name="Close").click()
    expect(points).to_have_count(0)
    page.reload()
    numbers.wait_for()
    expect(points).to_have_count(0)
    # Another figure has other points.
    page.get_by_label("Table", exact=True).select_option("")
    expect(table).to_have_count(0)
    assert "table=" not in page.url and "rows=" not in page.url


def test_the_stretch_of_time_the_moment_and_what_is_chosen_of_a_run_come_back(page: Any) -> None:
    page.goto(RUN)
    page.locator(".panel canvas").first.wait_for()
    shown = page.locator(".tools output")
    expect(shown).to_have_text("0.000 to 4.000 s")
    page.get_by_role("button", name="Shorter").click()
    expect(shown).to_have_text("1.000 to 3.000 s")
    page.get_by_label("Look at moment (s)").fill("1500 ms")
    page.keyboard.press("Enter")
    page.get_by_role("region", name="Values at 1.5 s").wait_for()
    page.get_by_label("The algorithms' own variables").select_option("w_max")
    page.locator("summary", has_text="Loss episodes").click()
    page.wait_for_url(re.compile("from=1&to=3"))
    for go in (page.reload, lambda: (page.goto("/lessons"), page.get_by_role("heading", name="Lessons").wait_for(), page.go_back())):
        go()
        expect(shown).to_have_text("1.000 to 3.000 s")
        page.get_by_role("region", name="Values at 1.5 s").wait_for()
        page.get_by_role("img", name="w_max over time").wait_for()
        page.get_by_role("button", name="0.747597").wait_for()


def test_moments_are_plain_numbers_or_times_and_what_is_neither_is_told(page: Any) -> None:
    page.goto(RUN)
    page.locator(".panel canvas").first.wait_for()
    moment = page.get_by_label("Look at moment (s)")
    for text in ("2.5", "2.5 s", "2500ms"):
        moment.fill("")
        page.keyboard.press("Enter")
        moment.fill(text)
        page.keyboard.press("Enter")
        page.get_by_role("region", name="Values at 2.5 s").wait_for()
    moment.fill("soon")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("`soon` is no time: write 1.5, 1.5 s or 1500 ms.")
    page.get_by_role("region", name="Values at 2.5 s").wait_for()
    form = page.get_by_role("form", name="What if")
    form.get_by_label("It happens at (s)").fill("2")
    form.get_by_role("button", name="See both futures").click()
    page.get_by_text("both futures are equal to the bit", exact=False).wait_for()
    expect(page.get_by_role("alert")).to_have_count(1)
