"""One simulation of the playground: what its flows and queues did over time, and the numbers of it; the tables are the simulator's, the measures the project's."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sawtooth import _core
from sawtooth.backends import sim
from sawtooth.errors import PlainError, StudyError
from sawtooth.measures.whole import JAIN, TRANSFER_RATE
from sawtooth.plan import make_plan
from sawtooth.stats import Vector
from sawtooth.study import Study
from sawtooth.tables import total_goodput
from sawtooth.web.columns import vector
from sawtooth.web.curves import LIMITS
from sawtooth.web.sampling import Sampling
from sawtooth.web.setting import Setting

MOST_SECONDS = 2.0
"""Of a simulation."""
_LIMITS = {"events": 2e7, "rows": 200_000, "memory": "500 MB"}
"""What a simulation may take; a core handles about ten million events in a second."""
_COLUMNS = {
    "flows": [
        "flow", "start_ns", "goodput_bps", "delivered_bytes", "completion_ns", "lifetime_ns", "srtt_mean_ns", "min_rtt_ns", "max_cwnd_bytes", "retransmits", "timeouts",
        "congestion_signals", "stall_ns", *(f"limited_{limit}_ns" for limit in LIMITS),
    ],
    "links": [
        "link", "direction", "utilisation", "wait_mean_ns", "arrived_packets", "dropped_packets", "lost_packets", "marked_packets", "peak_packets",
    ],
    "series": ["flow", "t_ns", "cwnd_bytes", "srtt_ns", "delivered_bytes"],
    "queues": ["link", "direction", "t_ns", "peak_packets"],
}  # fmt: skip
"""Of the tables of a simulation, what is looked at: to make the others would take longer than everything else here."""
_SAVE = "make it shorter, slower, or of fewer flows; or save it as a study, which may take as long as it likes"


class BeyondError(PlainError):
    """A simulation that takes more than the playground gives."""


class SupersededError(PlainError):
    """A simulation that nobody waits for any more."""

    def __init__(self) -> None:
        super().__init__("a newer setting took its place")


@dataclass(frozen=True)
class Played:
    """What a setting did.

    Attributes:
        head: flows, links and numbers, and which curve each column is.
        columns: by name, `t` the times in seconds; what was not there is NaN.

    """

    head: Mapping[str, Any]
    columns: dict[str, Vector]


def play(setting: Setting, stop: _core.StopRequest | None = None, seconds: float = MOST_SECONDS) -> Played:
    """Simulates a setting.

    Args:
        setting: which.
        stop: is set by who does not want it any more.
        seconds: after which it is cut off.

    Raises:
        StudyError: if the setting makes no sense, with its place in the study that it is.
        BeyondError: if it takes too much.
        SupersededError: if it was stopped.

    """
    stop = stop or _core.StopRequest()
    # What runs is the study beside it: one that is saved does the same.
    run = make_plan(Study.parse(setting.text(), Path("playground.toml"), files=False)).runs[0]
    scenario = json.dumps({**json.loads(run.scenario), "limits": _LIMITS})
    try:
        _core.check(scenario)
    except _core.ScenarioError as error:
        raise BeyondError(f"that is more than the playground takes: {_without_advice(error.message)}", _SAVE) from None
    late = threading.Event()

    def cut() -> None:
        late.set()
        stop.set()

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    began = time.perf_counter()
    try:
        outcomes = sim.run_share([scenario], [run.seed], stop)
    finally:
        timer.cancel()
    took = time.perf_counter() - began
    if outcomes is None:
        if not late.is_set():
            raise SupersededError
        raise BeyondError(f"cut off: it took longer than the {seconds:g} s that the playground gives a simulation", _SAVE)
    batch = sim.gather([outcomes], _COLUMNS)
    if batch.errors:
        raise BeyondError(f"cut off: {_without_advice(batch.errors[0])}", _SAVE)
    tables = batch.tables
    flows = _flows(setting, tables)
    curves, columns = _over_time(tables, flows, setting.sampling)
    head = {
        "flows": flows.select("flow", "group", "back").to_dicts(),
        "links": _links(tables["links"]),
        "groups": _groups(setting, flows),
        "numbers": _numbers(setting, flows, tables["links"]),
        "curves": curves,
        "step_ms": setting.sampling.step * 1e3,
        "sample_ms": setting.sampling.period * 1e3,
        "events": batch.events,
        "milliseconds": took * 1e3,
        "study": setting.text(),
        "setting": setting.facts(),
    }
    return Played(head, columns)


def makes_sense(setting: Setting) -> bool:
    """Whether the study that a setting is can be run, however long that takes."""
    try:
        make_plan(Study.parse(setting.text(), Path("playground.toml"), files=False))
    except StudyError:
        return False
    return True


def _without_advice(message: str) -> str:
    """A limit's words without how it is raised: nobody can do that here."""
    return message.partition("; if that is meant")[0]


