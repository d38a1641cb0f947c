"""Keeping what is watched: a results directory like a study's, so that `sawtooth report` and `compare` work on it.

Beside the tables `flows` and `series` of a study there are

    connections   a row per connection: who it is, and whether it ended
    limits        a row per connection and interval: what held it back, and for how long

A watch is one run. Watching the same again into the same directory adds a run, which is another replicate.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sawtooth.live import causes
from sawtooth.live.causes import CAUSES
from sawtooth.live.exact import Stall
from sawtooth.live.targets import Target
from sawtooth.live.tcp_info import NO_SSTHRESH, Sockets
from sawtooth.live.watch import Spells
from sawtooth.results import lock
from sawtooth.results.dataset import Dataset, Observation
from sawtooth.tables import as_status, as_table

_FLUSH_EVERY = 5.0
"""Seconds whose data a crash of the machine may take."""
_BUDGET, _COST = 0.0015, 0.06e-3
"""Share of a processor for writing, and what a connection costs in seconds: of a thousand all is written every 40 s."""
_NO_MINIMUM = 0xFFFF_FFFF
_SAMPLED = ["cwnd_bytes", "ssthresh_bytes", "srtt_ns", "flight_bytes", "acked_bytes", "pacing_rate_bps"]


class Recorder:
    """Writes a watch into a results directory, a part every few seconds.

    Raises:
        DatasetError: if the directory holds anything else, or cannot be written.

    """

    def __init__(self, directory: Path, target: Target) -> None:
        # JSON's strings are TOML's, too.
        text = (
            f'# Live connections, watched by `sawtooth stall`: there is no scenario to be run again.\nname = "live"\nwatched = "{target}"\n'
        )
        question = f"What holds back the connections of {target}?"
        observation = Observation("live", question, "live", "kernel of this machine", text)
        self.dataset, self._run, self._lock = Dataset.observe(directory, observation)
        # Intervals have a batch each time they are written, and what is known of the whole has one that is replaced.
        self._totals = self.dataset.next_batch
        self._next = self._totals + 1
        self._intervals: list[dict[str, Any]] = []
        self._stalls: list[dict[str, Any]] = []
        self._means: dict[str, tuple[float, ...]] = {}
        # The first interval is written at once, so that a recording is there from then on, and whatever cannot be written is told soon.
        self._flushed = -math.inf
        self._cost = 0.0

    def add(self, spells: Spells, stalls: Sequence[Stall] = ()) -> None:
        """Takes down an interval."""
        # Taken apart while it is at hand: of a thousand connections 32 MB came together else until they are written.
        self._intervals.append(_interval(spells))
        self._cost = max(self._cost, _COST * len(spells))
        self._stalls += [{"run": self._run, **stall.as_row()} for stall in stalls]

    @property
    def due(self) -> bool:
        """Whether it is time to write."""
        return time.monotonic() - self._flushed >= max(_FLUSH_EVERY, self._cost / _BUDGET)

    def flush(self, totals: Spells, message: str = "") -> None:
        """Writes what was gathered; with it the run counts as done, and the next time it is replaced by more."""
        before = time.process_time()
        parts: dict[str, pl.DataFrame] = {}
        if self._intervals:
            intervals = _intervals(self._run, self._intervals)
            self._add_means(intervals)
            parts = {"series": as_table("series", intervals), "limits": intervals.drop(_SAMPLED)}
        if self._stalls:
            parts["stalls"] = pl.DataFrame(self._stalls, schema_overrides={"run": pl.UInt32}, infer_schema_length=None)
        self.dataset.write_tables(self._next, parts)
        self._next += 1
        self._intervals, self._stalls = [], []
        tables = {"flows": self._flows(totals), "connections": _who(self._run, totals)} if totals else {}
        status = as_status([self._run], ["ok" if totals else "failed"], [message or None])
        self.dataset.write_batch(self._totals, tables, status)
        self._flushed, self._cost = time.monotonic(), time.process_time() - before

    def close(self) -> None:
        """Lets others write to the directory."""
        lock.release(self._lock)

    def _add_means(self, intervals: pl.DataFrame) -> None:
        length = pl.col("t_ns") - pl.col("start_ns")
        sums = intervals.group_by("flow", maintain_order=True).agg(
            (pl.col("cwnd_bytes") * length).sum(), (pl.col("srtt_ns") * length.cast(pl.Float64)).sum(), length.sum().alias("length")
        )  # fmt: skip
        for flow, *more in sums.iter_rows():
            self._means[flow] = tuple(a + b for a, b in zip(self._means.get(flow, (0.0, 0.0, 0.0)), more, strict=True))

    def _flows(self, totals: Spells) -> pl.DataFrame:
        rows = totals.rows
        before, after = rows["before"], rows["after"]
        names = [connection.name for connection in totals.connections]
        nothing = (0.0, 0.0, 0.0)
        window, trip, length = np.array([self._means.get(name, nothing) for name in names]).T
        known, whole = length > 0, np.maximum(length, 1)
        acked = (after["bytes_acked"] - before["bytes_acked"]).astype(np.int64)
        # Counters of 32 bits go round.
        sent, again, twice = (after[name] - before[name] for name in ("data_segs_out", "total_retrans", "dsack_dups"))
        least = after["min_rtt_us"].astype(np.int64)
        rate = totals.sent_bps
        columns: dict[str, Any] = {
            "flow": names, "cc": _congestion_controls(after), "start_ns": rows["start_ns"],
            "acked_packets": -(-acked // np.maximum(after["mss_bytes"].astype(np.int64), 1)), "acked_bytes": acked,
            "throughput_bps": rate, "goodput_bps": rate, "sent_packets": sent, "retransmits": again, "dsacks_in": twice,
            "cwnd_mean_bytes": np.where(known, window / whole, np.nan),
            "srtt_mean_ns": np.where(known, (trip / whole).round(), np.nan),
            "min_rtt_ns": np.where((least == 0) | (least == _NO_MINIMUM), np.nan, least * 1000.0),
            "stall_ns": rows["stall_ns"].round().astype(np.int64), "lifetime_ns": rows["end_ns"] - rows["start_ns"],
            **_limited(rows),
        }  # fmt: skip
        frame = _of_run(self._run, columns).with_columns(
            pl.col("cwnd_mean_bytes", "srtt_mean_ns", "min_rtt_ns").fill_nan(None), recovery=pl.lit("kernel")
        )
        # The simulator's flows have no network card.
        return as_table("flows", frame).with_columns(frame["limited_device_ns"])


def _interval(spells: Spells) -> dict[str, Any]:
    """A row per connection of one interval: what `limits` has, and what `series` has of its end."""
    rows = spells.rows
    now = rows["after"]
    mss = now["mss_bytes"].astype(float)
    return {
        "t_ns": rows["end_ns"].copy(), "flow": pl.Series([connection.name for connection in spells.connections], dtype=pl.String),
        "start_ns": rows["start_ns"].copy(),
        "busy_ns": rows["busy_ns"].round().astype(np.int64), "stall_ns": rows["stall_ns"].round().astype(np.int64), **_limited(rows),
        "cause": spells.causes, "interval_bytes": (now["bytes_acked"] - rows["before"]["bytes_acked"]).astype(np.int64),
        "notsent_bytes": now["notsent_bytes"].copy(), "receive_window_bytes": now["snd_wnd_bytes"].copy(),
        "send_buffer_bytes": now["sndbuf_bytes"].copy(), "device_bytes": now["device_bytes"].copy(),
        "cwnd_bytes": now["cwnd"] * mss, "ssthresh_bytes": np.where(now["ssthresh"] < NO_SSTHRESH, now["ssthresh"] * mss, np.nan),
        "srtt_ns": np.where(now["srtt_us"] > 0, now["srtt_us"] * 1000.0, np.nan),
        "flight_bytes": np.maximum(now["wqueue"].astype(np.int64) - now["notsent_bytes"], 0), "acked_bytes": now["bytes_acked"].copy(),
        "pacing_rate_bps": now["pacing_rate"] * 8.0,
    }  # fmt: skip


def _intervals(run: int, parts: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """One interval after the other."""
    columns = {
        name: pl.concat([part[name] for part in parts]) if name == "flow" else np.concatenate([part[name] for part in parts])
        for name in parts[0]
    }
    return _of_run(run, columns).with_columns(
        pl.col("ssthresh_bytes", "srtt_ns").fill_nan(None), cause=pl.Series(causes.NAMES).gather(columns["cause"])
    )


def _limited(rows: NDArray[Any]) -> dict[str, NDArray[np.int64]]:
    whole = rows["limited_ns"].round().astype(np.int64)
    return {f"limited_{name}_ns": whole[:, at] for at, name in enumerate(causes.NAMES)}


def _congestion_controls(now: Sockets) -> list[str]:
    return [name.decode("ascii", "replace") for name in now["cc"].tolist()]


def _who(run: int, totals: Spells) -> pl.DataFrame:
    who, found = totals.connections, totals.causes
    says, advice = causes.words(found, totals.rows["after"])
    columns: dict[str, Any] = {
        "flow": [each.name for each in who], "local": [each.local for each in who], "remote": [each.remote for each in who],
        "uid": pl.Series([each.uid for each in who], dtype=pl.Int64), "pid": pl.Series([each.pid for each in who], dtype=pl.Int64),
        "process": pl.Series([each.process for each in who], dtype=pl.String),
        "cookie": pl.Series([each.cookie for each in who], dtype=pl.UInt64), "ended": totals.rows["ended"],
        "cause": pl.Series([cause.title for cause in CAUSES]).gather(found), "says": says, "try": advice,
    }  # fmt: skip
    return _of_run(run, columns)


def _of_run(run: int, columns: Mapping[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(columns).select(pl.lit(run, pl.UInt32).alias("run"), pl.all())
