"""The sign test, where ties leave the interval of a mean unbounded: of the direction only. docs/concepts/statistics.md has the rule and its limits.

If as many differences are above 0 as below, or more below (a median of 0 or less, such as of what is symmetric about 0), all of n are above with
2^-n at most; that all are on one side, whichever, has 2^-(n-1). It says nothing of how large the mean is, nor of rare runs that were not seen.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sawtooth.stats.interval import Vector, vector
from sawtooth.stats.mean import REACHED, mean_rows


def sign_test(values: Sequence[float] | Vector, *, equal: bool = False) -> float | None:
    """The two-sided p of what all lie above 0; None where the rule does not take it.

    It takes it by the data alone, whatever the level: ties leave the interval of their mean unbounded at 95 % (resamples of which all are alike), and
    all are above 0.

    Args:
        values: less what they are held against; shape (n,).
        equal: whether those that are 0 are as good as above it: of a claim of `at least`, whose contrary has half of all below.

    """
    data = vector(values)
    n = int(data.size)
    if n < 2 or not np.isfinite(data).all() or not bool((data >= 0 if equal else data > 0).all()):
        return None
    rows = mean_rows(data[None, :], REACHED, origin=False)
    if rows.alike[0] or rows.open[0] or np.isfinite(rows.low[0]):
        return None
    return 2 * 0.5**n
