"""Designed factors, trends, power and sequential rules, held against published examples, SciPy and simulation."""

from __future__ import annotations

import importlib
import itertools
from collections import Counter

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

from sawtooth import stats

# Montgomery, Design and Analysis of Experiments, 8th edition, table 5.1: life of batteries by material and temperature, 4 of each.
BATTERIES = {
    ("1", 15): [130, 155, 74, 180], ("1", 70): [34, 40, 80, 75], ("1", 125): [20, 70, 82, 58],
    ("2", 15): [150, 188, 159, 126], ("2", 70): [136, 122, 106, 115], ("2", 125): [25, 70, 58, 45],
    ("3", 15): [138, 110, 168, 160], ("3", 70): [174, 120, 150, 139], ("3", 125): [96, 104, 82, 60],
}  # fmt: skip


def batteries() -> pl.DataFrame:
    rows = [(material, at, n, float(y)) for (material, at), life in BATTERIES.items() for n, y in enumerate(life)]
    return pl.DataFrame(rows, schema=["material", "temperature", "replicate", "life"], orient="row")


# Trends


def test_one_value_per_level_is_pages_test() -> None:
    # Of 3 conditions in 3 blocks L is at most 42, with 1/216: Page's table has it at 1 %.
    ordered = [([1, 2, 3], [5, 6, 7])] * 3
    assert stats.trend(ordered).p == pytest.approx(2 / 216)
    swapped = [*ordered[:2], ([1, 2, 3], [6, 5, 7])]
    # Each of three blocks has two orders with one less: L is 41 or more with 7/216, and Page's table has it at 5 %.
    assert stats.trend(swapped).p == pytest.approx(14 / 216)
    table = np.array([[3, 4, 1, 5], [1, 2, 5, 4], [2, 3, 4, 5], [2, 1, 3, 4.5], [1, 4, 2, 3]])
    found = stats.trend([([1, 2, 3, 4], row) for row in table])
    page = scipy_stats.page_trend_test(table, method="exact")
    assert found.p == pytest.approx(2 * page.pvalue)
    assert found.method == "exact permutation test within strata"
    assert found.rho == pytest.approx(np.mean([scipy_stats.spearmanr([1, 2, 3, 4], row).statistic for row in table]))
    assert (found.strata, found.n) == (5, 20)


def test_a_single_stratum_is_spearmans_exact_test() -> None:
    x, y = [1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 7, 5]
    found = stats.trend([(x, y)])
    exact = scipy_stats.permutation_test(
        (x,), lambda x: scipy_stats.spearmanr(x, y).statistic, permutation_type="pairings", n_resamples=np.inf
    )
    assert found.rho == pytest.approx(scipy_stats.spearmanr(x, y).statistic)
    assert found.p == pytest.approx(exact.pvalue)


def test_strata_do_not_mix() -> None:
    # Within each stratum y falls with x, while x and y are both larger in the second: pooled, they would rise together.
    strata = [([1, 2, 3, 4], [4, 3, 2, 1]), ([11, 12, 13, 14], [14, 13, 12, 11])]
    assert stats.spearman([*strata[0][0], *strata[1][0]], [*strata[0][1], *strata[1][1]]) > 0.4
    found = stats.trend(strata)
    assert found.rho == pytest.approx(-1)
    # Of 24 orders each, one falls throughout and one rises: 2 / 24^2.
    assert found.p == pytest.approx(2 / 576)
    assert found.low == pytest.approx(-1)
    assert -1 < found.high < 0


