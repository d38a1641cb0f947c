"""Plurals: one thing is not `1 things`."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from sawtooth.cli import app, work
from sawtooth.counted import counted

STUDY = """\
[scenario]
duration = "1 s"
links.lan = { rate = "10 Mbit/s", delay = "5 ms" }
flows = [{ path = ["lan"] }]
"""


@pytest.mark.parametrize(("number", "one", "said"), [
    (1, "run", "1 run"), (0, "run", "0 runs"), (1000, "batch", "1,000 batches"), (2, "temporary directory", "2 temporary directories"), (2, "day", "2 days"),
])  # fmt: skip
def test_a_plural_is_made_of_the_singular(number: int, one: str, said: str) -> None:
    assert counted(number, one) == said


def test_a_study_of_one_run_is_told_of_one(tmp_path: Path) -> None:
    study = tmp_path / "one.toml"
    study.write_text(STUDY)
    words = ["run", str(study), "--out", str(tmp_path / "out")]
    assert "1 run in " in CliRunner().invoke(app, words).stderr
    assert CliRunner().invoke(app, words).stderr.rstrip().endswith("1 was there")


@pytest.mark.parametrize(("states", "said"), [
    (["failed"], "1 run failed"), (["failed", "failed"], "2 runs failed"),
    (["lost"], "1 run was lost each time it was tried"), (["lost", "lost", "failed"], "1 run failed and 2 runs were lost each time they were tried"),
])  # fmt: skip
def test_what_failed_and_was_lost_is_counted(states: list[str], said: str) -> None:
    assert work.failed(pl.DataFrame({"status": states})) == said
