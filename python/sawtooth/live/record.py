"""Keeping what is watched: a results directory like a study's, so that `sawtooth report` and `compare` work on it.

Beside the tables `flows` and `series` of a study there are

    connections   a row per connection: who it is, and whether it ended
    limits        a row per connection and interval: what held it back, and for how long

A watch is one run. Watching the same again into the same directory adds a run, which is another replicate.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sawtooth.dataset import Dataset, Observation, as_table
from sawtooth.live import causes
from sawtooth.live.exact import Stall
from sawtooth.live.targets import Target
from sawtooth.live.tcp_info import NO_SSTHRESH
from sawtooth.live.watch import Spell, Spells

_FLUSH_EVERY = 5.0
"""Seconds whose data a crash of the machine may take."""
_BUDGET, _COST = 0.005, 0.2e-3
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
        self.dataset, self._run = Dataset.observe(directory, Observation("live", question, "live", "kernel of this machine", text))
        self._first = self._next = 1 + max((int(path.stem[-6:]) for path in (directory / "parts").glob("*.parquet")), default=-1)
        self._spells: list[Spells] = []
        self._stalls: list[dict[str, Any]] = []
        self._means: dict[str, tuple[float, ...]] = {}
        self._flushed = time.monotonic()
        self._cost = 0.0

    def add(self, spells: Spells, stalls: Sequence[Stall] = ()) -> None:
        """Takes down an interval."""
        self._spells.append(spells)
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
        if self._spells:
            intervals = pl.concat([_intervals(self._run, spells) for spells in self._spells])
            self._add_means(intervals)
            parts = {"series": as_table("series", intervals), "limits": intervals.drop(_SAMPLED)}
        if self._stalls:
            parts["stalls"] = _frame(self._stalls)
        self.dataset.write_tables(self._next, parts)
        self._next += 1
        self._spells, self._stalls = [], []
        rows = [{"run": self._run, **self._flow(total)} for total in totals]
        if rows:
            flows = as_table("flows", rows)
            # The simulator's flows have no network card.
            device = pl.Series("limited_device_ns", [row["limited_device_ns"] for row in rows], dtype=pl.Int64)
            connections = _frame([{"run": self._run, **_who(total)} for total in totals])
            tables = {"flows": flows.with_columns(device), "connections": connections}
        else:
            tables = {}
        status = pl.DataFrame({"run": [self._run], "status": ["ok" if rows else "failed"], "message": [message or None]},
                              schema={"run": pl.UInt32, "status": pl.String, "message": pl.String})  # fmt: skip
        self.dataset.write_batch(self._first, tables, status)
        self._flushed, self._cost = time.monotonic(), time.process_time() - before

    def _add_means(self, intervals: pl.DataFrame) -> None:
        length = pl.col("t_ns") - pl.col("start_ns")
        sums = intervals.group_by("flow", maintain_order=True).agg(
            (pl.col("cwnd_bytes") * length).sum(), (pl.col("srtt_ns").clip(0) * length.cast(pl.Float64)).sum(), length.sum().alias("length")
        )  # fmt: skip
        for flow, *more in sums.iter_rows():
            self._means[flow] = tuple(a + b for a, b in zip(self._means.get(flow, (0.0, 0.0, 0.0)), more, strict=True))

    def _flow(self, total: Spell) -> dict[str, Any]:
        before, after = total.before, total.after
        window, trip, whole = self._means.get(total.connection.name, (0.0, 0.0, 0.0))

        def since(name: str) -> int:
            return after[name] - before[name]

        acked, mss = since("bytes_acked"), max(after["mss_bytes"], 1)
        return {
            "flow": total.connection.name, "cc": after["cc"].decode("ascii", "replace"), "recovery": "kernel", "start_ns": total.start_ns,
            "acked_packets": -(-acked // mss), "acked_bytes": acked, "throughput_bps": total.sent_bps, "goodput_bps": total.sent_bps,
            "sent_packets": since("data_segs_out") % 2**32, "retransmits": since("total_retrans") % 2**32,
            "dsacks_in": since("dsack_dups") % 2**32, "cwnd_mean_bytes": window / whole if whole else None,
            "srtt_mean_ns": round(trip / whole) if whole else -1,
            "min_rtt_ns": -1 if after["min_rtt_us"] in (0, _NO_MINIMUM) else after["min_rtt_us"] * 1000,
            "completion_ns": -1, "stall_ns": round(total.stall_ns), "lifetime_ns": total.wall_ns,
            **_limited(total),
        }  # fmt: skip


def _intervals(run: int, spells: Spells) -> pl.DataFrame:
    """A row per connection: what `limits` has, and what `series` has of its end."""
    rows, now = spells.rows, spells.rows["after"]
    mss = now["mss_bytes"].astype(float)
    limited = rows["limited_ns"].round().astype(np.int64)
    frame = pl.DataFrame({
        "t_ns": rows["end_ns"], "flow": [connection.name for connection in spells.connections], "start_ns": rows["start_ns"],
        "busy_ns": rows["busy_ns"].round().astype(np.int64), "stall_ns": rows["stall_ns"].round().astype(np.int64),
        **{f"limited_{name}_ns": limited[:, at] for at, name in enumerate(causes.NAMES)},
        "cause": [causes.NAMES[cause] for cause in spells.causes.tolist()],
        "interval_bytes": (now["bytes_acked"] - rows["before"]["bytes_acked"]).astype(np.int64),
        "notsent_bytes": now["notsent_bytes"], "receive_window_bytes": now["snd_wnd_bytes"], "send_buffer_bytes": now["sndbuf_bytes"],
        "device_bytes": now["device_bytes"],
        "cwnd_bytes": now["cwnd"] * mss, "ssthresh_bytes": np.where(now["ssthresh"] < NO_SSTHRESH, now["ssthresh"] * mss, np.nan),
        "srtt_ns": np.where(now["srtt_us"] > 0, now["srtt_us"].astype(np.int64) * 1000, -1),
        "flight_bytes": np.maximum(now["wqueue"].astype(np.int64) - now["notsent_bytes"], 0), "acked_bytes": now["bytes_acked"],
        "pacing_rate_bps": now["pacing_rate"] * 8.0,
    })  # fmt: skip
    return frame.select(pl.lit(run, pl.UInt32).alias("run"), pl.all()).with_columns(pl.col("ssthresh_bytes").fill_nan(None))


def _limited(spell: Spell) -> dict[str, int]:
    return {f"limited_{name}_ns": round(value) for name, value in zip(causes.NAMES, spell.limited_ns.tolist(), strict=True)}


def _who(total: Spell) -> dict[str, Any]:
    connection, cause, after = total.connection, total.cause, total.after
    return {
        "flow": connection.name, "local": connection.local, "remote": connection.remote, "uid": connection.uid, "pid": connection.pid,
        "process": connection.process, "cookie": connection.cookie, "ended": total.ended,
        "cause": cause.title, "says": cause.says(after), "try": cause.advice(after),
    }  # fmt: skip


def _frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    types = {"run": pl.UInt32, "uid": pl.Int64, "pid": pl.Int64, "process": pl.String, "cookie": pl.UInt64}
    return pl.DataFrame(rows, schema_overrides={name: kind for name, kind in types.items() if name in rows[0]}, infer_schema_length=None)
