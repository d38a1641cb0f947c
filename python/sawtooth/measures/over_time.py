"""What flows did over time: throughput in windows, how steady it was, how fair, and when it became fair.

All of it comes from the table `series`, so the study must sample (`scenario.sample = "100 ms"`), at least twice in a window. A window's
throughput is what arrived in order within it. Windows before a flow's start and after its end do not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from sawtooth import stats
from sawtooth.errors import DatasetError

if TYPE_CHECKING:
    from sawtooth.results.dataset import Dataset

WINDOW_NS = 1_000_000_000
"""One second, as monitoring tools have it."""
DELTA = 0.1
"""Of the delta-fair convergence time: the share by which the smallest flow may be below its fair share."""


def windows(dataset: Dataset, width_ns: int = WINDOW_NS) -> pl.DataFrame:
    """One row per run, flow and whole window: run, flow, window (from 0 at the run's start), bps.

    Raises:
        DatasetError: if the study does not sample, or too seldom for windows of this width.

    """
    series = dataset.series().select("run", "flow", "t_ns", "delivered_bytes").collect()
    if series.is_empty():
        raise DatasetError("throughput in windows needs samples", 'write sample = "100 ms" in [scenario] and run the study again')
    series = series.sort("run", "flow", "t_ns")
    cadence = series.select((pl.col("t_ns") - pl.col("t_ns").shift(1).over("run", "flow")).median()).item()
    if cadence is not None and 2 * cadence > width_ns:
        raise DatasetError(
            f"windows of {width_ns / 1e6:g} ms are too short for samples every {cadence / 1e6:g} ms", "sample more often, or widen them"
        )
    flows = dataset.flows().select("run", "flow", "start_ns", "completion_ns").collect()
    # What had been delivered when a window ended: the last sample until then tells, which is of just before its time.
    edges = (
        series.filter(pl.col("t_ns") > 0)
        .with_columns(window=(pl.col("t_ns") - 1) // width_ns)
        .group_by("run", "flow", "window", maintain_order=True)
        .agg(pl.col("delivered_bytes").last())
        .with_columns(before=pl.col("delivered_bytes").shift(1).over("run", "flow").fill_null(0))
        .join(flows, on=["run", "flow"])
    )
    begin, end = pl.col("window") * width_ns, (pl.col("window") + 1) * width_ns
    done = pl.col("completion_ns").is_not_null()
    last = pl.col("t_ns").max()
    whole = dataset.series().group_by("run", maintain_order=True).agg(run_end_ns=last).collect()
    inside = (begin >= pl.col("start_ns")) & (~done | (end <= pl.col("start_ns") + pl.col("completion_ns")))
    return (
        edges.join(whole, on="run")
        .filter(inside, end <= pl.col("run_end_ns") + cadence)
        .select("run", "flow", "window", bps=(pl.col("delivered_bytes") - pl.col("before")) * 8e9 / width_ns)
        .sort("run", "flow", "window")
    )


def steadiness(found: pl.DataFrame) -> pl.DataFrame:
    """One row per run and flow of `windows`: mean_bps, sd_bps and cov (sd over mean) of throughput over windows; sd needs two of them."""
    rate = pl.col("bps")
    return found.group_by("run", "flow", maintain_order=True).agg(
        windows=pl.len(),
        mean_bps=rate.mean(),
        sd_bps=rate.std(),
        cov=pl.when(rate.mean() > 0).then(rate.std() / rate.mean()),
    )


def jain(found: pl.DataFrame) -> pl.DataFrame:
    """One row per run and window in which all flows of the run take part: Jain's index of their throughputs, and the smallest share.

    The smallest share is in fair shares: 1 if all have alike.
    """
    x = pl.col("bps")
    all_flows = found.group_by("run", maintain_order=True).agg(flows=pl.col("flow").n_unique())
    per_window = found.group_by("run", "window", maintain_order=True).agg(
        present=pl.len(),
        jain=pl.when((x**2).sum() > 0).then(x.sum() ** 2 / (pl.len() * (x**2).sum())).otherwise(0.0),
        smallest=pl.when(x.sum() > 0).then(x.min() * pl.len() / x.sum()).otherwise(0.0),
    )
    return per_window.join(all_flows, on="run").filter(pl.col("present") == pl.col("flows")).sort("run", "window")


def convergence(found: pl.DataFrame, width_ns: int = WINDOW_NS, delta: float = DELTA) -> pl.DataFrame:
    """The delta-fair convergence time of every run (RFC 5166 §2.3; Bansal et al., SIGCOMM 2001).

    That is the time until the smallest of n flows has (1 - delta) / n of what they carry together, from the first window in which all take
    part to the end of the first fair one. One row per run: run, time_ns, which is null if no window was fair.
    """
    return (
        jain(found)
        .group_by("run", maintain_order=True)
        .agg(first=pl.col("window").min(), fair=pl.col("window").filter(pl.col("smallest") >= 1 - delta).min())
        .select("run", time_ns=(pl.col("fair") + 1 - pl.col("first")) * width_ns)
    )


def harm(alone: stats.Vector, together: stats.Vector, *, more_is_better: bool = True) -> stats.Vector:
    """What a neighbour costs, 0 to 1: the share of a flow's solo performance that is gone beside it.

    (alone - together) / alone for throughput, (together - alone) / together for delay and the like (Ware et al., "Beyond Jain's Fairness
    Index", HotNets 2019, §3.1). Negative: the neighbour helped.

    Args:
        alone: shape (n,).
        together: of the same runs, shape (n,).
        more_is_better: whether of this measure.

    """
    best, worst = (alone, together) if more_is_better else (together, alone)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((best - worst) / best, dtype=np.float64)
