"""The workbench in a real browser: which items there are to choose, who loses a place, what runs of a point measure, and curves that can be told apart."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import expect

import sawtooth
from sawtooth.estimates import of_bounds
from sawtooth.plots import shifts
from sawtooth.report.answers import Answers
from sawtooth.results.dataset import Dataset
from sawtooth.web import workbench
from tests.web.conftest import STUDY as QUEUES
from tests.web.conftest import serving, showing
from tests.web.test_pages import violations

STUDY = """
name = "curves"
question = "Can eleven curves be told apart?"
repeat = 2

[scenario]
duration = "500 ms"
links.bottleneck = { rate = "5 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "10 packets" } }
flows = [{ name = "a", path = ["bottleneck"], start = "start * 100 ms" }, { name = "b", path = ["bottleneck"] }]

[draws]
start = { distribution = "uniform", low = "0", high = "1" }

[sweep]
"links.bottleneck.queue.limit" = ["5 packets", "10 packets"]
"links.bottleneck.delay" = ["1 ms", "2 ms", "5 ms", "10 ms", "15 ms", "20 ms", "25 ms", "30 ms", "40 ms", "50 ms", "60 ms"]
"""
OF = "/results?of=lab/curves"


@pytest.fixture(scope="module")
def curves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with results of a study of two flows and eleven delays."""
    folder = tmp_path_factory.mktemp("curves") / "lab"
    folder.mkdir()
    (folder / "curves.toml").write_text(STUDY)
    sawtooth.run(folder / "curves.toml", folder / "curves")
    return folder


@pytest.fixture
def bench(browser: Any, curves: Path) -> Iterator[Any]:
    """A page of an explorer on it."""
    with serving(curves) as explorer, showing(browser, explorer) as page:
        yield page


def address(**keys: Any) -> str:
    return f"{OF}&figure={quote(json.dumps(keys))}"


def test_items_of_other_flows_are_there_to_choose_while_one_is_shown(bench: Any) -> None:
    bench.goto(address(metric="goodput_bps", x="limit", curves="delay", of="b"))
    items = bench.get_by_role("combobox", name="item")
    expect(items).to_have_value("=b")
    expect(items.get_by_role("option")).to_have_text(
        ["all there are", "along x", "as curves", "as panels", "as rows of panels", "only b", "only a"]
    )
    items.select_option("=a")
    bench.get_by_text("Shown: a.").wait_for()


def test_who_loses_a_place_is_told_in_the_pages_words(bench: Any) -> None:
    bench.goto(address(metric="goodput_bps", x="limit", curves="delay", of="b"))
    bench.locator(".plot svg").first.wait_for()
    bench.get_by_role("combobox", name="item").select_option("curves")
    note = bench.get_by_role("status").filter(has_text="no place any more")
    expect(note).to_have_text(re.compile("The items are as curves now, where delay stood before"))
    problem = bench.get_by_role("alert")
    expect(problem).to_contain_text("choose a place for delay above, or one of the levels")
    expect(problem).not_to_contain_text("where =")
    assert violations(bench) == []
    bench.get_by_role("combobox", name="delay").select_option("panels")
    expect(note).to_have_count(0)
    expect(problem).to_have_count(0)
    bench.locator(".plot .faint", has_text="60 ms").wait_for()


@pytest.mark.parametrize("name", ["limit", "arm"])
def test_what_varies_and_was_to_have_no_place_says_why_it_has_one_again(page: Any, name: str) -> None:
    page.goto("/results?of=lab/results/queues")
    page.locator(".plot svg").first.wait_for()
    choice = page.get_by_role("combobox", name=name)
    was = choice.input_value()
    choice.select_option("")
    place = {"x": "along x", "curves": "as curves"}[was]
    page.get_by_role("status").get_by_text(f"{name} is {place} again: it varies, and what varies is not pooled.", exact=False).wait_for()
    expect(choice).to_have_value(was)
    choice.select_option("panels")
    expect(page.get_by_text("again: it varies", exact=False)).to_have_count(0)


def test_runs_of_a_point_have_the_value_of_the_measure_and_are_sorted_by_it(bench: Any) -> None:
    point = {"row": "", "column": "", "curve": "10 ms", "level": "5 packets"}
    bench.goto(f"{address(metric='goodput_bps', x='limit', curves='delay', of='b')}&point={quote(json.dumps(point))}")
    rows = bench.get_by_role("region", name="Table runs").get_by_role("row")
    expect(rows).to_have_count(3)
    heading = bench.get_by_role("button", name="goodput (Mbit/s)")
    heading.click()
    expect(bench.get_by_role("columnheader", name="goodput (Mbit/s)")).to_have_attribute("aria-sort", "ascending")
    expect(bench.get_by_role("region", name="Table runs")).to_have_attribute("aria-busy", "false")

    def shown() -> list[tuple[float, ...]]:
        return [tuple(map(float, row.get_by_role("cell").all_inner_texts()[:2])) for row in rows.all()[1:]]

    expect(rows.nth(1).get_by_role("cell").first).to_have_text(f"{min(value for value, _ in shown()):g}")
    up = shown()
    assert up == sorted(up)
    heading.click()
    expect(rows.nth(1).get_by_role("cell").first).to_have_text(f"{up[1][0]:g}")


def test_eleven_curves_differ_in_colour_line_and_mark(bench: Any) -> None:
    bench.goto(address(metric="goodput_bps", x="limit", curves="delay", of="b"))
    legend = bench.get_by_role("list", name="Curves").get_by_role("listitem")
    expect(legend).to_have_count(11)
    expect(legend.nth(8)).to_contain_text("(dashed)")
    looks = bench.evaluate(
        """() => [...document.querySelectorAll('ul[aria-label=Curves] li > span:first-child')].map((each) =>
             [each.className, each.querySelector('line').getAttribute('stroke-dasharray'), each.textContent.trim()].join('|'))"""
    )
    assert len(set(looks)) == 11
    lines = bench.evaluate(
        """() => [...document.querySelectorAll('.plot svg g[aria-label=line], .plot svg g[fill=none][stroke-width="1.3"]')]
             .map((each) => [each.getAttribute('stroke'), each.getAttribute('stroke-dasharray')].join('|'))"""
    )
    assert len(lines) == 11 and len(set(lines)) == 11


def test_curves_of_a_level_stand_by_it_as_in_the_files_and_each_mark_has_the_colour_of_its_curve(bench: Any) -> None:
    bench.goto(address(metric="goodput_bps", x="item", curves="delay", where={"limit": "10 packets"}))
    marks = bench.locator("figure .plot svg g > path[fill][transform]")
    expect(marks).to_have_count(22)
    looks = marks.evaluate_all(
        """(all) => all.map((each) => ({ x: each.transform.baseVal.consolidate().matrix.e, fill: each.getAttribute('fill'), wide: each.getBBox().width,
             area: /[ZA]/.test(each.getAttribute('d')) }))"""
    )
    # A mark of lines alone has nothing that its colour would fill.
    assert all(each["area"] and each["wide"] > 5 and each["fill"] not in (None, "none") for each in looks)
    xs = sorted(each["x"] for each in looks)
    one, other = xs[:11], xs[11:]
    level = sum(other) / 11 - sum(one) / 11
    assert one[-1] - one[0] == pytest.approx(shifts.WIDEST * level, rel=0.01)
    # What is free between two levels is more than what either's curves take.
    assert other[0] - one[-1] > 1.3 * (one[-1] - one[0])


def test_an_axis_that_does_not_begin_at_0_is_broken_and_the_caption_says_so(bench: Any) -> None:
    bench.goto(address(metric="goodput_bps", x="limit", curves="delay", of="b"))
    bench.locator(".plot svg").first.wait_for()
    expect(bench.locator(".plot svg .broken")).to_have_count(0)
    bench.goto(address(metric="srtt_mean_ns", x="limit", of="b", where={"delay": "50 ms"}))
    bench.locator(".plot svg .broken").wait_for()
    bench.get_by_text("does not begin at 0").wait_for()


@pytest.mark.parametrize("at", [0, 4, 10])
def test_what_a_point_says_is_not_cut_on_a_phone(bench: Any, at: int) -> None:
    bench.set_viewport_size({"width": 390, "height": 900})
    bench.goto(address(metric="goodput_bps", x="delay", of="b", where={"limit": "10 packets"}))
    points = bench.locator(".plot svg path[transform][fill^=rgb]")
    expect(points).to_have_count(11)
    points.nth(at).scroll_into_view_if_needed()
    box = points.nth(at).bounding_box()
    bench.mouse.move(box["x"] + box["width"] / 2 - 1, box["y"] + box["height"] / 2)
    bench.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tip = bench.locator(".plot svg text", has_text="click for them")
    tip.wait_for()
    seen = tip.bounding_box()
    assert seen["x"] >= 0 and seen["x"] + seen["width"] <= 390
    panel = bench.locator(".plot").first.bounding_box()
    assert seen["y"] >= panel["y"] and seen["y"] + seen["height"] <= panel["y"] + panel["height"]


@pytest.mark.parametrize("keys", [{}, {"metric": "min_rtt_ns", "of": "b"}, {"scale": "log"}, {"x": "delay", "panels": "limit"}])
def test_a_figure_that_is_taken_along_has_the_axes_of_the_page(bench: Any, curves: Path, keys: dict[str, Any]) -> None:
    asked = {"metric": "goodput_bps", "x": "limit", "curves": "item", "where": {"delay": "60 ms"}} | keys
    if "panels" in keys:
        asked = {key: value for key, value in asked.items() if key != "where"}
    bench.goto(address(**asked))
    bench.locator(".plot svg").first.wait_for()
    shown = bench.evaluate(
        """() => [...document.querySelector('.plot svg').querySelectorAll(':scope > g')].slice(0, 7)
             .map((each) => [...each.querySelectorAll('text')].map((text) => text.textContent)).filter((each) => each.length)"""
    )
    axis = workbench.drawn(Answers(Dataset(curves / "curves")), asked).figure.axes[0]
    values, levels = ([text.get_text() for text in labels] for labels in (axis.get_yticklabels(), axis.get_xticklabels()))
    assert shown == [values, [axis.get_ylabel()], levels, [axis.get_xlabel()]]
    assert bench.locator(".plot svg .broken").count() == (axis.get_yscale() == "linear" and axis.get_ylim()[0] > 0)
    link = bench.get_by_role("link", name="PNG").get_attribute("href")
    assert "on=page" in link and bench.request.get(link).body().startswith(b"\x89PNG")


def test_arms_that_are_all_that_varies_stand_along_the_axis(folder: Path, browser: Any) -> None:
    begins, _, rest = QUEUES.partition("[sweep]")
    text = f"{begins}[arms]{rest.partition('[arms]')[2].partition('[[figures]]')[0]}"
    (folder / "studies" / "arms.toml").write_text(text.replace('"queues"', '"arms"'))
    sawtooth.run(folder / "studies" / "arms.toml", folder / "results" / "arms")
    with serving(folder) as explorer, showing(browser, explorer) as page:
        page.goto("/results?of=lab/results/arms")
        expect(page.get_by_role("combobox", name="arm", exact=True)).to_have_value("x")
        page.locator(".plot svg").get_by_text("cubic", exact=True).wait_for()
        page.locator("summary", has_text="Its numbers").click()
        expect(page.get_by_role("region", name="Numbers of the figure").get_by_role("row")).to_have_count(3)


def test_a_panel_without_a_point_says_why(bench: Any) -> None:
    bench.goto(address(metric="timeouts", statistic="geometric mean", x="delay", panels="limit", curves="item"))
    drawn = bench.locator(".plot svg")
    drawn.nth(1).get_by_text("no geometric mean").wait_for()
    # Its runs are all 0, of which ticks would be parts of nothing.
    assert {each for each in drawn.nth(1).locator("text").all_text_contents() if each.startswith(("0", "1."))} == {"0"}
    expect(bench.get_by_text("no geometric mean: a value is not above 0")).to_have_count(2)
    assert violations(bench) == []


def test_a_panel_with_a_point_that_has_a_place_is_not_empty() -> None:
    known = of_bounds(np.array([1.0, 2.0]), np.array([1.0, 2.0]), "mean", 0)
    zero = of_bounds(np.zeros(2), np.zeros(2), "mean", 0)
    none = of_bounds(np.zeros(2), np.zeros(2), "geometric mean", 0)
    said = [workbench.empty(points, "linear") for points in ([known, None], [zero], [none, None], [])]
    assert said == ["", "", "no geometric mean: a value is not above 0; no run tells it", "no run tells it"]
    assert [workbench.empty(points, "log") for points in ([known, zero], [zero])] == [
        "",
        "nothing is above 0, and the scale is logarithmic",
    ]
