"""Statistics held against textbook numbers and against simulation."""

from __future__ import annotations

import numpy as np
import pytest

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
    assert stats.mean_interval([2.0, 2.0, 2.0]).words(".1f") == "2.0 (2.0 to 2.0, 95% t interval)"
    paired = stats.paired([1.0, 2.0], [1.0, 2.0])
    assert (paired.effect, paired.p_t, paired.p_wilcoxon) == (0.0, 1.0, 1.0)


def test_holm_adjusts_as_in_his_paper() -> None:
    # R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
    assert stats.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_jains_index_is_one_for_equals_and_one_nth_for_a_monopoly() -> None:
    assert stats.jain([3, 3, 3]) == pytest.approx(1)
    assert stats.jain([0, 0, 0, 5]) == pytest.approx(0.25)
    assert stats.jain([0, 0]) == 0


def test_paired_data_must_be_of_one_length() -> None:
    with pytest.raises(ValueError, match="one length"):
        stats.paired([1.0], [1.0, 2.0])


def test_rank_correlation_with_its_interval() -> None:
    rho, low, high = stats.spearman_interval(range(50), [x**3 for x in range(50)])
    assert (rho, low, high) == pytest.approx((1, 1, 1))
