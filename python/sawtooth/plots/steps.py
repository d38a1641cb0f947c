"""Distributions as steps, and the places at which several are compared; without what draws them."""

from __future__ import annotations

from collections.abc import Sequence
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


def common(values: Sequence[Vector], points: int = 400) -> Vector:
    """So many places at which several samples are compared: quantiles of all of them, shape (m,)."""
    together = np.concatenate([value[np.isfinite(value)] for value in values]) if len(values) else np.array([])
    if not together.size:
        return np.array([])
    return np.unique(np.quantile(together, np.linspace(0, 1, points), method="inverted_cdf"))
