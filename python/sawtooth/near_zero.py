"""Intervals of what may be 0, such as a small difference: as a share of itself its width says nothing, so it is told in its own unit."""

from __future__ import annotations

import math

from sawtooth.scales import number, scale, scaled
from sawtooth.stats import Interval


def half(interval: Interval) -> float:
    """Half its width; not finite where there is no interval."""
    return (interval.high - interval.low) / 2


def may_be_zero(interval: Interval) -> bool:
    """Whether an estimate is 0, or its interval has it."""
    return interval.estimate == 0 or (math.isfinite(half(interval)) and not interval.excludes(0))


def share(interval: Interval) -> float | None:
    """Half the width as a share of the estimate; None where that says nothing."""
    return half(interval) / abs(interval.estimate) if math.isfinite(half(interval)) and not may_be_zero(interval) else None


def words(interval: Interval, unit: str) -> str:
    """The estimate with the ends of its interval, in `unit` as that is read: 0.12 (-0.3 to 0.54) Mbit/s."""
    known = [abs(end) for end in (interval.estimate, interval.low, interval.high) if math.isfinite(end)]
    divisor, unit = scale(unit, [max(known, default=0.0)])
    found = scaled(interval, divisor)
    after = f" {unit}" if unit else ""
    ends = f" ({number(found.low)} to {number(found.high)})" if math.isfinite(half(found)) and half(found) else ""
    return f"{number(found.estimate)}{ends}{after}"
