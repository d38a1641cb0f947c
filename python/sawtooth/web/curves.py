"""What a run did over time, as columns for a page: of each flow windows, round-trip times, rates and what limited it; of each link its queue, losses and marks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from sawtooth import trace
from sawtooth.errors import DatasetError
from sawtooth.hints import did_you_mean
from sawtooth.measures.tables import INFINITE
from sawtooth.stats import Vector
from sawtooth.trace import Trace
from sawtooth.web.columns import vector
from sawtooth.web.workbench import finite

MOST_FLOWS = 8
"""As many as the page has colours for."""
LIMITS = ("cwnd", "rwnd", "source", "send_buffer", "pacing", "recovery", "rto", "nagle")
"""What holds senders back, in the order of their numbers."""
_STEPS = 400
"""Of goodput over a run's flows."""
_MOST_EPISODES = 20_000
_OF_SERIES = {
    "cwnd": ("cwnd_bytes", 1e-3),
    "ssthresh": ("ssthresh_bytes", 1e-3),
    "flight": ("flight_bytes", 1e-3),
    "rtt": ("srtt_ns", 1e-6),
    "pacing": ("pacing_rate_bps", 1e-6),
}
"""Curves with their column and the factor to kB, ms or Mbit/s."""


def shown(taken: Trace, asked: Sequence[str], preferred: Sequence[str] = ()) -> list[str]:
    """The flows that are drawn: those that are named, or else those that are preferred, as far as the run has them, or else the first.

    Raises:
        DatasetError: for a flow that the run does not have.

    """
    names: list[str] = taken.flows["flow"].to_list()
    for name in asked:
        if name not in names:
            raise DatasetError(f"the run has no flow `{name[:60]}`", did_you_mean(name[:60], names))
    return (list(asked) or [name for name in preferred if name in names])[:MOST_FLOWS] or names[: trace.MOST_CURVES]


def of_flows(taken: Trace, flows: Sequence[str]) -> tuple[dict[str, Any], dict[str, Vector]]:
    """What flows did, each in columns of its own.

    Returns:
        What is said of them; and of each flow `FLOW t` (s), of the same times `cwnd`, `ssthresh` and `flight` (kB), `rtt` (ms) and `pacing` (Mbit/s); `goodput t` (s) and
        `goodput` (Mbit/s); `limited from` (s) and `limited by`, numbers of `LIMITS`, the last with the end of its life.

    """
    columns: dict[str, Vector] = {}
    step = _step(taken)
    # One step more than flows last, so that it is seen to end; not one of which nothing is known, as the run ends before the next sample.
    last = active(taken)
    until = last + step if last + step < taken.duration - 1e-9 else min(last + step / 2, taken.duration)
    edges: Vector = np.arange(1, int(until / step + 1e-9) + 1, dtype=np.float64) * step
    for name in flows:
        rows = taken.series.filter(flow=name).sort("t_ns", maintain_order=True)
        columns[f"{name} t"] = vector(rows["t_ns"], 1e-9)
        for curve, (column, factor) in _OF_SERIES.items():
            values = vector(rows[column], factor)
            values = np.where(values >= INFINITE * factor, np.nan, values)
            if not np.isnan(values).all():
                columns[f"{name} {curve}"] = values
        if rows.height and len(edges):
            # What holds in a step holds from its beginning.
            columns[f"{name} goodput t"] = edges - step
            columns[f"{name} goodput"] = np.diff(trace.delivered(rows, edges), prepend=0.0) * 8e-6 / step
        if (limited := taken.recorded.get("limited")) is not None:
            columns |= _limited(name, limited.filter(flow=name))
    return {"step": step, "limits": LIMITS, "episodes": _episodes(taken, flows)}, columns


def _step(taken: Trace) -> float:
    """Seconds of goodput that are taken together: a share of the time in which there are flows.

    Not less than a mean round trip, in which bursts are no rate, nor than lies between two samples, between which nothing is known: of those as many as a step holds.
    """
    told = taken.flows["srtt_mean_ns"] if "srtt_mean_ns" in taken.flows.columns else None
    rtt = _median(taken.series["srtt_ns"] if told is None or told.is_null().all() else told)
    first = taken.series.filter(flow=taken.flows["flow"][0]).sort("t_ns", maintain_order=True)["t_ns"]
    gap = _median(first.diff())
    step = max(active(taken) / _STEPS, 1e-6, rtt)
    if gap > step / 4:
        step = gap * math.ceil(step / gap - 1e-6)
    return min(step, taken.duration)


def _median(times_ns: pl.Series) -> float:
    """The median of times, seconds; 0 if none is known."""
    found = times_ns.drop_nulls().cast(pl.Float64).median()
    return found * 1e-9 if isinstance(found, float) else 0.0


