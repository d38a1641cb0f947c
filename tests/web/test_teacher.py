"""A lesson is prepared with the keyboard alone: from its text to a change in the playground, a study of one's own, its results, a run, and a packet."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

FOCUS = """() => {
  const found = document.activeElement;
  const style = getComputedStyle(found);
  return {
    where: found.outerHTML.slice(0, 120), lost: found === document.body,
    seen: (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none',
  };
}"""


def tab_to(page: Any, role: str, name: str, *, most: int = 60) -> None:
    """Goes on with Tab until it is reached, and sees that it is."""
    wanted = page.get_by_role(role, name=name, exact=True).first
    wanted.wait_for()
    passed: list[str] = []
    for _ in range(most):
        page.keyboard.press("Tab")
        if wanted.evaluate("(found) => found === document.activeElement"):
            assert page.evaluate(FOCUS)["seen"], f"nothing shows that {name} has the focus"
            return
        passed.append(page.evaluate(FOCUS)["where"])
    raise AssertionError(f"{name} is not reached: {passed}")


def is_kept(page: Any) -> None:
    """The focus is somewhere on the page."""
    page.wait_for_timeout(50)  # what is drawn anew is there in the next frame
    assert not page.evaluate(FOCUS)["lost"]


def is_at_the_top(page: Any) -> None:
    """Whoever came to another page goes on from its beginning."""
    expect(page.locator("main")).to_be_focused()


def test_a_lesson_is_prepared_with_the_keyboard_alone(running_page: Any, folder: Path) -> None:
    page, press = running_page, running_page.keyboard.press
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/lessons")
    tab_to(page, "link", "3. Bufferbloat")
    press("Enter")
    page.get_by_role("heading", name="Bufferbloat").wait_for()
    is_at_the_top(page)
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    tab_to(page, "link", "A buffer of one BDP")
    press("Enter")
    page.locator('[data-done="true"]').wait_for()
    is_at_the_top(page)
    # To the next step, and back to the lesson's text at the end.
    tab_to(page, "link", "Next step: A buffer of twenty")
    press("Enter")
    page.get_by_text("Step 2 of 3").wait_for()
    is_kept(page)
    tab_to(page, "slider", "Rate, Mbit/s")
    before = page.url
    press("ArrowRight")
    page.wait_for_url(lambda url: url != before)
    is_kept(page)
    tab_to(page, "button", "Copy the address")
    press("Enter")
    page.get_by_text("The address is copied.").wait_for()
    is_kept(page)
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    tab_to(page, "textbox", "Name")
    press("Control+a")
    page.keyboard.type("mine")
    tab_to(page, "button", "Save as study")
    press("Enter")
    tab_to(page, "link", "lab/mine.toml")
    assert (folder / "mine.toml").is_file()
    press("Enter")
    page.wait_for_url("**/studies?of=lab%2Fmine.toml")
    is_at_the_top(page)
    page.get_by_text("1 run", exact=True).wait_for()
    # Tab leaves the editor.
    tab_to(page, "button", "Start")
    press("Enter")
    sweeps = page.get_by_role("list", name="Sweeps")
    expect(sweeps).to_contain_text("done · 1 of 1 run", timeout=180_000)
    is_kept(page)
    press("Control+Home")
    tab_to(page, "link", "lab/results/mine", most=120)
    press("Enter")
    page.locator(".plot svg").first.wait_for()
    is_at_the_top(page)
    tab_to(page, "combobox", "Table", most=120)
    press("End")
    page.keyboard.type("runs")
    page.get_by_role("region", name="Table runs").get_by_role("link", name="0", exact=True).wait_for()
    tab_to(page, "link", "0")
    press("Enter")
    page.locator(".panel canvas").first.wait_for()
    is_at_the_top(page)
    tab_to(page, "button", "Show packets on their links", most=120)
    press("Enter")
    page.get_by_role("button", name="Next loss").wait_for()
    is_kept(page)
    tab_to(page, "button", "Next loss")
    press("Enter")
    tab_to(page, "slider", "time")
    moment = page.locator("output#clock").inner_text()
    press("ArrowRight")
    assert page.locator("output#clock").inner_text() != moment


@pytest.mark.parametrize(("address", "link"), [("/results", "queues"), ("/lessons?lesson=bufferbloat", "Next lesson")])
def test_whoever_goes_on_within_a_part_begins_at_the_top(page: Any, address: str, link: str) -> None:
    page.goto(address)
    tab_to(page, "link", link)
    page.keyboard.press("Enter")
    is_at_the_top(page)
    page.go_back()
    is_at_the_top(page)


def test_what_goes_as_it_is_pressed_leaves_the_focus_nearby(page: Any) -> None:
    page.goto("/playground?v=1&d=3&l=10&f=cubic&f=reno")
    page.locator('[data-done="true"]').wait_for()
    page.get_by_role("button", name="reno", exact=False).first.press("Enter")
    page.get_by_role("button", name="Remove these flows").press("Enter")
    expect(page.get_by_role("button", name="Remove this link")).to_be_focused()
    page.goto("/live")
    page.get_by_role("button", name="Watch").press("Enter")
    page.get_by_role("button", name="Stop").press("Enter")
    expect(page.get_by_role("button", name="Watch", exact=True)).to_be_focused()