def test_strata_that_say_nothing_and_ties() -> None:
    assert stats.trend([]).method == "x varies in no stratum"
    assert np.isnan(stats.trend([([1, 1], [2, 3])]).p)
    half = stats.trend([([1, 2, 3], [1, 2, 3]), ([1, 2, 3], [5, 5, 5])])
    assert half.rho == pytest.approx(0.5)
    assert half.p == pytest.approx(2 / 6)
    tied = stats.trend([([1, 1, 2, 2], [1, 2, 3, 3])])
    assert tied.rho == pytest.approx(scipy_stats.spearmanr([1, 1, 2, 2], [1, 2, 3, 3]).statistic)
    with pytest.raises(ValueError, match="stratum 0 has 2 values of x and 3 of y"):
        stats.trend([([1, 2], [1, 2, 3])])
    with pytest.raises(ValueError, match="stratum 1 has a value that is not a number"):
        stats.trend([([1, 2], [1, 2]), ([1, 2], [1, np.nan])])


def test_large_strata_are_permuted_always_alike_and_agree_with_what_is_enumerated() -> None:
    generator = np.random.default_rng(2)
    strata = [(np.repeat([1, 2, 3], 5), np.repeat([1, 2, 3], 5) * 0.4 + generator.normal(0, 1, 15)) for _ in range(4)]
    found = stats.trend(strata)
    assert found.method == "9,999 permutations within strata"
    assert found == stats.trend(strata)
    normal = sum(14 / 56 * scipy_stats.spearmanr(x, y).statistic for x, y in strata)
    assert found.rho == pytest.approx(normal)
    # Of permutations the variance of Spearman's correlation is 1 / (n - 1): the mean of four of 15 values has 1 / 56.
    assert found.p == pytest.approx(2 * scipy_stats.norm.sf(found.rho * np.sqrt(56)), abs=0.01)
    small = [([1, 2, 3, 4, 5, 6], generator.normal(0, 1, 6)) for _ in range(3)]
    from sawtooth.stats.trend import _ranked, _sampled

    parts = [(x / 3, y) for x, y in (_ranked(0, np.array(a, float), b) for a, b in small)]
    assert stats.trend(small).p == pytest.approx(_sampled(parts, abs(stats.trend(small).rho)), abs=0.02)


def test_all_permutations_are_counted_as_one_by_one() -> None:
    trend = importlib.import_module("sawtooth.stats.trend")
    generator = np.random.default_rng(4)
    for case in range(60):
        strata = []
        for _ in range(generator.integers(1, 5)):
            # Some with equal values, and of several sizes: 720 orders at most.
            n = int(generator.integers(2, 7))
            strata.append([generator.integers(0, 4, n) if generator.random() < 0.4 else generator.permutation(n) for _ in "xy"])
        found = stats.trend(strata)
        if not found.strata:
            continue
        parts = [pair for x, y in strata if (pair := trend._ranked(0, np.array(x, float), np.array(y, float)))]
        weights = np.array([x.size - 1 for x, _ in parts]) / sum(x.size - 1 for x, _ in parts)
        assert found.p == one_by_one([(weight * x, y) for weight, (x, y) in zip(weights, parts, strict=True)], abs(found.rho)), case


def one_by_one(parts: list[tuple[np.ndarray, np.ndarray]], observed: float) -> float:
    """As `_exact`, with a table of sums, in the same order: the same number, to the bit."""
    counted = {0.0: 1.0}
    for x, y in parts:
        own = Counter(sorted(round(float(np.array(order) @ x), 9) + 0.0 for order in itertools.permutations(y)))
        added: dict[float, list[float]] = {}
        for value, count in own.items():
            for other, share in counted.items():
                added.setdefault(round(value + other, 9) + 0.0, []).append(count / own.total() * share)
        counted = {value: float(np.add.reduceat(np.array(added[value]), [0])[0]) for value in sorted(added)}
    return min(1.0, float(np.array([share for value, share in counted.items() if abs(value) >= observed - 1e-7]).sum()))