def _flows(setting: Setting, tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The table of flows, each with its group, whether it goes against the chain, and the rate while it was active."""
    groups = pl.DataFrame({"block": setting.names, "group": range(len(setting.groups)), "back": [g.end < g.begin for g in setting.groups]})
    return (
        tables["flows"]
        .with_columns(block=pl.col("flow").str.replace(r"\[\d+\]$", ""), rate_bps=TRANSFER_RATE)
        .join(groups, on="block", maintain_order="left")
    )


def _links(links: pl.DataFrame) -> list[dict[str, Any]]:
    packets = pl.col("dropped_packets") + pl.col("lost_packets")
    return links.select(
        "link", "direction", "utilisation", wait_ms=pl.col("wait_mean_ns") / 1e6,
        loss_percent=pl.when(pl.col("arrived_packets") > 0).then(100 * packets / pl.col("arrived_packets")), marked="marked_packets",
        peak_packets="peak_packets",
    ).to_dicts()  # fmt: skip


def _groups(setting: Setting, flows: pl.DataFrame) -> list[dict[str, Any]]:
    """Means over the flows of each group, sums of what is counted, and what held its senders back for most of their time."""
    limits = [pl.col(f"limited_{limit}_ns").sum().alias(limit) for limit in LIMITS]
    found = flows.group_by("group", maintain_order=True).agg(
        goodput_mbps=pl.col("goodput_bps").mean() / 1e6,
        rate_mbps=pl.col("rate_bps").mean() / 1e6,
        rate_least_mbps=pl.col("rate_bps").min() / 1e6,
        rate_most_mbps=pl.col("rate_bps").max() / 1e6,
        rtt_ms=pl.col("srtt_mean_ns").mean() / 1e6,
        cwnd_max_kb=pl.col("max_cwnd_bytes").mean() / 1e3,
        completion_ms=pl.when(pl.col("completion_ns").is_not_null().all()).then(pl.col("completion_ns").max() / 1e6),
        retransmits=pl.col("retransmits").sum(),
        timeouts=pl.col("timeouts").sum(),
        reductions=pl.col("congestion_signals").sum(),
        stall_ms=pl.col("stall_ns").max() / 1e6,
        limits=pl.struct(limits),
    )
    rows = [row | _limit(row.pop("limits")) for row in found.sort("group").to_dicts()]
    return [{"name": name, **row} for name, row in zip(setting.names, rows, strict=True)]


def _limit(times: Mapping[str, int | None]) -> dict[str, Any]:
    """Of the times that senders were held back the longest, and its share of all: together they are the flows' lives."""
    known = {limit: each for limit, each in times.items() if each}
    most = max(known, key=known.__getitem__, default=None)
    return {"limit": most, "limit_percent": None if most is None else 100 * known[most] / sum(known.values())}


def _numbers(setting: Setting, flows: pl.DataFrame, links: pl.DataFrame) -> dict[str, float | None]:
    """Of all together: goodput, Jain's index of the goodputs, packets dropped or lost of those that came to links, and the mean wait in queues, links one after the other.

    Of a single flow there is no fairness. Where all flows are transfers that are done, `completion_ms` is how long that took from the start of the first. Links count in the directions in which data go; waits are those of the direction in which they are longer, and `wait_back` is 1 if that is against the chain.
    """
    back = flows["back"]
    rows = links.to_dicts()
    data = [row for row in rows if row["direction"] == "forward" or back.any()]
    dropped, lost, came = (sum(row[f"{what}_packets"] for row in data) for what in ("dropped", "lost", "arrived"))
    ways = {"forward": not back.all(), "reverse": back.any()}
    used = [row for row in rows if ways[row["direction"]]]
    waits = {
        way: sum(row["wait_mean_ns"] or 0 for row in used if row["direction"] == way) / 1e6 for way, is_used in ways.items() if is_used
    }
    longer = max(waits, key=waits.__getitem__)
    span = setting.duration * 1e9 - pl.col("start_ns")
    took = (pl.col("start_ns") + pl.col("completion_ns")).max() - pl.col("start_ns").min()
    return {
        "goodput_mbps": float(flows.select(total_goodput(span)).item()) / 1e6,
        "completion_ms": flows.select(pl.when(pl.col("completion_ns").is_not_null().all()).then(took / 1e6)).item(),
        "jain": flows.select(JAIN).item() if flows.height > 1 else None,
        "loss_percent": 100 * (dropped + lost) / came if came else None,
        "wait_ms": waits[longer],
        "wait_back": float(longer == "reverse"),
        "utilisation": max((row["utilisation"] or 0.0 for row in used), default=0.0),
        "marked": sum(row["marked_packets"] for row in data),
    }


def _over_time(
    tables: Mapping[str, pl.DataFrame], flows: pl.DataFrame, sampling: Sampling
) -> tuple[list[dict[str, Any]], dict[str, Vector]]:
    """Curves, and their columns, of each step up to its time: windows in kB and smoothed round-trip times in ms, means of their samples; goodput in Mbit/s; queues in packets, the longest sampled.

    Rows are chosen by masks and put in their places by number: a query for each curve would take longer than it takes to draw it.
    """
    series, queues = tables["series"], tables["queues"]
    grid = np.unique(queues["t_ns"].to_numpy())
    t = sampling.ends(grid) * 1e-9
    columns: dict[str, Vector] = {"t": t}
    curves: list[dict[str, Any]] = []

    def add(kind: str, of: int, name: str, values: Vector) -> None:
        column = f"{kind} {len(columns)}"
        curves.append({"kind": kind, "of": of, "name": name, "column": column})
        columns[column] = values

    cwnd, rtt = vector(series["cwnd_bytes"], 1e-3), vector(series["srtt_ns"], 1e-6)
    delivered, sampled = vector(series["delivered_bytes"], 8e-6), series["t_ns"].to_numpy()
    for row in flows.iter_rows(named=True):
        rows = (series["flow"] == row["flow"]).to_numpy()
        if not rows.any():
            continue
        at = _Placed(sampled[rows], grid)
        add("cwnd", row["group"], row["flow"], sampling.mean(at(cwnd[rows])))
        add("rtt", row["group"], row["flow"], sampling.mean(at(rtt[rows])))
        add("goodput", row["group"], row["flow"], sampling.rate(at(delivered[rows]), (row["min_rtt_ns"] or 0) * 1e-9))
    most, seen = vector(queues["peak_packets"]), queues["t_ns"].to_numpy()
    both = bool(flows["back"].any())
    for link, direction in tables["links"].select("link", "direction").iter_rows():
        rows = ((queues["link"] == link) & (queues["direction"] == direction)).to_numpy()
        if rows.any() and (direction == "forward" or both):
            index = int(str(link).removeprefix("link")) - 1
            name = f"link {index + 1}{'' if direction == 'forward' else ', back'}"
            add("queue", index, name, sampling.most(_Placed(seen[rows], grid)(most[rows])))
    return curves, columns


class _Placed:
    """Where samples of these times, in their order, stand among the times of a grid; where there are none, nothing does."""

    def __init__(self, times: npt.NDArray[np.int64], grid: npt.NDArray[np.int64]) -> None:
        at = np.minimum(np.searchsorted(times, grid), len(times) - 1)
        self._at, self._lacks = at, times[at] != grid

    def __call__(self, values: Vector) -> Vector:
        """These samples on the grid."""
        found = values[self._at]
        found[self._lacks] = np.nan
        return found
