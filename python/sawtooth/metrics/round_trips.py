"""Download times as a constant plus a number of round trips: seconds = a + N x RTT, with one `a` and an N per algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sawtooth import stats
from sawtooth.stats import Vector


@dataclass(frozen=True)
class Fit:
    """The fit.

    Attributes:
        constant_s: `a`. trips: N by algorithm.
        residual: root mean square of the relative error.

    """

    constant_s: float
    trips: dict[str, float]
    residual: float

    def at(self, algorithm: str, rtt_s: Vector) -> Vector:
        """Fitted times."""
        return self.constant_s + self.trips[algorithm] * rtt_s


def fit(
    algorithms: Sequence[str], rtt_s: Sequence[float] | Vector, seconds: Sequence[float] | Vector, constant_s: float | None = None
) -> Fit | None:
    """Least squares of the relative errors, with `a` given or fitted too; none where a single round-trip time leaves it undecided."""
    rtt, time = stats.vector(rtt_s), stats.vector(seconds)
    levels = sorted(set(algorithms))
    slopes = np.array([[own == level for level in levels] for own in algorithms], dtype=np.float64).reshape(len(time), len(levels))
    constant, slopes = np.ones((len(time), 1)) / time[:, None], slopes * rtt[:, None] / time[:, None]
    design = slopes if constant_s is not None else np.hstack([constant, slopes])
    wanted = np.ones(len(time)) - (constant_s or 0.0) * constant[:, 0]
    if len(time) == 0 or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    found = np.linalg.lstsq(design, wanted, rcond=None)[0]
    residual = float(np.sqrt(((design @ found - wanted) ** 2).mean()))
    trips = found if constant_s is not None else found[1:]
    constant_s = float(found[0]) if constant_s is None else constant_s
    return Fit(constant_s, {level: float(n) for level, n in zip(levels, trips, strict=True)}, residual)
