"""One flow of a capture as vectors: when data was sent and arrived, how long it took, and what was lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sawtooth.captures import Capture
from sawtooth.stats import Vector

_OF_HANDSHAKE = 2
"""Packets that a sender sends before data: its SYN, and the acknowledgement of the other's."""
_LITTLE = 0.01
"""Of a segment: the mean header, by which its size is told, has some of other packets in it."""
_FEWEST_DUPACKS = 3
"""Duplicate acknowledgements without SACK, below which nothing is told of it: those at which a loss is (RFC 5681 section 3.2)."""
_MORE_THAN_ONE = 1.5
"""Segments: who acknowledges that much acknowledges more than one."""
_AT_ONCE = 3
"""Acknowledgements with SACK for each acknowledgement number that no receiver holds back: the sender needs them for a fast retransmission (RFC 5681 section 3.2)."""
_COPIES = ("retransmission", "needless")
"""Marks of what is sent again."""
_SAME = 1e-9
"""Seconds: times that are less apart are the same."""
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Packets:
    """What a sender-side capture shows of a flow; times in seconds since its first packet, vectors of shape (n,).

    Attributes:
        row: the flow's row of the table `flows`.
        segment: payload of a full packet on the wire, bytes. header: what its IP packet has besides.
        at: when something more had arrived, as the sender learnt; arrived: how much by then, bytes, cumulatively and selectively.
        sent: when packets with data were sent, each copy, ascending.
        asked: when the packets were sent of which `took` tells the round trip, ascending; at_once: whether SACK told it, which waits for no further packet, shape (n,) of bool.
        prompt: whether they waited for no timer of the receiver: those of SACK, and of acknowledgements of more than a packet, shape (n,) of bool.
        alone: whether SACK told it of this packet and no other, shape (n,) of bool; first: of these, whether that is surely not held back, shape (n,) of bool.
        asked_number: which of all packets with data they are, from 1, shape (n,) of int.
        lost: when the packets were sent that were lost, ascending; lost_number: which of all packets with data they are, from 1, shape (n,) of int.
        again: when data were sent again, needlessly or not, ascending; again_from: its first byte, shape (n,).
        before: packets that the sender sent before data.
        since, flight, acked: bytes that were not cumulatively acknowledged, and that were, from each of these times on.

    """

    row: dict[str, Any]
    segment: float
    header: float
    at: Vector
    arrived: Vector
    sent: Vector
    asked: Vector
    took: Vector
    at_once: NDArray[np.bool_]
    prompt: NDArray[np.bool_]
    alone: NDArray[np.bool_]
    first: NDArray[np.bool_]
    asked_number: Numbers
    lost: Vector
    lost_number: Numbers
    again: Vector
    again_from: Vector
    before: int
    since: Vector
    flight: Vector
    acked: Vector

    @property
    def packet(self) -> float:
        """Bytes of a full packet."""
        return self.segment + self.header

    @property
    def without_sack(self) -> str:
        """What shows that the connection had no SACK; empty if nothing does: who has it reports with every duplicate what came out of order."""
        dupacks, sacks = self.row["dupacks_in"], self.row["sacks_in"]
        if sacks != 0 or dupacks is None or dupacks < _FEWEST_DUPACKS:
            return ""
        return f"none of {dupacks:,} duplicate acknowledgements has SACK"


