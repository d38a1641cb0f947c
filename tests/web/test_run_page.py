"""The page of a run in a real browser: zooming down to single packets, what is laid over each other, both futures, and the packets in motion."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient

import sawtooth
from tests.web.test_pages import violations

RUN = "/run?of=lab/results/queues&run=13"


def shown(page: Any) -> tuple[float, float]:
    """The stretch of time that is shown."""
    words = page.locator(".tools output").inner_text().split()
    return float(words[0]), float(words[2])


def opened(page: Any, more: str = "") -> None:
    page.goto(RUN + more)
    page.get_by_role("heading", level=1, name="run 13", exact=False).wait_for()
    page.locator(".panel canvas").first.wait_for()


def test_from_results_to_a_run(page: Any) -> None:
    page.goto("/results?of=lab/results/queues")
    page.get_by_label("Table", exact=True).select_option("runs")
    page.get_by_role("link", name="13", exact=True).click()
    page.get_by_text("its flows are those that were stored, to the bit", exact=False).wait_for()
    expect(page.get_by_role("img", name="Congestion window", exact=False)).to_have_count(1)
    expect(page.get_by_role("img", name="What limits each sender", exact=False)).to_have_count(1)


def test_the_page_without_a_run_leads_to_those_that_there_are(page: Any) -> None:
    page.goto("/run")
    page.get_by_role("listitem").filter(has_text="lab/results/queues").get_by_role("link", name="Run 0").click()
    page.get_by_role("heading", level=1, name="run 0", exact=False).wait_for()


def test_time_is_zoomed_by_dragging_the_wheel_and_keys_for_all_panels_at_once(page: Any) -> None:
    opened(page)
    assert shown(page) == (0.0, 4.0)
    box = page.locator(".panel .u-over").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 40, steps=3)
    page.mouse.up()
    page.locator(".tools output", has_text="2.").wait_for()
    assert shown(page) == pytest.approx((2.0, 3.0), abs=0.02)
    page.get_by_role("region", name="Over time", exact=False).focus()
    page.keyboard.press("+")
    page.keyboard.press("Shift+ArrowRight")
    expect(page.locator(".tools output")).to_have_text(re.compile(r"^(2\.[7-9]|3\.)"))
    page.keyboard.press("Home")
    expect(page.locator(".tools output")).to_have_text(re.compile(r"^0\.000 to 4\.000"))
    page.keyboard.down("Control")
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    expect(page.locator(".tools output")).not_to_have_text(re.compile(r"^0\.000"))


def test_keys_and_buttons_zoom_about_the_moment_that_is_looked_at(page: Any) -> None:
    opened(page)
    page.get_by_label("Look at moment (s)").fill("0.5")
    page.keyboard.press("Enter")
    page.get_by_role("region", name="Over time", exact=False).focus()
    for _ in range(10):
        page.keyboard.press("+")
    expect(page.locator(".tools output")).to_have_text(re.compile(r"^0\.4\d* to 0\.5\d* s"))
    low, high = shown(page)
    assert low < 0.5 < high and high - low == pytest.approx(4 / 1.5**10, rel=0.1)
    page.get_by_role("button", name="Shorter").click()
    expect(page.locator(".tools output")).not_to_have_text(re.compile(rf"^{low}"))
    low, high = shown(page)
    assert low < 0.5 < high


def test_a_moment_has_its_values_in_words(page: Any) -> None:
    opened(page)
    page.get_by_label("Look at moment (s)").fill("2.5")
    page.keyboard.press("Enter")
    values = page.get_by_role("region", name="Values at 2.5 s")
    values.wait_for()
    assert "cwnd" in values.get_by_role("row").nth(1).inner_text()


def test_both_futures_are_laid_over_each_other_and_part_where_something_happened(page: Any) -> None:
    opened(page)
    form = page.get_by_role("form", name="What if")
    form.get_by_label("what happens to it").select_option("rate")
    form.get_by_label("New rate").fill("2 Mbit/s")
    form.get_by_label("It happens at (s)", exact=True).fill("2 s")
    form.get_by_role("button", name="See both futures").click()
    page.get_by_text("both futures are equal to the bit", exact=False).wait_for()
    expect(page.get_by_role("list", name="Flows").get_by_role("listitem")).to_have_text(["bulk, run 13 cubic", "bulk, otherwise cubic"])
    assert "change=" in page.url
    # Over which time sums are: what is the same in both counts in both.
    told = page.get_by_role("region", name="Numbers of these runs").get_by_text("Of whole runs", exact=False).inner_text()
    assert re.match(
        r"Of whole runs, whatever stretch is shown below: from 0 to [\d.]+ s\. What is the same in both futures, until 2\.\d* s, counts in both\. "
        "Goodput is of the time from a flow's start, of all flows from the first start, to the end of the run, also where a transfer completed before",
        told,
    )
    form.get_by_label("New rate").fill("fast")
    form.get_by_role("button", name="See both futures").click()
    page.get_by_role("alert").get_by_text("bottleneck has rate fast", exact=False).wait_for()
    # What is of the change before is paler.
    expect(page.locator(".note.stale")).to_be_visible()
    expect(page.get_by_role("region", name="Over time", exact=False)).to_have_class("over-time stale")
    form.get_by_role("button", name="Only what was").click()
    expect(page.locator(".stale")).to_have_count(0)
    page.get_by_role("alert").wait_for(state="detached")


def test_a_flow_has_one_colour_in_both_futures_and_rows_of_what_limits_it_have_its_name(page: Any) -> None:
    page.add_init_script(
        """
        window.written = [];
        const fill = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) { written.push(text); return fill.call(this, text, ...rest); };
        """
    )
    opened(page)
    limits = page.get_by_role("img", name="What limits each sender over time", exact=False)
    limits.wait_for()
    # Alone it needs no name.
    assert "bulk" not in page.evaluate("written")
    height = limits.bounding_box()["height"]
    page.get_by_role("form", name="What if").get_by_role("button", name="See both futures").click()
    flows = page.get_by_role("list", name="Flows").locator("svg")
    expect(flows).to_have_count(2)
    page.wait_for_function("written.includes('bulk, run 13') && written.includes('bulk, otherwise')")
    assert limits.bounding_box()["height"] > height + 30
    assert (
        flows.evaluate_all("all => all.map((each) => getComputedStyle(each).color)")
        == [flows.first.evaluate("e => getComputedStyle(e).color")] * 2
    )
    assert flows.locator("line").evaluate_all("all => all.map((each) => !!each.getAttribute('stroke-dasharray'))") == [False, True]


def test_two_runs_are_laid_over_each_other(page: Any) -> None:
    opened(page)
    page.get_by_label("Beside run").fill("9")
    page.keyboard.press("Enter")
    page.get_by_text("bulk, run 9", exact=False).first.wait_for()
    assert "beside=9" in page.url


def test_single_packets_are_seen_in_the_time_sequence_graph_and_in_motion(page: Any) -> None:
    opened(page)
    page.get_by_label("Time-sequence graph", exact=True).get_by_role("combobox").select_option("bulk")
    page.get_by_role("img", name="Time-sequence graph of bulk", exact=False).wait_for()
    page.get_by_label("The algorithms' own variables").select_option("w_max")
    page.get_by_role("img", name="w_max over time").wait_for()
    page.locator("summary", has_text="Loss episodes").click()
    page.get_by_role("button", name="0.747597").click()
    expect(page.locator(".tools output")).to_have_text(re.compile(r"^0\.6"))
    graph = page.locator("section[aria-label='Time-sequence graph'] .u-over")
    graph.scroll_into_view_if_needed()
    box = graph.bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5)
    page.get_by_role("button", name="What if bottleneck loses it?").wait_for()
    page.get_by_role("button", name="Show packets on their links").click()
    page.get_by_role("button", name="Next loss").click()
    clock = page.locator("#clock").inner_text()
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.locator("#clock")).not_to_have_text(clock)
    page.locator(".film .packet").first.wait_for(state="attached")
    film = page.get_by_role("region", name="Packets on their links")
    expect(film.get_by_role("button", name="Show packets on their links")).to_have_text(["Show packets on their links"])
    expect(film.locator(".row > .faint")).to_have_text("from the beginning of what is shown above, as far as packets fit")
    expect(film.locator("figcaption").last).to_have_text(re.compile(r"[\d.]+ to [\d.]+ s of 4 s are shown"))
    page.get_by_role("button", name="What if bottleneck loses it?").click()
    page.get_by_text("which is number", exact=False).wait_for()


def test_what_is_no_run_is_told(page: Any) -> None:
    page.goto("/run?of=lab/results/queues&run=99")
    page.get_by_role("alert").get_by_text("there is no run 99").wait_for()
    page.goto("/run")
    page.get_by_role("heading", name="One run in detail").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_the_page_is_accessible_and_no_wider_than_the_screen(page: Any, width: int, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    change = {"kind": "outage", "at": "2 s", "link": "bottleneck", "value": "300 ms"}
    opened(page, f"&beside=9&change={quote(json.dumps(change))}")
    page.get_by_text("both futures are equal to the bit", exact=False).wait_for()
    page.get_by_label("Look at moment (s)").fill("2.5")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Show packets on their links, otherwise").click()
    page.get_by_role("button", name="Next loss").wait_for()
    stage = page.locator(".stage svg").bounding_box()
    assert stage["x"] >= 0 and stage["x"] + stage["width"] <= width
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("moment", ["-3", "77", "x"])
def test_a_moment_that_the_run_does_not_have_is_told(page: Any, moment: str) -> None:
    opened(page, f"&moment={moment}")
    page.get_by_text(f"names the moment {moment}, which is no time of this run: it lasts from 0 to 4 s").wait_for()
    expect(page.get_by_role("heading", name="Values at", exact=False)).to_have_count(0)


def test_a_change_that_was_cut_is_told(page: Any) -> None:
    opened(page, "&change={bad")
    page.get_by_text("The address does not say which change").wait_for()


def test_units_of_windows_and_rates_are_those_of_other_pages(page: Any) -> None:
    opened(page)
    expect(page.get_by_role("region", name="Congestion window (kB)")).to_have_count(1)
    expect(page.locator("article li", has_text="Mbit/s").first).to_have_text(re.compile(r"bulk: goodput \d(\.\d+)? Mbit/s, "))


LOSSY = """
name = "lossy"
question = "What of a link that loses packets?"

