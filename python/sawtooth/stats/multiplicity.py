"""Many tests at once: the chance that any of them errs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for their number by Holm's step-down procedure (Scandinavian Journal of Statistics 6, 1979).

    Whatever the tests have to do with each other: the chance that one or more true hypotheses are rejected is at most the level.
    One that is not a number belongs to no test: it stays and does not count.
    """
    order = sorted((at for at, p in enumerate(p_values) if not np.isnan(p)), key=lambda at: p_values[at])
    adjusted = [float("nan")] * len(p_values)
    running = 0.0
    for rank, at in enumerate(order):
        running = max(running, min(1.0, (len(order) - rank) * p_values[at]))
        adjusted[at] = running
    return adjusted
