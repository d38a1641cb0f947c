"""Messages' ways through all layers of both hosts, on one clock: what `sawtooth trace --layers` shows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sawtooth.backends import sim
from sawtooth.errors import RunFailed, StudyError
from sawtooth.hints import did_you_mean
from sawtooth.measures import layers as ways
from sawtooth.measures.parts import PARTS
from sawtooth.plan import Plan, Run
from sawtooth.storage import write_atomically, writing


@dataclass(frozen=True)
class View:
    """What of a flow's layers is shown.

    Attributes:
        events: rows of the table `layers` of the flow.
        packets: those for which something happens in that time, as `sawtooth.measures.layers.packets`.
        messages: all of the flow, as `sawtooth.measures.layers.messages`.
        waits: rows of the table `stalls` of the flow's sending socket that are within that time in part: from_ns, to_ns, cause.
        message: row of the message that is shown; None if a stretch of time is.
        begin, end: of that time, ns.

    """

    events: pl.DataFrame
    packets: pl.DataFrame
    messages: pl.DataFrame
    waits: pl.DataFrame
    message: dict[str, int | str | None] | None
    begin: int
    end: int

    @property
    def origin(self) -> int:
        """From when on time is told, ns: from a message's write, or the run's begin."""
        return self.begin if self.message else 0

    @property
    def title(self) -> str:
        """Which message, how long it took; empty if none is shown."""
        if self.message is None:
            return ""
        row = self.message
        size = "without end" if int(row["bytes"] or 0) == _ENDLESS else f"{row['bytes']:,} B"
        took = "not read when the run ended" if row["total_ns"] is None else f"{int(row['total_ns']) / 1e3:,.1f} µs from write to read"
        return f"{row['flow']}, message {row['message']} of {self.messages.height} ({size}), written at {self.begin / 1e9:g} s: {took}"

    def times(self) -> pl.DataFrame:
        """The packets, with microseconds since `origin`, and their latency from TCP to TCP."""
        columns = self.packets.columns[4:]
        return self.packets.with_columns((pl.col(column) - self.origin) / 1e3 for column in columns).with_columns(
            latency_us=pl.col("tcp_receive") - pl.col("tcp_send")
        )

    def write(self, directory: Path, packets: str, messages: str) -> None:
        """Writes the packets and the messages as CSV files of these names, each whole or not at all."""
        with writing(directory, resumes=False):
            for name, table in ((packets, self.times()), (messages, self.messages)):
                write_atomically(directory / f"{name}.csv", table.write_csv().encode())

    def stalls(self) -> pl.DataFrame:
        """The intervals in which the sending socket waits and nothing is done for it: from_us and to_us (since `origin`), us, cause."""
        begin, end = pl.col("from_ns"), pl.col("to_ns")
        return self.waits.select(
            ((begin - self.origin) / 1e3).alias("from_us"),
            ((end - self.origin) / 1e3).alias("to_us"),
            ((end - begin) / 1e3).alias("us"),
            "cause",
        )

    def parts(self) -> pl.DataFrame:
        """Where the message's time goes, one row per part: part, from_us (since the write), us, share, what. Empty if none is shown."""
        row = self.message or {}
        total = row.get("total_ns")
        rows = [
            {
                "part": part.name,
                "from_us": _micros(row.get(part.begin), self.origin),
                "us": _micros(row.get(part.column), 0),
                "share": int(row[part.column] or 0) / int(total) if total and row.get(part.column) is not None else None,
                "what": part.what,
            }
            for part in PARTS
        ]  # fmt: skip
        kinds = {"part": pl.String, "from_us": pl.Float64, "us": pl.Float64, "share": pl.Float64, "what": pl.String}
        return pl.DataFrame(rows if row else [], schema=kinds)


_ENDLESS = 2**64 - 1
"""Bytes of a write that never ends."""


def take(plan: Plan, run: Run, flows: Sequence[str] | None = None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Does the run once more and gives its tables `layers` and `stalls`, of one flow: the first that has a host, or the one that is named.

    Raises:
        StudyError: if no flow has a host, or there is none of that name.
        RunFailed: with the backend's words.

    """
    tree = json.loads(run.scenario)
    record = [*tree.get("record", []), *(table for table in ("layers", "stalls") if table not in tree.get("record", []))]
    if plan.study.on_kernels or not tree.get("hosts"):
        raise StudyError("this study has no layers to show", hint="flows have them in the simulator, with `host`: docs/concepts/host.md")
    if flows and len(flows) > 1:
        raise StudyError(f"layers are shown of one flow, not of {', '.join(flows)}", hint="give --flow once")
    batch = sim.run_batch([json.dumps({**tree, "record": record})], [run.seed])
    for message in batch.errors.values():
        raise RunFailed(f"the run failed: {message}")
    found = batch.tables["layers"].drop("run")
    names = found["flow"].unique(maintain_order=True).to_list()
    if not names:
        raise StudyError("nothing happened in any layer", hint="no flow has a host, or none began")
    wanted = flows[0] if flows else names[0]
    if wanted not in names:
        raise StudyError(f"there is no flow `{wanted}` with a host", hint=did_you_mean(wanted, names))
    return found.filter(flow=wanted), batch.tables["stalls"].drop("run").filter(pl.col("flow") == wanted)


def view(layers: pl.DataFrame, stalls: pl.DataFrame, message: int | None, span: tuple[float, float] | None) -> View:
    """What is to be shown of a flow: a message from its write until it has been read, or until the run ends; or a stretch of time.

    Args:
        layers: as `take` gives it.
        stalls: the same.
        message: its number, from 1; None is the first, if there is no `span` and the flow writes messages.
        span: from and to, seconds.

    Raises:
        StudyError: if there is no such message, if both are given, or if nothing happens in that time.

    """
    messages = ways.messages(layers)
    last = int(layers["t_ns"].to_numpy().max())
    if message is not None and span is not None:
        raise StudyError("a message has its own time: --message goes without --from and --to", hint="leave out one or the other")
    if span is None and message is None and messages.height:
        message = 1
    shown = None
    begin, end = (0, last) if span is None else (round(span[0] * 1e9), round(span[1] * 1e9))
    if message is not None:
        found = messages.filter(message=message)
        if found.is_empty():
            known = f"messages 1 to {messages.height}" if messages.height > 1 else "one message" if messages.height else "no message"
            raise StudyError(f"there is no message {message}", hint=f"flow `{layers['flow'][0]}` wrote {known} in this run")
        shown = found.row(0, named=True)
        begin, end = shown["write"], last if shown["read"] is None else shown["read"]
    inside = layers.filter(pl.col("t_ns").is_between(begin, end))
    if inside.is_empty():
        raise StudyError("nothing happens in that time", hint="choose other --from and --to")
    waits = stalls.filter(pl.col("to_ns") > begin, pl.col("from_ns") < end)
    return View(
        layers, ways.packets(layers).join(inside.select("packet").unique(), on="packet", how="semi"), messages, waits, shown, begin, end
    )


def _micros(ns: int | str | None, origin: int) -> float | None:
    return None if ns is None else (int(ns) - origin) / 1e3
