"""Means over cells, replicate by replicate."""

from __future__ import annotations

import polars as pl
import pytest

from sawtooth.findings.average import averaged
from sawtooth.findings.cells import Cell

PLAN = pl.DataFrame({"runs": [2]})


def cell(values: dict[int, tuple[float, float]]) -> Cell:
    """A cell with the values of two arms by replicate."""
    rows = [
        {"replicate": at, "arm": arm, "low": value, "high": value}
        for at, both in values.items()
        for arm, value in zip("ab", both, strict=True)
    ]
    return Cell("", pl.DataFrame(rows), PLAN)


def test_the_mean_over_cells_is_of_replicates_that_every_cell_has() -> None:
    found = averaged([cell({1: (1, 2), 2: (3, 4)}), cell({1: (5, 8)})], "mean", ["arm"])
    assert found.values.rows() == [(1, "a", 3.0, 3.0), (1, "b", 5.0, 5.0)]
    assert found.name == "mean of 2 cells"


def test_the_mean_over_cells_of_geometric_means_is_geometric() -> None:
    found = averaged([cell({1: (1, 2)}), cell({1: (100, 8)})], "geometric mean", ["arm"])
    assert found.values["low"].to_list() == pytest.approx([10, 4])
