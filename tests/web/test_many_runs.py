"""Results of 23,040 runs and of more than a million rows, and addresses that say nothing of use, in a real browser."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from sawtooth.web import workbench
from tests.web.conftest import asking, serving, showing
from tests.web.test_pages import violations

# What is opened for all of it is opened once.
pytestmark = pytest.mark.xdist_group("many runs")

RUNS, ROWS = 23_040, 1_036_800


@pytest.fixture(scope="module")
def page_of_many(browser: Any, many: Path) -> Iterator[Any]:
    """A page of an explorer on results of many runs."""
    with serving(many) as explorer, showing(browser, explorer) as page:
        yield page


def address(many: Path) -> str:
    return f"/results?of={many.name}/results"


def test_question_and_workbench_come_first_and_verdicts_when_they_are_made(page_of_many: Any, many: Path) -> None:
    page = page_of_many
    page.goto(address(many))
    page.get_by_role("heading", name="Does the explorer keep up").wait_for()
    page.get_by_text("23,040 runs").first.wait_for()
    page.locator(".plot svg").first.wait_for()
    page.get_by_text("1 claim: 1 yes").wait_for()
    page.get_by_text("Flows start before the run ends").wait_for()
    begun = dict(
        page.evaluate(
            "performance.getEntriesByType('resource').filter((each) => each.name.includes('/api/results/')).map((each) => "
            "[each.name.split('?')[0].split('/').pop(), [each.startTime, each.responseEnd]])"
        )
    )
    # What takes long is not asked for before the figure is there.
    assert begun["figure"][1] <= begun["verdicts"][0]
    assert begun["figure"][1] <= begun["validity"][0]
    expect(page.get_by_role("img", name="Means of 30 runs", exact=False)).to_have_count(1)


def test_a_change_of_factor_is_drawn(page_of_many: Any, many: Path) -> None:
    page = page_of_many
    page.goto(address(many))
    page.locator(".plot svg").first.wait_for()
    page.get_by_role("combobox", name="Tp").select_option("=50 ms")
    page.get_by_text("Shown: Tp 50 ms").wait_for()
    page.get_by_label("Measure, or an expression of some").fill("start_ns")
    page.keyboard.press("Tab")
    page.get_by_role("img", name="start (µs) by limit", exact=False).wait_for()


def test_a_table_of_a_million_rows_is_read_a_page_at_a_time_and_sorted(page_of_many: Any, many: Path) -> None:
    page = page_of_many
    page.goto(address(many))
    page.get_by_role("combobox", name="Table").select_option("series")
    rows = page.get_by_role("region", name="Table series")
    page.get_by_text(f"1 to 100 of {ROWS:,}").wait_for()
    expect(rows.get_by_role("row")).to_have_count(101)
    page.get_by_role("button", name="Later").click()
    page.get_by_text(f"101 to 200 of {ROWS:,}").wait_for()
    rows.get_by_role("button", name="run", exact=True).click()
    rows.get_by_role("button", name="run ↑", exact=True).click()
    # The last run's rows, whose number is a link to it.
    rows.get_by_role("link", name=f"{RUNS - 1}", exact=True).first.wait_for()
    assert violations(page) == []


def test_a_figure_of_more_panels_than_a_page_shows_is_refused(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with asking(many) as client:
        of, keys = {"of": f"{many.name}/results"}, {"metric": "start_ns", "x": "arm", "curves": "limit", "panels": "Tp", "rows": "R"}
        answer = client.post("/api/results/figure", params=of, json=keys)
        assert len(answer.json()["panels"]) == 64
        monkeypatch.setattr(workbench, "_MOST_PANELS", 63)
        error = client.post("/api/results/figure", params=of, json={**keys, "label": "start"}).json()["error"]
    assert error["message"] == "this figure would have 64 panels, and a page shows 63"
    assert error["hint"].startswith("keep one dimension at a level")


def test_results_that_are_being_written_show_what_is_there_and_later_more(many: Path, tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    whole, part = many / "results", folder / "results"
    shutil.copytree(whole, part)
    left = [path for path in (part / "parts").iterdir() if not path.stem.endswith(("000000", "000001"))]
    for path in left:
        path.unlink()
    with asking(folder) as client:
        of = {"of": "lab/results"}
        head = client.get("/api/results/head", params=of).json()
        assert 0 < head["runs"]["done"] < RUNS
        assert any(f"of {RUNS:,} runs are done" in warning for warning in head["warnings"])
        figure = {"metric": "start_ns", "x": "arm", "curves": "R", "panels": "Tp", "rows": "limit"}
        before = client.post("/api/results/figure", params=of, json=figure).json()
        for path in left:
            shutil.copy(whole / "parts" / path.name, path)
        assert client.get("/api/results/head", params=of).json()["runs"]["done"] == RUNS
        after = client.post("/api/results/figure", params=of, json=figure).json()
    drawn = [sum(len(curve["runs"]["run"]) for panel in each["panels"] for curve in panel["curves"]) for each in (before, after)]
    assert drawn == [head["runs"]["done"], RUNS]


@pytest.mark.parametrize("figure", ['{"metric": "goodput', "[]", '"x"', "7", "{}", '{"metric": 7}'])
def test_an_address_that_was_cut_says_so_and_shows_how_one_begins(page: Any, figure: str) -> None:
    page.goto("/results?of=lab/results/queues&figure=" + quote(figure))
    page.get_by_role("alert").get_by_text("the address does not say which figure").wait_for()
    page.get_by_label("goodput (Mbit/s) by limit", exact=False).wait_for()
    page.get_by_role("combobox", name="Scale").select_option("log")
    page.get_by_role("alert").wait_for(state="detached")


@pytest.mark.parametrize(
    "figure", ['{"metric": "goodput_bps", "where": 7}', '{"metric": "goodput_bps", "of": 7}', '{"metric": "goodput_bps", "x": ["limit"]}']
)
def test_keys_of_the_wrong_kind_are_told_on_the_page(page: Any, figure: str) -> None:
    page.goto("/results?of=lab/results/queues&figure=" + quote(figure))
    page.get_by_role("alert").first.wait_for()
    expect(page.get_by_role("heading", name="Does a short queue cost goodput?")).to_have_count(1)


def test_a_folder_without_results_says_so(page: Any) -> None:
    page.goto("/results?of=lab/studies")
    page.get_by_role("alert").get_by_text("is no results directory").wait_for()
    page.get_by_role("alert").get_by_text("sawtooth run STUDY --out DIR makes one").wait_for()
    expect(page.get_by_role("heading", level=1)).to_have_text("This cannot be shown")
    page.get_by_role("link", name="Results that there are").click()
    page.get_by_role("heading", level=1, name="Results").wait_for()


@pytest.mark.parametrize(
    ("address", "link"),
    [("/studies?of=lab/studies/none.toml", "Studies that there are"), ("/run?of=lab/results/queues&run=999", "The results that it is of")],
)
def test_what_there_is_not_has_a_heading_and_a_way_on(page: Any, address: str, link: str) -> None:
    page.goto(address)
    page.get_by_role("alert").wait_for()
    expect(page.get_by_role("heading", level=1)).to_contain_text("cannot be shown")
    expect(page.get_by_role("link", name=link)).to_be_visible()
