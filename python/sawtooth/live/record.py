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

import polars as pl

from sawtooth.dataset import Dataset, Observation, as_table
from sawtooth.live import causes
from sawtooth.live.causes import Measured
from sawtooth.live.exact import Stall
from sawtooth.live.targets import Target
from sawtooth.live.tcp_info import NO_SSTHRESH
from sawtooth.live.watch import Spell

_FLUSH_EVERY = 5.0
"""Seconds whose data a crash of the machine may take."""
_NO_MINIMUM = 0xFFFF_FFFF


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
        self._series: list[dict[str, Any]] = []
        self._limits: list[dict[str, Any]] = []
        self._stalls: list[dict[str, Any]] = []
        self._windows: dict[int, tuple[float, float, float]] = {}
        self._flushed = time.monotonic()

    def add(self, spells: Sequence[Spell], stalls: Sequence[Stall] = ()) -> None:
        """Takes down an interval."""
        for spell in spells:
            at = {"run": self._run, "t_ns": spell.end_ns, "flow": spell.connection.name}
            self._series.append(at | _sample(spell.after))
            self._limits.append(at | _limits(spell))
            self._add_means(spell)
        self._stalls += [{"run": self._run, **stall.as_row()} for stall in stalls]

    @property
    def due(self) -> bool:
        """Whether it is time to write."""
        return time.monotonic() - self._flushed >= _FLUSH_EVERY

    def flush(self, totals: Sequence[Spell], message: str = "") -> None:
        """Writes what was gathered; with it the run counts as done, and the next time it is replaced by more."""
        parts: dict[str, pl.DataFrame] = {}
        if self._series:
            parts = {"series": as_table("series", self._series), "limits": _frame(self._limits)}
        if self._stalls:
            parts["stalls"] = _frame(self._stalls)
        self.dataset.write_tables(self._next, parts)
        self._next += 1
        self._series, self._limits, self._stalls = [], [], []
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
        self._flushed = time.monotonic()

    def _add_means(self, spell: Spell) -> None:
        after, weight = spell.after, spell.wall_ns
        window, trip, whole = self._windows.get(spell.connection.cookie, (0.0, 0.0, 0.0))
        self._windows[spell.connection.cookie] = (
            window + weight * after["cwnd"] * after["mss_bytes"], trip + weight * after["srtt_us"] * 1e3, whole + weight,
        )  # fmt: skip

    def _flow(self, total: Spell) -> dict[str, Any]:
        before, after = total.before, total.after
        window, trip, whole = self._windows.get(total.connection.cookie, (0.0, 0.0, 0.0))

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


def _sample(now: Measured) -> dict[str, Any]:
    mss = now["mss_bytes"]
    return {
        "cwnd_bytes": float(now["cwnd"] * mss), "ssthresh_bytes": float(now["ssthresh"] * mss) if now["ssthresh"] < NO_SSTHRESH else None,
        "srtt_ns": now["srtt_us"] * 1000 or -1, "flight_bytes": max(now["wqueue"] - now["notsent_bytes"], 0), "acked_bytes": now["bytes_acked"],
        "pacing_rate_bps": 8.0 * now["pacing_rate"],
    }  # fmt: skip


def _limits(spell: Spell) -> dict[str, Any]:
    now = spell.after
    return {
        "start_ns": spell.start_ns, "busy_ns": round(spell.busy_ns), "stall_ns": round(spell.stall_ns), **_limited(spell),
        "cause": spell.cause.name, "acked_bytes": now["bytes_acked"] - spell.before["bytes_acked"],
        "notsent_bytes": now["notsent_bytes"], "receive_window_bytes": now["snd_wnd_bytes"], "send_buffer_bytes": now["sndbuf_bytes"],
        "device_bytes": now["device_bytes"],
    }  # fmt: skip


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
