"""Lessons: what each says holds in its own simulations, and no number of it is typed."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient

import sawtooth
from sawtooth import _core
from sawtooth.study import Study
from sawtooth.web.lessons import Lesson, lessons
from sawtooth.web.play import play
from sawtooth.web.setting import parse
from tests.web.test_pages import violations

EVERY = pytest.mark.parametrize("lesson", lessons().values(), ids=list(lessons()))


def test_there_are_eight_in_their_order() -> None:
    assert list(lessons()) == [
        "slow-start",
        "congestion-avoidance",
        "bufferbloat",
        "rtt-unfairness",
        "incast",
        "bbr-against-cubic",
        "l4s",
        "the-stall",
    ]


@EVERY
def test_every_claim_holds_in_the_simulations_of_its_lesson(lesson: Lesson) -> None:
    numbers = lesson.numbers()
    for claim in (*lesson.claims, *lesson.answers):
        value = _core.evaluate(claim.number, numbers)[0]
        assert claim.above is not None or claim.below is not None
        assert claim.holds(numbers), f"{claim.says}: {value}"


@EVERY
def test_what_a_claim_says_has_its_numbers_from_the_simulation(lesson: Lesson) -> None:
    numbers = lesson.numbers()
    for claim in (*lesson.claims, *lesson.answers):
        assert re.search(r"\{[^}]+\}", claim.says), "a claim without a number"
        assert "{" not in claim.said(numbers)


def test_a_claim_that_does_not_hold_is_found() -> None:
    lesson = lessons()["bufferbloat"]
    numbers = lesson.numbers()
    swapped = {**numbers, "bloated_wait_ms": numbers["one_wait_ms"]}
    assert [claim.holds(swapped) for claim in lesson.claims].count(False) == 2


@EVERY
def test_a_lesson_is_whole_and_its_settings_are_playground_addresses(lesson: Lesson) -> None:
    assert lesson.question.endswith("?")
    assert 2 <= len(lesson.steps) <= 3
    assert lesson.exercise.count("?") + lesson.exercise.count("Find") >= 1
    assert lesson.answers
    assert lesson.tries
    assert lesson.sources
    every = [*lesson.steps, *lesson.tries]
    assert len({step.name for step in every}) == len(every)
    for step in every:
        assert parse(step.address).address() == step.address, "it is written as short as it can be"
        assert bool(step.look) == (step in lesson.steps)
    for source in lesson.sources:
        assert source.get("url", "https://www.rfc-editor.org/rfc/").startswith("https://www.rfc-editor.org/rfc/")
        assert source["text"].startswith("RFC") == ("url" in source)


@EVERY
def test_axes_hold_every_step_of_a_lesson(lesson: Lesson) -> None:
    assert len({parse(step.address).duration for step in lesson.steps}) == 1, "the axis of time is one, too"
    axes = lesson.axes()
    highest = dict.fromkeys(axes, 0.0)
    for step in lesson.steps:
        played = play(parse(step.address), seconds=30)
        for curve in played.head["curves"]:
            highest[curve["kind"]] = max(highest[curve["kind"]], float(np.nanmax(played.columns[curve["column"]])))
    assert axes == highest
    assert set(axes) == {"goodput", "cwnd", "rtt", "queue"}


def test_of_cubic_the_far_window_is_the_larger_one_most_of_the_time_as_its_step_says() -> None:
    step = lessons()["rtt-unfairness"].steps[1]
    assert "most of the time it is the larger" in step.look
    played = play(parse(step.address), seconds=30)
    windows = {curve["name"]: played.columns[curve["column"]] for curve in played.head["curves"] if curve["kind"] == "cwnd"}
    assert np.mean(windows["cubic-2"] > windows["cubic-1"]) > 0.5


def test_a_lesson_that_there_is_not_is_told(client: TestClient) -> None:
    error = client.get("/api/lessons/lesson", params={"name": "slow-star"}).json()["error"]
    assert error["message"] == "there is no lesson `slow-star`"
    assert error["hint"] == "did you mean `slow-start`?"


def test_from_the_list_to_a_setting_and_on_to_the_next_lesson(page: Any) -> None:
    page.goto("/lessons")
    page.get_by_role("link", name="3. Bufferbloat").click()
    page.get_by_role("heading", name="Bufferbloat").wait_for()
    page.get_by_text("What the simulation shows").click()
    expect(page.get_by_text(re.compile(r"Packets wait \d+ ms on average instead of [\d.]+ ms"))).to_have_count(1)
    page.get_by_role("link", name="Next lesson").click()
    page.get_by_role("heading", name="RTT unfairness").wait_for()
    page.get_by_role("link", name="The same with CUBIC").click()
    page.locator('[data-done="true"]').wait_for()
    page.get_by_role("region", name="Flows").get_by_role("rowheader", name="cubic-2", exact=True).wait_for()


def test_a_setting_leads_back_to_its_lesson_and_a_lesson_to_the_setting(page: Any) -> None:
    page.goto("/lessons?lesson=bufferbloat")
    page.get_by_text("What the simulation shows").click()
    assert "were chosen after the simulations had been seen" in page.locator("details").first.inner_text()
    page.locator(".steps a").first.click()
    page.locator('[data-done="true"]').wait_for()
    page.wait_for_url("**&lesson=bufferbloat")
    back = page.get_by_role("navigation", name="Back")
    expect(back.get_by_role("link")).to_have_text(["← Back to the lesson “Bufferbloat”"])
    # What is set stays with its lesson; the study knows nothing of it.
    page.get_by_role("button", name="Add flows").click()
    page.wait_for_url(re.compile("f=.*f=.*&lesson=bufferbloat$"))
    assert "lesson" not in page.locator("pre.study").inner_text()
    setting = page.url
    page.get_by_role("link", name="Lessons", exact=True).click()
    page.get_by_role("link", name="1. Slow start").click()
    page.get_by_role("link", name="Back to the playground, as it was").click()
    page.wait_for_url(setting)
    page.locator('[data-done="true"]').wait_for()
    # Somebody else opens it, in a tab of their own.
    other = page.context.new_page()
    other.goto(setting)
    other.get_by_role("link", name="Back to the lesson “Bufferbloat”").click()
    other.get_by_role("heading", name="Bufferbloat").wait_for()
    other.goto(setting.replace("lesson=bufferbloat", "lesson=nothing"))
    other.locator('[data-done="true"]').wait_for()
    assert other.get_by_role("navigation", name="Back").count() == 0
    other.close()


@pytest.mark.parametrize("name", list(lessons()))
def test_every_exercise_has_a_folded_answer(page: Any, name: str) -> None:
    page.goto(f"/lessons?lesson={name}")
    answer = page.locator("details", has=page.get_by_text("Answer", exact=True))
    expect(answer.get_by_role("listitem").first).to_be_hidden()
    page.get_by_text("Answer", exact=True).click()
    expect(answer.get_by_role("listitem").first).to_be_visible()
    expect(answer.get_by_role("link")).to_have_count(len(lessons()[name].tries))


def test_from_step_to_step_axes_stay_and_each_says_what_to_look_for(page: Any) -> None:
    first, second, _ = lessons()["bufferbloat"].steps
    page.goto(f"/playground?{first.address}&lesson=bufferbloat")
    step = page.get_by_role("region", name="Step of the lesson")
    expect(step).to_contain_text(f"Step 1 of 3: {first.title}")
    expect(step).to_contain_text(first.look)
    page.locator('[data-done="true"]').wait_for()
    page.get_by_role("link", name=f"Next step: {second.title}").click()
    expect(step).to_contain_text(f"Step 2 of 3: {second.title}")
    page.locator('[data-done="true"]').wait_for()
    # Whoever changes the setting is still at the step, and finds back to it.
    page.get_by_role("button", name="Add flows").click()
    step.get_by_role("link", name="as the lesson has it").click()
    expect(step.get_by_role("link", name="as the lesson has it")).to_have_count(0)
    expect(step).to_contain_text("Step 2 of 3")
    page.get_by_role("link", name="Next step").click()
    page.get_by_role("link", name="To what it shows, and an exercise").click()
    page.get_by_role("heading", name="Bufferbloat").wait_for()


def test_on_a_phone_what_to_look_for_leads_to_where_it_is_seen(page: Any) -> None:
    lesson = lessons()["bufferbloat"]
    page.goto(f"/playground?{lesson.steps[0].address}&lesson=bufferbloat")
    page.locator('[data-done="true"]').wait_for()
    # Beside the curves there is no need of it.
    expect(page.get_by_role("link", name="To the curves")).to_be_hidden()
    page.set_viewport_size({"width": 390, "height": 800})
    heading = page.get_by_role("heading", name="Goodput, Mbit/s")
    expect(heading).not_to_be_in_viewport()
    page.get_by_role("link", name="To the curves").click()
    expect(heading).to_be_in_viewport()
    # Numbers stay above, and do not cover it.
    numbers = page.locator(".figures").bounding_box()
    assert numbers["y"] + numbers["height"] <= heading.bounding_box()["y"] < 400
    expect(page.get_by_role("link", name="Next step")).to_have_count(1)
    assert page.locator(".note").inner_text().count(lesson.steps[0].look) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize(
    "path",
    [
        "/playground",
        "/playground?v=1&d=10&l=12/6/1/8&l=10&f=cubic,1,0-2&f=bbr,1,2-1",
        "/lessons",
        "/lessons?lesson=l4s",
        "/playground?v=1&d=60&l=10,10&f=cubic&lesson=bufferbloat",
    ],
)
def test_pages_are_accessible_and_no_wider_than_the_screen(page: Any, path: str, width: int, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(path)
    page.locator('[data-done="true"], .card, .steps').first.wait_for()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("rule", "stalls_ms"), [("nagle", 200), ("minshall", 0)])
def test_what_the_stall_says_of_a_connection_that_goes_on(rule: str, stalls_ms: int) -> None:
    setting = parse(f"v=1&d=2&l=100,0.01,100p&f=reno,1,0-1,0,0,35&stack=rfc&partial={rule}&window=32&memory=64")
    scenario = Study.parse(setting.text(), Path("stall.toml"), files=False).scenario
    (flow,) = scenario["flows"]
    flow["source"] = {"name": "messages", "size": "35 kB", "count": 2, "interval": "500 ms"}
    stall_ns = sawtooth.simulate(scenario).flows["stall_ns"].to_list()
    assert [round(each / 1e6) for each in stall_ns] == [stalls_ms]
