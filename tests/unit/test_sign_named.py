"""A verdict names the sign test only where it could decide, and resamples the same values once."""

from __future__ import annotations

import numpy as np
import pytest

from sawtooth import stats
from sawtooth.findings.direction import direction
from sawtooth.stats import studentised
from tests.unit.test_findings_cells import of


def test_fewer_than_six_runs_can_tell_nothing_by_signs_and_no_test_is_named() -> None:
    five, six = [3.0, 3.0, 3.0, 3.0, 9.0], [3.0, 3.0, 3.0, 3.0, 3.0, 9.0]
    assert stats.sign_test(five) is None
    assert stats.sign_test(six) == 2 * 0.5**6
    few, enough = of(five, [1.0] * 5), of(six, [1.0] * 6)
    assert "n = 5 does not suffice" in few.words
    assert "sign test" not in few.words
    assert not few.shows(0.95)
    assert "all 6 runs are above: sign test, p = 0.031" in enough.words
    assert enough.shows(0.95)


@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize("n", [5, 10])
def test_the_same_values_are_resampled_once_whatever_the_levels(n: int, below: bool) -> None:
    first = np.array([20.55] * (n - 1) + [20.29 + n / 1000]) * (-1 if below else 1)
    studentised._resampled.cache_clear()  # pyright: ignore[reportPrivateUsage]
    found = direction((first, first), None, {"bound": first[0] * 0.5}, "mean", below=below)
    for level in (0.95, 0.99, 0.999):
        found.shows(level)
        found.denies(level)
    assert studentised._resampled.cache_info().misses == 1  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("sign", [1, -1])
def test_what_lies_below_is_told_as_what_lies_above(sign: int) -> None:
    data = sign * np.array([5.482] * 9 + [5.220])
    assert stats.sign_test(data, against=sign * 5.0, below=sign < 0) == 2 * 0.5**10
    assert stats.sign_test(data, against=sign * 5.0, below=sign > 0) is None
    assert stats.sign_test(data, against=sign * 5.3, below=sign < 0) is None


def test_no_sign_test_is_named_where_the_interval_beside_it_has_an_end_there() -> None:
    # Of two values that are far from a side without variation: their own interval is known, and so is that less a constant.
    values, still = [32.9] * 6 + [33.2] * 2, [93.9] * 8
    found = of(still, values)
    assert found.interval is not None
    assert found.shows(0.95)
    assert ("sign test" in found.words) is not bool(np.isfinite(found.interval.low))
