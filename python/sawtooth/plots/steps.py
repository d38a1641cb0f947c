"""Distributions as steps, and the places at which several are compared; without what draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sawtooth.stats import Vector


@dataclass(frozen=True)
class Steps:
    """A distribution: at each of `x`, shape (n,), the share that is no larger, between `low` and `high`; the share that has no end stays above the last."""

    x: Vector
    share: Vector
    low: Vector
    high: Vector
    name: str = ""


_WIDER = 10.0
"""Rows of panels whose ranges differ by more have axes of their own: on a common one the narrowest would be a vertical line."""


def by_row(panels: Sequence[Mapping[str, Steps]], rows: int) -> list[Sequence[Mapping[str, Steps]]]:
    """Panels in groups that have one horizontal axis, on a linear scale: all of them, or each row by itself where their ranges are too different."""
    across = len(panels) // rows
    each = [panels[at * across : (at + 1) * across] for at in range(rows)]
    values = [np.concatenate([steps.x for curves in row for steps in curves.values()] or [np.zeros(0)]) for row in each]
    ranges = [width for some in values if some.size and (width := float(np.ptp(some))) > 0]
    return each if rows > 1 and ranges and max(ranges) > _WIDER * min(ranges) else [panels]


def common(values: Sequence[Vector], points: int = 400) -> Vector:
    """So many places at which several samples are compared: quantiles of all of them, shape (m,)."""
    together = np.concatenate([value[np.isfinite(value)] for value in values]) if len(values) else np.array([])
    if not together.size:
        return np.array([])
    return np.unique(np.quantile(together, np.linspace(0, 1, points), method="inverted_cdf"))
