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
    """The panels of each row."""
    across = len(panels) // rows
    return [panels[at * across : (at + 1) * across] for at in range(rows)]


def apart(panels: Sequence[Mapping[str, Steps]], rows: int) -> bool:
    """Whether the ranges of rows are too different for one linear axis."""
    values = [np.concatenate([steps.x for curves in row for steps in curves.values()] or [np.zeros(0)]) for row in by_row(panels, rows)]
    ranges = [width for some in values if some.size and (width := float(np.ptp(some))) > 0]
    return bool(ranges) and max(ranges) > _WIDER * min(ranges)


def common(values: Sequence[Vector], points: int = 400) -> Vector:
    """So many places at which several samples are compared: quantiles of all of them, shape (m,)."""
    together = np.concatenate([value[np.isfinite(value)] for value in values]) if len(values) else np.array([])
    if not together.size:
        return np.array([])
    return np.unique(np.quantile(together, np.linspace(0, 1, points), method="inverted_cdf"))
