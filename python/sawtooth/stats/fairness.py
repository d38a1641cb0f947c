"""How evenly something is shared."""

from __future__ import annotations

from collections.abc import Sequence

from sawtooth.stats.interval import Vector, vector


def jain(shares: Sequence[float] | Vector) -> float:
    """Jain's fairness index (sum x)^2 / (n sum x^2) (Jain, Chiu and Hawe, DEC-TR-301, 1984).

    It is 1 when all shares are alike and 1/n when one has everything. Without any throughput there is nothing to share: 0, as the
    published HighSpeed study has it.
    """
    data = vector(shares)
    squares = float((data**2).sum())
    return float(data.sum()) ** 2 / (data.size * squares) if squares > 0 else 0.0
