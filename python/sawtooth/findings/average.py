"""The mean over cells, replicate by replicate: what is claimed of cells `on average`.

A replicate has draws of its own in every cell, so that these means are replicates of one another. Where geometric means of replicates are compared,
the mean over cells is geometric, too: a cell whose values are large has no more weight than the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sawtooth.findings.cells import Cell
from sawtooth.stats import Centre


def averaged(cells: Sequence[Cell], statistic: Centre, by: Sequence[str] = ()) -> Cell:
    """One cell of the means over all: of those replicates that every cell has.

    Args:
        cells: each with its values: replicate, numbers, and the columns of `by`.
        statistic: of replicates.
        by: what tells values of a replicate apart besides, such as the arms that are ranked.

    """
    frame = pl.concat([cell.values for cell in cells])
    keys = ["replicate", *by]
    values = [name for name in frame.columns if name not in keys and frame.schema[name].is_numeric()]
    means = [pl.col(name).log().mean().exp() if statistic == "geometric mean" else pl.col(name).mean() for name in values]
    made = frame.group_by(keys, maintain_order=True).agg(*means, pl.len().alias("cells"))
    every = made.filter(pl.col("cells") == len(cells)).drop("cells")
    kind = "geometric mean" if statistic == "geometric mean" else "mean"
    return Cell(f"{kind} of {len(cells)} cells", every, max((cell.plan for cell in cells), key=lambda plan: int(plan["runs"].sum())))
