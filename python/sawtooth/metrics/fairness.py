"""Jain's index as the published HighSpeed study has it: of the flows' throughputs averaged over replicates.

That index hides unfairness that changes sides from run to run; the mean of per-run indices (`throughput.per_run`) is the better
statistic, and reports show both.
"""

from __future__ import annotations

import polars as pl


def of_means(flows: pl.DataFrame) -> pl.DataFrame:
    """One row per cell and arm: sum_of_means_bps and jain_of_means."""
    means = flows.group_by("cell", "arm", "flow", maintain_order=True).agg(pl.col("throughput_bps").mean())
    x = pl.col("throughput_bps")
    squares = (x**2).sum()
    return means.group_by("cell", "arm", maintain_order=True).agg(
        sum_of_means_bps=x.sum(),
        jain_of_means=pl.when(squares > 0).then(x.sum() ** 2 / (pl.len() * squares)).otherwise(0.0),
    )
