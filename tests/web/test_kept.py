"""What is open on a page, and how it is zoomed, is there again after a reload and after Back."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.test_pages import violations

OF = "/results?of=lab/results/queues"
RUN = "/run?of=lab/results/queues&run=13"
POINT = '{"row":"","column":"","curve":"reno","level":"1 bdp"}'


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
    # A page that is left before it has said in its address what is open does not know it later.
    page.wait_for_url(re.compile("(?=.*from=1&to=3)(?=.*open=.*episodes)"))
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


@pytest.mark.parametrize(
    ("address", "told"),
    [
        (f"{RUN}&from=x&to=3", "names the stretch from x to 3, which is no part of this run: it lasts from 0 to 4 s"),
        (f"{RUN}&from=3&to=1", "names the stretch from 3 to 1, which is no part of this run"),
        (f"{RUN}&from=1", "names the stretch from 1 to ?, which is no part of this run"),
        (f"{RUN}&from=1&to=40", "names the stretch from 1 to 40, which is no part of this run"),
        (f"{RUN}&flows=[bulk", "does not say which flows: it may have been cut"),
        (f"{OF}&table=flow", "names the table flow, which these results do not have"),
        (f"{OF}&table=flows&rows=x", "does not say which rows: it may have been cut when it was copied. These are the first ones"),
        (f'{OF}&point={{"row":""', "does not say which point: it may have been cut when it was copied. None is looked into"),
        (f"{OF}&point={POINT.replace('1 bdp', '9 bdp')}", "names the point reno, 9 bdp, which this figure does not have"),
        (f"{OF}&open=numbers", "does not say which parts are unfolded: it may have been cut"),
    ],
)
def test_what_an_address_has_that_is_not_taken_is_told(page: Any, address: str, told: str) -> None:
    page.goto(address)
    expect(page.get_by_role("status").filter(has_text="The address")).to_have_text(re.compile(re.escape(told)))
    assert violations(page) == []


def test_of_an_address_that_is_taken_nothing_is_told(page: Any) -> None:
    for address in (
        f"{RUN}&from=1&to=3.5&moment=2&flows=[]&open=[]",
        f'{OF}&table=runs&rows={{"offset":0}}&point={POINT}&open=["numbers"]',
    ):
        page.goto(address)
        page.get_by_role("region", name="Table runs").or_(page.locator(".panel canvas")).first.wait_for()
        expect(page.get_by_role("status").filter(has_text="The address")).to_have_count(0)
