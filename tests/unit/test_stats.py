"""Statistics held against textbook numbers and against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from sawtooth import stats


def test_the_t_interval_of_a_textbook_sample() -> None:
    # Student (1908), the differences of the sleep data: mean 1.58, interval 0.700 to 2.460 (R: t.test(extra ~ group, paired)).
    a = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    b = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    paired = stats.paired(a, b)
    assert paired.difference.estimate == pytest.approx(1.58)
    assert (paired.difference.low, paired.difference.high) == pytest.approx((0.7001142, 2.4598858))
    assert paired.p_t == pytest.approx(0.00283289)


def test_a_prediction_interval_covers_as_often_as_it_says() -> None:
    generator = np.random.default_rng(5)
    inside = 0
    for _ in range(2000):
        interval = stats.prediction_interval(generator.normal(3, 2, 30), of_mean=30)
        inside += interval.low <= generator.normal(3, 2, 30).mean() <= interval.high
    # 95 % of 2000 with a standard error of 0.5 %: four of them.
    assert inside / 2000 == pytest.approx(0.95, abs=0.02)


def test_a_bootstrap_interval_covers_the_median_as_often_as_it_says() -> None:
    generator = np.random.default_rng(6)
    inside = sum(not stats.bootstrap_interval(generator.exponential(1, 40)).excludes(np.log(2)) for _ in range(150))
    # 150 trials: a standard error of 1.8 %; bootstrap intervals of medians are known to be off by a few per cent besides.
    assert 0.87 <= inside / 150 <= 1.0


def test_too_few_values_have_no_interval() -> None:
    for values in ([1.0], [1.0, 2.0, 3.0, 4.0, 5.0]):
        interval = stats.bootstrap_interval(values)
        assert not np.isfinite(interval.high - interval.low)
        assert "too few" in interval.kind
        assert all(np.isnan(reach) for reach in interval.reach())
    assert not np.isfinite(stats.mean_interval([1.0]).high)
    assert stats.mean_interval([1.0]).words(".1f") == "1.0 (n = 1: no interval)"


def test_without_variation_the_interval_is_the_value() -> None:
    assert (
        stats.mean_interval([2.0, 2.0, 2.0]).words(".1f")
        == "2.0 (2.0 to 2.0, no variation in 3 runs: up to 63% of further ones may differ)"
    )
    paired = stats.paired([1.0, 2.0], [1.0, 2.0])
    assert (paired.effect, paired.p_t, paired.p_wilcoxon) == (0.0, 1.0, 1.0)


def test_holm_adjusts_as_in_his_paper() -> None:
    # R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
    assert stats.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_jains_index_is_one_for_equals_and_one_nth_for_a_monopoly() -> None:
    assert stats.jain([3, 3, 3]) == pytest.approx(1)
    assert stats.jain([0, 0, 0, 5]) == pytest.approx(0.25)
    assert stats.jain([0, 0]) == 0


def test_jains_index_of_unequal_shares_is_as_in_his_definition() -> None:
    # (sum x)^2 / (n sum x^2): 10^2 / (4 x 30), and 4^2 / (2 x 10).
    assert stats.jain([1, 2, 3, 4]) == pytest.approx(100 / 120)
    assert stats.jain([1, 3]) == pytest.approx(0.8)
    # It does not depend on the unit.
    assert stats.jain([0.1, 0.3]) == pytest.approx(0.8)


def test_paired_data_must_be_of_one_length() -> None:
    with pytest.raises(ValueError, match="one length"):
        stats.paired([1.0], [1.0, 2.0])


def test_rank_correlation_with_its_interval() -> None:
    rho, low, high = stats.spearman_interval(range(50), [x**3 for x in range(50)])
    assert (rho, low, high) == pytest.approx((1, 1, 1))


def test_resamples_that_are_of_one_value_have_no_rank_correlation_and_are_left_out() -> None:
    # Of two pairs half of the resamples are one pair twice; of the others the ranks are opposite.
    assert stats.spearman_interval([1, 2], [8, 7]) == pytest.approx((-1, -1, -1))


# Quantiles of Student's t from printed tables: 97.5 % with 1 and 4 degrees of freedom, 95 % with 4.
T_1, T_4, T_4_OF_90 = 12.7062047, 2.7764451, 2.1318468
DEVIATION = np.sqrt(2.5)  # of 1 to 5


def test_the_t_interval_is_the_mean_and_t_standard_errors() -> None:
    for level, t in ((0.95, T_4), (0.9, T_4_OF_90)):
        interval = stats.mean_interval([1, 2, 3, 4, 5], level)
        half = t * DEVIATION / np.sqrt(5)
        assert (interval.estimate, interval.low, interval.high) == pytest.approx((3, 3 - half, 3 + half))
        assert (interval.n, interval.kind) == (5, f"{level:.0%} t interval")
    two = stats.mean_interval([1, 3])
    assert (two.low, two.high, two.n) == (pytest.approx(2 - T_1), pytest.approx(2 + T_1), 2)
    one = stats.mean_interval([7.0])
    assert (one.estimate, one.low, one.high, one.n) == (7, -np.inf, np.inf, 1)


def test_a_prediction_interval_is_as_in_hahn_and_meeker() -> None:
    # s sqrt(1/n + 1/m) with n = 5 and m = 1 or 4.
    for of_mean in (1, 4):
        interval = stats.prediction_interval([1, 2, 3, 4, 5], of_mean)
        half = T_4 * DEVIATION * np.sqrt(1 / 5 + 1 / of_mean)
        assert (interval.low, interval.high) == pytest.approx((3 - half, 3 + half))
        assert (interval.n, interval.kind) == (5, "95% prediction interval")
    assert stats.prediction_interval([1, 2, 3, 4, 5]).high == pytest.approx(3 + T_4 * DEVIATION * np.sqrt(1.2))
    assert stats.prediction_interval([1, 2, 3, 4, 5], level=0.9).high == pytest.approx(3 + T_4_OF_90 * DEVIATION * np.sqrt(1.2))
    assert stats.prediction_interval([1, 3]).high == pytest.approx(2 + T_1 * np.sqrt(2) * np.sqrt(1.5))
    one = stats.prediction_interval([7.0])
    assert (one.estimate, one.low, one.high, one.n) == (7, -np.inf, np.inf, 1)


def test_an_interval_excludes_what_is_beyond_its_ends_and_reaches_from_the_estimate() -> None:
    interval = stats.Interval(2.5, 1.0, 3.0, 4, "of nothing")
    assert [interval.excludes(value) for value in (0.99, 1.0, 3.0, 3.01)] == [True, False, False, True]
    assert interval.reach() == (1.5, 0.5)
    assert interval.words(".1f") == "2.5 (1.0 to 3.0, of nothing)"


def test_six_values_are_enough_for_a_median_and_alike_they_are_its_interval() -> None:
    interval = stats.bootstrap_interval([1, 2, 3, 4, 5, 6])
    assert 1 <= interval.low < interval.estimate == 3.5 < interval.high <= 6
    assert (interval.n, interval.kind) == (6, "95% BCa bootstrap")
    narrow = stats.bootstrap_interval([1, 2, 3, 4, 5, 6], level=0.5)
    assert interval.low < narrow.low < narrow.high < interval.high
    assert stats.bootstrap_interval([2.0] * 7) == stats.Interval(2.0, 2.0, 2.0, 7, "no variation")
    # Without any one of these the median is the same, of which no BCa interval can be made: percentiles of the data, between the first two and the last two.
    with pytest.warns(RuntimeWarning):
        alike = stats.bootstrap_interval([0.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 9.0])
    assert (alike.low, alike.high) == pytest.approx((0.025 * 7 * 5, 5 + (0.975 * 7 - 6) * 4))
    few = stats.bootstrap_interval([1.0, 2.0, 6.0, 9.0, 3.0])
    assert (few.estimate, few.low, few.high, few.n) == (3, -np.inf, np.inf, 5)


def test_a_paired_comparison_has_its_effect_in_standard_deviations() -> None:
    # Differences 1 to 5: d_z = 3 / sqrt(2.5); t = 3 / (sqrt(2.5) / sqrt(5)) = 4.243 with p = 0.0132 (R: t.test); of 32 signs of the ranks two are
    # as far from half.
    paired = stats.paired([0, 0, 0, 0, 0], [1, 2, 3, 4, 5])
    assert (paired.difference.estimate, paired.effect) == pytest.approx((3, 3 / DEVIATION))
    assert paired.difference.high == pytest.approx(3 + T_4 * DEVIATION / np.sqrt(5))
    assert (paired.p_t, paired.p_wilcoxon) == (pytest.approx(0.01324, abs=1e-5), pytest.approx(2 / 32))
    assert stats.paired([1, 2, 3, 4, 5], [0, 0, 0, 0, 0]).difference.estimate == -3
    assert stats.paired([0, 0, 0, 0, 0], [1, 2, 3, 4, 5], 0.9).difference.high == pytest.approx(3 + T_4_OF_90 * DEVIATION / np.sqrt(5))
    # Without spread nothing measures an effect, and two signs that are alike say little.
    same = stats.paired([1.0, 2.0], [3.0, 4.0])
    assert (same.effect, same.p_wilcoxon) == (np.inf, 0.5)
    assert np.isnan(same.p_t)
    assert stats.paired([3.0, 4.0], [1.0, 2.0]).effect == -np.inf
    assert same.difference.kind == "no variation in 2 runs: up to 78% of further ones may differ"


def test_two_pairs_are_enough_to_compare_and_one_is_not() -> None:
    # Differences 1 and 3: d_z = 2 / sqrt(2), t = 2 / 1 with one degree of freedom, p = 1 - 2 / pi atan(2); of four signs two are alike.
    two = stats.paired([0, 0], [1, 3])
    assert (two.effect, two.p_t, two.p_wilcoxon) == pytest.approx((2 / np.sqrt(2), 1 - 2 / np.pi * np.arctan(2), 0.5))
    for second in ([3.0], [1.0]):
        one = stats.paired([1.0], second)
        assert (one.difference.estimate, one.difference.high, one.difference.kind) == (second[0] - 1, np.inf, "n = 1: no interval")
        assert np.isnan([one.effect, one.p_t, one.p_wilcoxon]).all()


def test_holm_leaves_out_what_was_not_tested() -> None:
    assert stats.holm([0.02, np.nan, 0.01]) == pytest.approx([0.02, np.nan, 0.02], nan_ok=True)
    assert stats.holm([]) == []


def test_holm_multiplies_by_those_not_yet_rejected_keeps_the_order_and_ends_at_one() -> None:
    assert stats.holm([0.01]) == [0.01]
    assert stats.holm([0.5, 0.6]) == stats.holm([0.8, 0.9]) == [1.0, 1.0]
    # 3 x 0.02 = 0.06; 2 x 0.025 = 0.05, which may not be below it.
    assert stats.holm([0.02, 0.025, 0.9]) == pytest.approx([0.06, 0.06, 0.9])


def test_spearman_is_one_less_six_squares_of_differences_of_ranks_over_n_cubed_less_n() -> None:
    # Differences of ranks 0, 1, -1, 0: 1 - 6 x 2 / (64 - 4).
    assert stats.spearman([1, 2, 3, 4], [10, 30, 20, 40]) == pytest.approx(0.8)


def test_a_bootstrap_interval_of_a_rank_correlation_covers_it_as_often_as_it_says() -> None:
    generator = np.random.default_rng(4)
    # Of normal pairs with correlation 0.6 Spearman's is 6 / pi asin(0.3) = 0.5819.
    expected, inside, below = 6 / np.pi * np.arcsin(0.3), 0, 0
    for _ in range(60):
        x = generator.normal(size=40)
        y = 0.6 * x + 0.8 * generator.normal(size=40)
        rho, low, high = stats.spearman_interval(x, y)
        assert low < rho < high
        inside += low <= expected <= high
        below += high < expected
    # 95 % of 60 with a standard deviation of 1.7, and percentile intervals are a little short.
    assert 51 <= inside < 60
    assert stats.spearman_interval(x, y) == stats.spearman_interval(x, y)


def test_a_bootstrap_interval_of_a_rank_correlation_is_from_the_2_5th_to_the_97_5th_percentile_of_the_resamples() -> None:
    generator = np.random.default_rng(9)
    x, y = generator.normal(size=12), generator.normal(size=12)
    # The same thousand resamples, one after the other.
    resamples = np.random.default_rng(1)
    rhos = []
    for _ in range(1000):
        drawn = resamples.integers(0, 12, 12)
        rhos.append(stats.spearman(x[drawn], y[drawn]))
    # Between the 25th and 26th, and the 975th and 976th, of a thousand: at 0.025 and 0.975 of the 999 steps.
    rhos.sort()
    low = rhos[24] + 0.975 * (rhos[25] - rhos[24])
    high = rhos[974] + 0.025 * (rhos[975] - rhos[974])
    assert stats.spearman_interval(x, y) == pytest.approx((stats.spearman(x, y), low, high))


def test_the_contrast_of_two_means_has_the_variance_of_a_difference() -> None:
    groups = stats.Means(10.0, 5.0, (1.0, 0.25), 0.0, (9.0, 4.0), paired=False)
    # 1 + 2^2 x 0.25; Welch and Satterthwaite: 2^2 / (1^2 / 9 + 1^2 / 4).
    assert groups.contrast(2.0) == pytest.approx((0.0, np.sqrt(2), 4 / (1 / 9 + 1 / 4)))
    assert groups.contrast(1.0) == pytest.approx((5.0, np.sqrt(1.25), 1.25**2 / (1 / 9 + 0.25**2 / 4)))
    # 4 + 0.25; 4.25^2 / (4^2 / 9 + 0.25^2 / 4).
    wide = stats.Means(10.0, 5.0, (4.0, 0.25), 0.0, (9.0, 4.0), paired=False)
    assert wide.contrast(1.0) == pytest.approx((5.0, np.sqrt(4.25), 4.25**2 / (16 / 9 + 0.0625 / 4)))
    pairs = stats.Means(10.0, 5.0, (1.0, 0.25), 0.3, (9.0, 9.0), paired=True)
    assert pairs.contrast(2.0) == pytest.approx((0.0, np.sqrt(1 - 2 * 2 * 0.3 + 1), 9))
    exact = stats.Means(10.0, 5.0, (0.0, 0.0), 0.0, (9.0, 4.0), paired=False)
    assert exact.contrast(1.0) == (5.0, 0.0, 4.0)
    known = stats.Means(10.0, 5.0, (1.0, 0.25), 0.0, (np.inf, np.inf), paired=False)
    assert known.contrast(1.0)[2] == np.inf
    alike = stats.Means(1.0, 1.0, (1.0, 1.0), 1.0 + 1e-12, (9.0, 9.0), paired=True)
    assert alike.contrast(1.0)[1] == 0.0


def test_means_of_pairs_of_groups_and_against_a_published_one() -> None:
    # Variances 1 and 13, covariance ((-1)(-3) + 0 + 1 x 4) / 2 = 3.5, each over 3.
    pairs = stats.means_of_pairs([1, 2, 3], [2, 4, 9])
    assert (pairs.first, pairs.second, pairs.freedom, pairs.paired) == (2, 5, (2, 2), True)
    assert (*pairs.variances, pairs.covariance) == pytest.approx((1 / 3, 13 / 3, 3.5 / 3))
    groups = stats.means_of_groups([1, 2, 3], [4, 8])
    assert (groups.first, groups.second, groups.covariance, groups.freedom, groups.paired) == (2, 6, 0, (2, 1), False)
    assert groups.variances == pytest.approx((1 / 3, 8 / 2))
    against = stats.means_against([1, 2, 3], 5.0, 0.5, 7.0)
    assert (against.first, against.second, against.covariance, against.freedom, against.paired) == (2, 5, 0, (2, 7), False)
    assert against.variances == pytest.approx((1 / 3, 0.25))
    assert (stats.means_against([1, 3], 5.0).variances[1], stats.means_against([1, 3], 5.0).freedom) == (0.0, (1.0, np.inf))
    assert stats.means_against([1, 3], 5.0).variances[0] == 1.0
    for alone in (stats.means_of_pairs([1], [2]), stats.means_of_groups([1], [2, 3]), stats.means_against([1], 2.0)):
        assert not alone.testable
        assert (alone.first, alone.variances[0], alone.freedom[0]) == (1, 0, 0)
    assert stats.means_of_pairs([1, 2], [2, 5]).testable
    assert stats.means_of_pairs([1], [2]) == stats.Means(1.0, 2.0, (0.0, 0.0), 0.0, (0.0, 0.0), paired=True)
    with pytest.raises(ValueError, match="one length"):
        stats.means_of_pairs([1, 2], [1])


def test_fiellers_interval_ends_where_the_contrast_is_t_standard_errors_from_nought() -> None:
    for means in (stats.means_of_pairs([9, 11, 13, 10], [5, 6, 6, 4]), stats.means_of_groups([9, 11, 13, 10], [5, 6, 6])):
        interval = stats.ratio_interval(means)
        assert interval.estimate == pytest.approx(means.first / means.second)
        assert interval.low < interval.estimate < interval.high
        freedom = means.contrast(interval.estimate)[2]
        for end in (interval.low, interval.high):
            difference, error, _ = means.contrast(end)
            assert abs(difference) == pytest.approx(float(scipy_stats.t.ppf(0.975, freedom)) * error)
        assert stats.ratio_interval(means, 0.9).high < interval.high
        assert (interval.n, interval.kind) == (int(min(means.freedom)) + 1, "95% Fieller interval")


def test_fiellers_interval_does_not_depend_on_the_unit() -> None:
    large = stats.ratio_interval(stats.means_of_groups([9, 11, 13, 10], [5, 6, 6]))
    small = stats.ratio_interval(stats.means_of_groups([0.009, 0.011, 0.013, 0.01], [0.005, 0.006, 0.006]))
    assert (small.estimate, small.low, small.high) == pytest.approx((large.estimate, large.low, large.high))


def test_a_ratio_to_nothing_or_of_single_values_has_no_interval() -> None:
    nothing = stats.ratio_interval(stats.means_against([1, 3], 0.0))
    assert (nothing.estimate, nothing.low, nothing.high, nothing.kind) == (np.inf, -np.inf, np.inf, "second mean is 0: no ratio")
    assert np.isnan(stats.ratio_interval(stats.means_against([0, 0], 0.0)).estimate)
    alone = stats.ratio_interval(stats.means_against([6], 2.0))
    assert (alone.estimate, alone.low, alone.high, alone.n, alone.kind) == (3, -np.inf, np.inf, 1, "n = 1: no interval")
    near = stats.ratio_interval(stats.means_of_groups([1, 2, 3], [-1, 2]))
    assert (near.estimate, near.low, near.high, near.kind) == (4, -np.inf, np.inf, "second mean is near 0: no interval")
    known = stats.Means(6.0, 2.0, (0.01, 0.01), 0.0, (np.inf, np.inf), paired=False)
    assert stats.ratio_interval(known).n == 0
    # A mean that is as many standard errors from 0 as the quantile says is just not told from it.
    border = stats.Means(6.0, float(scipy_stats.t.ppf(0.975, np.inf)), (0.0, 1.0), 0.0, (np.inf, np.inf), paired=False)
    assert stats.ratio_interval(border).kind == "second mean is near 0: no interval"


def test_equivalence_is_two_one_sided_tests_each_way() -> None:
    def means(first: float) -> stats.Means:
        return stats.Means(first, 10.0, (0.01, 0.0), 0.0, (np.inf, np.inf), paired=False)

    # Standard error 0.1, limits 10.5 and 10 / 1.05 = 9.5238: 10.4 is one error below the upper one.
    one_below, ten = float(scipy_stats.norm.sf(1)), 10 / 1.05
    assert stats.equivalence(means(10.4), 0.05) == pytest.approx((one_below, 1.0))
    assert stats.equivalence(means(10.6), 0.05) == pytest.approx((1 - one_below, 2 * one_below))
    assert stats.equivalence(means(ten - 0.1), 0.05) == pytest.approx((1 - one_below, 2 * one_below))
    assert stats.equivalence(means(ten + 0.1), 0.05) == pytest.approx((one_below, 1.0))
    exact = [stats.Means(first, 10.0, (0.0, 0.0), 0.0, (3.0, 3.0), paired=True) for first in (9.4, 9.6, 10.4, 10.6)]
    assert [stats.equivalence(each, 0.05) for each in exact] == [(1.0, 0.0), (0.0, 1.0), (0.0, 1.0), (1.0, 0.0)]
    # The limits themselves are within, whichever mean is the first.
    for first, second in ((20.0, 10.0), (10.0, 20.0)):
        assert stats.equivalence(stats.Means(first, second, (0.0, 0.0), 0.0, (3.0, 3.0), paired=True), 1.0) == (0.0, 1.0)
    # A first that is always twice the second, less what they differ by: at the upper limit nothing varies, so that the means alone decide.
    half_known = stats.Means(10.0, 10.0, (4.0, 1.0), 2.0, (3.0, 3.0), paired=True)
    assert stats.equivalence(half_known, 1.0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="one observation"):
        stats.equivalence(stats.means_against([1], 2.0), 0.05)


def test_the_difference_of_means_has_a_t_interval() -> None:
    groups = stats.Means(10.0, 5.0, (1.0, 0.25), 0.0, (9.0, 4.0), paired=False)
    freedom = 1.25**2 / (1 / 9 + 0.25**2 / 4)
    for level in (0.95, 0.9):
        half = float(scipy_stats.t.ppf(0.5 + level / 2, freedom)) * np.sqrt(1.25)
        interval = stats.difference_interval(groups, level)
        assert (interval.estimate, interval.low, interval.high) == pytest.approx((5, 5 - half, 5 + half))
        assert (interval.n, interval.kind) == (13, f"{level:.0%} t interval")
    assert stats.difference_interval(groups) == stats.difference_interval(groups, 0.95)
    alone = stats.difference_interval(stats.means_against([7], 2.0))
    assert (alone.estimate, alone.low, alone.high, alone.n, alone.kind) == (5, -np.inf, np.inf, 2, "n = 1: no interval")
    known = stats.Means(10.0, 5.0, (1.0, 0.0), 0.0, (np.inf, np.inf), paired=False)
    assert (stats.difference_interval(known).n, stats.difference_interval(known).high) == (0, pytest.approx(5 + 1.959964))


def test_pairs_that_differ_by_noise_of_their_last_digits_do_not_differ() -> None:
    found = stats.difference([2428800.0000000005, 2428800.0, 2428800.0], [2428800.0, 2428800.0, 2428799.9999999995])
    assert (found.estimate, found.low, found.high) == (0.0, 0.0, 0.0)
    assert found.kind == "no variation in 3 runs: up to 63% of further ones may differ"
    assert stats.difference([1.0, 1.0 + 1e-9], [1.0, 1.0]).estimate > 0
    assert stats.apart(np.array([1.0, 2.0]), np.array([1.0 + 1e-15, 1.0])).tolist() == [0.0, 1.0]


def test_what_is_made_of_several_means_has_an_interval_and_of_few_values_none() -> None:
    rows = np.random.default_rng(3).normal([[1.0], [5.0], [3.0]], 0.5, size=(3, 10))
    interval = stats.resampled(rows, lambda means: means.max(axis=-1))
    alone = stats.mean_interval(rows[1], 0.95)
    assert interval(0.95).estimate == pytest.approx(rows[1].mean())
    # The largest is the second mean for good: about the interval that it has by itself.
    assert (interval(0.95).low, interval(0.95).high) == pytest.approx((alone.low, alone.high), abs=0.1)
    assert interval(0.99).low < interval(0.95).low
    few = stats.resampled(rows[:, :5], lambda means: means.max(axis=-1))(0.95)
    assert not np.isfinite(few.high - few.low)
    # A share of none is 0.
    with np.errstate(invalid="ignore"):
        assert stats.resampled(rows, lambda means: means[..., 0] * np.nan)(0.95).high == 0.0
