"""A cell that a comparison has no run of is listed with its reason: on the page, in the CSV and for other programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl
from typer.testing import CliRunner

import sawtooth
from sawtooth.cli import app
from sawtooth.metrics.matching import Unmatched
from sawtooth.plan import make_plan
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study

STUDY = """\
name = "cells"
repeat = 2
[scenario]
duration = "1 s"
links.l = { rate = "1 Mbit/s", delay = "10 ms" }
flows = [{ path = ["l"] }]
[sweep]
"links.l.rate" = ["1 Mbit/s", "4 Mbit/s", "8 Mbit/s", "9 Mbit/s"]
[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }
"""
WHY = {
    "4 Mbit/s": "all 2 runs failed",
    "8 Mbit/s": "none of 2 runs is done yet",
    "9 Mbit/s": "1 of 2 runs failed, the others are not done yet",
}
"""Why a cell has no run."""


def made(directory: Path) -> sawtooth.Dataset:
    """Runs of the first rate that came to their end, of the second that failed, of the last one that did; others are to be done."""
    plan = make_plan(Study.parse(STUDY, directory / "s.toml"))
    dataset = Dataset.create(directory, plan)
    done = [run for run in plan.runs if run.cell in (1, 2) or (run.cell == 4 and run.replicate == 1)]
    flows = [{"run": run.index, "flow": "flow", "cc": "reno", "completion_ns": None, "goodput_bps": 1e6} for run in done if run.cell == 1]
    status = [(run.index, "ok" if run.cell == 1 else "failed", "too many events") for run in done]
    schema = {"run": pl.UInt32, "flow": pl.String, "cc": pl.String, "completion_ns": pl.Int64, "goodput_bps": pl.Float64}
    columns = {"run": pl.UInt32, "status": pl.String, "message": pl.String}
    dataset.write_batch(0, {"flows": pl.DataFrame(flows, schema=schema)}, pl.DataFrame(status, columns, orient="row"))
    return sawtooth.Dataset.open(directory)


def said(entries: Sequence[Unmatched]) -> list[tuple[str, str, str, int | None]]:
    return [(entry.what, entry.side, entry.why, entry.cell) for entry in entries]


def test_a_cell_of_which_no_arm_has_a_run_is_listed_with_its_reason(tmp_path: Path) -> None:
    found = made(tmp_path / "out").compare()
    assert [row.cell for row in found.comparison.rows] == [1]
    assert said(found.unmatched) == [
        (f"rate {rate}, cubic / reno", "neither", f"cubic: {why}; reno: {why}", cell)
        for cell, (rate, why) in enumerate(WHY.items(), start=2)
    ]
    assert found.summary[-1] == "not compared, and listed: 3 entries on neither"
    found.report().write(tmp_path / "page")
    page = pl.read_csv(tmp_path / "page/tables/only.csv", infer_schema=False)
    assert page["because"].to_list() == [entry.why for entry in found.unmatched]


def test_what_neither_directory_has_run_is_listed_too(tmp_path: Path) -> None:
    found = made(tmp_path / "a").compare(made(tmp_path / "b"), arm="reno")
    assert said(found.unmatched) == [
        (f"rate {rate}, reno", "neither", f"a: {why}; b: {why}", cell) for cell, (rate, why) in enumerate(WHY.items(), start=2)
    ]


def test_a_published_number_of_a_cell_without_a_run_says_why_it_has_none(tmp_path: Path) -> None:
    table = tmp_path / "known.csv"
    table.write_text("rate,goodput_bps\n1 Mbit/s,9e5\n4 Mbit/s,3e6\n")
    found = made(tmp_path / "out").compare(table, arm="reno")
    first, *others = said(found.unmatched)
    assert first[1:] == ("known", "out: all 2 runs failed", 2)
    assert others == [
        (f"rate {rate}, reno", "neither", f"out: {WHY[rate]}; known has no number of it", cell)
        for rate, cell in (("8 Mbit/s", 3), ("9 Mbit/s", 4))
    ]


def test_programs_are_told_of_cells_that_were_not_compared(tmp_path: Path) -> None:
    directory = made(tmp_path / "out").directory
    done = CliRunner().invoke(app, ["compare", str(directory), "--csv", str(tmp_path / "rows.csv"), "--json"])
    assert done.exit_code == 0, done.output
    rows = pl.read_csv(tmp_path / "rows.csv")
    assert rows.select("cell", "rate", "arm", "verdict").rows()[1:] == [
        (cell, rate, "cubic / reno", "not compared") for cell, rate in enumerate(WHY, start=2)
    ]
    assert rows["why"].to_list()[1:] == [f"cubic: {why}; reno: {why}" for why in WHY.values()]
    only = json.loads(done.stdout)["only"]
    assert [(entry["side"], entry["cell"], entry["factors"], entry["arm"]) for entry in only] == [
        ("neither", cell, {"rate": rate}, "cubic / reno") for cell, rate in enumerate(WHY, start=2)
    ]
