"""The centre of what is known between two ends: at least so much, at most so much, both, or neither."""

from __future__ import annotations

import numpy as np
import pytest

from sawtooth import stats
from sawtooth.stats import Centre

KNOWN = np.array([1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0])


@pytest.mark.parametrize("of", stats.CENTRES)
def test_where_all_is_known_both_are_the_centre(of: Centre) -> None:
    assert stats.centre_between(KNOWN, KNOWN, of) == (stats.centre(KNOWN, of),) * 2


@pytest.mark.parametrize("of", ["mean", "geometric mean"])
def test_one_value_without_a_bound_leaves_a_mean_none_on_that_side(of: Centre) -> None:
    high = KNOWN.copy()
    high[-1] = np.inf
    least, most = stats.centre_between(KNOWN, high, of)
    assert least == stats.centre(KNOWN, of)
    assert (most.estimate, most.low, most.high) == (np.inf, -np.inf, np.inf)


def test_a_mean_of_what_is_taken_off_a_time_that_did_not_end_is_at_most_so_much() -> None:
    low = -KNOWN.copy()
    low[-2:] = -np.inf
    least, most = stats.centre_between(low, -KNOWN)
    assert (least.estimate, least.high) == (-np.inf, np.inf)
    assert most == stats.centre(-KNOWN)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_median_is_known_while_those_without_a_bound_are_fewer_than_half(sign: int) -> None:
    open_ = KNOWN.copy()
    open_[-2:] = np.inf
    sides = sorted((sign * KNOWN, sign * open_), key=lambda side: side.sum())
    least, most = stats.centre_between(sides[0], sides[1], "median")
    assert least.estimate == most.estimate == sign * 5.0
    exact = stats.centre(sign * KNOWN, "median")
    if sign > 0:
        assert (least.low, most.high) == (exact.low, np.inf)
    else:
        assert (least.low, most.high) == (-np.inf, exact.high)


def test_a_median_of_mostly_unbounded_values_has_none() -> None:
    high = np.where(KNOWN > 2, np.inf, KNOWN)
    least, most = stats.centre_between(KNOWN, high, "median")
    assert (least.estimate, most.estimate) == (5.0, np.inf)


def test_a_geometric_mean_of_what_may_be_0_has_no_least_and_of_what_may_be_less_none() -> None:
    low = KNOWN.copy()
    low[0] = 0.0
    least, most = stats.centre_between(low, KNOWN, "geometric mean")
    assert (least.estimate, most) == (-np.inf, stats.centre(KNOWN, "geometric mean"))
    low[0] = -1.0
    found = stats.centre_between(low, KNOWN, "geometric mean")
    assert all(np.isnan(each.estimate) and not np.isfinite(each.low) for each in found)
