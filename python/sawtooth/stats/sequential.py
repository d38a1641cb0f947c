"""How many replicates: until the interval of a mean is as narrow as asked for.

A rule that stops at the first n at which the interval is narrow stops too early where the spread happens to be underestimated (Chow and
Robbins, Annals of Mathematical Statistics 36, 1965, prove coverage for ever narrower intervals only). So the interval must be narrow at
three looks in a row, the first of them no earlier than at the least n, and has four fifths of the error that is allowed.
docs/validation/statistics.md says what it covers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sawtooth.stats.interval import Interval, Vector, percent, vector
from sawtooth.stats.mean import mean

LOOKS = 3
ERROR = 0.8


@dataclass(frozen=True)
class Progress:
    """What a sequential rule says of the replicates so far.

    Attributes:
        done: whether to stop. n: replicates that count: those up to where the rule stopped, if more were given.
        interval: of their mean. share: half the interval's width over the absolute value of the mean; infinite where unknown.
        why: in words.

    """

    done: bool
    n: int
    interval: Interval
    share: float
    why: str


def sequential(values: Sequence[float] | Vector, share: float, level: float = 0.95, least: int = 5, most: int = 200) -> Progress:
    """Whether replicates suffice for an interval of a mean within `share` of it.

    Args:
        values: one per replicate, in their order.
        share: half the interval's width over the absolute value of the mean, at most.
        level: coverage.
        least: replicates at the first look, at least 2.
        most: replicates after which it stops in any case.

    Raises:
        ValueError: if the numbers say nothing: a share that is not above 0, a level not between 0 and 1, or not 2 <= least <= most.

    """
    if not share > 0 or not 0 < level < 1 or not 2 <= least <= most:
        raise ValueError(
            f"a share above 0, a level between 0 and 1 and 2 <= least <= most are needed, not {share}, {level}, {least} and {most}"
        )
    data = vector(values)
    inner = inflated(level)
    narrow = 0
    for n in range(least, min(data.size, most) + 1):
        found = mean(data[:n], inner)
        narrow = narrow + 1 if _half(found) <= share else 0
        if narrow == LOOKS:
            return _progress(True, found, level, f"within {share:.3g} of the mean at {LOOKS} looks in a row")
    found = mean(data[:most], inner) if data.size else mean(data)
    if data.size >= most:
        return _progress(True, found, level, f"stopped at {most} runs: not within {share:.3g} of the mean")
    return _progress(False, found, level, f"{data.size} runs: not yet within {share:.3g} of the mean")


def inflated(level: float) -> float:
    """The level of the intervals that are looked at, for a coverage of `level` where it stops."""
    return 1 - ERROR * (1 - level)


def _half(found: Interval) -> float:
    half = (found.high - found.low) / 2
    if not np.isfinite(half):
        return float("inf")
    return half / abs(found.estimate) if found.estimate != 0 else float("inf") if half > 0 else 0.0


def _progress(done: bool, found: Interval, level: float, why: str) -> Progress:
    named = f"{percent(inflated(level))} "
    kind = f"{percent(level)} sequential {found.kind.removeprefix(named)}" if found.kind.startswith(named) else found.kind
    return Progress(done, found.n, replace(found, kind=kind), _half(found), why)
