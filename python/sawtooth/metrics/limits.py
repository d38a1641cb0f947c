"""What held connections back: time by cause, of whole connections and over time. From `flows`, and `limits` of live recordings."""

from __future__ import annotations

import polars as pl

from sawtooth.results.dataset import Dataset

TITLES = {
    "source": "application", "rwnd": "receive window", "send_buffer": "send buffer", "cwnd": "congestion window", "pacing": "pacing",
    "nagle": "partial segment", "recovery": "loss recovery", "rto": "timeout", "device": "network card",
}  # fmt: skip
"""What the columns `limited_*_ns` are called in words."""


def per_connection(dataset: Dataset) -> pl.DataFrame:
    """One row per connection and run, the most stalled first.

    Columns: run, replicate, flow, seconds, goodput_bps, retransmits, stall (share of the time, none if it was not measured) and the share
    of each cause by its title.
    """
    flows = dataset.flows().filter(pl.col("lifetime_ns") > 0)
    known = flows.collect_schema().names()
    shares = [
        (pl.col(f"limited_{name}_ns") / pl.col("lifetime_ns")).alias(title)
        for name, title in TITLES.items()
        if f"limited_{name}_ns" in known
    ]
    stall = pl.col("stall_ns") / pl.col("lifetime_ns")
    runs = dataset.runs.lazy().select("run", "replicate")
    chosen = flows.select(
        "run", "flow", (pl.col("lifetime_ns") / 1e9).alias("seconds"), "goodput_bps", "retransmits", stall.alias("stall"), *shares
    )
    return (
        runs.join(chosen, on="run")
        .collect()
        .sort("run", "stall", "goodput_bps", "flow", descending=[False, True, True, False], nulls_last=True)
    )


def over_time(dataset: Dataset, run: int, flow: str) -> pl.DataFrame:
    """One row per interval of a connection: begin and seconds (its end) since the watch began, goodput_bps, stall, and the share of each cause by its title."""
    rows = dataset.table("limits").filter((pl.col("run") == run) & (pl.col("flow") == flow)).sort("t_ns")
    length = pl.col("t_ns") - pl.col("start_ns")
    shares = [(pl.col(f"limited_{name}_ns") / length).alias(title) for name, title in TITLES.items()]
    return rows.select(
        (pl.col("start_ns") / 1e9).alias("begin"), (pl.col("t_ns") / 1e9).alias("seconds"), (8e9 * pl.col("interval_bytes") / length).alias("goodput_bps"),
        (pl.col("stall_ns") / length).alias("stall"), *shares,
    ).collect()  # fmt: skip