def active(taken: Trace) -> float:
    """Until when there are rows of flows, seconds."""
    last = taken.series["t_ns"].max()
    return min(float(last) * 1e-9, taken.duration) if isinstance(last, int) else 0.0


def _limited(name: str, rows: pl.DataFrame) -> dict[str, Vector]:
    if not rows.height:
        return {}
    by = rows["by"].replace_strict({word: at for at, word in enumerate(LIMITS)}, return_dtype=pl.Float64)
    return {
        f"{name} limited from": np.append(vector(rows["from_ns"], 1e-9), float(rows["until_ns"][-1]) * 1e-9),
        f"{name} limited by": np.append(vector(by), np.nan),
    }


def _episodes(taken: Trace, flows: Sequence[str]) -> list[dict[str, Any]]:
    """Loss episodes of these flows in the order of time, with what began them."""
    episodes = taken.recorded.get("episodes")
    if episodes is None:
        return []
    rows = episodes.filter(pl.col("flow").is_in(list(flows))).sort("start_ns", maintain_order=True).head(_MOST_EPISODES)
    return [
        {
            "flow": row["flow"],
            "start": row["start_ns"] * 1e-9,
            "end": None if row["end_ns"] is None else row["end_ns"] * 1e-9,
            "cause": row["cause"],
            "lost": row["lost_packets"],
            "retransmits": row["retransmits"],
            "timeouts": row["timeouts"],
            "before": finite(row["cwnd_before_bytes"] / 1e3),
            "after": finite(row["cwnd_after_bytes"] / 1e3),
            "spurious": bool(row["spurious"]),
        }
        for row in rows.iter_rows(named=True)
    ]


def of_links(taken: Trace) -> tuple[list[str], dict[str, Vector]]:
    """Of each queue that ever held packets, the fullest first, `queue LINK t` (s) and `queue LINK` (packets); `drops LINK`: when it dropped some, to the next sample.

    Returns:
        The names of the links, and the columns.

    """
    if taken.queues is None or not taken.queues.height:
        return [], {}
    forward = taken.queues.filter(direction="forward")
    peaks = forward.group_by("link", maintain_order=True).agg(pl.col("backlog_packets").max().alias("peak"))
    held: list[str] = peaks.sort("peak", descending=True, maintain_order=True)["link"].to_list()[: trace.MOST_CURVES]
    columns: dict[str, Vector] = {}
    for name in held:
        rows = forward.filter(link=name).sort("t_ns", maintain_order=True)
        t = vector(rows["t_ns"], 1e-9)
        columns[f"queue {name} t"], columns[f"queue {name}"] = t, vector(rows["backlog_packets"])
        dropped = np.diff(vector(rows["dropped_packets"]), prepend=0.0)
        columns[f"drops {name}"] = t[dropped > 0]
    return held, columns


def of_marks(packets: pl.DataFrame, flows: Sequence[str]) -> dict[str, Vector]:
    """When packets of each flow were dropped, lost or marked, as `FLOW dropped`, `FLOW lost` and `FLOW marked` (s)."""
    columns: dict[str, Vector] = {}
    for name in flows:
        rows = packets.filter(flow=name)
        for what, which, when in (
            ("dropped", pl.col("fate") == "dropped", "dropped_ns"),
            ("lost", pl.col("fate") == "lost", "started_ns"),
            ("marked", pl.col("marked") == 1, "started_ns"),
        ):
            columns[f"{name} {what}"] = vector(rows.filter(which).sort(when)[when].drop_nulls(), 1e-9)
    return columns


def variables(taken: Trace, flows: Sequence[str]) -> dict[str, list[str]]:
    """The names of each algorithm's own variables."""
    table = taken.recorded.get("variables")
    if table is None:
        return {}
    found = table.filter(pl.col("flow").is_in(list(flows))).group_by("variable", maintain_order=True).agg(pl.col("flow").unique())
    return {row["variable"]: sorted(row["flow"]) for row in found.iter_rows(named=True)}


def of_variable(taken: Trace, flows: Sequence[str], variable: str) -> dict[str, Vector]:
    """A variable over time, in the algorithm's unit: `FLOW t` (s) and `FLOW value`.

    Raises:
        DatasetError: if no flow has it.

    """
    known = variables(taken, flows)
    if variable not in known:
        hint = did_you_mean(variable[:60], list(known)) if known else "this run has none"
        raise DatasetError(f"no flow has a variable `{variable[:60]}`", hint)
    columns: dict[str, Vector] = {}
    for name in known[variable]:
        rows = taken.recorded["variables"].filter(flow=name, variable=variable).sort("t_ns", maintain_order=True)
        columns[f"{name} t"], columns[f"{name} value"] = vector(rows["t_ns"], 1e-9), vector(rows["value"])
    return columns
