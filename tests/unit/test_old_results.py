"""Results of epochs in which -1 stood for what is unknown are read as those of today, in which it is null."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sawtooth
from sawtooth.analysis import Dataset
from sawtooth.plan import RESULTS_EPOCH
from sawtooth.tables import with_nulls

STUDY = """
name = "old"
question = "What is not known?"

[scenario]
duration = "1 s"
links.l = { rate = "1 Mbit/s", delay = "10 ms" }
flows = [{ name = "f", path = ["l"] }]
"""


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    (tmp_path / "old.toml").write_text(STUDY)
    return sawtooth.run(tmp_path / "old.toml", tmp_path / "out")


def as_it_was(dataset: Dataset) -> pl.LazyFrame:
    """The flows with -1 where nothing is known."""
    flows = dataset.flows().collect()
    signed = [name for name, dtype in flows.schema.items() if dtype == pl.Int64]
    return flows.with_columns(pl.col(signed).fill_null(-1)).lazy()


def test_minus_one_is_read_as_null_and_all_else_as_it_is(dataset: Dataset) -> None:
    now, before = dataset.flows().collect(), as_it_was(dataset)
    assert before.collect()["completion_ns"].to_list() == [-1]
    assert with_nulls("flows", before).collect().equals(now)
    assert now["completion_ns"].to_list() == [None] and now["timeouts"].to_list() == [0]


@pytest.mark.parametrize("epoch", [1, 2, RESULTS_EPOCH])
def test_only_results_of_those_epochs_are_read_so(dataset: Dataset, epoch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = as_it_was(dataset)
    monkeypatch.setattr(pl, "scan_parquet", lambda *_: before)
    dataset.manifest["results_epoch"] = epoch
    assert dataset.flows().collect()["completion_ns"].to_list() == [-1 if epoch == RESULTS_EPOCH else None]
