"""Marks of results: what a cell's numbers are not about what the study asks, seen from how its flows spent their time."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from sawtooth.linting.rule import Rule
from sawtooth.linting.traffic import FEW_PACKETS, FEW_TRIPS
from sawtooth.results.dataset import Dataset

_MOST = 0.5
"""Of a flow's life: what holds it back for longer than this decides its rate."""

_BY_LOSS = (
    "reno", "cubic", "highspeed", "scalable", "bic", "htcp", "westwood", "hybla", "illinois", "veno", "yeah",
    *(f"kernel:{name}" for name in ("reno", "cubic", "highspeed", "scalable", "bic", "htcp", "westwood", "hybla", "illinois", "veno", "yeah")),
)  # fmt: skip

Mark = Callable[[Dataset], pl.DataFrame]


def _limited(column: str, what: str) -> Mark:
    """Flows that one thing has held back in most of their lives."""

    def mark(dataset: Dataset) -> pl.DataFrame:
        share = pl.col(column) / pl.col("lifetime_ns")
        found = dataset.flows().filter((pl.col("lifetime_ns") > 0) & (pl.col(column) > 0) & (share > _MOST))
        return _texts(found, pl.format(f"{what} in {{}} % of its life", (100 * share).round(0).cast(pl.Int64)))

    return mark


def _endless(dataset: Dataset) -> pl.LazyFrame:
    """Flows that had no end of their own: they were never without data for long, and completed in no run."""
    idle = pl.col("limited_source_ns") >= 0.1 * pl.col("lifetime_ns")
    found = dataset.flows().filter(pl.col("completion_ns").is_null() & (pl.col("lifetime_ns") > 0) & ~idle)
    return found.join(_transfers(dataset), on="flow", how="anti")


def _transfers(dataset: Dataset) -> pl.LazyFrame:
    """The names of flows that complete in some runs of the dataset."""
    return dataset.flows().filter(pl.col("completion_ns").is_not_null()).select("flow").unique()


def _packets(dataset: Dataset) -> pl.DataFrame:
    found = _endless(dataset).filter(pl.col("acked_packets") < FEW_PACKETS)
    return _texts(found, pl.format("{} packets acknowledged", pl.col("acked_packets")))


def _trips(dataset: Dataset) -> pl.DataFrame:
    trips = pl.col("lifetime_ns") / pl.col("srtt_mean_ns")
    found = _endless(dataset).filter((pl.col("srtt_mean_ns") > 0) & (trips < FEW_TRIPS))
    return _texts(found, pl.format("{} round trips of {} ms", trips.round(1), (pl.col("srtt_mean_ns") / 1e6).round(1)))


def _slow_start(dataset: Dataset) -> pl.DataFrame:
    sent = (pl.col("acked_packets") > 0) & (pl.col("limited_cwnd_ns") + pl.col("limited_pacing_ns") > _MOST * pl.col("lifetime_ns"))
    quiet = (pl.col("congestion_signals") == 0) & (pl.col("timeouts") == 0) & pl.col("cc").is_in(_BY_LOSS)
    return _texts(dataset.flows().filter(sent & quiet), pl.lit("no sign of congestion in its life"))


def _unfinished(dataset: Dataset) -> pl.DataFrame:
    """Of flows that complete in some runs of the dataset those that did not."""
    found = dataset.flows().filter(pl.col("completion_ns").is_null()).join(_transfers(dataset), on="flow", how="semi")
    return _texts(found, pl.format("not finished when the run ended: {} bytes delivered", pl.col("delivered_bytes")))


def _nothing(dataset: Dataset) -> pl.DataFrame:
    return _texts(dataset.flows().filter(pl.col("delivered_bytes") == 0), pl.lit("nothing delivered"))


def _copies(dataset: Dataset) -> pl.DataFrame:
    """Cells and arms all of whose replicates are one run."""
    told = ["acked_packets", "sent_packets", "delivered_bytes", "srtt_mean_ns", "completion_ns", "lifetime_ns"]
    keys = dataset.runs.lazy().select("run", "cell", "arm")
    flows = dataset.flows().select("run", "flow", *told).join(keys, on="run")
    same = flows.group_by("cell", "arm", "flow", maintain_order=True).agg(
        pl.len().alias("runs"), *(pl.col(name).n_unique() for name in told)
    )
    whole = same.group_by("cell", "arm", maintain_order=True).agg(
        pl.col("runs").min(), pl.max_horizontal(pl.col(told).max()).max().alias("kinds")
    )
    found = whole.filter((pl.col("kinds") == 1) & (pl.col("runs") > 1)).join(keys, on=["cell", "arm"])
    return found.select("run", pl.lit("").alias("item"), pl.lit("all replicates are the same run").alias("text")).collect()


