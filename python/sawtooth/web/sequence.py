"""The time-sequence graph of a flow of a run, down to single packets: from a capture at its sender, read as captures of anybody's are."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

import polars as pl

from sawtooth import _core, captures
from sawtooth.errors import DatasetError, RunFailed
from sawtooth.plan import Run
from sawtooth.stats import Vector
from sawtooth.taps import Capture
from sawtooth.web.bounded import Bounded
from sawtooth.web.columns import vector

MOST_PACKETS = 4e6
"""Segments of a run that is captured: some hundred megabytes."""
_MOST_ROWS = 4_000_000
_SNAP = 96
LOST = ("dropped", "lost")
"""Marks that no capture at a sender has: of the segments, as they were sent, that a queue dropped or that were lost on a wire."""
MARKS = ("retransmission", "needless", "sack", "dsack", "ce", "zero_window", "reordered", "duplicate", *LOST)
"""What is marked in the graph, in the order of their numbers."""
_FIRST_SENDER = int(IPv4Address("10.0.0.0"))
"""The sender of flow N has the address N after this one (docs/guides/captures.md)."""


@dataclass(frozen=True)
class Sequences:
    """What the senders of a run sent and heard.

    Attributes:
        capture: of it. names: of its flows, by those that the capture's have. begin_s: of its first packet, since the run began.

    """

    capture: captures.Capture
    names: dict[str, str]
    begin_s: float


def taken(run: Run) -> Sequences:
    """Does a run once more and captures its packets where they are sent.

    Raises:
        DatasetError: if they are too many.
        RunFailed: with the simulator's words.

    """
    if run.cost > MOST_PACKETS:
        raise DatasetError(
            f"about {run.cost:,.0f} segments are too many for a graph of each", "`sawtooth trace --pcap FILE` has no such limit"
        )
    with tempfile.TemporaryDirectory(prefix="sawtooth-") as folder:
        path = Path(folder) / "sender.pcapng"
        batch = Bounded().run_batch([run.scenario], [run.seed], [Capture([("sender", None)], [str(path)], _SNAP, [])])
        for message in batch.errors.values():
            raise RunFailed(f"the run failed: {message}")
        _, paths = _core.network(run.scenario)
        senders = {str(IPv4Address(_FIRST_SENDER + at)): name for at, (name, _) in enumerate(paths, 1)}
        return read(path, lambda connection: senders.get(connection.partition(":")[0]))


def read(path: Path, flow_of: Callable[[str], str | None]) -> Sequences:
    """What a capture at the senders of a run tells.

    Args:
        path: of the capture.
        flow_of: the flow of a connection, which is named as `ADDRESS:PORT > ADDRESS:PORT`.

    Raises:
        DatasetError: if nothing was sent by TCP.

    """
    first = next(_core.CapturedSegments(str(path), _core.CAPTURE_EPOCH_NS), None)
    if first is None:
        raise DatasetError("no packet of TCP is sent in this run")
    found = captures.read(path, most_rows=_MOST_ROWS)
    connections: list[str] = found.flows.filter(transport="tcp")["flow"].to_list()
    names = {each: name for each in connections if (name := flow_of(each)) is not None}
    return Sequences(found, names, first.t_ns * 1e-9)


def columns(found: Sequences, flow: str, packets: pl.DataFrame | None = None) -> dict[str, Vector]:
    """The graph of a flow: what is new and what is acknowledged over time, and what is marked; seconds since the run began, bytes, and numbers of segments as `packets` has them.

    Args:
        found: of the run.
        flow: its name.
        packets: rows of the table `packets` with all that were dropped or lost; None if that is not known.

    Raises:
        DatasetError: for a flow without data of TCP.

    """
    flows = found.capture.flows.filter((pl.col("transport") == "tcp") & (pl.col("sent_bytes") > 0))
    names = [name for name in flows["flow"].to_list() if found.names.get(name) == flow]
    if not names:
        raise DatasetError(
            f"`{flow[:60]}` sends no data by TCP in this run", f"there are {', '.join(list(dict.fromkeys(found.names.values()))[:8])}"
        )
    largest = flows.filter(pl.col("flow").is_in(names)).sort("sent_bytes", descending=True, maintain_order=True)["flow"][0]
    series = found.capture.series.filter(flow=largest).sort("t_ns", maintain_order=True)
    marks = found.capture.marks.filter((pl.col("flow") == largest) & pl.col("kind").is_in(MARKS)).sort("t_ns", maintain_order=True)
    sent, acked = series.drop_nulls("new_to_bytes"), series.drop_nulls("acked_bytes")
    edge = series.drop_nulls("window_edge_bytes")
    # Segments of the simulator are of one size, but for the last of what an application writes.
    size = sent.select((pl.col("new_to_bytes") - pl.col("new_from_bytes")).max()).item() or 1
    # The SYN of a connection that has one is segment 0.
    first = int(flows.filter(flow=largest)["handshake"][0] != "none")
    marks = marks.with_columns(number=pl.col("from_bytes").cast(pl.Int64) // size + first)
    if packets is not None:
        lost = _lost(
            sent.with_columns(number=pl.col("new_from_bytes").cast(pl.Int64) // size + first),
            marks,
            packets.filter(flow=flow),
            round(found.begin_s * 1e9),
        )
        marks = pl.concat([marks, lost], how="diagonal_relaxed").sort("t_ns", maintain_order=True)
    kinds = marks["kind"].replace_strict({kind: at for at, kind in enumerate(MARKS)}, return_dtype=pl.Float64)
    return {
        "sent t": vector(sent["t_ns"], 1e-9) + found.begin_s,
        "sent from": vector(sent["new_from_bytes"]),
        "sent to": vector(sent["new_to_bytes"]),
        "sent number": vector(sent["new_from_bytes"] // size) + first,
        "acked t": vector(acked["t_ns"], 1e-9) + found.begin_s,
        "acked to": vector(acked["acked_bytes"]),
        "edge t": vector(edge["t_ns"], 1e-9) + found.begin_s,
        "edge to": vector(edge["window_edge_bytes"]),
        "marks t": vector(marks["t_ns"], 1e-9) + found.begin_s,
        "marks from": vector(marks["from_bytes"]),
        "marks to": vector(marks["to_bytes"]),
        "marks number": vector(marks["number"]),
        "marks kind": vector(kinds),
    }


def _lost(sent: pl.DataFrame, marks: pl.DataFrame, packets: pl.DataFrame, begin_ns: int) -> pl.DataFrame:
    """Marks of what was lost, each at the time at which the copy was sent that came to the link last."""
    columns = ["t_ns", "number", "from_bytes", "to_bytes"]
    again = marks.filter(pl.col("kind").is_in(["retransmission", "needless"])).select(columns)
    copies = pl.concat(
        [sent.rename({"new_from_bytes": "from_bytes", "new_to_bytes": "to_bytes"}).select(columns), again], how="vertical_relaxed"
    ).sort("t_ns")
    gone = packets.filter((pl.col("kind") == "data") & pl.col("fate").is_in(LOST)).select(
        "number", kind="fate", came=pl.col("arrived_ns") - begin_ns
    )
    return gone.sort("came").join_asof(copies, left_on="came", right_on="t_ns", by="number", coalesce=False).drop_nulls("t_ns").drop("came")
