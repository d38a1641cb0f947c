"""Which scenarios that were compared are like a given one, by a rule that was fixed before any row of the table was made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sawtooth.fidelity.compared import Compared
from sawtooth.fidelity.situation import Situation

RULE = """\
- Only the same algorithm is like it: each is code of its own.
- A factor of ten counts 1 in the rate, the round-trip time, the buffer in bandwidth-delay products, the probability of loss where both lose,
  and the number of flows. What TCP does depends on windows and their shares, which are products and ratios of these, so equal factors weigh
  equally, at 1 Mbit/s as at 100; no weight is fitted to anything.
- What is a case of its own counts 1 where it differs, because something else decides then: random losses or none (every loss is one of a full
  queue), marks (ECN) or none, a slow way back or not.
- Whether flows end counts a half: whatever is endless begins as what ends does.
- These are added as squares, and the root is taken: differences in several make more of one.
- What is farther than 1 is not like it: a factor of ten in one, or of five in two, or one case that differs. It is told as not compared.
- Of those within 1 the nearest 5 are taken: few enough to be near, and enough that the median does not hang on one."""
"""As documentation has it."""
K = 5
REACH = 1.0
CASE, ENDS = 1.0, 0.5


@dataclass(frozen=True)
class Neighbour:
    """A scenario that was compared, and how far away it is."""

    row: Compared
    distance: float


def distance(one: Situation, other: Situation) -> float:
    """How unlike two situations are; infinite of different algorithms."""
    if one.algorithm != other.algorithm:
        return math.inf
    return math.hypot(*_apart(one, other))


def _apart(one: Situation, other: Situation) -> Iterator[float]:
    for name in ("rate_bps", "rtt_s", "buffer_bdp", "flows"):
        yield math.log10(getattr(one, name) / getattr(other, name))
    if one.loss and other.loss:
        yield math.log10(one.loss / other.loss)
    elif one.loss or other.loss:
        yield CASE
    yield CASE * (one.marks != other.marks)
    yield CASE * (one.slow_acks != other.slow_acks)
    yield ENDS * (one.ends != other.ends)


def nearest(to: Situation, rows: Iterable[Compared], k: int = K) -> list[Neighbour]:
    """The `k` rows that are most like a situation, the nearest first; of those equally near the first of the table."""
    found = [Neighbour(row, distance(to, row.situation)) for row in rows if row.situation.algorithm == to.algorithm]
    return sorted(found, key=lambda each: each.distance)[:k]
