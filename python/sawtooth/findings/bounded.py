"""What two sides come to, as one interval and in words; where runs did not finish that is a bound, and it says so on either side."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sawtooth import stats
from sawtooth.estimates import LEAST, MOST, bound_of
from sawtooth.findings.data import Data
from sawtooth.findings.direction import Bounds
from sawtooth.scales import number
from sawtooth.stats import Interval
from sawtooth.stats.interval import signed


def between(least: Interval, most: Interval) -> Interval:
    """One interval of what is at least the one and at most the other; an end without a bound is infinite."""
    bounded = math.isfinite(least.estimate), math.isfinite(most.estimate)
    if bounded == (True, True):
        if least.estimate == most.estimate:
            # Such as a median: known, with an interval that may lack an end.
            return replace(least, high=most.high, kind=_method(least, most))
        return replace(least, high=most.high, kind=f"{least.kind}, of the least and the most that it may be")
    if bounded == (True, False):
        return replace(least, high=math.inf, kind=f"{least.kind}{LEAST}")
    if bounded == (False, True):
        return replace(most, low=-math.inf, kind=f"{most.kind}{MOST}")
    return replace(least, estimate=math.nan)


def _method(least: Interval, most: Interval) -> str:
    """How an interval is made whose ends are those of two: one of them may be of values that are all alike."""
    return most.kind if least.kind.startswith("no variation") else least.kind


def unfinished(first: Bounds, second: Bounds | None) -> str:
    """What would tell more where runs of either side did not finish; empty if all did."""
    lost = np.any([low != high for low, high in ((first,) if second is None else (first, second))], axis=0)
    return f"{int(lost.sum())} of {len(lost)} runs did not finish: longer ones would tell more" if lost.any() else ""


def words(first: Bounds, second: Bounds | None, data: Data, shown: tuple[Interval, Interval], options: Mapping[str, Any]) -> str:
    """The numbers of a cell: both sides, and by how much at least and at most they are apart."""
    divisor, unit = data.unit
    mine, theirs = _both(first, second, data, options)
    apart = _apart(shown[0].over(divisor), shown[1].over(divisor), unit)
    left, right = mine.words(divisor, unit), theirs.words(divisor, unit)
    if second is None:
        return f"{left}; from {right} it is {apart}"
    times = float(options["times"])
    what = "difference" if times == 1 else f"less {times:g} times that"
    if data.spec.statistic == "median":
        # It is not that of the two medians.
        what = f"median of the pairs' differences{'' if times == 1 else f', {what},'}"
    return f"{left} against {right}, {what} {apart}"


def sides(first: Bounds, second: Bounds | None, data: Data, options: Mapping[str, Any]) -> tuple[str, str]:
    """Both sides, without their unit: that of the finding."""
    mine, theirs = (side.words(data.unit[0], "") for side in _both(first, second, data, options))
    return mine, theirs


def _both(first: Bounds, second: Bounds | None, data: Data, options: Mapping[str, Any]) -> tuple[_Side, _Side]:
    """What is measured, and what it is held against: a bound, or the other side."""
    bound = float(options["bound"]) if second is None else 0.0
    return _side(first, data), _Side(bound, bound) if second is None else _side(second, data)


@dataclass(frozen=True)
class _Side:
    """What a side is at least and at most, not a number where nothing bounds it; how many of its runs did not finish, and what is said of none."""

    least: float
    most: float
    added: str = ""
    none: str = "without a bound"

    def words(self, divisor: float, unit: str) -> str:
        least, most = (f"{number(end / divisor)} {unit}".strip() if math.isfinite(end) else "" for end in (self.least, self.most))
        if least and most:
            return f"{least if least == most else f'{least} to {most}'}{self.added}"
        return f"at least {least}{self.added}" if least else f"at most {most}{self.added}" if most else f"{self.none}{self.added}"


def _side(bounds: Bounds, data: Data) -> _Side:
    low, high = bounds
    open_ = int((low != high).sum())
    least, most = stats.centre_between(*bounds, data.spec.statistic)
    if not open_:
        return _Side(least.estimate, most.estimate, none=least.kind)
    # What it cannot be below anyway bounds nothing.
    known = bound_of(least.estimate, most.estimate, data.measure.within(data.spec.view.flows))
    return _Side(
        math.nan if known in ("at most", "not bounded") else least.estimate, most.estimate, f" ({open_} of {len(low)} runs did not finish)"
    )


def _known(found: Interval, unit: str) -> str:
    """A number that is known, with an interval of which runs that did not finish may leave one end."""
    after = f" {unit}" if unit else ""
    if math.isfinite(found.low) == math.isfinite(found.high):
        return found.words(unit=unit)
    end = f"from {signed(found.low)}{after}" if math.isfinite(found.low) else f"up to {signed(found.high)}{after}"
    side = "upper" if math.isfinite(found.low) else "lower"
    return f"{signed(found.estimate)}{after} ({end}, {found.kind}; runs that did not finish leave no {side} end)"


def _apart(least: Interval, most: Interval, unit: str) -> str:
    """How far two sides are apart, with the interval that decides."""
    after = f" {unit}" if unit else ""
    bounded = math.isfinite(least.estimate), math.isfinite(most.estimate)
    if bounded == (False, False):
        return f"not known ({least.kind})"
    if bounded == (True, True):
        if least.estimate == most.estimate:
            return _known(between(least, most), unit)
        return (
            f"{signed(least.estimate)} to {signed(most.estimate)}{after} ({signed(least.low)} to {signed(most.high)}{after}, {least.kind})"
        )
    found, bound, end, side = (least, "at least", least.low, "upper") if bounded[0] else (most, "at most", most.high, "lower")
    parts = [f"{'from' if bounded[0] else 'up to'} {signed(end)}{after}"] if math.isfinite(end) else []
    # Of bounds that are alike it is not known whether the runs are.
    parts += [found.kind] if not found.kind.startswith("no variation") else []
    text = f"{', '.join(parts)}; " if parts else ""
    return f"{bound} {signed(found.estimate)}{after} ({text}runs that did not finish have no {side} bound)"