def test_a_trends_p_is_uniform_without_one_and_its_interval_covers() -> None:
    generator = np.random.default_rng(3)
    x = np.repeat([1.0, 2, 3], 2)
    rejected = sum(stats.trend([(x, generator.lognormal(0, 1, 6)) for _ in range(4)]).p <= 0.05 for _ in range(400))
    # 5 % of 400 are 20, with a deviation of 4.4.
    assert 5 <= rejected <= 35
    true = np.mean([scipy_stats.spearmanr(x, x + generator.normal(0, 1, 6)).statistic for _ in range(4000)])
    runs = [stats.trend([(x, x + generator.normal(0, 1, 6)) for _ in range(4)]) for _ in range(300)]
    covered = np.mean([each.low <= true <= each.high for each in runs])
    assert covered >= 0.92


# Power


def test_what_could_be_told_is_as_in_the_tables_of_power() -> None:
    # R: power.t.test(delta = 0.5, sd = 1, power = 0.8, type = "paired"): n = 33.37.
    two = [-np.sqrt(0.5), np.sqrt(0.5)]
    assert stats.replicates_needed(two, 0.5) == 34
    assert stats.replicates_needed(two, -0.5) == 34
    spread = np.resize([-1.0, 1.0], 34) * np.sqrt(33 / 34)
    assert stats.detectable(spread) == pytest.approx(0.495, abs=0.001)
    # The tables of two groups, Cohen (1988), table 2.4.1: 64 of each for d = 0.5.
    spread = np.resize([-1.0, 1.0], 64) * np.sqrt(63 / 64)
    assert stats.detectable(spread, against=spread) == pytest.approx(0.5, abs=0.002)


def test_power_is_what_simulation_says() -> None:
    generator = np.random.default_rng(4)
    shift = stats.detectable(np.resize([-1.0, 1.0], 6) * np.sqrt(5 / 6))
    data = generator.normal(shift, 1, (4000, 6))
    told = (scipy_stats.ttest_1samp(data, 0, axis=1).pvalue < 0.05).mean()
    assert told == pytest.approx(0.8, abs=0.03)
    n = stats.replicates_needed([-1.0, 1.0], 1.0, equivalent=True)
    assert n is not None
    data = generator.normal(0, np.sqrt(2), (4000, n))
    half = scipy_stats.t.ppf(0.975, n - 1) * data.std(axis=1, ddof=1) / np.sqrt(n)
    assert (np.abs(data.mean(axis=1)) + half <= 1).mean() == pytest.approx(0.8, abs=0.04)


def test_what_says_nothing_of_power() -> None:
    assert stats.detectable([1.0]) == np.inf
    assert stats.detectable([1.0, 2.0], against=[1.0]) == np.inf
    assert stats.detectable([1.0, 1.0]) == 0
    assert stats.replicates_needed([1.0], 1) is None
    assert stats.replicates_needed([1.0, 2.0], 0) is None
    assert stats.replicates_needed([1.0, 2.0], 1e-6) is None
    assert stats.replicates_needed([1.0, 1.0], 0.1) == 2
    assert stats.replicates_needed([1.0, 2.0], 100) == 2


# Factorials


def test_a_factorial_is_analysed_as_in_montgomery() -> None:
    found = stats.factorial(batteries(), ["material", "temperature"], "life", blocks=None)
    assert [each.name for each in found.sources] == ["material", "temperature", "material x temperature"]
    total = 77646.97
    assert [each.share * total for each in found.sources] == pytest.approx([10683.72, 39118.72, 9613.78], abs=0.01)
    assert [each.f for each in found.sources] == pytest.approx([7.91, 28.97, 3.56], abs=0.005)
    assert [each.p for each in found.sources] == pytest.approx([0.0020, 0.0001, 0.0186], abs=1e-4)
    assert [each.p_holm for each in found.sources] == pytest.approx(stats.holm([each.p for each in found.sources]))
    assert found.error == (pytest.approx(18230.75 / total, abs=1e-6), 27)
    # Material 1: 83.17 of 105.53; one of three means of 12 has the variance 675.21 x 2 / 36, together at 1 - 0.05 / 3.
    first = found.sources[0].effects[0]
    assert first.levels == ("1",)
    half = scipy_stats.t.ppf(1 - 0.05 / 6, 27) * np.sqrt(675.21 * 2 / 36)
    assert (first.change.estimate, first.change.high - first.change.estimate) == pytest.approx((83.1667 - 105.5278, half), abs=1e-3)
    assert found.table()["source"].to_list() == ["material", "temperature", "material x temperature", "error"]
    assert found.table()["share"].sum() == pytest.approx(1)
    assert found.effects().height == 3 + 3 + 9


