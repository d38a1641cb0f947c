"""Effects where some replicates lack combinations, as where a rule gives cells replicates of their own number: only complete ones count."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sawtooth.report import generic
from sawtooth.results.dataset import Dataset
from tests.unit.figure_runs import drawn, made

ASKED = 'kind = "effects"\nmetric = "goodput_bps"\nof = "long"\n'


class Short:
    """The same dataset as if the fast link had a replicate less than the slow one."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def __getattr__(self, name: str) -> object:
        return getattr(self._dataset, name)

    def status(self) -> pl.DataFrame:
        """Of the runs that are left."""
        lost = self._dataset.runs.filter(pl.col("replicate") == 3, pl.col("rate") == "5 Mbit/s")
        return self._dataset.status().join(lost.select("run"), on="run", how="anti")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return made(tmp_path_factory.mktemp("complete"))


def short(runs: Dataset) -> Dataset:
    return Short(runs)  # pyright: ignore[reportReturnType]


def test_means_are_of_the_replicates_that_every_cell_has(runs: Dataset, tmp_path: Path) -> None:
    found = drawn(short(runs), tmp_path, ASKED + 'show = "means"\n')
    balanced = runs.flows(factors=True).filter(pl.col("flow") == "long", pl.col("replicate") < 3).collect()
    for source in ("rate", "delay", "arm"):
        rows = found.numbers.filter(source=source)
        for row in rows.iter_rows(named=True):
            assert row["estimate"] == pytest.approx(balanced.filter(pl.col(source) == row["level"])["goodput_bps"].mean())
            assert row["n"] == 2
        # In a balanced design every factor's levels have the mean of all as theirs.
        assert rows["estimate"].mean() == pytest.approx(balanced["goodput_bps"].mean())
    assert "n = 2 replicates as blocks" in found.note
    assert "1 replicate lacks combinations and is left out." in found.note


def test_the_table_of_the_report_is_of_the_same_replicates(runs: Dataset) -> None:
    (grid,) = next(each for each in generic.build(short(runs), drawn=False).sections if each.title.startswith("What matters")).grids
    assert "1 replicate lacks combinations and is left out." in grid.caption
