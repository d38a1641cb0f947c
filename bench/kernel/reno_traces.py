"""A flow's congestion window after each acknowledgement, and where two of them part."""

from __future__ import annotations

import bisect
import itertools
import math
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import polars as pl

SEGMENT_MS = 1.2
"""Transmission of a full segment at the links' rate."""


@dataclass(frozen=True)
class Trace:
    """Rows of `series`, from the acknowledgement that establishes the connection on.

    Attributes:
        t_ms: since then.
        acked: data segments acknowledged cumulatively.
        cwnd: segments.
        ssthresh: segments, infinite before a loss.
        sent: data segments sent at least once.
        srtt_ms: smoothed round-trip time.

    """

    t_ms: list[float]
    acked: list[float]
    cwnd: list[float]
    ssthresh: list[float]
    sent: list[float]
    srtt_ms: list[float]

    def window_at(self, t_ms: float) -> float:
        """The window at a time."""
        return self.cwnd[max(0, bisect.bisect_right(self.t_ms, t_ms) - 1)]

    def window_after(self, acked: float) -> float:
        """The window when that many segments had just been acknowledged."""
        return self.cwnd[min(len(self.cwnd) - 1, bisect.bisect_left(self.acked, acked))]

    def loss_found(self) -> int:
        """The row with the first reduction."""
        return next(row for row, ssthresh in enumerate(self.ssthresh) if ssthresh < math.inf)


def trace(series: pl.DataFrame, mss: int) -> Trace:
    """That of one run with one flow."""
    rows: list[dict[str, Any]] = list(series.iter_rows(named=True))
    established = rows[0]["t_ns"]
    thresholds = [row["ssthresh_bytes"] for row in rows]
    return Trace(
        t_ms=[(row["t_ns"] - established) / 1e6 for row in rows],
        acked=[row["acked_bytes"] / mss for row in rows],
        cwnd=[row["cwnd_bytes"] / mss for row in rows],
        # "Arbitrarily high" is null on kernels and a large number in the simulator.
        ssthresh=[math.inf if value is None or value > 1e12 else value / mss for value in thresholds],
        sent=[(row["acked_bytes"] + row["flight_bytes"]) / mss for row in rows],
        srtt_ms=[math.nan if row["srtt_ns"] is None else row["srtt_ns"] / 1e6 for row in rows],
    )


@dataclass(frozen=True)
class Parting:
    """Where two windows first differ by a segment for longer than three segments take; less is an acknowledgement that waits."""

    t_ms: float
    acked: float
    kernel: float
    simulator: float

    def __str__(self) -> str:
        return f"at {self.t_ms:.1f} ms, {self.acked:.0f} acked: {self.kernel:.0f} / {self.simulator:.1f}"


def parting(kernel: Trace, simulator: Trace) -> Parting | None:
    """The first difference in time."""
    times = sorted({*kernel.t_ms, *simulator.t_ms})
    since: float | None = None
    for now in times:
        if since is not None and now - since > 3 * SEGMENT_MS:
            at = bisect.bisect_right(kernel.t_ms, since) - 1
            return Parting(since, kernel.acked[max(at, 0)], kernel.window_at(since), simulator.window_at(since))
        if abs(kernel.window_at(now) - simulator.window_at(now)) < 1:
            since = None
        elif since is None:
            since = now
    return None


def mean_gap(kernel: Trace, simulator: Trace) -> float:
    """Mean difference of the windows, segments, aligned by what has been acknowledged."""
    last = math.floor(min(kernel.acked[-1], simulator.acked[-1]))
    return fmean(abs(kernel.window_after(acked) - simulator.window_after(acked)) for acked in range(1, max(last, 2)))


def acked_per_increment(one: Trace) -> float:
    """In congestion avoidance, segments acknowledged while the window grows from w to w + 1, in units of w: the mean after the last loss."""
    last_loss = max(row for row, value in enumerate(one.ssthresh) if row == 0 or value != one.ssthresh[row - 1])
    rises: list[tuple[float, int]] = []
    for row in range(last_loss + 1, len(one.cwnd)):
        window = math.floor(one.cwnd[row] + 1e-9)
        if window == math.floor(one.cwnd[row - 1] + 1e-9) + 1:
            rises.append((one.acked[row], window))
    # A window that falls in between belongs to a recovery.
    return fmean((after - before) / window for (before, window), (after, grown) in itertools.pairwise(rises) if grown == window + 1)
