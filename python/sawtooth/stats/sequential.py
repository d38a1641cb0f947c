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
        narrow: looks in a row, up to the last, at which the interval was narrow. soonest: n at which it may stop at the earliest.

    """

    done: bool
    n: int
    interval: Interval
    share: float
    why: str
    narrow: int
    soonest: int

    @property
    def met(self) -> bool:
        """Whether the interval is narrow enough, at as many looks as are needed."""
        return self.narrow == LOOKS


def sequential(
    values: Sequence[float] | Vector, share: float, level: float = 0.95, least: int = 5, most: int = 200, since: Progress | None = None
) -> Progress:
    """Whether replicates suffice for an interval of a mean within `share` of it.

    Args:
        values: one per replicate, in their order.
        share: half the interval's width over the absolute value of the mean, at most.
        level: coverage.
        least: replicates at the first look, at least 2.
        most: replicates after which it stops in any case.
        since: what it said of the first of these values, so that those need not be looked at again.

    Raises:
        ValueError: if the numbers say nothing: a share that is not above 0, a level not between 0 and 1, or not 2 <= least <= most.

    """
    if not share > 0 or not 0 < level < 1 or not 2 <= least <= most:
        raise ValueError(
            f"a share above 0, a level between 0 and 1 and 2 <= least <= most are needed, not {share}, {level}, {least} and {most}"
        )
    data = vector(values)
    if since is not None and since.done:
        return since
    inner = inflated(level)
    narrow = 0 if since is None else since.narrow
    for n in range(max(least, 0 if since is None else since.n + 1), min(data.size, most) + 1):
        found = mean(data[:n], inner)
        narrow = narrow + 1 if _half(found) <= share else 0
        if narrow == LOOKS:
            return Progress(
                True, n, called(found, level), _half(found), f"within {share:.3g} of the mean at {LOOKS} looks in a row", narrow, n
            )
    found = mean(data[:most], inner) if data.size else mean(data)
    done = data.size >= most
    why = f"stopped at {most} runs: not" if done else f"{data.size} runs: not yet"
    soonest = most if done else min(max(data.size, least - 1) + LOOKS - narrow, most)
    return Progress(done, found.n, called(found, level), _half(found), f"{why} within {share:.3g} of the mean", narrow, soonest)


def inflated(level: float) -> float:
    """The level of the intervals that are looked at, for a coverage of `level` where it stops."""
    return 1 - ERROR * (1 - level)


def _half(found: Interval) -> float:
    half = (found.high - found.low) / 2
    if not np.isfinite(half):
        return float("inf")
    return half / abs(found.estimate) if found.estimate != 0 else float("inf") if half > 0 else 0.0


def called(found: Interval, level: float) -> Interval:
    """An interval at `inflated(level)` of replicates of such a rule, named by what it covers."""
    named = f"{percent(inflated(level))} "
    kind = f"{percent(level)} sequential {found.kind.removeprefix(named)}" if found.kind.startswith(named) else found.kind
    return replace(found, kind=kind)
