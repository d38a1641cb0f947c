"""What the rows of each table of results are of, beside the run: what tells them apart, when they are, and which of their values may be unfinished.

A number that a run did not bring to an end is known to be at least what it had come to: `Shape.unfinished` names, for such a column, the one that
tells that. A table that has percentiles of something, not each of its values, tells them under the name of that thing: `p99(datagrams.delay_ns)`
is its column `delay_p99_ns`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from sawtooth.measures.parts import PARTS
from sawtooth.recorded import schema

FLOW, LINK, HOST = "flow", "link", "host"
WINDOWS = "windows"
"""The table of throughput in windows of a second: what `series.throughput_bps` is a column of."""
MESSAGES = "messages"
"""The table of messages between hosts, and where the time of each goes."""
RECORDED = {WINDOWS: "series", MESSAGES: "layers"}
"""Tables that are made of recorded ones: of which."""


@dataclass(frozen=True)
class Counted:
    """How many things a stored distribution is of: all of them, and those that came to an end."""

    all: str
    ended: str


@dataclass(frozen=True)
class Shape:
    """A table's rows.

    Attributes:
        item: what kind of thing they are of: a flow, a direction of a link, a host.
        keys: columns that tell the rows of one run and item from each other; with none there is one row.
        orders: names of places in an order among the rows of a run and block, and the column that they are ordered by: a figure may show them.
        many: rows are events or samples, as many as come: only together they make a number.
        when: the column that says when in the run a row is; None if it is of the whole run.
        unfinished: column to the column that has the least it may be, where it was not measured because the run ended.
        counted: of stored distributions that leave out what did not end.
        needs: what makes a study record it; empty if every run has it.

    """

    item: str
    keys: tuple[str, ...] = ()
    orders: Mapping[str, str] = field(default_factory=dict[str, str])
    many: bool = False
    when: str | None = None
    unfinished: Mapping[str, str] = field(default_factory=dict[str, str])
    counted: Counted | None = None
    needs: str = ""


_ENDED = Counted("started", "completed")
SHAPES: dict[str, Shape] = {
    "flows": Shape(FLOW, orders={"start_order": "start_ns"}, unfinished={"completion_ns": "lifetime_ns"}),
    "links": Shape(LINK),
    "waits": Shape(LINK, needs='record = ["waits"]'),
    "link_flows": Shape(FLOW, keys=("link", "direction"), needs='record = ["link_flows"]'),
    "packets": Shape(FLOW, keys=("link", "direction"), many=True, when="arrived_ns", needs='record = ["packets"]'),
    "arrivals": Shape(FLOW, counted=_ENDED, needs="a flow with `arrivals`"),
    "completions": Shape(FLOW, keys=("size_from_bytes",), counted=_ENDED, needs="a flow with `arrivals`"),
    "transfers": Shape(
        FLOW,
        many=True,
        when="start_ns",
        unfinished={"completion_ns": "waited_ns"},
        needs='a flow with `arrivals`, and record = ["transfers"]',
    ),
    "exchanges": Shape(FLOW, counted=Counted("asked", "answered"), needs='a flow with source = { name = "request_response" }'),
    "datagrams": Shape(FLOW, needs='a flow with transport = "udp"'),
    "sources": Shape(FLOW, keys=("quantity",), needs='a flow with transport = "udp"'),
    "fluid": Shape(FLOW, needs='flows with model = "fluid"'),
    "stalls": Shape(FLOW, many=True, when="from_ns", needs='record = ["stalls"]'),
    "episodes": Shape(FLOW, many=True, when="start_ns", needs='record = ["episodes"]'),
    "limited": Shape(FLOW, many=True, when="from_ns", needs='record = ["limited"]'),
    "series": Shape(FLOW, many=True, when="t_ns", needs='sample = "100 ms"'),
    WINDOWS: Shape(FLOW, many=True, when="t_ns", needs='sample = "100 ms"'),
    "queues": Shape(LINK, many=True, when="t_ns", needs='sample = "100 ms"'),
    "variables": Shape(FLOW, keys=("variable",), many=True, when="t_ns", needs='sample = "100 ms" and record = ["variables"]'),
    "layers": Shape(FLOW, many=True, when="t_ns", needs='record = ["layers"]'),
    MESSAGES: Shape(FLOW, many=True, when="t_ns", unfinished={"total_ns": "waited_ns"}, needs='record = ["layers"]'),
    "counters": Shape(HOST, keys=("counter",), needs='record = ["counters"], on a real kernel'),
}
MAY_BE_NEGATIVE = frozenset({"variables.value", "sources.value", "counters.value"})
"""Columns whose values may be below 0."""

PARTS_OF = frozenset({
    ("flows.stall_ns", "flows.completion_ns"), ("datagrams.lost_packets", "datagrams.sent_packets"), ("links.dropped_packets", "links.arrived_packets"),
})  # fmt: skip
"""Columns that are a part of another one: what they are of it is a share, never above all of it."""

MAY_BE_INFINITE = frozenset({"series.ssthresh_bytes", "episodes.ssthresh_bytes", "series.pacing_rate_bps"})
"""Columns that have no end in some rows: such rows count as if they had no value."""
INFINITE = 1e15
"""From here on what may be infinite is: a slow-start threshold of as many segments stands for one that is arbitrarily high."""

_STORED = re.compile(r"(\w+)_(mean|min|max|p50|p90|p95|p99|p999)_(\w+)")


@functools.cache
def stored(table: str) -> Mapping[str, Mapping[str, str]]:
    """Quantities of which a table has a distribution's summaries and not each value: to each, function to column.

    Of `datagrams` they are `delay_ns`: `mean` is `delay_mean_ns`, `p99` is `delay_p99_ns`.
    """
    found: dict[str, dict[str, str]] = {}
    names = [column["name"] for column in schema()[table]["columns"]] if table in schema() else []
    for name in names:
        if match := _STORED.fullmatch(name):
            found.setdefault(f"{match[1]}_{match[3]}", {})[match[2]] = name
    # A mean alone is a column like others.
    return {name: columns for name, columns in found.items() if any(how.startswith("p") for how in columns) and name not in names}


RESOLUTION = 1 / 128
"""Share of a stored percentile within which what it stands for is: it is of a histogram whose steps grow with the value."""


def extremes(table: str, column: str) -> tuple[str | None, str | None]:
    """Of a stored percentile, the columns with the least and the largest value of what it is of; None where the table has none."""
    for columns in stored(table).values():
        if column in columns.values():
            return columns.get("min"), columns.get("max")
    return None, None


def is_coarse(table: str, column: str) -> bool:
    """Whether a column is a stored percentile, known within `RESOLUTION` only."""
    return any(name == column and how.startswith("p") for columns in stored(table).values() for how, name in columns.items())


@functools.cache
def text_columns(table: str) -> tuple[str, ...]:
    """Columns of a table that say what a row is about, not how much."""
    if table in RECORDED:
        return ("flow",)
    return tuple(column["name"] for column in schema()[table]["columns"] if column["type"] == "str")


@functools.cache
def counts(table: str, column: str) -> bool:
    """Whether a column counts events or packets."""
    known = cast(Mapping[str, Mapping[str, list[Mapping[str, str]]]], schema())
    found = known[table]["columns"] if table in known else []
    return any(each["name"] == column and each["type"][0] in "iu" and each["unit"] in ("", "packet") for each in found)


@functools.cache
def numeric_columns(table: str) -> Mapping[str, tuple[str, str]]:
    """Columns of a table that can be measured: name to unit and meaning."""
    if table == WINDOWS:
        return {"throughput_bps": ("bit/s", "what arrived in order in a window of a second, or of a `width`, over that time")}
    if table == MESSAGES:
        parts = {part.column: ("ns", f"{part.name}, of its last byte: {part.what}") for part in PARTS}
        whole = "from the call of write until the reader has it, the sum of the parts"
        return {"bytes": ("B", "what one call of write writes"), **parts, "total_ns": ("ns", whole)}
    return {column["name"]: (column["unit"], column["summary"]) for column in schema()[table]["columns"] if column["type"] != "str"}
