"""Measures that no column holds: what flows did over time, and what they are together.

How each is made stands in `sawtooth.measures.whole`; what is of all flows together is of the item `flows`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

TOGETHER = "flows"
"""The item of what is not of one flow."""


@dataclass(frozen=True)
class ComputedMeasure:
    """A measure by name.

    Attributes:
        unit: of its values.
        summary: what it is.
        together: whether it is of all flows together.
        samples: whether it needs samples.
        most: what it cannot exceed.
        shared: whether it says how flows share what they all use.

    """

    unit: str
    summary: str
    together: bool
    samples: bool
    most: float = math.inf
    shared: bool = False


COMPUTED: Mapping[str, ComputedMeasure] = {
    "transfer_rate_bps": ComputedMeasure(
        "bit/s", "application bytes delivered in order, over the time until the last of them was, or until the run's end",
        together=False, samples=False,
    ),
    "jain": ComputedMeasure("", "Jain's index of the goodputs of all flows of TCP", together=True, samples=False, most=1.0, shared=True),
    "least_share": ComputedMeasure(
        "", "goodput of the flow of TCP that gets least, in fair shares: 1 if all get alike", together=True, samples=False, most=1.0, shared=True,
    ),
    "total_goodput_bps": ComputedMeasure(
        "bit/s", "bytes that all flows of TCP delivered, over the time from the first start to the end: over one span, also if some start late",
        together=True, samples=False,
    ),
    "throughput_sd_bps": ComputedMeasure(
        "bit/s", "standard deviation over windows of a second of what arrived in order", together=False, samples=True
    ),
    "throughput_cov": ComputedMeasure(
        "", "the same over its mean: coefficient of variation", together=False, samples=True
    ),
    "jain_over_time": ComputedMeasure(
        "", "Jain's index of the flows' throughputs in a window of a second, mean over windows in which all take part",
        together=True, samples=True, most=1.0, shared=True,
    ),
    "convergence_ns": ComputedMeasure(
        "ns", "delta-fair convergence time (RFC 5166 section 2.3) with delta 0.1; nothing if no window was fair",
        together=True, samples=True, shared=True,
    ),
}  # fmt: skip
