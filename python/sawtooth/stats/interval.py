"""An estimate with its interval, and how that was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its interval.

    Attributes:
        estimate, low, high: in the unit of the data. Infinite ends: the data do not bound it, and `kind` says why.
        n: number of observations.
        kind: how the interval was made, for captions. It has a level ("95%") only if the interval covers with that.

    """

    estimate: float
    low: float
    high: float
    n: int
    kind: str

    def over(self, divisor: float) -> Interval:
        """The same in a unit that is so many times as large."""
        return replace(self, estimate=self.estimate / divisor, low=self.low / divisor, high=self.high / divisor)

    def less(self, by: float) -> Interval:
        """The interval of the same less a number."""
        return replace(self, estimate=self.estimate - by, low=self.low - by, high=self.high - by)

    def within(self, least: float, most: float) -> Interval:
        """The same without what is beyond what it can be, where nothing is to be covered; an end that is not known stays so."""
        # Rounding cuts nothing off the estimate.
        low = min(max(self.low, least), self.estimate) if np.isfinite(self.low) else self.low
        high = max(min(self.high, most), self.estimate) if np.isfinite(self.high) else self.high
        return replace(self, low=low, high=high)

    def excludes(self, value: float) -> bool:
        """Whether `value` lies outside."""
        return not self.low <= value <= self.high

    def reach(self) -> tuple[float, float]:
        """Distances below and above the estimate, for error bars; not a number where there is no interval."""
        if not np.isfinite(self.high - self.low):
            return np.nan, np.nan
        return self.estimate - self.low, self.high - self.estimate

    def words(self, spec: str = "", unit: str = "") -> str:
        """Estimate, interval and its kind, each number formatted by `spec`, else with its sign, in `unit`."""
        estimate, low, high = (format(value, spec) if spec else signed(value) for value in (self.estimate, self.low, self.high))
        after = f" {unit}" if unit else ""
        if not np.isfinite(self.high - self.low):
            return f"{estimate}{after} ({self.kind})"
        return f"{estimate}{after} ({low} to {high}{after}, {self.kind})"


def signed(value: float) -> str:
    """A difference with its sign and three digits, as people read it: no exponent that is not needed."""
    return f"{value:+,.0f}" if 1e3 <= abs(value) < 1e9 else f"{value:+.3g}"


def vector(values: Sequence[float] | Vector) -> Vector:
    """The values as binary64, shape (n,)."""
    return np.asarray(values, dtype=np.float64)


def percent(level: float) -> str:
    """A level as kinds have it: 95%, 99.5%."""
    return f"{100 * level:.4g}%"


def unbounded(estimate: float, n: int, kind: str) -> Interval:
    """An estimate of which the data say no interval; `kind` says why."""
    return Interval(estimate, -np.inf, np.inf, n, kind)


def unvaried(value: float, n: int, level: float = 0.95) -> Interval:
    """What n runs that are all alike say.

    If more than a share q of all runs had another value, n alike would come about with less than (1 - q)^n. That is no interval of a
    mean, of which rare other values may make anything: its ends are the value, and `kind` has the bound of q instead of a level.
    """
    share = 1 - (1 - level) ** (1 / n)
    return Interval(value, value, value, n, f"no variation in {n} runs: up to {share:.0%} of further ones may differ")
