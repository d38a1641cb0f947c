"""Verdicts that a process of its own makes are those that are made here, and it ends with who asked for it."""

import json
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient

from sawtooth import Dataset
from sawtooth.errors import DatasetError
from sawtooth.linting import RULES
from sawtooth.report import by_cell, report
from sawtooth.report.validity import Entry, Validity
from sawtooth.web import apart, judging
from sawtooth.web.judging import Judge
from sawtooth.web.opened import Shelf
from tests.web.conftest import asking
from tests.web.test_pages import violations

OF = {"of": "lab/results/queues"}


def test_they_are_the_same_from_a_process_of_its_own(client: TestClient, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = client.get("/api/results/verdicts", params=OF).json()
    monkeypatch.setattr(judging, "_FEW", 0)
    with asking(made) as other:
        apart = other.get("/api/results/verdicts", params=OF).json()
    assert apart == here
    assert [each["answer"] for each in apart["verdicts"]] == ["yes"]


def test_so_are_the_marks_of_validity(client: TestClient, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = client.get("/api/results/validity", params=OF).json()
    monkeypatch.setattr(judging, "_FEW", 0)
    with asking(made) as other:
        assert other.get("/api/results/validity", params=OF).json() == here


def test_it_tells_how_many_claims_were_weighed(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for few in (0, 2000):
        monkeypatch.setattr(judging, "_FEW", few)
        with asking(made) as client:
            assert client.get("/api/results/weighed", params=OF).json() == {"done": 0, "of": 0}
            client.get("/api/results/verdicts", params=OF)
            assert client.get("/api/results/weighed", params=OF).json() == {"done": 1, "of": 1}


def test_the_figure_of_all_verdicts_is_the_reports(client: TestClient) -> None:
    found = client.get("/api/results/verdicts", params=OF).json()
    assert found["forest"]["caption"].startswith("1 claim: 1 yes; n = 4")
    assert client.get("/api/results/forest", params=OF).content.lstrip().startswith(b"<svg")


def test_they_are_made_once_of_a_state_and_anew_of_another(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    judged = judging.judged
    monkeypatch.setattr(judging, "judged", lambda answers: made.append("") or judged(answers))
    path = folder / "results" / "queues"
    with asking(folder) as client:
        for _ in range(3):
            client.get("/api/results/verdicts", params=OF)
        assert len(made) == 1
        (path / "log.jsonl").write_text((path / "log.jsonl").read_text() + "\n")
        client.get("/api/results/verdicts", params=OF)
    assert len(made) == 2


def test_what_ends_without_a_word_is_told(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "_FEW", 0)
    monkeypatch.setattr(apart, "tied", lambda *_: ["false"])
    with asking(made) as client:
        answer = client.get("/api/results/verdicts", params=OF)
    assert answer.status_code == 400
    assert answer.json()["error"] == {
        "message": "what was to judge these results ended: code 1",
        "hint": "`sawtooth report` says what its verdicts are",
        "place": None,
    }


def test_the_process_ends_when_the_explorer_does(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "_FEW", 0)
    monkeypatch.setattr(apart, "tied", lambda *_: ["sleep", "600"])
    judge, opened = Judge(), Shelf().open(made / "results" / "queues")
    judging_it = judge.of(opened)
    told: list[DatasetError] = []

    def ask() -> None:
        with pytest.raises(DatasetError) as error:
            judging_it.verdicts()
        told.append(error.value)

    thread = threading.Thread(target=ask)
    thread.start()
    process = judging_it._process
    while process._process is None:
        time.sleep(0.01)
    judge.end()
    thread.join(30)
    assert not thread.is_alive()
    assert told[0].message == "these results were written to while they were judged"


def test_who_asks_while_it_is_made_waits_for_it_and_for_nothing_else(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go = threading.Event(), threading.Event()

    def slow(_: object) -> dict[str, object]:
        begun.set()
        assert go.wait(60)
        return {"verdicts": [], "forest": None}

    monkeypatch.setattr(judging, "judged", slow)
    with asking(made) as client:
        thread = threading.Thread(target=lambda: client.get("/api/results/verdicts", params=OF))
        thread.start()
        assert begun.wait(60)
        # While verdicts are made everything else is answered.
        assert client.get("/api/results/head", params=OF).status_code == 200
        assert (
            client.post("/api/results/figure", params=OF, json={"metric": "goodput_bps", "x": "limit", "curves": "arm"}).status_code == 200
        )
        assert client.get("/api/results/validity", params=OF).status_code == 200
        go.set()
        thread.join(60)
    assert not thread.is_alive()


def test_the_page_says_how_far_it_is(page: Any) -> None:
    asked: list[Any] = []
    page.route("**/api/results/verdicts*", lambda route: asked.append(route))
    page.route("**/api/results/weighed*", lambda route: route.fulfill(json={"done": 7, "of": 22}))
    page.goto(f"/results?of={OF['of']}")
    page.get_by_text("7 of 22 claims").wait_for()
    expect(page.get_by_role("progressbar", name="Claims that were looked at")).to_have_attribute("value", "7")
    assert violations(page) == []
    asked[0].continue_()
    page.get_by_text("1 claim: 1 yes").wait_for()
    expect(page.get_by_text("7 of 22 claims")).to_have_count(0)


def test_a_study_without_claims_says_so(page: Any) -> None:
    page.route("**/api/results/verdicts*", lambda route: route.fulfill(json={"verdicts": [], "forest": None}))
    page.goto(f"/results?of={OF['of']}")
    page.get_by_text("This study makes no claims").wait_for()
    assert violations(page) == []


def test_of_claims_it_is_counted_which_have_which_answer_and_which_are_not_told(page: Any) -> None:
    answers = ("yes", "no under 2 of 3 assumptions", "not told", "cannot distinguish", "not told")
    verdicts = [
        {"claim": f"claim {at}", "answer": said.split(" under ")[0], "said": said, "numbers": "of no run", "evidence": [], "cells": []}
        for at, said in enumerate(answers)
    ]
    page.route("**/api/results/verdicts*", lambda route: route.fulfill(json={"verdicts": verdicts, "forest": None}))
    page.goto(f"/results?of={OF['of']}")
    page.get_by_text("5 claims: 1 yes, 1 no, 1 cannot distinguish, 2 not told", exact=True).wait_for()
    expect(page.get_by_role("heading").filter(has_text="not told: claim")).to_have_count(2)
    assert violations(page) == []


def test_a_claim_of_several_cells_is_counted_with_the_reports_table_of_them(client: TestClient, page: Any, made: Path) -> None:
    verdict = client.get("/api/results/verdicts", params=OF).json()["verdicts"][0]
    (found,) = report(Dataset.open(made / "results" / "queues")).verdicts
    grid = by_cell.table(found)
    assert grid is not None
    assert {each["heading"]: each["cells"] for each in verdict["cells"]} == grid.frame.to_dict(as_series=False)
    assert verdict["counted"] == found.counted
    page.goto(f"/results?of={OF['of']}")
    page.get_by_text(found.counted, exact=True).wait_for()
    expect(page.get_by_text(found.numbers, exact=True)).to_have_count(0)
    table = page.get_by_role("region", name="Cells").get_by_role("table")
    expect(table.get_by_role("row")).to_have_count(1 + len(found.evidence))
    assert violations(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    first = page.get_by_role("region", name="Cells").locator("tbody tr").first
    expect(first.locator("td").nth(1)).to_have_css("display", "grid")
    # Nothing of a cell is beyond the edge, nor broken within a word.
    assert page.evaluate("document.querySelector('section.cells').scrollWidth <= document.querySelector('section.cells').clientWidth")
    assert violations(page) == []


def test_the_axis_of_a_verdict_has_the_unit_of_its_words(client: TestClient, page: Any) -> None:
    found = client.get("/api/results/verdicts", params=OF).json()
    for each in found["verdicts"][0]["evidence"]:
        each["interval"]["read_in"] = {"unit": "Gbit/s", "divisor": 1e9}
    page.route("**/api/results/verdicts*", lambda route: route.fulfill(json=found))
    page.goto(f"/results?of={OF['of']}")
    page.locator(".verdict .plot svg").get_by_text("difference (Gbit/s)").wait_for()


def test_what_is_said_of_validity_begins_a_sentence(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = Entry(next(iter(RULES.values())), "In the only cell", "", 1)
    monkeypatch.setattr(judging, "validity", lambda _: Validity([entry], pl.DataFrame(), (1, 1)))
    said = judging.marked(Dataset.open(made / "results" / "queues"))["validity"]["said"]
    assert said == "One rule marks numbers of the only cell, which may be about something else than they seem"


def test_what_a_process_says_is_wrong_has_addresses_for_paths(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = json.dumps({"error": {"message": f"{made}/results/queues/runs.parquet is damaged", "hint": None, "place": None}})
    monkeypatch.setattr(judging, "_FEW", 0)
    monkeypatch.setattr(apart, "tied", lambda *_: ["echo", said])
    with asking(made) as client:
        error = client.get("/api/results/verdicts", params=OF).json()["error"]
    assert error["message"] == "lab/results/queues/runs.parquet is damaged"