def _failed(dataset: Dataset) -> pl.DataFrame:
    status = dataset.status().filter(pl.col("status") != "ok")
    return status.select("run", pl.lit("").alias("item"), pl.format("run {}: {}", "status", "message").alias("text"))


def _fluid(dataset: Dataset) -> pl.DataFrame:
    if "fluid" not in dataset.tables:
        return pl.DataFrame(schema={"run": dataset.runs.schema["run"], "item": pl.String, "text": pl.String})
    found = dataset.table("fluid")
    return found.select("run", pl.lit("").alias("item"), pl.format("{} flows `{}` are a fluid", "flows", "flow").alias("text")).collect()


def _texts(flows: pl.LazyFrame, text: pl.Expr) -> pl.DataFrame:
    return flows.select("run", pl.col("flow").alias("item"), text.alias("text")).collect()


RULES = (
    Rule(
        "SW701", "limited-by-receiver", "warning", "flows that the receiver's window held back in most of their lives",
        "Their rate is the window over the round trip, whatever the algorithm: a published study reads that limit as an effect of it.",
        "Raise `receive_buffer_max` or `window_limit`, or leave the cell out of what is said of algorithms.",
        mark=_limited("limited_rwnd_ns", "held back by the receiver's window"),
    ),
    Rule(
        "SW702", "limited-by-send-buffer", "warning", "flows that the send buffer held back in most of their lives",
        "Their rate is the buffer over the round trip: 297 Mbit/s of 1 Gbit/s over a long path say nothing about the algorithm.",
        "Raise `send_buffer_max`, or leave the cell out of what is said of algorithms.",
        mark=_limited("limited_send_buffer_ns", "held back by the send buffer"),
    ),
    Rule(
        "SW703", "few-packets-sent", "warning", f"flows without an end that got less than {FEW_PACKETS} packets across",
        "One packet more or less changes what is measured by per cents.",
        "Make the run longer, or leave the cell out.",
        mark=_packets,
    ),
    Rule(
        "SW704", "few-round-trips-made", "warning", f"flows without an end that lived for less than {FEW_TRIPS} round trips, queues included",
        "What is measured is the start: in the published HighSpeed study round trips take up to 14 s in runs of 50 s.",
        "Make the run longer, or the queue shorter.",
        mark=_trips,
    ),
    Rule(
        "SW705", "no-congestion", "warning", "flows of algorithms that react to losses, which had no sign of congestion and were limited by their window",
        "The algorithm did not act: only its slow start was measured.",
        "Use larger transfers, or a bottleneck that fills.",
        mark=_slow_start,
    ),
    Rule(
        "SW706", "waiting-for-timers", "warning", "flows that waited for the retransmission timer in most of their lives",
        "What is measured is the timer's length.",
        "Look at why whole windows are lost: queues below a burst, windows of few segments, outages.",
        mark=_limited("limited_rto_ns", "waiting for its retransmission timer"),
    ),
    Rule(
        "SW707", "unfinished", "warning", "transfers that were not finished when the run ended",
        "A mean over those that were is of the quick ones.",
        "Make the run longer; or read their time as longer than the run.",
        mark=_unfinished,
    ),
    Rule(
        "SW708", "nothing-delivered", "warning", "flows that delivered nothing",
        "A zero among means; usually it started too late, or its path is down.",
        "Look at its start and path.",
        mark=_nothing,
    ),
    Rule(
        "SW709", "same-runs", "warning", "cells whose replicates are all the same run",
        "Their intervals have no width, which is no precision.",
        "Draw the starts of flows.",
        mark=_copies,
    ),
    Rule(
        "SW710", "failed-runs", "warning", "runs that failed or were lost",
        "A cell's mean is over the others, and what made a run fail may be what is studied.",
        "`sawtooth run --retry-failed` does them once more.",
        mark=_failed,
    ),
    Rule(
        "SW711", "fluid-background", "warning", "cells with flows that were simulated together as a fluid",
        "They are an approximation, and so is what it does to flows beside them: docs/validation/fluid.md has the errors.",
        "Read differences that are not well above these errors as nothing; run the cells that matter without `model`.",
        mark=_fluid,
    ),
)  # fmt: skip
