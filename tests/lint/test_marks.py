"""Marks of results: what they say of which cells, and of runs that failed."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sawtooth
from sawtooth import Study, linting
from sawtooth.results.dataset import Dataset
from sawtooth.tables import as_status

FIXTURES = Path(__file__).parent / "fixtures"


def test_a_mark_says_which_cell_arm_and_flow_how_many_runs_and_what(tmp_path: Path) -> None:
    marks = linting.marks(sawtooth.run(FIXTURES / "SW702-bad.toml", out=tmp_path / "out", jobs=1))
    assert marks.columns == ["cell", "arm", "item", "code", "runs", "of", "text"]
    (row,) = marks.filter(code="SW702").rows()
    assert row[:6] == (1, "", "flow", "SW702", 2, 2)
    assert row[6].startswith("held back by the send buffer in ")


def test_runs_that_failed_are_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = sawtooth.run(FIXTURES / "SW702-good.toml", out=tmp_path / "out", jobs=1)
    assert linting.marks(dataset).filter(code="SW710").is_empty()

    def status(_: Dataset) -> pl.DataFrame:
        return as_status([0, 1], ["ok", "failed"], ["", "no memory"])

    monkeypatch.setattr(Dataset, "status", status)
    (row,) = linting.marks(dataset).filter(code="SW710").rows()
    assert row == (1, "", "", "SW710", 1, 2, "run failed: no memory")


def test_results_without_a_fault_have_no_marks(tmp_path: Path) -> None:
    marks = linting.marks(sawtooth.run(Study.load(FIXTURES / "SW703-good.toml"), out=tmp_path / "out", jobs=1))
    assert marks.is_empty()
    assert marks.schema["cell"] == pl.UInt32
