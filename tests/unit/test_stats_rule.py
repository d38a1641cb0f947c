"""The rule that chooses intervals: what each kind says, held against SciPy and against what must hold of any data."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats as scipy_stats

from sawtooth import stats

FAR = [10.0, 10.3, 9.9, 10.4, 9.8, 10.1]


def test_a_mean_of_little_variation_has_students_interval() -> None:
    found = stats.centre(FAR)
    low, high = scipy_stats.t.interval(0.95, 5, np.mean(FAR), scipy_stats.sem(FAR))
    assert found.kind == "95% t and log-scale interval"
    assert (found.estimate, found.low, found.high, found.n) == pytest.approx((np.mean(FAR), low, high, 6), rel=2e-3)
    assert found.low == pytest.approx(low)  # the far end alone may be wider


def test_where_values_have_both_signs_no_logarithm_serves() -> None:
    data = [-1.0, 0.5, 2.0, -0.3, 0.9]
    found = stats.centre(data)
    assert found.kind == "95% t interval"
    assert (found.low, found.high) == pytest.approx(scipy_stats.t.interval(0.95, 4, np.mean(data), scipy_stats.sem(data)))


def test_the_rule_does_not_depend_on_unit_sign_or_order() -> None:
    for data in (FAR, [1.0, 2, 3, 9, 4, 2.5], [0.0, 0, 0, 1, 4, 9, 2, 7, 3, 1, 8], [-2.0, 1, 1.5, 0.5, 1.2, 30]):
        found, values = stats.centre(data), np.array(data)
        assert found == stats.centre(data)
        scaled, turned = stats.centre(values * 1000), stats.centre(-values)
        assert (scaled.low, scaled.high) == pytest.approx((1000 * found.low, 1000 * found.high), rel=1e-9)
        assert scaled.kind == found.kind
        assert turned.kind == found.kind
        if "bootstrap" not in found.kind:  # fixed draws are not symmetric
            assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low), rel=1e-9)


def test_spread_that_leaves_the_mean_open_and_values_that_are_alike_do_not_suffice() -> None:
    open_ = stats.centre([1.0, 2, 9, 3, 30])
    assert open_.words(".1f") == "9.0 (n = 5 does not suffice: by a lognormal distribution the mean may be beyond 10 times this)"
    tied = stats.centre([0.0, 0, 0, 7])
    assert tied.words(".2f") == "1.75 (n = 4 does not suffice: too many values are alike, or far off)"


def test_constant_runs_have_no_level_but_say_how_many_may_differ() -> None:
    found = stats.centre([2.0, 2.0, 2.0])
    assert (found.low, found.high) == (2.0, 2.0)
    # (1 - 0.63)^3 = 0.05
    assert found.kind == "no variation in 3 runs: up to 63% of further ones may differ"
    # Sums of decimal fractions in other orders differ by rounding alone.
    assert stats.centre([0.1 + 0.2, 0.3, 0.3]).kind == found.kind
    assert stats.centre([4.0] * 8, of="median").kind == "no variation in 8 runs: up to 31% of further ones may differ"
    assert stats.centre([0.0, 0.0]).low == 0.0


def test_one_run_or_none_has_no_interval() -> None:
    for of in stats.CENTRES:
        one = stats.centre([3.0], of=of)
        assert one.estimate == pytest.approx(3)
        assert not np.isfinite(one.high)
        assert not np.isfinite(one.low)
        assert stats.centre([], of=of).kind == "no run tells it"


def test_the_interval_of_a_median_is_between_ordered_values() -> None:
    # 1 - 2 * 0.5^6 = 96.9 %, of 6 values: Hettmansperger and Sheather take off what is beyond 95 %.
    six = stats.centre([1.0, 2, 3, 4, 5, 6], of="median")
    assert (six.low, six.high) == pytest.approx((1.0 + _inwards(6, 1), 6.0 - _inwards(6, 1)))
    assert six.kind == "95% order-statistic interval"
    # Binomial tails of 20: ranks 6 to 15 cover with 95.86 %, 7 to 14 with 88.5 %.
    twenty = stats.centre(np.arange(1.0, 21.0), of="median")
    assert twenty.low == pytest.approx(6 + _inwards(20, 6))
    five = stats.centre([1.0, 2, 3, 4, 5], of="median")
    assert five.words(".0f") == "3 (n = 5 does not suffice: the median takes 6)"
    assert stats.centre([1.0, 2, 3, 4, 5], of="median", level=0.9).high < np.inf


def _inwards(n: int, rank: int) -> float:
    covers = [1 - 2 * scipy_stats.binom.cdf(k - 1, n, 0.5) for k in (rank, rank + 1)]
    gap = (covers[0] - 0.95) / (covers[0] - covers[1])
    return (n - rank) * gap / (rank + (n - 2 * rank) * gap)


def test_a_geometric_mean_has_the_interval_of_its_logarithms() -> None:
    data = [1.0, 2.0, 4.0, 3.0]
    logs = np.log(data)
    found = stats.centre(data, of="geometric mean")
    ends = np.exp(scipy_stats.t.interval(0.95, 3, logs.mean(), scipy_stats.sem(logs)))
    assert (found.estimate, found.low, found.high) == pytest.approx((scipy_stats.gmean(data), *ends))
    assert stats.centre([1.0, 0.0], of="geometric mean").kind == "no geometric mean: a value is not above 0"


def test_a_share_has_a_binomial_interval_between_wilsons_and_the_exact_one() -> None:
    for did, n in ((0, 5), (3, 10), (10, 10), (29, 30)):
        found = stats.centre([True] * did + [False] * (n - did))
        exact = scipy_stats.binomtest(did, n).proportion_ci(method="exact")
        assert found.kind == "95% mid-p binomial interval"
        assert exact.low <= found.low <= found.estimate <= found.high <= exact.high
    # Agresti and Gottard (Computational Statistics & Data Analysis 51, 2007): none of 5 at mid-p: 1 - (2 * 0.025)^(1/5).
    assert stats.share(0, 5).high == pytest.approx(1 - 0.05**0.2)
    with pytest.raises(ValueError, match="7 of 5 is no share"):
        stats.share(7, 5)


def test_what_is_no_level_no_centre_or_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1, not 95"):
        stats.centre([1.0, 2.0], level=95)
    with pytest.raises(ValueError, match="'mode' is none of mean, median, geometric mean"):
        stats.centre([1.0, 2.0], of="mode")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="finite values"):
        stats.centre([1.0, np.nan])


def test_a_paired_difference_is_the_mean_of_differences_by_the_same_rule() -> None:
    a, b = [10.0, 12, 9, 11, 0], [8.0, 9, 9.5, 9, 1]
    assert stats.difference(a, b) == stats.centre(np.subtract(a, b))
    assert stats.difference(a, b, times=1.5) == stats.centre(np.array(a) - 1.5 * np.array(b))
    assert stats.difference([], []).kind == "no run tells it"
    assert stats.difference([2.0], [1.0]).kind == "n = 1: no interval"
    assert stats.difference([2.0, 3], [1.0, 2]).kind == "no variation in 2 runs: up to 78% of further ones may differ"
    with pytest.raises(ValueError, match="one length"):
        stats.difference(a, b[:2])


def test_a_paired_difference_of_positive_values_is_wider_where_their_logarithms_say_so() -> None:
    a, b = np.array([10.0, 12, 9, 11, 10.5]), np.array([8.0, 9, 9.5, 9.3, 10])
    found, wanted = stats.difference(a, b), stats.mean_interval(a - b)
    assert found.kind == "95% t and log-scale interval"
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=0.2)
    assert found.low <= wanted.low
    assert found.high >= wanted.high
    skewed = np.array([1.0, 9, 2, 3, 25, 4, 2, 6])
    found, wanted = stats.difference(skewed, b.mean() / 10 + 0 * skewed), stats.mean_interval(skewed - 0.91)
    assert found.high > wanted.high + 2
    assert stats.difference(skewed[:4], [1.0, 1.1, 0.9, 1]).kind.startswith("n = 4 does not suffice")
    assert stats.difference(10 * a, 10 * b).high == pytest.approx(10 * stats.difference(a, b).high)


def test_a_difference_of_groups_is_welchs_and_wider_where_logarithms_say_so() -> None:
    a, b = [-1.0, 2, 3, 1], [0.5, 0.2, -0.3, 0.1, 0.4]
    found = stats.difference(a, b, paired=False)
    wanted = scipy_stats.ttest_ind(a, b, equal_var=False).confidence_interval()
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high))
    assert found.kind == "95% Welch t interval"
    a, b = [1.0, 2, 7, 3, 9, 4], [1.0, 1.1, 0.9, 1.2, 0.8]
    found = stats.difference(a, b, paired=False)
    wanted = scipy_stats.ttest_ind(a, b, equal_var=False).confidence_interval()
    assert found.low == pytest.approx(wanted.low)
    assert found.high > wanted.high + 1
    assert found.kind == "95% Welch t and log-scale interval"
    assert stats.difference([2.0, 2], [1.0, 1, 1], paired=False).kind == "no variation in 2 runs: up to 78% of further ones may differ"


def test_a_ratio_is_fiellers_and_wider_where_logarithms_say_so() -> None:
    a, b = np.array([10.0, 12, 13, 11, 12]), np.array([9.0, 12, 10, 10, 11])
    found, fieller = stats.ratio(a, b), stats.ratio_interval(stats.means_of_pairs(a, b))
    assert found.kind == "95% Fieller and log-scale interval"
    assert found.low <= fieller.low
    assert found.high >= fieller.high
    assert (found.low, found.high) == pytest.approx((fieller.low, fieller.high), rel=0.05)
    assert stats.ratio(a - 10, b).kind == "95% Fieller interval"
    assert stats.ratio(2 * b, b).kind == "no variation in 5 runs: up to 45% of further ones may differ"
    assert stats.ratio(2 * b, b).low == pytest.approx(2)
    assert "second mean is 0" in stats.ratio(a, 0 * b).kind
    assert stats.ratio([1.0], [2.0]).kind == "n = 1: no interval"
    backwards = stats.ratio(b, a, paired=False)
    forwards = stats.ratio(a, b, paired=False)
    assert (1 / backwards.high, 1 / backwards.low) == pytest.approx((forwards.low, forwards.high), rel=0.02)


def test_to_import_statistics_loads_no_scipy() -> None:
    code = "import sys; from sawtooth import stats; print(sorted(name for name in sys.modules if name.split('.')[0] == 'scipy'))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_levels_are_named_with_their_digits_and_beyond_the_resamples_an_end_is_far_off() -> None:
    assert stats.centre(FAR, level=0.995).kind == "99.5% t and log-scale interval"
    assert stats.mean_interval(FAR, 1 - 0.05 / 3).kind == "98.33% t interval"
    skewed = [-2.0, 1, 1.5, 0.5, 1.2, 30, 2.2, 0.7]
    assert stats.centre(skewed).kind == "95% t and bootstrap-t interval"
    # Of 999 resamples, one in 2,000 is not there: the end is at least three times as far as Student's would be.
    far, near = stats.centre(skewed, level=0.999), stats.centre(skewed)
    grown = stats.mean_interval(skewed, 0.999), stats.mean_interval(skewed)
    stretched = (grown[0].high - grown[0].estimate) / (grown[1].high - grown[1].estimate)
    assert far.high - far.estimate == pytest.approx(3 * stretched * (near.high - near.estimate))
    assert np.isfinite(far.low)


def test_a_higher_level_is_never_narrower() -> None:
    generator = np.random.default_rng(8)
    for data in (generator.normal(10, 3, 6), generator.lognormal(0, 1, 12), generator.poisson(2, 10), generator.normal(0, 1, 5)):
        found = [stats.centre(data, level=level) for level in (0.8, 0.9, 0.95, 0.99, 0.997)]
        assert all(wide.low <= narrow.low and wide.high >= narrow.high for narrow, wide in pairwise(found))


def test_the_ends_of_a_median_with_ties_are_on_its_sides() -> None:
    generator = np.random.default_rng(5)
    for value in (31.68576, 0.1, 1 / 3, 7e-9):
        for n in (6, 7, 12, 30):
            data = np.full(n, value)
            data[: n // 4] = value * (1 + generator.random(n // 4))
            found = stats.centre(data, of="median")
            assert found.low <= found.estimate <= found.high


def test_what_is_above_a_constant_is_as_well_known_as_by_itself() -> None:
    varies = np.array([35.9] * 8 + [36.4] * 2)
    still = np.full(10, 30.0)
    own = stats.centre(varies)
    assert np.isfinite(own.low)
    above, below = stats.difference(varies, still), stats.difference(still, varies)
    assert (above.low, above.high) == pytest.approx((own.low - 30, own.high - 30))
    assert (below.low, below.high) == pytest.approx((30 - own.high, 30 - own.low))
    assert above.kind == below.kind == own.kind
    # Where both vary, or neither does, the differences are looked at.
    assert stats.difference(varies, varies).kind.startswith("no variation")
    assert stats.difference(varies, varies + still).low == pytest.approx(-30)
    twice = stats.difference(varies, still, times=2.0)
    assert twice.low == pytest.approx(own.low - 60)


def test_the_mean_of_what_is_alike_is_that_to_the_last_bit() -> None:
    # 0.1 + 0.1 + 0.1 is not 0.3.
    found = stats.centre([0.1, 0.1, 0.1])
    assert (found.estimate, found.low, found.high) == (0.1, 0.1, 0.1)