def _explained(frame: pl.DataFrame, value: str, terms: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
    """Squares and degrees of freedom of each term beyond those before it, and of what is left."""
    y = frame[value].to_numpy().astype(float)
    design = np.ones((len(y), 1))
    ranks, left = [1], [float(((y - y.mean()) ** 2).sum())]
    for term in terms:
        number = frame.select(pl.struct(term).rank("dense")).to_series().to_numpy() - 1
        design = np.hstack([design, np.eye(int(number.max()) + 1)[number]])
        ranks.append(int(np.linalg.matrix_rank(design)))
        left.append(float(((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2).sum()))
    return np.append(-np.diff(left), left[-1]), np.append(np.diff(ranks), len(y) - ranks[-1])


def test_with_blocks_what_lies_between_them_is_no_error() -> None:
    frame = batteries().with_columns(life=pl.col("life") + 1000 * pl.col("replicate"))
    found = stats.factorial(frame, ["material", "temperature"], "life")
    # What each term explains beyond those before it, by regression on indicators.
    terms = [["replicate"], ["material"], ["temperature"], ["material", "temperature"]]
    squares, freedom = _explained(frame, "life", terms)
    assert [found.blocks, *(each.share for each in found.sources)] == pytest.approx(list(squares[:4] / squares.sum()))
    assert [each.f for each in found.sources] == pytest.approx(list(squares[1:4] / freedom[1:4] / (squares[4] / freedom[4])))
    assert found.error[1] == freedom[4]
    # An effect's interval is Student's over blocks.
    y = frame.sort("replicate", "material", "temperature")["life"].to_numpy().reshape(4, 3, 3)
    of_second = y[:, 1].mean(axis=1) - y.mean(axis=(1, 2))
    wanted = stats.mean_interval(of_second, 1 - 0.05 / 3)
    change = found.sources[0].effects[1].change
    assert (change.estimate, change.low, change.high) == pytest.approx((wanted.estimate, wanted.low, wanted.high))
    assert found.table()["source"].to_list()[-2:] == ["between replicates", "error"]


def test_interactions_of_three_and_replicates_that_lack_a_combination() -> None:
    generator = np.random.default_rng(5)
    rows = [(a, b, c, r, a * b * c + generator.normal(0, 0.1)) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1) for r in range(4)]
    frame = pl.DataFrame(rows, schema=["a", "b", "c", "replicate", "y"], orient="row")
    found = stats.factorial(frame.slice(0, frame.height - 1), ["a", "b", "c"], "y")
    assert found.left_out == (3,)
    assert found.runs == 24
    by_name = {each.name: each for each in found.sources}
    assert by_name["a x b x c"].share > 0.97
    assert by_name["a x b x c"].p_holm < 1e-6
    assert not by_name["a x b x c"].effects[0].change.excludes(-1)


def test_the_tests_of_a_factorial_err_as_often_as_they_say() -> None:
    generator = np.random.default_rng(6)
    frame = pl.DataFrame({"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "replicate": np.repeat(np.arange(5), 4)})
    erred = 0
    for _ in range(400):
        y = generator.normal(0, 1, 20) + np.repeat(generator.normal(0, 3, 5), 4)
        erred += any(each.p_holm <= 0.05 for each in stats.factorial(frame.with_columns(y=pl.Series(y)), ["a", "b"], "y").sources)
    assert erred / 400 <= 0.05 + 3 * 0.011


def test_without_error_or_replicates_there_is_no_test() -> None:
    frame = pl.DataFrame({"a": [0, 1] * 2, "replicate": [0, 0, 1, 1], "y": [1.0, 2.0] * 2})
    exact = stats.factorial(frame, ["a"], "y").sources[0]
    assert np.isnan(exact.p)
    assert exact.effects[0].change.kind == "no variation in 2 runs"
    single = stats.factorial(frame.head(2), ["a"], "y").sources[0]
    assert single.effects[0].change.kind == "n = 1: no interval"
    assert single.share == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda frame: frame.drop("y"), "columns of its own for each factor, the value and blocks, not a, b, y, replicate"),
        (lambda frame: frame.filter(pl.col("a") == 1), "a has 1 level: a factor has at least 2"),
        (lambda frame: pl.concat([frame, frame.head(1)]), "replicate 0 has a combination of a, b twice"),
        (lambda frame: frame.filter(pl.col("a") + pl.col("b") < 2), "no replicate has all combinations of a, b"),
        (lambda frame: frame.with_columns(y=float("nan")), "y is not finite at a 0, b 0"),
    ],
)
def test_what_is_no_full_factorial_is_refused(change: object, says: str) -> None:
    rows = [(a, b, r, float(a + b + r)) for r in range(2) for a in (0, 1) for b in (0, 1)]
    frame = pl.DataFrame(rows, schema=["a", "b", "replicate", "y"], orient="row")
    with pytest.raises(ValueError, match=says):
        stats.factorial(change(frame), ["a", "b"], "y")  # type: ignore[operator]


