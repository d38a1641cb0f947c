"""Measures held against their definitions, on tables small enough to compute by hand."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from sawtooth.metrics import round_trips, variance
from sawtooth.stats import Interval

# Jain, Chiu and Hawe (1984): (sum x)^2 / (n sum x^2). Of 1, 2, 3 and 4: 100 / (4 x 30); of 1 and 3: 16 / (2 x 10).
# The 97.5 % quantile of Student's t with one degree of freedom.
T_1 = 12.7062047
FOUR = 100 / 120
TWO = 0.8


# Two factors of two levels: means of A are 1.5 and 4, of B 2 and 3.5, of all 2.75; squares 6.25 of A, 2.25 of B, 8.75 in all, so 0.25 are left.
CELLS = pl.DataFrame({"A": ["x", "x", "y", "y"], "B": ["u", "v", "u", "v"], "value": [1.0, 2.0, 3.0, 5.0]})


def test_an_analysis_of_variance_of_two_factors() -> None:
    a, b, rest = variance.analysis(CELLS, "value", [["A"], ["A"], ["B"]])
    assert [term.name for term in (a, b, rest)] == ["A", "B", "rest"]
    assert [term.freedom for term in (a, b, rest)] == [1, 1, 1]
    assert [term.share for term in (a, b, rest)] == pytest.approx([6.25 / 8.75, 2.25 / 8.75, 0.25 / 8.75])
    assert (a.f, b.f, rest.f, rest.p) == (pytest.approx(25), pytest.approx(9), None, None)
    # Of F with one and one degree of freedom: P(F > f) = 1 - 2 / pi atan(sqrt(f)).
    assert (a.p, b.p) == pytest.approx((1 - 2 / math.pi * math.atan(5), 1 - 2 / math.pi * math.atan(3)))


def test_an_analysis_of_variance_with_nothing_left_or_nothing_to_explain() -> None:
    full = variance.analysis(CELLS, "value", [["A"], ["B"], ["A", "B"]])
    assert [(term.name, term.freedom, term.f, term.p) for term in full] == [
        *((name, 1, None, None) for name in ("A", "B", "A x B")),
        ("rest", 0, None, None),
    ]
    assert [term.share for term in full] == pytest.approx([6.25 / 8.75, 2.25 / 8.75, 0.25 / 8.75, 0])
    # 1, 2, 3 and 4 are sums of an effect of A and one of B: a degree of freedom is left, and nothing for it to explain.
    sums = variance.analysis(CELLS.with_columns(value=pl.Series([1.0, 2.0, 3.0, 4.0])), "value", [["A"], ["B"]])
    assert [(term.name, term.freedom, term.f, term.p) for term in sums] == [
        ("A", 1, None, None),
        ("B", 1, None, None),
        ("rest", 1, None, None),
    ]
    assert [term.share for term in sums] == pytest.approx([0.8, 0.2, 0])
    flat = variance.analysis(CELLS.with_columns(value=pl.lit(7.0)), "value", [["A"]])
    assert [(term.name, term.freedom, term.share, term.f) for term in flat] == [("A", 1, 0, None), ("rest", 2, 0, None)]


def test_effects_compare_levels_within_the_combinations_of_the_other_factors() -> None:
    x, y = variance.effects(CELLS, "value", "A")
    # Within B: 1 - 2 and 2 - 3.5. Their mean is -1.25, the standard error 0.25; both levels at 97.5 %: t of one degree of freedom is 25.4517.
    assert (x.level, y.level) == ("x", "y")
    assert (x.change.estimate, x.change.low, x.change.high) == pytest.approx(
        [math.expm1(middle) for middle in (-1.25, -1.25 - 25.45170 * 0.25, -1.25 + 25.45170 * 0.25)], rel=1e-5
    )
    assert (y.change.estimate, y.change.n, y.change.kind) == (pytest.approx(math.expm1(1.25)), 2, "95 % for all levels together")
    assert variance.effects(CELLS.filter(pl.col("A") == "x"), "value", "A") == []
    missing = variance.effects(CELLS.head(3), "value", "A")
    assert [effect.change.n for effect in missing] == [1, 1]
    assert [effect.change.estimate for effect in missing] == pytest.approx([math.expm1(-1), math.expm1(1)])


def test_the_largest_effect_is_the_farthest_from_none_as_a_ratio() -> None:
    half, twice = (variance.Effect(level, Interval(level, level, level, 2, "")) for level in (-0.6, 1.2))
    assert variance.largest([half, twice]) is half


def test_a_quantity_is_without_effect_if_all_intervals_are_inside_the_margin() -> None:
    def verdict(*intervals: tuple[float, float]) -> str:
        return variance.without_effect([variance.Effect("", Interval(0.0, low, high, 2, "")) for low, high in intervals], 0.1)

    assert verdict((-0.1, 0.1), (0.0, 0.05)) == "yes"
    assert verdict((-0.1, 0.11)) == verdict((-0.11, 0.1)) == verdict() == "cannot distinguish"
    assert verdict((0.0, 0.05), (0.11, 0.2)) == verdict((-0.2, -0.11)) == "no"
    assert verdict((0.1, 0.2)) == verdict((-0.2, -0.1)) == "cannot distinguish"


def test_additive_scores_are_means_where_nothing_is_missing_and_compare_like_with_like_where_something_is() -> None:
    scores = variance.additive(CELLS.drop("value"), "A")
    assert scores.levels == ["x", "y"]
    assert scores.of(CELLS["value"].to_numpy()) == pytest.approx([1.5, 4])
    # Without (y, v): y is 2 above x by what they share, u; both are the mean of u and v, where v is one above u.
    scores = variance.additive(CELLS.head(3).drop("value"), "A")
    assert scores.of(CELLS["value"].to_numpy()[:3]) == pytest.approx([1.5, 3.5])
    assert variance.between(scores.of(CELLS["value"].to_numpy()[:3])) == pytest.approx(2.0)


def test_without_cells_there_are_no_scores_and_no_effects() -> None:
    nothing = CELLS.head(0)
    scores = variance.additive(nothing.drop("value"), "A")
    assert (scores.levels, scores.of(np.empty(0)).tolist()) == ([], [])
    assert variance.effects(nothing, "value", "A") == []


def test_download_times_are_a_constant_and_round_trips() -> None:
    names, rtt = ["a", "a", "b", "b"], [0.1, 0.2, 0.1, 0.2]
    seconds = [0.3 + n * each for n, each in zip((2, 2, 3, 3), rtt, strict=True)]
    fit = round_trips.fit(names, rtt, seconds)
    assert fit is not None
    assert (fit.constant_s, fit.trips["a"], fit.trips["b"], fit.residual) == pytest.approx((0.3, 2, 3, 0), abs=1e-9)
    assert fit.at("b", np.array([1.0])) == pytest.approx([3.3])
    given = round_trips.fit(names[:1], rtt[:1], seconds[:1], constant_s=0.3)
    assert given is not None
    assert (given.constant_s, given.trips["a"]) == pytest.approx((0.3, 2))
    assert round_trips.fit(names[:1], rtt[:1], seconds[:1]) is None
    assert round_trips.fit([], [], []) is None
    # The squares of 1 - 0.9 N and 1 - 1.1 N are least for N = (0.9 + 1.1) / (0.9^2 + 1.1^2).
    off = round_trips.fit(["a", "a"], [0.9, 1.1], [1.0, 1.0], constant_s=0.0)
    n = 2 / (0.9**2 + 1.1**2)
    assert off is not None
    assert off.trips["a"] == pytest.approx(n)
    assert off.residual == pytest.approx(math.sqrt(((0.9 * n - 1) ** 2 + (1.1 * n - 1) ** 2) / 2))
