"""Units in which numbers are read."""

from __future__ import annotations

import numpy as np

from sawtooth.stats import Interval, Vector

# From the largest: what a number of the metric's unit is divided by to be read.
_SCALES = {
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")),
    "bit/s": ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")),
    "bit/s per ms": ((1e9, "Gbit/s per ms"), (1e6, "Mbit/s per ms"), (1e3, "kbit/s per ms"), (1.0, "bit/s per ms")),
    "B": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
}


def scale(unit: str, values: list[float] | Vector) -> tuple[float, str]:
    """What numbers of `unit` are divided by so that their median is easy to read, and the unit they then have."""
    if unit not in _SCALES:
        return 1.0, unit
    middle = float(np.median(np.abs(values))) if len(values) else 0.0
    return next(((divisor, name) for divisor, name in _SCALES[unit] if middle >= divisor), _SCALES[unit][-1])


def number(value: float) -> str:
    """A number with four digits, as people read it: thousands apart, no exponent that is not needed."""
    if not np.isfinite(value) or value == 0:
        return f"{value:g}"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


def p_value(p: float) -> str:
    """A p-value in words: one that is small is not 0."""
    return "p < 0.001" if p < 0.0005 else f"p = {p:.3f}"


def ratio(found: Interval) -> str:
    """A ratio with its interval, with as many digits as tell the ends of that from each other; in words where there is none."""
    if not np.isfinite(found.estimate):
        return found.kind
    digits = next((n for n in range(3, 7) if f"{found.low:.{n}g}" != f"{found.high:.{n}g}"), 3)
    return f"ratio {found.words(f'.{digits}g')}"


def scaled(interval: Interval, divisor: float) -> Interval:
    """The interval in another unit."""
    return Interval(interval.estimate / divisor, interval.low / divisor, interval.high / divisor, interval.n, interval.kind)