def test_cells_of_independent_replicates_must_be_of_one_size() -> None:
    with pytest.raises(ValueError, match="have 3 to 4 runs"):
        stats.factorial(batteries().slice(1), ["material", "temperature"], "life", blocks=None)


# Sequential rules


def test_a_sequential_rule_stops_at_the_third_narrow_look() -> None:
    narrow = [10.0, 10.1, 9.9, 10.02, 10.05, 9.95, 10.0, 10.1]
    assert not stats.sequential(narrow[:6], 0.05).done
    found = stats.sequential(narrow, 0.05)
    assert (found.done, found.n) == (True, 7)
    assert found.why == "within 0.05 of the mean at 3 looks in a row"
    assert found == stats.sequential(narrow[:7], 0.05)
    assert found.interval.kind == "95% sequential t and log-scale interval"
    # The interval is that of 96 %: four fifths of the error.
    assert found.interval.low == stats.mean(narrow[:7], 0.96).low


def test_a_sequential_rule_goes_on_and_ends_at_the_most() -> None:
    wide = [1.0, 5, 2, 9, 4, 7, 3, 8, 2, 6]
    assert stats.sequential(wide, 0.05).why == "10 runs: not yet within 0.05 of the mean"
    ended = stats.sequential(wide, 0.05, most=8)
    assert (ended.done, ended.n, ended.why) == (True, 8, "stopped at 8 runs: not within 0.05 of the mean")
    assert not stats.sequential([], 0.05).done
    assert stats.sequential([2.0] * 7, 0.05).done
    assert stats.sequential([0.0] * 7, 0.05).done
    with pytest.raises(ValueError, match="a level between 0 and 1 and 2 <= least <= most are needed"):
        stats.sequential(wide, 0.05, least=9, most=8)


# Many at once


def test_holm_errs_at_most_as_often_as_one_test_whatever_the_tests_share() -> None:
    generator = np.random.default_rng(7)
    for shared in (0.0, 0.8):
        z = np.sqrt(1 - shared) * generator.normal(0, 1, (4000, 10)) + np.sqrt(shared) * generator.normal(0, 1, (4000, 1))
        z[:, :3] += 4  # three hypotheses are false
        p = 2 * scipy_stats.norm.sf(np.abs(z))
        erred = np.mean([min(stats.holm(list(row))[3:]) <= 0.05 for row in p])
        assert erred <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 4000)