def packets(capture: Capture, flow: str) -> Packets:
    """Reads the tables of one flow of TCP."""
    row = capture.flows.row(by_predicate=pl.col("flow") == flow, named=True)
    series = capture.series.filter(pl.col("flow") == flow)
    marks = capture.marks.filter(pl.col("flow") == flow)
    start = row["start_ns"]
    header = (row["ip_bytes"] - row["sent_bytes"]) / row["sent_packets"]
    fresh = series.filter(pl.col("new_from_bytes").is_not_null())
    begin, end = _floats(fresh, "new_from_bytes"), _floats(fresh, "new_to_bytes")
    segment = float(np.quantile(end - begin, 0.9)) if end.size else 0.0
    if row["mss_bytes"]:
        # A frame may be cut into segments only after it was captured; options take their room from the MSS.
        segment = min(segment, row["mss_bytes"] - max(header - 40, 0))
        header = header if segment < row["mss_bytes"] else 40.0
    fresh_at = _seconds(fresh, "t_ns", start)
    arrived = _floats(series, "acked_bytes") + _floats(series, "sacked_bytes")
    more = np.flatnonzero(np.diff(np.maximum.accumulate(np.nan_to_num(arrived)), prepend=0) > 0)
    again, copies = _again(marks), marks.filter(pl.col("kind").is_in(_COPIES))
    sent, fresh_number, again_number = _numbers(series, marks, again, max(segment, 1.0), start)
    lost = _lost(again, again_number, begin, end, fresh_number)
    asked, took, at_once, upper, gained = _round_trips(series, marks, again, start, end, fresh_at)
    since, acked = _seconds(series, "t_ns", start), np.maximum.accumulate(np.nan_to_num(_floats(series, "acked_bytes")))
    with_sack = np.unique(_seconds(marks.filter(pl.col("kind") == "sack"), "t_ns", start))
    alone, first = _alone(asked + took, at_once, with_sack, since, acked, np.nan_to_num(arrived), max(segment, 1.0))
    return Packets(
        row=row,
        segment=segment,
        header=header,
        at=_seconds(series, "t_ns", start)[more],
        arrived=arrived[more],
        sent=sent,
        asked=asked,
        took=took,
        at_once=at_once,
        prompt=at_once | (gained > _MORE_THAN_ONE * segment),
        alone=alone,
        first=first,
        asked_number=_number_of(upper, begin, end, fresh_number, max(segment, 1.0)),
        lost=sent[lost - 1],
        before=_OF_HANDSHAKE if row["handshake"] == "whole" else 0,
        lost_number=lost,
        again=_seconds(copies, "t_ns", start),
        again_from=_floats(copies, "from_bytes"),
        since=since,
        flight=_floats(series, "flight_bytes"),
        acked=acked,
    )


