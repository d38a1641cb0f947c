"""What another program measured: flows and their course over time, in the units and, where they mean the same, under the names of Sawtooth's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from sawtooth.errors import FileUnreadable
from sawtooth.tables import column_types, total_goodput

_WHOLE = pl.Int64
FLOWS: Mapping[str, Any] = {
    "transport": pl.String,
    "direction": pl.String,
    "tool": pl.String,
    "sent_bytes": _WHOLE,
    "sending_bps": pl.Float64,
    "lost_packets": _WHOLE,
    "received_late_packets": _WHOLE,
    "jitter_ns": _WHOLE,
    "srtt_min_ns": _WHOLE,
    "srtt_max_ns": _WHOLE,
    "cwnd_most_bytes": _WHOLE,
    "rtt_mean_ns": _WHOLE,
    "rtt_median_ns": _WHOLE,
    "rtt_p99_ns": _WHOLE,
}
"""Columns of `flows` besides those of a run."""
SERIES: Mapping[str, Any] = {
    "flow": pl.String,
    "from_ns": _WHOLE,
    "t_ns": _WHOLE,
    "throughput_bps": pl.Float64,
    "sent_bytes": _WHOLE,
    "delivered_bytes": _WHOLE,
    "retransmits": _WHOLE,
    "cwnd_bytes": _WHOLE,
    "window_bytes": _WHOLE,
    "srtt_ns": _WHOLE,
    "rtt_ns": _WHOLE,
    "jitter_ns": _WHOLE,
    "packets": _WHOLE,
    "lost_packets": _WHOLE,
    "omitted": pl.Boolean,
    "value": pl.Float64,
    "unit": pl.String,
}
NS = 1_000_000_000
_MOST = 2**63


@dataclass(frozen=True)
class Measured:
    """What a file of another program holds.

    Attributes:
        name: the file, as it was named.
        program: which wrote it, and its version, in words.
        facts: what else it says of the measurement; times in ns.
        flows: a row per stream and direction, with all columns of a run's `flows` and those of `FLOWS`, null where the file does not tell them.
        series: a row per flow and stretch of time, with the columns of `SERIES`.
        untold: what the format does not tell, in sentences.
        damage: why it has not all of the measurement; None if it has.

    """

    name: str
    program: str
    facts: Mapping[str, Any]
    flows: pl.DataFrame
    series: pl.DataFrame
    untold: Sequence[str]
    damage: str | None = None


def flows_of(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """The table `flows` of what is known of each."""
    kinds = {**column_types("flows"), **FLOWS}
    return pl.DataFrame([{name: row.get(name) for name in kinds} for row in rows], schema=kinds)


def series_of(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """The table `series` of what is known of each stretch of time."""
    return pl.DataFrame([{name: row.get(name) for name in SERIES} for row in rows], schema=dict(SERIES))


def ns(value: float | None, unit: float = NS) -> int | None:
    """Nanoseconds of seconds, or of another unit of so many of them; None of what is longer than 292 years, which is no measurement."""
    return None if value is None or abs(value * unit) >= _MOST else round(value * unit)


_OF_FLOWS = ("goodput_bps", "sending_bps", "retransmits", "srtt_mean_ns", "jitter_ns", "lost_packets")
_OF_PINGS = ("rtt_mean_ns", "rtt_median_ns", "rtt_p99_ns")


def as_csv(measured: Measured) -> str:
    """The file as a table of published numbers: a row per direction, with the means over its streams and the goodput of all of them over one time; in each the means over pings.

    A measure that not all streams of a direction have is left out there: a mean of some is none of all.

    Raises:
        FileUnreadable: if it has no number.

    """
    probes = measured.flows.filter(pl.col("rtt_mean_ns").is_not_null())
    streams = measured.flows.filter(pl.any_horizontal(pl.col(name).is_not_null() for name in _OF_FLOWS))
    rows = streams.group_by("direction", maintain_order=True).agg(
        pl.len().alias("streams"),
        pl.when(pl.col("goodput_bps").null_count() == 0).then(total_goodput()).alias("sum_goodput_bps"),
        *(pl.when(pl.col(name).null_count() == 0).then(pl.col(name).cast(pl.Float64).mean()).alias(name) for name in _OF_FLOWS),
    )
    if probes.height:
        pings = probes.select(pl.col(_OF_PINGS).cast(pl.Float64).mean())
        rows = rows.join(pings, how="cross") if rows.height else pings
    rows = rows.select(name for name in rows.columns if rows[name].null_count() < rows.height)
    if not {*_OF_FLOWS, *_OF_PINGS}.intersection(rows.columns):
        raise FileUnreadable(f"{measured.name} has no number that a result could be held against", "was the measurement interrupted?")
    pings_said = f"; {probes.height} series of pings" if probes.height else ""
    head = f"# {measured.program}: means over the streams of each direction{pings_said}\n"
    return head + rows.write_csv(float_scientific=False)
