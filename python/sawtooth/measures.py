"""What can be asked of a run: the numeric columns of its tables, and measures that are computed from samples.

A measure is one number per run and item. An item is a flow, the flows of one block (`flow[1]`, `flow[2]`, ... are `flow`), a link's direction
(`bottleneck forward`), or `flows`: all of them together.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from sawtooth import _core
from sawtooth.errors import DatasetError
from sawtooth.hints import did_you_mean

TABLES = ("flows", "links", "exchanges")
HOWS = ("mean", "sum", "max", "each")
OVER_TIME = "over_time"
_COMPUTED = (
    ("throughput_sd_bps", "bit/s", "standard deviation over windows of a second of what arrived in order"),
    ("throughput_cov", "", "the same over its mean: coefficient of variation"),
    ("jain_over_time", "", "Jain's index of the flows' throughputs in a window of a second, mean over windows in which all take part"),
    ("convergence_ns", "ns", "delta-fair convergence time (RFC 5166 section 2.3) with delta 0.1; nothing if no window was fair"),
)
TOGETHER = ("jain_over_time", "convergence_ns")
"""Of those over time what is not of a flow: it is of the item `flows`."""


@dataclass(frozen=True)
class Metric:
    """A numeric column of a table of results, or what is computed from samples.

    Attributes:
        name: as the user names it, such as `goodput_bps` or `links.dropped_packets`.
        table: `flows`, `links`, `exchanges` or `over_time`.
        unit: of its values, in a form that can follow a number; empty for plain numbers.
        summary: what it is.

    """

    name: str
    table: str
    column: str
    unit: str
    summary: str = ""


@functools.cache
def measures() -> Mapping[str, Metric]:
    """All of them, by `TABLE.COLUMN`, or by their name where they are computed."""
    columns = {
        f"{table}.{column['name']}": Metric(f"{table}.{column['name']}", table, column["name"], _unit(column["unit"]), column["summary"])
        for table in TABLES
        for column in _core.schema()[table]["columns"]
        if column["type"] != "str"
    }
    return columns | {name: Metric(name, OVER_TIME, name, unit, summary) for name, unit, summary in _COMPUTED}


def metric(name: str) -> Metric:
    """The measure called `name`: a column of `flows`, or `TABLE.COLUMN`, or one over time.

    Raises:
        DatasetError: if there is none.

    """
    found = measures().get(name) or measures().get(f"flows.{name}")
    if found is None:
        known = [key.removeprefix("flows.") for key in measures()]
        raise DatasetError(f"there is no metric `{name}`", did_you_mean(name, known))
    return Metric(name, found.table, found.column, found.unit, found.summary)


def _unit(unit: str) -> str:
    return {"packet": "packets"}.get(unit, unit)