[scenario]
duration = "4 s"
links.bottleneck = { rate = "5 Mbit/s", delay = "10 ms", loss = 0.02, queue = { name = "drop_tail", limit = "1000 packets" } }

[[scenario.flows]]
path = ["bottleneck"]
"""


def test_what_strokes_and_peaks_mean_is_said_where_there_are_such(running_page: Any, folder: Path) -> None:
    (folder / "lossy.toml").write_text(LOSSY)
    sawtooth.run(folder / "lossy.toml", folder / "results" / "lossy")
    running_page.goto("/run?of=lab/results/lossy&run=0")
    queues = running_page.get_by_role("region", name="Queues (packets)")
    expect(queues).to_contain_text("strokes near the top: lost on the wire")
    expect(queues).not_to_contain_text("drops")
    running_page.goto("/run?of=lab/results/queues&run=0")
    expect(queues).to_contain_text("strokes at the top: drops")
    # It has loss episodes, and never more than a part of the rate.
    running_page.get_by_text("Loss episodes", exact=True).click()
    expect(running_page.get_by_role("region", name="Loss episodes").get_by_role("row").nth(1)).to_be_visible()
    expect(running_page.get_by_text("Why is it above the link's rate at times?")).to_have_count(0)
    running_page.goto("/run?of=lab/results/queues&run=23")
    running_page.get_by_text("Why is it above the link's rate at times?").wait_for()


def test_the_rate_of_a_run_is_that_of_the_slowest_link_of_each_flow_unless_it_changes(client: TestClient) -> None:
    def rates(**more: str) -> Any:
        content = client.get("/api/run/series", params={"of": "lab/results/queues", "run": "13", **more}).content
        return json.loads(content[4 : 4 + int.from_bytes(content[:4], "little")])["rates"]

    assert rates() == {"bulk": 5}
    assert rates(change=json.dumps({"kind": "rate", "at": "2 s", "link": "bottleneck", "value": "50 Mbit/s"})) == {"bulk": None}
