"""Measures held against their definitions, on tables small enough to compute by hand."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from sawtooth.metrics import fairness, round_trips, throughput, variance
from sawtooth.stats import Interval

# Jain, Chiu and Hawe (1984): (sum x)^2 / (n sum x^2). Of 1, 2, 3 and 4: 100 / (4 x 30); of 1 and 3: 16 / (2 x 10).
# The 97.5 % quantile of Student's t with one degree of freedom.
T_1 = 12.7062047
FOUR = 100 / 120
TWO = 0.8


def _flows(*rows: tuple[int, str, int, str, float]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["cell", "arm", "replicate", "flow", "throughput_bps"], orient="row")


def test_jains_index_of_a_run_is_that_of_its_flows() -> None:
    flows = _flows(
        *((1, "a", 1, f"f[{n}]", float(n)) for n in (1, 2, 3, 4)),
        *((0, "a", 1, f"f[{n}]", x) for n, x in ((1, 1.0), (2, 3.0))),
        (0, "b", 1, "f[1]", 0.0),
        (0, "b", 1, "f[2]", 0.0),
    )
    runs = throughput.per_run(flows)
    assert runs["cell"].to_list() == [0, 0, 1]
    assert runs["arm"].to_list() == ["a", "b", "a"]
    assert runs["sum_bps"].to_list() == [4, 0, 10]
    assert runs["jain"].to_list() == pytest.approx([TWO, 0, FOUR])
    assert runs["min_share"].to_list() == pytest.approx([0.25, 0, 0.1])


def test_jains_index_of_means_is_that_of_the_flows_averaged_over_replicates() -> None:
    # Each run is unfair, to one side and then to the other; the means are 1 and 3.
    flows = _flows((0, "a", 1, "x", 2.0), (0, "a", 1, "y", 2.0), (0, "a", 2, "x", 0.0), (0, "a", 2, "y", 4.0), (0, "b", 1, "x", 0.0))
    found = fairness.of_means(flows)
    assert found["sum_of_means_bps"].to_list() == [4, 0]
    assert found["jain_of_means"].to_list() == pytest.approx([TWO, 0])


def test_cells_have_means_of_runs_with_their_t_intervals() -> None:
    runs = pl.DataFrame({"cell": [3, 3], "arm": ["a", "a"], "replicate": [1, 2], "sum_bps": [1.0, 3.0], "jain": [0.5, 0.7]})
    (row,) = throughput.per_cell(runs).to_dicts()
    # Half a range of 1 times t of one degree of freedom.
    assert (row["cell"], row["arm"], row["replicates"]) == (3, "a", 2)
    assert (row["sum_bps"], row["sum_low_bps"], row["sum_high_bps"]) == pytest.approx((2, 2 - T_1, 2 + T_1))
    low, high = 0.6 - 0.1 * T_1, 0.6 + 0.1 * T_1
    assert (row["jain_run_mean"], row["jain_run_low"], row["jain_run_high"]) == pytest.approx((0.6, low, high))


def test_gains_are_paired_differences_to_the_base_and_adjusted_over_the_cells_of_an_arm() -> None:
    rows = [
        (cell, arm, replicate, total, fair)
        for cell, gain in ((0, 1.0), (1, 10.0))
        for replicate, start in ((1, 5.0), (2, 8.0), (3, 6.0))
        for arm, total, fair in (("base", start, 0.5), ("new", start + gain + replicate, 0.5 + replicate / 100))
    ]
    runs = pl.DataFrame(rows, schema=["cell", "arm", "replicate", "sum_bps", "jain"], orient="row")
    found = throughput.gains(runs, "base")
    assert found["cell"].to_list() == [0, 1]
    assert found["arm"].to_list() == ["new", "new"]
    # Differences 2, 3, 4 and 11, 12, 13: means 3 and 12 with a deviation of 1; t = mean sqrt(3), two degrees of freedom.
    assert found["gain_bps"].to_list() == pytest.approx([3, 12])
    half = 4.3026527 / math.sqrt(3)
    assert found["gain_low_bps"].to_list() == pytest.approx([3 - half, 12 - half])
    assert found["gain_high_bps"].to_list() == pytest.approx([3 + half, 12 + half])
    assert found["effect"].to_list() == pytest.approx([3, 12])
    # Of t with two degrees of freedom: P(|T| > t) = 1 - t / sqrt(2 + t^2).
    p = [1 - t / math.sqrt(2 + t * t) for t in (3 * math.sqrt(3), 12 * math.sqrt(3))]
    assert found["p_t"].to_list() == pytest.approx(p)
    assert found["p_holm"].to_list() == pytest.approx([max(p[0], 2 * p[1]), 2 * p[1]])
    assert found["jain_gain"].to_list() == pytest.approx([0.02, 0.02])
    assert found["jain_gain_high"].to_list() == pytest.approx([0.02 + half / 100] * 2)


def test_gains_of_a_single_replicate_have_no_p_value_and_do_not_count_for_others() -> None:
    rows = [(0, "base", 1, 5.0, 0.5), (0, "new", 1, 9.0, 0.5)]
    rows += [(1, arm, n, total, 0.5) for n in (1, 2, 3) for arm, total in (("base", 5.0), ("new", 6.0 + n))]
    found = throughput.gains(pl.DataFrame(rows, schema=["cell", "arm", "replicate", "sum_bps", "jain"], orient="row"), "base")
    p = 1 - 3 * math.sqrt(3) / math.sqrt(2 + 27)
    for column in ("p_t", "p_holm"):
        assert found[column].to_list() == pytest.approx([math.nan, p], nan_ok=True), column
    assert math.isnan(found["effect"][0])
    # What reports ask: 0.035 of the other cell is clear.
    assert found.filter(pl.col("p_holm") < 0.05)["cell"].to_list() == [1]


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
