"""What would have been needed to tell: the difference that so many replicates show in four of five cases, and how many would show the one found."""

from __future__ import annotations

import numpy as np

from sawtooth import stats
from sawtooth.findings.data import Data
from sawtooth.scales import number
from sawtooth.stats import Vector


def words(differences: Vector, data: Data, margin: float | None = None, *, bounded: bool = True) -> str:
    """For replicates whose differences from what they are held against are these, shape (n,); with `margin`, for a claim that they are within it.

    Where the interval is not `bounded` the spread that was seen is no guide: it says nothing of what more such runs would show.
    """
    known = differences[np.isfinite(differences)]
    if len(known) < 2:
        return "a single run says nothing about chance"
    if float(np.ptp(known)) == 0.0:
        return f"all {len(known)} runs are alike: no chance in them"
    if not bounded:
        return f"of {len(known)} runs {int((known > 0).sum())} are above it, {int((known < 0).sum())} below; their spread does not say what would decide"
    smallest = stats.detectable(known)
    divisor, unit = data.unit
    text = f"{len(known)} runs would show a difference of {number(smallest / divisor)} {unit}".rstrip()
    away = abs(float(known.mean()))
    wanted = away if margin is None else margin - away
    if wanted <= 0:
        return text
    needed = stats.replicates_needed(known, wanted)
    if needed is not None and needed > len(known):
        return f"{text}; about {needed:,} would decide"
    return text
