"""The report of live connections that were watched: what held each back, over time and in words."""

from __future__ import annotations

import polars as pl

from sawtooth.counted import counted, form
from sawtooth.metrics import limits
from sawtooth.plots.limits import over_time
from sawtooth.report.document import Grid, Plot, Report, Section
from sawtooth.results.dataset import Dataset

_MOST_FIGURES = 6
_MOST_TOLD = 10
_MOST_STALLS = 50


def build(dataset: Dataset) -> Report:
    """Shares of time by cause, the stall, and what to try."""
    found = limits.per_connection(dataset)
    connections = dataset.table("connections").collect()
    told = found.join(connections.select("run", "flow", "cause", "says", "try", "local", "remote", "process", "pid", "ended"), on=["run", "flow"], how="left",
                      maintain_order="left")  # fmt: skip
    sending = told.filter(pl.col("goodput_bps") > 0)
    ranked = sending if sending.height else told
    digits = dict.fromkeys(["stall", *limits.TITLES.values()], 3) | {"seconds": 1, "goodput_bps": 0}
    words = [
        f"{row['flow']}: {row['cause']}. {row['says'][:1].upper()}{row['says'][1:]}. Try: {row['try']}."
        for row in ranked.head(_MOST_TOLD).iter_rows(named=True)
    ]
    sections = [
        Section(
            "What held the connections back",
            ["Shares of the time each connection was watched; they add up to 1. The kernel itself counts how long a connection was busy, and for "
             "how long of that the receiver's window and the send buffer held it back; the rest is divided by looks at the connection. The stall is "
             "the time in which something waited to be sent and the layers below TCP held nothing of the connection.", *words],
            plots=_over_time(dataset, ranked),
            grids=[Grid("connections", told.drop("says", "try"), "Every connection, the most stalled first", digits)],
        ),
        *_stalls(dataset),
    ]  # fmt: skip
    ended = connections["ended"].sum()
    summary = [f"{counted(told.height, 'connection')} {form(told.height, 'was', 'were')} watched, {ended} of them ended meanwhile"]
    summary += [
        f"{row['flow']}: {row['goodput_bps'] / 1e6:,.2f} Mbit/s, stalled {row['stall']:.0%} of the time, held back by: {row['cause']}"
        for row in ranked.head(5).iter_rows(named=True)
    ]
    return Report(dataset, sections, summary)


def _over_time(dataset: Dataset, ranked: pl.DataFrame) -> list[Plot]:
    made: list[Plot] = []
    for row in ranked.iter_rows(named=True):
        rows = limits.over_time(dataset, row["run"], row["flow"])
        if rows.height < 2 or len(made) == _MOST_FIGURES:
            continue
        name = row["flow"] + (f", watch {row['run'] + 1}" if dataset.runs.height > 1 else "")
        shares = {title: rows[title].to_numpy() for title in limits.TITLES.values()}
        ends = [rows[column].to_numpy() for column in ("begin", "seconds")]
        drawn = over_time(ends[0], ends[1], shares, rows["goodput_bps"].to_numpy() / 1e6, name)
        made.append(Plot(f"limits-{len(made) + 1}", drawn, f"{name}: what held it back in every interval, and its goodput."))
    return made


def _stalls(dataset: Dataset) -> list[Section]:
    if not list((dataset.directory / "parts").glob("stalls-*.parquet")):
        return []
    stalls = dataset.table("stalls").with_columns(((pl.col("end_ns") - pl.col("start_ns")) / 1e6).alias("ms")).collect()
    cause = pl.col("cause").replace(limits.TITLES)
    by_cause = (
        stalls.with_columns(cause)
        .group_by("run", "flow", "cause", maintain_order=True)
        .agg(
            pl.len().alias("stalls"),
            pl.col("ms").sum().alias("total_ms"),
            pl.col("ms").median().alias("median_ms"),
            pl.col("ms").max().alias("longest_ms"),
        )
        .sort("run", "total_ms", descending=[False, True])
    )
    longest = stalls.with_columns(cause, from_s=pl.col("start_ns") / 1e9).sort("ms", descending=True).head(_MOST_STALLS)
    text = "Measured at the kernel's tracepoints; stalls of less than 1 ms are in the sums above and not listed here."
    return [Section(
        "Exact stalls", [text],
        grids=[Grid("stalls-by-cause", by_cause, "Stalls of each connection by cause", {"total_ms": 1, "median_ms": 2, "longest_ms": 2}),
               Grid("stalls-longest", longest.select("run", "flow", "cause", "from_s", "ms"), "The longest", {"from_s": 3, "ms": 2})],
    )]  # fmt: skip
