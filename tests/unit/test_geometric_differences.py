"""A difference of geometric means is decided by their ratio; the geometric mean of differences, which is above 0 or none, decides nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sawtooth import stats
from sawtooth.findings.direction import difference, direction

FIRST, SECOND = np.array([2.0, 3.0, 4.0, 5.0, 9.0, 2.5]), np.array([1.0, 2.0, 3.5, 4.0, 5.0, 2.6])


def test_a_difference_of_geometric_means_goes_by_the_interval_of_their_ratio() -> None:
    found, same = difference((FIRST, FIRST), (SECOND, SECOND), {"times": 1.0}, "geometric mean", 0.95)
    assert found == same
    assert found.estimate == pytest.approx(stats.geometric_mean(FIRST).estimate - stats.geometric_mean(SECOND).estimate)
    ratio = stats.geometric_mean(FIRST / SECOND)
    assert (found.low > 0) == (ratio.low > 1)
    assert found.kind == f"{ratio.kind}, of their ratio"


def test_two_pairs_with_one_sign_do_not_show_a_direction() -> None:
    first, second = np.array([2.0, 9.0]), np.array([1.0, 8.0])
    found = direction((first, first), (second, second), {"times": 1.0}, "geometric mean", below=False)
    assert not found.shows(0.95)


def test_what_is_not_above_0_has_none() -> None:
    first = np.array([2.0, 0.0])
    found, _ = difference((first, first), (FIRST[:2], FIRST[:2]), {"times": 1.0}, "geometric mean", 0.95)
    assert math.isnan(found.estimate)
    assert found.kind == "no geometric mean: a value is not above 0"
