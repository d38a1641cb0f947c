"""Runs of different results over one axis of time: which flows are drawn of the other one, what is told of it, and that the address keeps it."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import expect

import sawtooth
from tests.web.conftest import PATIENCE, serving, showing
from tests.web.test_pages import violations
from tests.web.test_runs import unpacked

OTHER = """
name = "longer"
question = "And with a second flow, for longer?"

[scenario]
duration = "6 s"
stack = "linux"
links.bottleneck = { rate = "8 Mbit/s", delay = "20 ms", queue = { name = "drop_tail", limit = "1 bdp" } }
flows = [{ name = "late", path = ["bottleneck"], start = "2 s" }, { name = "bulk", path = ["bottleneck"] }]

[sweep]
"cc" = ["reno", "cubic"]
"""


@pytest.fixture
def two(folder: Path) -> Path:
    """A folder with the results of two studies."""
    (folder / "studies" / "longer.toml").write_text(OTHER)
    sawtooth.run(folder / "studies" / "longer.toml", folder / "results" / "longer")
    return folder


def test_of_flows_that_are_preferred_those_are_drawn_that_the_run_has(two: Path, asked: Any) -> None:
    client = asked(two)

    def shown(**query: Any) -> list[str]:
        answer = client.get("/api/run/series", params={"of": "lab/results/longer", "run": 1, **query})
        assert answer.status_code == 200, answer.text
        head, columns = unpacked(answer.content)
        assert [name for name in head["flows"] if f"{name} cwnd" in columns] == head["shown"]
        return head["shown"]

    assert shown() == ["late", "bulk"]
    assert shown(prefer=["bulk", "gone"]) == ["bulk"]
    assert shown(prefer=["gone"]) == ["late", "bulk"]
    assert shown(prefer=["bulk"], flow=["late"]) == ["late"]
    refused = client.get("/api/run/series", params={"of": "lab/results/longer", "run": 1, "flow": "gone"})
    assert refused.json()["error"]["message"] == "the run has no flow `gone`"


def test_both_are_the_runs_that_they_are_alone(two: Path, asked: Any) -> None:
    client = asked(two)
    head, beside = unpacked(client.get("/api/run/series", params={"of": "lab/results/longer", "run": 1, "prefer": "bulk"}).content)
    _, alone = unpacked(client.get("/api/run/series", params={"of": "lab/results/longer", "run": 1, "flow": "bulk"}).content)
    assert head["same"] is True and head["duration"] == 6.0
    assert beside.keys() == alone.keys()
    assert all(np.array_equal(beside[name], alone[name], equal_nan=True) for name in beside)


def test_a_run_of_other_results_is_laid_over_the_first_and_the_address_keeps_it(two: Path, browser: Any) -> None:
    with serving(two) as explorer, showing(browser, explorer) as page:
        page.goto("/run?of=lab/results/queues&run=13")
        form = page.get_by_role("form", name="Beside it")
        form.get_by_label("of results").select_option("lab/results/longer")
        expect(form.get_by_label("Beside run")).to_have_attribute("placeholder", "0 to 1")
        form.get_by_label("Beside run").fill("1")
        form.get_by_role("button", name="Show").click()
        flows = page.get_by_role("list", name="Flows").get_by_role("listitem")
        named = ["bulk, run 13 of queues cubic", "late, run 1 of longer cubic", "bulk, run 1 of longer cubic"]
        expect(flows).to_have_text(named)
        # One axis, as long as the longer of them.
        expect(page.locator(".tools output")).to_contain_text("0.000 to 6.000 s")
        expect(page.get_by_role("link", name="longer, run 1", exact=False)).to_have_attribute(
            "href", "/run?of=lab%2Fresults%2Flonger&run=1"
        )
        assert "beside=1&besideOf=lab%2Fresults%2Flonger" in page.url
        page.reload()
        expect(flows).to_have_text(named)
        expect(form.get_by_label("of results")).to_have_value("lab/results/longer")
        # At a moment after its end the shorter one has no values.
        page.get_by_label("Look at moment (s)").fill("5")
        page.keyboard.press("Enter")
        rows = page.get_by_role("region", name="Values at 5 s").get_by_role("row")
        expect(rows.nth(1)).to_have_text(re.compile("bulk, run 13 of queues\u2013+$"))
        expect(rows.nth(3)).to_have_text(re.compile(r"bulk, run 1 of longer\d"))
        # What belongs to the first run alone stays with it, and what is asked of the other is asked of its results.
        page.get_by_label("The algorithms' own variables").select_option("w_max")
        page.get_by_role("img", name="w_max over time").wait_for()
        page.get_by_label("Time-sequence graph", exact=True).get_by_role("combobox").select_option("late, run 1 of longer")
        page.get_by_role("img", name="Time-sequence graph of late", exact=False).wait_for()
        assert violations(page) == []
        form.get_by_role("button", name="Alone").click()
        expect(flows).to_have_text(["bulk cubic"])
        assert "beside" not in page.url


def test_a_graph_that_is_shown_stays_when_a_run_of_other_results_is_laid_beside_and_both_are_told_in_numbers(
    two: Path, browser: Any
) -> None:
    with serving(two) as explorer, showing(browser, explorer) as page:
        page.goto("/run?of=lab/results/queues&run=13")
        graphs = page.get_by_label("Time-sequence graph", exact=True).get_by_role("combobox")
        graphs.select_option("bulk")
        page.get_by_role("img", name="Time-sequence graph of bulk", exact=False).wait_for()
        expect(page.get_by_role("region", name="Numbers beside each other")).to_have_count(0)
        form = page.get_by_role("form", name="Beside it")
        form.get_by_label("of results").select_option("lab/results/longer")
        form.get_by_label("Beside run").fill("1")
        form.get_by_role("button", name="Show").click()
        expect(graphs.locator("option:checked")).to_have_text("bulk, run 13 of queues")
        page.get_by_role("img", name="Time-sequence graph of bulk", exact=False).wait_for()
        numbers = page.get_by_role("region", name="Numbers beside each other")
        expect(numbers.get_by_role("columnheader")).to_have_text(["what", "run 13 of queues", "run 1 of longer", "difference"])
        cells = numbers.get_by_role("row", name="bulk goodput (Mbit/s)").get_by_role("cell")
        stored = [
            sawtooth.Dataset(two / "results" / name).flows().collect().filter(run=run, flow="bulk")
            for name, run in (("queues", 13), ("longer", 1))
        ]
        mine, theirs = (frame["goodput_bps"].item() / 1e6 for frame in stored)
        sign = "+" if theirs > mine else "\u2212"
        expect(cells.nth(1)).to_have_text(f"{mine:.4g}")
        expect(cells.nth(2)).to_have_text(f"{theirs:.4g}")
        expect(cells.nth(3)).to_have_text(re.compile(rf"^\{sign}[\d.]+ \(\{sign}[\d.]+ %\)$"))
        # A flow that the first run does not have is there, and differs from nothing.
        late = numbers.get_by_role("row", name="late goodput (Mbit/s)").get_by_role("cell")
        expect(late.nth(1)).to_have_text("\u2013")
        expect(late.nth(3)).to_have_text("\u2013")
        # They are of runs that do not last alike.
        page.get_by_text(re.compile(r"Of whole runs.*: run 13 of queues from 0 to \d+ s, run 1 of longer from 0 to \d+ s\.")).wait_for()
        assert violations(page) == []


def test_a_run_that_other_results_do_not_have_is_told_and_the_first_is_shown(two: Path, browser: Any) -> None:
    with serving(two) as explorer, showing(browser, explorer) as page:
        page.goto("/run?of=lab/results/queues&run=13&beside=7&besideOf=lab/results/longer")
        page.get_by_role("alert").get_by_text("there is no run 7").wait_for()
        page.get_by_text("these results have runs 0 to 1").wait_for(timeout=PATIENCE)
        expect(page.locator(".panel canvas").first).to_be_visible()


def test_runs_without_a_flow_or_link_in_common_have_no_column_of_differences(two: Path, browser: Any) -> None:
    """With such a run beside it, what would be otherwise is still told by its differences."""
    (two / "studies" / "others.toml").write_text(
        OTHER.replace("bottleneck", "line").replace('"bulk"', '"mine"').replace('"longer"', '"others"')
    )
    sawtooth.run(two / "studies" / "others.toml", two / "results" / "others")
    beside = "/run?of=lab/results/queues&run=13&beside=1&besideOf=lab/results/others"
    change = quote('{"kind": "rate", "at": "2 s", "link": "bottleneck", "value": "2 Mbit/s"}')
    with serving(two) as explorer, showing(browser, explorer) as page:
        heads = page.get_by_role("region", name="Numbers beside each other").get_by_role("columnheader")
        page.goto(beside)
        expect(heads).to_have_text(["what", "run 13 of queues", "run 1 of others"])
        page.goto(f"{beside}&change={change}")
        expect(heads).to_have_text(["what", "run 13 of queues", "run 1 of others", "otherwise", "difference, otherwise"])
