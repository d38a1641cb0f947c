"""What a measure's resolution leaves of its evidence: a difference that is within it is neither shown nor denied, however often it is seen.

Stored percentiles are within 1/128 of what they stand for, in every run the same way: no number of replicates tells less. So what is claimed of them must
hold, too, of the least and the most that each may be. A trend needs no such care: it goes by order, and two percentiles that are stored apart are in that order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sawtooth.findings.verdict import Evidence

WITHIN = "the difference is within the measure's resolution: stored percentiles are within 1/128 of what they stand for"


def resolved(fine: Sequence[Evidence], coarse: Sequence[Evidence]) -> list[Evidence]:
    """The evidence of values as they are stored, held against that of their bounds; cells that only the first has stay as they are."""
    bounds = {each.cell: each for each in coarse}
    return [_both(each, bounds[each.cell]) if each.cell in bounds else each for each in fine]


def _both(fine: Evidence, coarse: Evidence) -> Evidence:
    def shows(level: float) -> bool:
        return fine.shows(level) and coarse.shows(level)

    def denies(level: float) -> bool:
        return fine.denies(level) and coarse.denies(level)

    lost = (fine.shows(0.95) or fine.denies(0.95)) and not (shows(0.95) or denies(0.95))
    return replace(fine, shows=shows, denies=denies, doubt=WITHIN if lost else fine.doubt, steps=resolved(fine.steps, coarse.steps))
