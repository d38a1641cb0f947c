"""A measurement as the tables of a run.

Streams are called `upload`, or `upload[1]`, `upload[2]` ... of several, and `download` likewise: as blocks of flows are, so that what takes flows together takes these. Streams of TCP are rows of `flows`, those of
UDP of `datagrams` and, for their goodput, of `flows`, too, without a congestion control; pings are requests with answers, rows of `exchanges`. What the program told beside that is in two tables of their own:
`streams` has all that it told of each, and `intervals` all that it told over time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import polars as pl

from sawtooth.foreign import Measured
from sawtooth.tables import as_table

_UNKNOWN = "unknown"
"""The congestion control of streams of TCP of which the program does not tell it."""


def tables(measured: Measured, run: int) -> dict[str, pl.DataFrame]:
    """The tables of a run.

    Args:
        measured: what it is.
        run: its number.

    """
    names = _names(measured.flows)
    called = pl.col("flow").replace_strict(names)
    streams = measured.flows.with_columns(pl.lit(run, pl.UInt32).alias("run"), told_as=pl.col("flow"), flow=called)
    intervals = _counted(measured.series.with_columns(pl.lit(run, pl.UInt32).alias("run"), flow=called))
    is_ping, is_udp = pl.col("rtt_mean_ns").is_not_null(), pl.col("transport") == "udp"
    rates = streams.filter(~is_ping).with_columns(cc=pl.when(is_udp).then(pl.lit("")).otherwise(pl.col("cc").fill_null(_UNKNOWN)))
    made = {
        "flows": as_table("flows", rates),
        "datagrams": as_table("datagrams", _datagrams(streams.filter(~is_ping & is_udp))),
        "exchanges": as_table("exchanges", _exchanges(streams.filter(is_ping))),
        "series": as_table("series", _series(intervals)),
        "streams": streams.select("run", "flow", "told_as", *(name for name in measured.flows.columns if name != "flow")),
        "intervals": intervals.select("run", *measured.series.columns),
    }
    return {name: table for name, table in made.items() if table.height}


def _names(flows: pl.DataFrame) -> dict[str, str]:
    """Of the program's names those of flows: by direction, and numbered where there are several; pings keep theirs."""
    kinds = {row["flow"]: None if row["rtt_mean_ns"] is not None else row["direction"] for row in flows.iter_rows(named=True)}
    several = Counter(kind for kind in kinds.values() if kind)
    numbers: Counter[str] = Counter()
    made: dict[str, str] = {}
    for name, kind in kinds.items():
        if kind is None:
            made[name] = name
            continue
        numbers[kind] += 1
        made[name] = f"{kind}[{numbers[kind]}]" if several[kind] > 1 else kind
    return made


def _counted(intervals: pl.DataFrame) -> pl.DataFrame:
    """Without what is not counted: intervals that iperf3 omits (`-O`), after which it begins to count time anew."""
    return intervals.filter(~pl.col("omitted").fill_null(value=False))


def _datagrams(streams: pl.DataFrame) -> pl.DataFrame:
    # Bytes are those of payloads, and the table's are those of packets: they are in `streams` alone.
    lost = pl.col("sent_packets") - pl.col("lost_packets")
    return streams.select(
        "run", "flow", "sent_packets", "lost_packets", "jitter_ns", late_packets="received_late_packets", delivered_packets=lost
    )


_OF_EXCHANGES: Mapping[str, str] = {
    "completion_mean_ns": "rtt_mean_ns",
    "completion_p50_ns": "rtt_median_ns",
    "completion_p99_ns": "rtt_p99_ns",
    "completion_max_ns": "max_rtt_ns",
}


def _exchanges(pings: pl.DataFrame) -> pl.DataFrame:
    return pings.select("run", "flow", **_OF_EXCHANGES)


def _series(intervals: pl.DataFrame) -> pl.DataFrame:
    """What a sender, or a receiver, told of each stream at the ends of intervals."""
    told = pl.any_horizontal(pl.col(name).is_not_null() for name in ("cwnd_bytes", "srtt_ns", "delivered_bytes"))
    so_far: dict[str, Any] = {"delivered_bytes": pl.col("delivered_bytes").cum_sum().over("flow")}
    return intervals.filter(told & pl.col("t_ns").is_not_null()).select("run", "t_ns", "flow", "cwnd_bytes", "srtt_ns", **so_far)
