"""Throughput per run and arm: what the flows carried together, and its paired difference between arms."""

from __future__ import annotations

import polars as pl

from sawtooth import stats
from sawtooth.results.dataset import Dataset


def per_flow(dataset: Dataset) -> pl.DataFrame:
    """One row per flow and run: run, cell, arm, replicate, flow, throughput_bps (acknowledged, since the flow's start)."""
    runs = dataset.runs.lazy().select("run", "cell", "arm", "replicate")
    flows = dataset.flows().select("run", "flow", "throughput_bps", "acked_packets", "cc", "recovery", "start_ns")
    return flows.join(runs, on="run").collect()


def per_run(flows: pl.DataFrame) -> pl.DataFrame:
    """One row per run: cell, arm, replicate, sum_bps (over flows) and jain (of the flows' throughputs)."""
    x = pl.col("throughput_bps")
    squares = (x**2).sum()
    return (
        flows.group_by("cell", "arm", "replicate", maintain_order=True)
        .agg(
            sum_bps=x.sum(),
            jain=pl.when(squares > 0).then(x.sum() ** 2 / (pl.len() * squares)).otherwise(0.0),
            min_share=pl.when(x.sum() > 0).then(x.min() / x.sum()).otherwise(0.0),
        )
        .sort("cell", "arm", "replicate")
    )


def per_cell(runs: pl.DataFrame) -> pl.DataFrame:
    """One row per cell and arm: mean of sum_bps and of jain over replicates with 95 % t intervals."""
    rows: list[dict[str, object]] = []
    for (cell, arm), group in runs.group_by("cell", "arm", maintain_order=True):
        total, fair = stats.mean_interval(group["sum_bps"].to_numpy()), stats.mean_interval(group["jain"].to_numpy())
        rows.append({
            "cell": cell, "arm": arm, "replicates": total.n,
            "sum_bps": total.estimate, "sum_low_bps": total.low, "sum_high_bps": total.high,
            "jain_run_mean": fair.estimate, "jain_run_low": fair.low, "jain_run_high": fair.high,
        })  # fmt: skip
    return pl.DataFrame(rows).with_columns(pl.col("cell").cast(pl.UInt32))


def gains(runs: pl.DataFrame, base: str) -> pl.DataFrame:
    """Paired differences to the arm `base`, one row per cell and other arm.

    Columns: cell, arm, gain_bps with gain_low_bps and gain_high_bps (95 % t interval), effect, p_t, p_wilcoxon, p_holm (over all
    cells of the arm), jain_gain with its interval. Effect and p-values of a single replicate are not numbers.
    """
    reference = runs.filter(pl.col("arm") == base)
    rows: list[dict[str, object]] = []
    for arm in [arm for arm in runs["arm"].unique(maintain_order=True) if arm != base]:
        mine: list[dict[str, object]] = []
        joined = reference.join(runs.filter(pl.col("arm") == arm), on=["cell", "replicate"], suffix="_arm")
        for (cell,), group in joined.group_by(["cell"], maintain_order=True):
            total = stats.paired(group["sum_bps"].to_numpy(), group["sum_bps_arm"].to_numpy())
            fair = stats.paired(group["jain"].to_numpy(), group["jain_arm"].to_numpy())
            mine.append({
                "cell": cell, "arm": arm,
                "gain_bps": total.difference.estimate, "gain_low_bps": total.difference.low, "gain_high_bps": total.difference.high,
                "effect": total.effect, "p_t": total.p_t, "p_wilcoxon": total.p_wilcoxon,
                "jain_gain": fair.difference.estimate, "jain_gain_low": fair.difference.low, "jain_gain_high": fair.difference.high,
            })  # fmt: skip
        for row, p in zip(mine, stats.holm([float(str(row["p_t"])) for row in mine]), strict=True):
            row["p_holm"] = p
        rows += mine
    return pl.DataFrame(rows).with_columns(pl.col("cell").cast(pl.UInt32))
