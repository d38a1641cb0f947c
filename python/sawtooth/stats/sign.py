"""The sign test, where ties leave the interval of a mean unbounded: of the direction only. docs/concepts/statistics.md has the rule and its limits.

If as many differences are above 0 as below, or more below (a median of 0 or less, such as of what is symmetric about 0), all of n are above with
2^-n at most; that all are on one side, whichever, has 2^-(n-1). It says nothing of how large the mean is, nor of rare runs that were not seen.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sawtooth.stats.interval import Vector, vector
from sawtooth.stats.mean import REACHED, mean_rows


def sign_test(values: Sequence[float] | Vector, *, against: float = 0.0, below: bool = False, equal: bool = False) -> float | None:
    """The two-sided p of what all lie above a number; None where the rule does not take it, or where it could tell nothing at 95 %.

    It takes it by the data alone, whatever the level: ties leave the interval of their mean unbounded at 95 % (resamples of which all are alike), and
    all are above. Fewer than 6 can never tell it: all of 5 are on one side with 6 %.

    Args:
        values: shape (n,).
        against: what they are held against.
        below: whether all lie below it instead.
        equal: whether those that are equal to it are as good: of a claim of `at least`, whose contrary has half of all below.

    """
    data = vector(values)
    p = 2 * 0.5 ** int(data.size)
    if p > 1 - REACHED or not np.isfinite(data).all():
        return None
    beyond = against - data if below else data - against
    if not bool((beyond >= 0 if equal else beyond > 0).all()):
        return None
    # Of the values as they are, not of how far each is beyond: what is resampled for their interval need not be once more.
    rows = mean_rows(data[None, :], REACHED, origin=False)
    end = rows.high[0] if below else rows.low[0]
    return None if rows.alike[0] or rows.open[0] or np.isfinite(end) else p
