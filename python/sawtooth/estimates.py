"""One number of the replicates of a cell, with its interval, and with how many of them are only bounds.

A replicate that did not come to an end is known between two ends: a time is at least something, what is taken off it or divided by it at most, and what
is taken off each other may be anything. What the estimate is at least and at most follows from these ends, and so do the words, marks and columns
of everything that shows it. A median is what it is as long as fewer than half are bounds.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from sawtooth import stats
from sawtooth.stats import Centre, Interval, Vector

Bound = Literal["", "at least", "at most", "between", "not bounded"]
"""What an estimate is: known if empty, else a bound of one side, of both, or of neither."""
_AT_A_TIME = 4096
"""Groups whose intervals are made together: fewer than are kept."""
_UNFINISHED = re.compile(r", \d+ of \d+ unfinished: (at least|at most|between two bounds)$")
"""What `of_bounds`, and pairs of runs, add to the kind of an interval."""
_MADE = re.compile(r"(?P<level>[\d.]+)% (?P<methods>.+) interval$")
"""The kind of an interval that there is: its level and its methods."""
_WITHOUT = {
    "no variation": "without variation", "n = 1: no interval": "of a single run", "no run tells it": "of no run",
    "second mean is near 0": "without an interval: the divisor's mean is near 0", "no pair of runs is known": "of no pair of runs that is known",
    "no geometric mean": "without a geometric mean: a value is not above 0", "second mean is 0": "without a ratio: the divisor's mean is 0",
    "bounds alike": "whose runs did not finish", "nothing bounds it": "(↕) of runs that did not finish, which nothing bounds",
}  # fmt: skip
"""What the kind of an interval that is none begins with, and how captions count such points."""


LEAST, MOST = ", of the least that it may be", ", of the most that it may be"
"""What the kind of an interval ends in that has one end only, as runs did not finish."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate of replicates.

    Attributes:
        interval: estimate, low and high; where the estimate is a bound, of that: an end that there is not is infinite.
        n: how many runs were to tell it.
        unfinished: how many of them are only bounds; unknown: how many tell nothing.
        bound: what the estimate is; one that nothing bounds is not a number.
        most: the most that it may be, where it is `between` that and the estimate.

    """

    interval: Interval
    n: int
    unfinished: int = 0
    unknown: int = 0
    bound: Bound = ""
    most: float = math.nan

    def over(self, divisor: float) -> Estimate:
        """The same in a unit that is so many times as large."""
        return replace(self, interval=self.interval.over(divisor), most=self.most / divisor)

    def within(self, least: float, most: float) -> Estimate:
        """The same without what is beyond what it can be."""
        return replace(self, interval=self.interval.within(least, most), most=min(self.most, most) if self.bound == "between" else math.nan)

    @property
    def open(self) -> tuple[bool, bool]:
        """Whether the interval of a known estimate has no lower, and no upper, end because runs did not finish."""
        if self.bound or not self.unfinished or not _MADE.match(self.interval.kind):
            return False, False
        return not math.isfinite(self.interval.low), not math.isfinite(self.interval.high)

    @property
    def values(self) -> list[float]:
        """The estimate, or the least and the most that it may be: those of them that are known."""
        return [value for value in (self.interval.estimate, self.most) if math.isfinite(value)]


def of_frame(frame: pl.DataFrame, statistic: Centre, within: tuple[float, float] = (-math.inf, math.inf)) -> Estimate:
    """What the runs of a frame (low, high) are together, by a measure that is `within` these limits: nothing beyond is part of the interval."""
    return of_values(frame["low"].to_numpy(), frame["high"].to_numpy(), statistic, within)


def of_groups(
    frame: pl.DataFrame, keys: Sequence[str], statistic: Centre, within: tuple[float, float] = (-math.inf, math.inf)
) -> Iterator[tuple[dict[str, Any], Estimate]]:
    """As `of_frame`, of each group of rows that `keys` tell apart, in the order in which they come; with its first row, without low and high."""
    coming = grouped(frame, keys, ["low", "high"])
    while some := list(itertools.islice(coming, _AT_A_TIME)):
        if statistic == "mean":
            stats.made_ready(low for _, (low, high) in some if np.isfinite(low).all() and np.array_equal(low, high))
        for row, (low, high) in some:
            yield row, of_values(low, high, statistic, within)


def of_values(low: Vector, high: Vector, statistic: Centre, within: tuple[float, float] = (-math.inf, math.inf)) -> Estimate:
    """As `of_bounds`, of runs of which what is not known is not a number."""
    known = ~(np.isnan(low) | np.isnan(high))
    some = (low, high) if known.all() else (low[known], high[known])
    return of_bounds(*some, statistic, len(low) - int(known.sum()), within)


def grouped(frame: pl.DataFrame, keys: Sequence[str], values: Sequence[str]) -> Iterator[tuple[dict[str, Any], list[Vector]]]:
    """Of each group of rows that `keys` tell apart its first row without `values`, and these; what is not known is not a number.

    Taken apart all at once: one frame for each of thousands of groups takes longer than what is made of them.
    """
    groups = frame.group_by(keys, maintain_order=True).agg(pl.exclude(values).first(), *(pl.col(name) for name in values))
    columns = [groups[name].explode(empty_as_null=False).to_numpy() for name in values]
    ends = np.cumsum(groups[values[0]].list.len().to_numpy()).tolist()
    for row, start, end in zip(groups.drop(values).iter_rows(named=True), [0, *ends], ends, strict=False):
        yield row, [column[start:end] for column in columns]


def of_bounds(
    low: Vector, high: Vector, statistic: Centre, unknown: int = 0, within: tuple[float, float] = (-math.inf, math.inf)
) -> Estimate:
    """What runs are together of which each is known from `low` to `high`, shape (n,), by a measure that is `within` these limits."""
    unfinished = int((low != high).sum())
    return between(*stats.centre_between(low, high, statistic), len(low) + unknown, unfinished, unknown, within)


def between(
    least: Interval, most: Interval, n: int, unfinished: int, unknown: int = 0, within: tuple[float, float] = (-math.inf, math.inf)
) -> Estimate:
    """What is known to be at least the one and at most the other; the same twice where it is known.

    Args:
        least: whose estimate is infinite, or what a measure is anyway, where there is no such bound.
        most: likewise.
        n: how many runs were to tell it.
        unfinished: how many of them are only bounds.
        unknown: how many tell nothing.
        within: what the measure can be.

    """
    if not unfinished or math.isnan(least.estimate):
        return Estimate(least, n, unfinished, unknown).within(*within)
    told = f"{unfinished} of {n} unfinished"
    made = next((each.kind for each in (least, most) if _MADE.match(each.kind)), least.kind)
    if least.estimate == most.estimate:
        found = Estimate(Interval(least.estimate, least.low, most.high, least.n, made), n, unfinished, unknown)
        return found.within(*within)
    bound = bound_of(least.estimate, most.estimate, within)
    if bound == "not bounded":
        return Estimate(Interval(math.nan, -math.inf, math.inf, least.n, f"nothing bounds it: {told}"), n, unfinished, unknown, bound)
    if bound == "at most":
        interval = replace(most, low=-math.inf)
    elif bound == "at least":
        interval = replace(least, high=math.inf)
    else:
        interval = Interval(least.estimate, least.low, most.high, least.n, made)
    # Of bounds that are alike it is not known whether the runs are.
    kind = "bounds alike" if interval.kind.startswith("no variation") else interval.kind
    interval = replace(interval, kind=f"{kind}, {told}: {'between two bounds' if bound == 'between' else bound}")
    return Estimate(interval, n, unfinished, unknown, bound, most.estimate if bound == "between" else math.nan).within(*within)


def bound_of(least: float, most: float, within: tuple[float, float] = (-math.inf, math.inf)) -> Bound:
    """What is known of what lies between the two; an end that it cannot be beyond anyway says nothing."""
    if least == most:
        return ""
    below, above = math.isfinite(least) and least > within[0], math.isfinite(most) and most < within[1]
    return "between" if below and above else "at least" if below else "at most" if above else "not bounded"


def of_runs(low: Vector, high: Vector, within: tuple[float, float] = (-math.inf, math.inf)) -> tuple[Vector, Sequence[Bound]]:
    """What single runs are known to be, of which each is known from `low` to `high`: the value or its bound, and which that is."""
    bounds: list[Bound] = [""] * len(low)
    if np.array_equal(low, high) and np.isfinite(low).all():
        return low, bounds
    bounds = [bound_of(least, most, within) for least, most in zip(low.tolist(), high.tolist(), strict=True)]
    told = {"at most": high, "not bounded": np.full(len(low), math.nan)}
    values = np.array([told.get(bound, low)[at] for at, bound in enumerate(bounds)], dtype=np.float64)
    return values, bounds


def covers(interval: Interval) -> bool:
    """Whether an interval was made that covers with its level: not so of what does not vary, nor of what the data do not bound."""
    return _MADE.search(interval.kind) is not None and math.isfinite(interval.high - interval.low)


def said(
    estimates: Iterable[Estimate],
    statistic: Centre,
    what: str = "runs",
    *,
    mark: str = "Arrows",
    counted: tuple[int, int, int] | None = None,
) -> str:
    """What a caption says of its points: of how many runs they are, by which methods their intervals are, and what is not known.

    Args:
        estimates: the points.
        statistic: that they are.
        what: they are of.
        mark: what shows that a value is a bound.
        counted: how many runs there are, are unfinished, and tell nothing; without it each point is of runs of its own.

    """
    found = list(estimates)
    if not found:
        return "No runs."
    n = {estimate.n for estimate in found}
    plural = {"mean": "Means", "median": "Medians", "geometric mean": "Geometric means"}[statistic]
    text = "A single run each: no interval." if max(n) < 2 else f"{plural} of {number(n)} {what}{intervals(found)}."
    total, unfinished, unknown = counted or (sum(getattr(estimate, name) for estimate in found) for name in ("n", "unfinished", "unknown"))
    if unfinished:
        text += f" {bounds_said([estimate.bound for estimate in found], f'{unfinished} of {total} runs did not finish it', mark)}"
    if any(any(estimate.open) for estimate in found):
        text += " A head at the edge of the axes: the interval has no end there, as runs did not finish."
    if unknown:
        text += f" {unknown} of {total} runs do not tell it."
    return text


def bounds_said(bounds: Iterable[Bound], told: str, mark: str = "Arrows") -> str:
    """What a caption says of the marks of bounds, after how many runs they are due to."""
    there = set(bounds) - {"", "not bounded"}
    sides = [side for side in ("at least", "at most") if side in there]
    named = f"{sides[0]} that, or {sides[1]} that, as they point" if len(sides) == 2 else f"{sides[0]} that" if sides else ""
    parts = [f"the value is {named}" if named else "", "two marks joined: it is between them" if "between" in there else ""]
    rest = ", ".join(part for part in parts if part)
    return f"{f'{mark}: ' if sides else ''}{told}{f', {rest}' if rest else ''}."


def intervals(estimates: Iterable[Estimate]) -> str:
    """How the intervals of points are made, for a sentence about the points: by which methods, and how many have none and why."""
    methods: dict[str, dict[str, None]] = {}
    without: dict[str, int] = {}
    for estimate in estimates:
        kind = _UNFINISHED.sub("", estimate.interval.kind)
        made = _MADE.match(kind)
        if made:
            methods.setdefault(made["level"], {}).update(dict.fromkeys(re.split(", | and ", made["methods"])))
        else:
            why = next((said for start, said in _WITHOUT.items() if kind.startswith(start)), kind.partition(":")[0])
            without[why] = without.get(why, 0) + 1
    parts = [f"with {level} % intervals ({_or(list(served))})" for level, served in methods.items()]
    others = [f"of {counted({n}, 'point')} {why}" if "n =" in why else f"{counted({n}, 'point')} {why}" for why, n in without.items()]
    text = " and ".join(parts)
    return f"{f' {text}' if text else ''}{''.join(f'; {other}' for other in others)}"


def without_value(found: Sequence[Estimate | None]) -> str:
    """Why none of some points has a value, of which those without a run are None; empty if one has."""
    if any(each is not None and each.values for each in found):
        return ""
    return "; ".join(dict.fromkeys("no run tells it" if each is None else _UNFINISHED.sub("", each.interval.kind) for each in found))


def counted(n: set[int], what: str) -> str:
    """A number of things, or a range of numbers: `1 point`, `3 to 5 points`."""
    return f"{number(n)} {what if n == {1} else f'{what}s'}"


def number(n: set[int]) -> str:
    """A number, or a range of some."""
    return f"{min(n)} to {max(n)}" if len(n) > 1 else str(max(n, default=0))


def _or(kinds: Sequence[str]) -> str:
    return kinds[0] if len(kinds) == 1 else f"{', '.join(kinds[:-1])} or {kinds[-1]}"
