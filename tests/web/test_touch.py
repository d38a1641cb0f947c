"""Fingers on what is drawn over time: two zoom, one moves or chooses, two taps show all, and up and down the page is scrolled."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.conftest import PATIENCE, Explorer
from tests.web.test_run_page import RUN, shown

Fingers = Callable[..., None]


@pytest.fixture
def phone(browser: Any, reading: Explorer) -> Iterator[Any]:
    """A page on a screen of a phone's size that is touched."""
    context = browser.new_context(viewport={"width": 390, "height": 800}, base_url=reading.url, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(reading.opening)
    yield page
    context.close()


@pytest.fixture
def fingers(phone: Any) -> Fingers:
    """Moves fingers, each over its points (x, y), and lifts them."""
    session = phone.context.new_cdp_session(phone)

    def send(kind: str, points: list[tuple[float, float]]) -> None:
        touched = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touched})

    def moved(*ways: list[tuple[float, float]]) -> None:
        steps = list(zip(*ways, strict=True))
        send("touchStart", list(steps[0]))
        for step in steps[1:]:
            send("touchMove", list(step))
        send("touchEnd", [])

    return moved


def panel(page: Any, places: str = ".panel .u-over") -> tuple[float, float, Callable[[float], tuple[float, float]]]:
    """Where a plot is, and what tells a point of it by its share of the width."""
    place = page.locator(places).first
    place.scroll_into_view_if_needed()
    box = place.bounding_box()
    middle = box["y"] + box["height"] / 2
    return box["x"], box["width"], lambda share: (box["x"] + share * box["width"], middle)


def way(at: Callable[[float], tuple[float, float]], begin: float, end: float, steps: int = 8) -> list[tuple[float, float]]:
    return [at(begin + (end - begin) * step / steps) for step in range(steps + 1)]


def test_two_fingers_zoom_about_what_is_below_them_and_one_moves_it(phone: Any, fingers: Fingers) -> None:
    phone.goto(RUN)
    phone.locator(".panel canvas").first.wait_for()
    phone.get_by_text("Two fingers zoom", exact=False).wait_for()
    assert shown(phone) == (0.0, 4.0)
    _, _, at = panel(phone)
    # A second apart in the middle of four: pulled to the edges it is twice as wide.
    fingers(way(at, 0.375, 0.25), way(at, 0.625, 0.75))
    expect(phone.locator(".tools output")).not_to_contain_text("0.000 to 4.000")
    begin, end = shown(phone)
    assert (begin, end) == pytest.approx((1.0, 3.0), abs=0.05)
    # One finger moves it: to the left, later times come.
    fingers(way(at, 0.75, 0.5))
    expect(phone.locator(".tools output")).not_to_contain_text(f"{begin:.3f}")
    assert shown(phone) == pytest.approx((1.5, 3.5), abs=0.05)
    # Pushed together, all is shown and nothing beyond.
    fingers(way(at, 0.1, 0.4), way(at, 0.9, 0.6))
    expect(phone.locator(".tools output")).to_contain_text("0.000 to 4.000")


def test_one_finger_chooses_a_stretch_of_the_whole_and_two_taps_show_all_again(phone: Any, fingers: Fingers) -> None:
    phone.goto(RUN)
    phone.locator(".panel canvas").first.wait_for()
    _, _, at = panel(phone)
    fingers(way(at, 0.5, 0.75))
    expect(phone.locator(".tools output")).to_contain_text("2.")
    assert shown(phone) == pytest.approx((2.0, 3.0), abs=0.05)
    assert phone.locator(".panel .u-select").first.bounding_box()["width"] == 0
    phone.touchscreen.tap(*at(0.5))
    phone.touchscreen.tap(*at(0.5))
    expect(phone.locator(".tools output")).to_contain_text("0.000 to 4.000")
    # A tap is a click: it chooses a moment.
    expect(phone.get_by_label("Look at moment (s)")).not_to_have_value("")


def test_up_and_down_the_page_is_scrolled_and_the_stretch_stays(phone: Any, fingers: Fingers) -> None:
    phone.goto(RUN)
    phone.locator(".panel canvas").first.wait_for()
    _, _, at = panel(phone)
    (x, y), before = at(0.5), phone.evaluate("scrollY")
    fingers([(x, y - 30 * step) for step in range(9)])
    phone.wait_for_function(f"scrollY > {before + 60}")
    assert shown(phone) == (0.0, 4.0)


def test_plots_of_the_playground_are_zoomed_together(phone: Any, fingers: Fingers) -> None:
    phone.goto("/playground?v=1&d=20&l=20,20,1bdp&f=cubic,2")
    phone.locator("[data-done=true]").wait_for()
    _, _, at = panel(phone, ".plots .u-over")
    drawn = lambda: phone.evaluate("[...document.querySelectorAll('.plots canvas')].map((each) => each.toDataURL())")  # noqa: E731
    before = drawn()
    assert len(before) == 4
    fingers(way(at, 0.375, 0.25), way(at, 0.625, 0.75))
    eventually(lambda: all(one != other for one, other in zip(before, drawn(), strict=True)))
    phone.touchscreen.tap(*at(0.5))
    phone.touchscreen.tap(*at(0.5))
    eventually(lambda: drawn() == before)


def eventually(holds: Callable[[], bool]) -> None:
    """What is drawn is no element that could be waited for."""
    end = time.monotonic() + PATIENCE / 1000
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
