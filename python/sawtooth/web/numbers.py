"""What a run comes to, in numbers that are held against those of another: of each flow, of all of them together, and of each queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from sawtooth.tables import total_goodput
from sawtooth.trace import Trace
from sawtooth.web.workbench import finite

_OF_FLOWS = (
    ("goodput_bps", "goodput", "bit/s"),
    ("completion_ns", "completion", "ns"),
    ("retransmits", "segments sent again", ""),
    ("timeouts", "timeouts", ""),
    ("srtt_mean_ns", "mean round-trip time", "ns"),
    ("min_rtt_ns", "smallest round-trip time", "ns"),
)
_OF_LINKS = (
    ("backlog_mean_packets", "mean queue", "packets"),
    ("peak_packets", "longest queue", "packets"),
    ("dropped_packets", "dropped", "packets"),
    ("lost_packets", "lost on the wire", "packets"),
    ("marked_packets", "marked", "packets"),
)
"""Columns of these tables, what pages call them, and their units."""

_MOST_LINKS = 3


@dataclass(frozen=True)
class Number:
    """One of them.

    Attributes:
        of: the flow or link; `all flows` together.
        what: it is, in words.
        unit: of the value; empty of a count.
        value: null where it is not known, such as the completion of what did not complete.

    """

    of: str
    what: str
    unit: str
    value: float | None


def of_run(taken: Trace, flows: Sequence[str], links: Sequence[str]) -> list[dict[str, Any]]:
    """Of some flows and links of a run, what its tables have.

    Args:
        taken: the run.
        flows: those that are drawn.
        links: those whose queues are; of a run that has recorded none, the first.

    """
    forward = _forward(taken.links)
    if not links and "link" in forward.columns:
        links = forward["link"].head(_MOST_LINKS).to_list()
    found: list[Number] = []
    if taken.flows.height > 1:
        for column, what, unit in _OF_FLOWS:
            # Times of several flows add up to nothing.
            if column in taken.flows.columns and unit != "ns":
                together = total_goodput() if column == "goodput_bps" else pl.col(column).sum()
                found.append(Number("all flows", what, unit, _number(taken.flows.select(together).item())))
    for table, names, key, columns in ((taken.flows, flows, "flow", _OF_FLOWS), (forward, links, "link", _OF_LINKS)):
        for name in names:
            for row in table.filter(pl.col(key) == name).head(1).iter_rows(named=True):
                found += [Number(name, what, unit, _number(row[column])) for column, what, unit in columns if column in row]
    return [asdict(each) for each in found]


def _forward(links: pl.DataFrame) -> pl.DataFrame:
    return links.filter(direction="forward") if "direction" in links.columns else links.clear()


def _number(value: Any) -> float | None:
    return None if value is None else finite(float(value))
