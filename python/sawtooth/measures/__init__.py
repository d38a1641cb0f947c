"""What can be asked of a run: numeric columns of its tables, measures that are computed, and expressions over both, over arms, items and references.

    goodput_bps                            a column of the table `flows`
    links.dropped_packets                  a column of another
    p95(completion_ns)                     of a block's flows, in each run
    p99(datagrams.delay_ns) - 15 ms        a percentile that the table has, and a quantity
    limited_rwnd_ns / lifetime_ns          of each flow
    goodput_bps / arms.reno.goodput_bps    the same cell and replicate, in another arm
    goodput_bps / items.bbr.goodput_bps    the same run, another item
    goodput_bps / reference.goodput_bps    what was published

A measure is one number per run and item. An item is a flow, the flows of one block (`flow[1]`, `flow[2]`, ... are `flow`), a link's direction
(`bottleneck forward`), or `flows`: all of them together.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sawtooth.measures.catalogue import listed
    from sawtooth.measures.evaluate import Asked, Evaluator, View, factors, observe
    from sawtooth.measures.expression import ExpressionError
    from sawtooth.measures.functions import HOWS
    from sawtooth.measures.named import Measure, Samples, measure, samples, unit, without_unit
    from sawtooth.measures.resolve import Context
    from sawtooth.measures.rows import Condition, Rows

# Module of each name, imported when it is used: whoever only lists measures needs nothing that computes.
_HOMES = {
    "catalogue": ("listed",),
    "evaluate": ("Asked", "Evaluator", "View", "factors", "observe"),
    "expression": ("ExpressionError",),
    "functions": ("HOWS",),
    "named": ("Measure", "Samples", "measure", "samples", "unit", "without_unit"),
    "resolve": ("Context",),
    "rows": ("Condition", "Rows"),
}

__all__ = [
    "HOWS",
    "Asked",
    "Condition",
    "Context",
    "Evaluator",
    "ExpressionError",
    "Measure",
    "Rows",
    "Samples",
    "View",
    "factors",
    "listed",
    "measure",
    "observe",
    "samples",
    "unit",
    "without_unit",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        for module, names in _HOMES.items():
            if name in names:
                return getattr(import_module(f"sawtooth.measures.{module}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