def _floats(table: pl.DataFrame, name: str) -> Vector:
    return table[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _seconds(table: pl.DataFrame, name: str, start: int) -> Vector:
    return (table[name] - start).cast(pl.Float64).to_numpy() / 1e9


def _again(marks: pl.DataFrame) -> pl.DataFrame:
    """Retransmissions, without those that a DSACK (RFC 2883) says were needless."""
    twice = marks.filter(pl.col("kind") == "dsack")["from_bytes"].to_list()
    return marks.filter((pl.col("kind") == "retransmission") & ~pl.col("from_bytes").is_in(twice))


def _numbers(series: pl.DataFrame, marks: pl.DataFrame, again: pl.DataFrame, segment: float, start: int) -> tuple[Vector, Numbers, Numbers]:
    """When each packet with data was sent, in order; which of them, from 1, new data began with, and which were sent again."""
    size = (series["new_to_bytes"] - series["new_from_bytes"]).cast(pl.Float64).fill_null(0).to_numpy()
    fresh = np.ceil(size / segment - _LITTLE).astype(np.int64)
    so_far = series["retransmits"].cast(pl.Int64).to_numpy()
    copies = np.diff(so_far, prepend=0)
    sent = np.cumsum(fresh + copies)
    times = np.repeat(_seconds(series, "t_ns", start), fresh + copies)
    # What a row sends again comes before what it sends anew: one packet has a row, unless there are very many.
    new = fresh > 0
    every = marks.filter(pl.col("kind").is_in(_COPIES)).with_row_index("count", offset=1)
    kept = every.join(again, on=["t_ns", "from_bytes", "kind"], how="semi", maintain_order="left")["count"].to_numpy()
    rows = np.minimum(np.searchsorted(so_far, kept), so_far.size - 1)
    return times, (sent - fresh + 1)[new], (sent - fresh)[rows] - (so_far[rows] - kept)


def _lost(again: pl.DataFrame, again_number: Numbers, begin: Vector, end: Vector, fresh_number: Numbers) -> Numbers:
    """The numbers of what was sent again as it was sent before: for the first time, or the last time that it was sent again."""
    last: dict[int, int] = {}
    numbers: list[int] = []
    for first, number in zip(map(int, again["from_bytes"]), map(int, again_number), strict=True):
        where = int(np.searchsorted(begin, first, side="right")) - 1
        before = last.get(first)
        if before is None and where >= 0 and first < end[where]:
            # Within a frame that is cut into segments later, the segment that begins there.
            before = int(fresh_number[where])
        last[first] = number
        if before is not None:
            numbers.append(before)
    return np.array(sorted(numbers), dtype=np.int64)


def _round_trips(
    series: pl.DataFrame, marks: pl.DataFrame, again: pl.DataFrame, start: int, end: Vector, fresh_at: Vector
) -> tuple[Vector, Vector, NDArray[np.bool_], Vector, Vector]:
    """Round trips by when they began: those of cumulative acknowledgements, and of segments at the upper end of SACK blocks that were sent once.

    Besides, where these segments end, and how many bytes were acknowledged at once.
    """
    so_far = np.maximum.accumulate(np.nan_to_num(_floats(series, "acked_bytes")))
    gained = np.diff(so_far, prepend=0)[series["rtt_ns"].is_not_null().to_numpy()]
    plain = series.filter(pl.col("rtt_ns").is_not_null())
    took = _floats(plain, "rtt_ns") / 1e9
    asked = _seconds(plain, "t_ns", start) - took
    twice = set(again["to_bytes"].to_list())
    blocks = marks.filter((pl.col("kind") == "sack") & ~pl.col("to_bytes").is_in(twice)).unique(
        "to_bytes", keep="first", maintain_order=True
    )
    upper = _floats(blocks, "to_bytes")
    where = np.searchsorted(end, upper)
    known = where < end.size
    known[known] &= end[where[known]] == upper[known]
    sack_asked = fresh_at[where[known]]
    sack_took = _seconds(blocks, "t_ns", start)[known] - sack_asked
    at_once = np.concatenate([np.zeros(asked.size, dtype=bool), np.ones(sack_asked.size, dtype=bool)])
    asked, took = np.concatenate([asked, sack_asked]), np.concatenate([took, sack_took])
    ends = np.concatenate([_floats(plain, "acked_bytes"), upper[known]])
    order = np.argsort(asked, kind="stable")
    gained = np.concatenate([gained, np.zeros(sack_asked.size)])
    return asked[order], took[order], at_once[order], ends[order], gained[order]


def _alone(
    came: Vector, at_once: NDArray[np.bool_], with_sack: Vector, since: Vector, acked: Vector, arrived: Vector, segment: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which round trips SACK told of one packet alone, and which of these with one of the first acknowledgements since the acknowledgement number moved.

    Linux holds others back, to send one for several packets. What comes when the number moves may have been held back before, but then it tells of more than one.
    """
    if with_sack.size == 0:
        return np.zeros_like(at_once), np.zeros_like(at_once)
    rows = np.minimum(np.searchsorted(since, with_sack - _SAME), since.size - 1)
    moved = np.diff(acked[rows], prepend=-1.0) > 0
    place = np.arange(rows.size)
    place -= np.maximum.accumulate(np.where(moved, place, 0))
    one = np.diff(np.maximum.accumulate(arrived), prepend=0.0)[rows] < _MORE_THAN_ONE * segment
    which = np.minimum(np.searchsorted(with_sack, came - _SAME), rows.size - 1)
    alone = at_once & one[which] & (np.abs(with_sack[which] - came) < _SAME)
    return alone, alone & (place[which] < _AT_ONCE)


def _number_of(upper: Vector, begin: Vector, end: Vector, fresh_number: Numbers, segment: float) -> Numbers:
    """The numbers of the packets, sent for the first time, that end at these bytes."""
    where = np.minimum(np.searchsorted(end, upper), end.size - 1)
    within = np.ceil((np.minimum(upper, end[where]) - begin[where]) / segment - _LITTLE).astype(np.int64)
    return fresh_number[where] + np.maximum(within, 1) - 1
