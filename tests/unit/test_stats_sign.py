"""The sign test that stands in where ties leave the interval of a mean unbounded: when it does, and how often it errs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sawtooth import stats
from sawtooth.stats import Vector

# Of ten runs nine are alike, as percentiles of a histogram are.
TIED = [5.482, 5.482, 5.482, 5.482, 5.482, 5.482, 5.482, 5.220, 5.482, 5.482]


def test_ties_that_leave_the_mean_unbounded_do_not_hide_which_way_all_runs_point() -> None:
    assert not np.isfinite(stats.centre(TIED).high)
    assert stats.sign_test(TIED) == 2 * 0.5**10
    assert stats.sign_test(np.negative(TIED)) is None
    assert stats.sign_test(np.subtract(TIED, 5.3)) is None


def test_what_is_equal_counts_only_where_that_is_claimed() -> None:
    data = [0.0] * 9 + [1.0]
    assert stats.sign_test(data) is None
    assert stats.sign_test(data, equal=True) == 2 * 0.5**10


@pytest.mark.parametrize("data", [[1.0] * 10, [1.0], [], [1.0, 1.1, 1.2, 1.3, 1.5, 1.7], [1.0, np.inf, 1.0, 1.0]])
def test_where_there_is_an_interval_or_no_number_the_sign_test_is_not_taken(data: list[float]) -> None:
    assert stats.sign_test(data) is None


def few_levels(rng: np.random.Generator, n: int) -> Vector:
    """Symmetric about 0: two values that most runs have, and others by themselves."""
    tied = rng.choice([-5.0, 5.0], n)
    return np.where(rng.random(n) < 0.9, tied, rng.normal(0, 5, n))


def nearly_all_of_one_size(rng: np.random.Generator, n: int) -> Vector:
    """Symmetric about 0, tied throughout where all are on one side."""
    return rng.choice([-1.0, 1.0], n) * np.where(rng.random(n) < 0.1, rng.random(n), 1.0)


def continuous(rng: np.random.Generator, n: int) -> Vector:
    return rng.normal(0, 1, n)


@pytest.mark.parametrize("world", [few_levels, nearly_all_of_one_size, continuous])
@pytest.mark.parametrize("n", [6, 7, 10])
def test_of_data_that_are_symmetric_about_0_at_most_5_per_cent_are_told(
    world: Callable[[np.random.Generator, int], Vector], n: int
) -> None:
    rng = np.random.default_rng(11)
    trials, by_signs, told = 2000, 0, 0
    for _ in range(trials):
        data = world(rng, n)
        ps = [p for side in (data, -data) if (p := stats.sign_test(side)) is not None]
        by_signs += any(p <= 0.05 for p in ps)
        told += any(p <= 0.05 for p in ps) or stats.centre(data).excludes(0.0)
    # 5 % and two standard errors of so many trials.
    assert told <= 0.06 * trials
    # That all are on one side has 2^-(n-1); what is not tied the test leaves to the interval.
    assert by_signs <= (0 if world is continuous else 1.5 * 0.5 ** (n - 1) * trials + 5)


def test_two_values_are_ties_too_if_they_leave_the_interval_unbounded() -> None:
    data = np.array([-180.27] * 37 + [-180.52] * 3)
    assert not np.isfinite(stats.mean(data, origin=False).low)
    # By themselves they have an interval, by logarithms: the sign test is for those that have none.
    assert np.isfinite(stats.centre(data).low)
    assert stats.sign_test(-data) == 2 * 0.5**40
