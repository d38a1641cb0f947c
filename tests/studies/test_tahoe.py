"""The Tahoe/Reno study: its table is sound, both of its files ask for the same, and what they ask for comes out."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from sawtooth import stats
from sawtooth.cli import app
from sawtooth.measures import Asked, Measure
from sawtooth.report.answers import Answers
from sawtooth.results.dataset import Dataset
from sawtooth.study import shipped
from tests.conftest import ROOT
from tests.studies.altered import answers
from tests.studies.made_up import MadeUp


def test_the_table_has_every_case_and_agrees_with_itself() -> None:
    table = pl.read_csv(shipped.table("tahoe-vs-reno", "published.csv"))
    # Of three variants: NewReno is there, too.
    assert table.height == 2 * 4 * 4 * 3 * 3 == table.unique(["arm", "n", "q_bytes", "win_bytes", "seg_bytes"]).height
    for row in table.iter_rows(named=True):
        each = np.array([float(text) for text in str(row["goodput_kbps_per_flow"]).split(";")])
        assert len(each) == row["n"]
        assert row["variant"].lower() == f"tcp{row['arm']}"
        assert each.sum() == pytest.approx(row["goodput_kbps_total"], rel=1e-4)
        assert each.mean() == pytest.approx(row["goodput_kbps_mean"], rel=1e-5)
        # Printed with five decimals, from shares printed with six figures.
        assert stats.jain(each) == pytest.approx(row["jain"], abs=2e-5)
        assert (row["goodput_kbps_sd"] is None) == (row["n"] == 1)
        if row["n"] > 1:
            assert each.std(ddof=1) == pytest.approx(row["goodput_kbps_sd"], rel=1e-5)


def test_both_files_ask_for_the_same() -> None:
    published, random = (tomllib.loads(shipped.studies()[name].read_text()) for name in ("tahoe-vs-reno", "tahoe-vs-reno/random"))
    for part in ("scenario", "sweep", "arms", "references", "figures", "findings"):
        assert published[part] == random[part]


def test_the_claims_are_put_to_other_links_as_they_are() -> None:
    """But for what follows from others, and what is held against ns-3.24, which has the assumed links only."""
    random, other = (tomllib.loads(shipped.studies()[f"tahoe-vs-reno/{name}"].read_text()) for name in ("random", "sensitivity"))
    asked: list[dict[str, Any]] = []
    for finding in other["findings"]:
        names = finding.pop("assumptions")
        assert {*names} == {"rate", "delay", "access_rate", "access_delay", "duration", "unread"}
        # What is assumed is what the study itself has.
        for name in names:
            assert finding["where"].pop(name) == other["vars"][name]
        asked.append(finding)
    claims = [finding for finding in random["findings"] if finding["is"] not in ("all", "any", "reproduced")]
    assert asked == [{key: value for key, value in finding.items() if key != "name"} for finding in claims]
    assert other["arms"] == random["arms"]
    assert other["vars"]["unread"] == random["vars"]["unread"]
    links = random["scenario"]["links"]
    for name, link in (("", "bottleneck"), ("access_", "sender"), ("access_", "receiver")):
        assert links[link]["rate"] == other["vars"][f"{name}rate"]
        assert links[link]["delay"] == other["vars"][f"{name}delay"]
    assert other["vars"]["duration"] == random["scenario"]["duration"]


def test_each_verdict_comes_out_otherwise_on_other_goodputs(tmp_path: Path) -> None:
    """Where goodputs are as the publication claims, the contrary, or ns-3.24's; the runs are short ones, and only carry them."""
    words = ["--set", 'scenario.duration="1 s"', "--set", "repeat=6", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, ["run", "tahoe-vs-reno/random", *words])
    assert done.exit_code == 0, done.output
    claimed, contrary, published = (answers(MadeUp(tmp_path / "out", world)) for world in ("claimed", "contrary", "ns-3.24"))
    # Some of its claims contradict each other, so that not all can be shown at once.
    assert sum(answer == "yes" for answer in claimed.values()) > 25
    assert "yes" not in contrary.values()
    assert {claim for claim, answer in claimed.items() if contrary[claim] == answer == published[claim]} == set()
    assert published["Goodput is within 5 % of ns-3.24's in every case"] == "yes"


def test_of_one_run_each_nothing_is_told_from_chance_and_every_figure_is_there(tmp_path: Path) -> None:
    """The published experiment: one run of each cell."""
    done = CliRunner().invoke(app, ["run", "tahoe-vs-reno", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    answers = Answers(Dataset.open(tmp_path / "out"))
    assert {verdict.answer for verdict in answers.verdicts()} == {"cannot distinguish"}
    # Drawing them all takes long, and the short form does: what they need is here.
    for spec in answers.shown.figures:
        assert isinstance(spec.measure, Measure)
        observed = answers.evaluator.observe(Asked(spec.measure, spec.view))
        assert not spec.choice.select(observed).filter(pl.col("value").is_not_null()).is_empty()


def test_the_short_form_shows_what_the_whole_does_where_it_is_clear(short_form: Callable[[str], Path]) -> None:
    out = short_form("tahoe-vs-reno/random")
    answers = Answers(Dataset.open(out))
    found = {verdict.claim: verdict.answer for verdict in answers.verdicts()}
    assert found["With a window of 2000 bytes goodput by segment size is 128 > 256 > 512 bytes (one flow)"] == "yes"
    assert found["With a window of 2000 bytes goodput by segment size is 128 > 256 > 512 bytes (ten flows)"] in ("no", "mixed")
    assert found["With a window of 2000 bytes goodput is lower than with any larger one (one flow)"] == "yes"
    figures = {path.stem for path in (out / "report/figures").glob("*.svg")}
    assert {spec.name for spec in answers.shown.figures} <= figures


@pytest.mark.long
def test_the_guide_says_what_the_runs_say() -> None:
    done = subprocess.run([sys.executable, "-m", "docs.tahoe", "--check"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
