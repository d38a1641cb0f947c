"""Which side is called the first makes no difference: intervals of differences and ratios are each other's mirror images."""

from __future__ import annotations

import numpy as np
import pytest

from sawtooth import stats
from sawtooth.stats import Interval


def ends(found: Interval) -> tuple[float, float, float]:
    return found.low, found.estimate, found.high


@pytest.mark.parametrize("paired", [True, False], ids=["paired", "apart"])
@pytest.mark.parametrize("n", [3, 4, 8, 20])
@pytest.mark.parametrize("spread", [0.05, 0.6])
def test_exchanging_the_sides_turns_an_interval_round(n: int, spread: float, *, paired: bool) -> None:
    generator = np.random.default_rng(n)
    a, b = (generator.lognormal(middle, spread, n) for middle in (0.0, 0.3))
    low, middle, high = ends(stats.difference(a, b, paired=paired))
    assert ends(stats.difference(b, a, paired=paired)) == pytest.approx((-high, -middle, -low))
    low, middle, high = ends(stats.ratio(a, b, paired=paired))
    if np.isfinite(high):
        assert ends(stats.ratio(b, a, paired=paired)) == pytest.approx((1 / high, 1 / middle, 1 / low))
    else:
        assert not np.isfinite(stats.ratio(b, a, paired=paired).high)
