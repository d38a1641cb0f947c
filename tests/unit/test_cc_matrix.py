"""The testbed reports held against numbers computed by hand or by scipy, and their verdicts against data that contradict them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

from sawtooth.errors import DatasetError
from sawtooth.metrics import fetch, round_trips, variance
from sawtooth.plots.lines import spread
from sawtooth.report import cc_findings as findings
from sawtooth.report import cc_fit, cc_matrix, guest_resources, report, testbed
from sawtooth.report.document import Report
from tests.unit.testbed_data import dataset

Row = Mapping[str, Any]
MATRIX = {
    "delay": ["5 ms", "20 ms"],
    "cc": ["kernel:bic", "kernel:cubic", "kernel:yeah", "kernel:lp", "kernel:reno"],
    "receiver_cc": ["bic", "lp"],
}
PUBLISHED = {(row["delay_ms"], row["server_cc"], row["client_cc"]): float(row["mean_s"]) for row in testbed.scenario_b().to_dicts()}


def _published(row: Row, exchanged: Mapping[str, str] | None = None) -> float:
    name = row["cc"].removeprefix("kernel:")
    return PUBLISHED[round(row["delay_value"] * 1000, 3), (exchanged or {}).get(name, name), row["receiver_cc"]]


def _noise(row: Row, n: int, size: float = 0.02) -> np.ndarray[Any, Any]:
    return np.exp(np.random.default_rng(row["run"]).normal(0, size, n))


def _answers(made: Report, source: str) -> dict[str, str]:
    verdicts = [verdict for section in made.sections for verdict in section.verdicts if f"({source})" in verdict.claim]
    return {verdict.claim.split(":")[0].split(" (")[0]: verdict.answer for verdict in verdicts}


def _grid(made: Report, name: str) -> pl.DataFrame:
    return next(grid.frame for section in made.sections for grid in section.grids if grid.name == name)


def _means(times: Mapping[tuple[float, str, str], float]) -> fetch.Means:
    keys = pl.DataFrame(list(times), schema={"delay_ms": pl.Float64, "server_cc": pl.String, "client_cc": pl.String}, orient="row")
    mean = np.array(list(times.values()))
    return fetch.Means(keys, mean, np.tile(mean, (10, 1)), np.full(mean.size, 40), "fetches")


# --- the published tables -----------------------------------------------------------------------------------------------


def test_exchanged_rows_of_the_published_tables_are_found_and_put_right() -> None:
    state = testbed.check()
    assert dict(state["details"].value_counts().rows()) == {testbed.AS_PRINTED: 9, testbed.EXCHANGED: 20, testbed.OTHER: 1}
    other = state.row(by_predicate=pl.col("details") == testbed.OTHER, named=True)
    assert (other["server_cc"], other["delay_ms"]) == ("cubic", 20.0)
    assert other["remark"].endswith("its row for cubic is that of scenario A with 2 CPUs and 6 GB")
    # The file's row "20,lp,scalable" is 2.90,3.57,2.19,...: its mean is that of client reno.
    mended = testbed.scenario_b().row(by_predicate=pl.Expr.and_(
        pl.col("delay_ms") == 20, pl.col("server_cc") == "lp", pl.col("client_cc") == "reno"), named=True)  # fmt: skip
    assert (mended["mean_s"], mended["stdev_s"], mended["cov"]) == (2.90, 0.30, 0.10)
    assert mended["stdev_s"] / mended["mean_s"] == pytest.approx(mended["cov"], abs=0.006)


def test_tables_that_agree_are_not_called_exchanged() -> None:
    means = pl.DataFrame(
        {"delay_ms": [5.0] * 3, "server_cc": ["x"] * 3, "client_cc": ["reno", "scalable", "bic"], "mean_s": [1.0, 2.0, 3.0]}
    )
    details = means.with_columns(max_s=1.0, min_s=1.0, stdev_s=1.0, ci95_s=1.0, cov=1.0)

    def state(order: list[float]) -> str:
        return str(testbed.compare_tables(means, details.with_columns(mean_s=pl.Series(order)), testbed.scenario_a())["details"][0])

    assert state([1.0, 2.0, 3.0]) == testbed.AS_PRINTED
    assert state([2.0, 1.0, 3.0]) == testbed.EXCHANGED
    assert state([1.0, 2.0, 3.1]) == testbed.OTHER


# --- statistics ---------------------------------------------------------------------------------------------------------


def test_the_statistics_of_a_cell_are_the_textbooks() -> None:
    fetches = pl.DataFrame({
        "run": [0, 0, 0, 1, 1], "arm": ["cache"] * 5, "seconds": [1.0, 2.0, None, 3.0, 4.0], "retransmits": [0, 1, 2, 3, 4], "timeouts": [0] * 5,
    })  # fmt: skip
    row = fetch.statistics(fetches, ["arm"]).row(0, named=True)
    assert (row["n"], row["mean_s"], row["max_s"], row["min_s"], row["unfinished"]) == (4, 2.5, 4.0, 1.0, 1)
    assert row["stdev_s"] == pytest.approx(np.sqrt(5 / 3))
    assert row["cov"] == pytest.approx(np.sqrt(5 / 3) / 2.5)
    # t(0.975, 3) = 3.1824463; over blocks with means 1.5 and 3.5: t(0.975, 1) = 12.7062047 times s/sqrt(2) = 1.
    assert row["ci95_s"] == pytest.approx(3.1824463 * np.sqrt(5 / 3) / 2)
    assert (row["blocks"], row["ci95_blocks_s"]) == (2, pytest.approx(12.7062047))
    assert row["retransmits"] == 2.0


def test_the_analysis_of_variance_of_one_factor_is_scipys() -> None:
    generator = np.random.default_rng(1)
    groups = [generator.normal(mean, 1, n) for mean, n in ((0, 5), (1, 8), (0.5, 6))]
    cells = pl.DataFrame({"y": np.concatenate(groups), "g": [str(at) for at, group in enumerate(groups) for _ in group]})
    first, rest = variance.analysis(cells, "y", [["g"]])
    expected = scipy_stats.f_oneway(*groups)
    assert (first.f, first.p) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))
    assert (first.freedom, rest.freedom) == (2, 16)
    assert first.share + rest.share == pytest.approx(1)


def test_shares_of_two_crossed_factors_are_those_computed_by_hand() -> None:
    # a: -3, 3; b: -1, 1; interaction +-0.5: squares 36 : 4 : 1.
    cells = pl.DataFrame({"a": ["1", "1", "2", "2"], "b": ["1", "2", "1", "2"], "y": [-4 + 0.5, -2 - 0.5, 2 - 0.5, 4 + 0.5]})
    terms = variance.analysis(cells, "y", [["a"], ["b"]])
    assert [term.share for term in terms] == pytest.approx([36 / 41, 4 / 41, 1 / 41])
    assert [term.name for term in terms] == ["a", "b", "rest"]


def test_without_variance_nothing_is_explained() -> None:
    cells = pl.DataFrame({"a": ["1", "1", "2", "2"], "b": ["1", "2", "1", "2"], "y": [1.0] * 4})
    assert [(term.share, term.p) for term in variance.analysis(cells, "y", [["a"], ["b"]])] == [(0.0, None)] * 3


def test_an_effect_is_a_ratio_with_bonferronis_interval() -> None:
    logs = {("x", "1"): 0.0, ("y", "1"): 0.1, ("x", "2"): 1.0, ("y", "2"): 1.3}
    cells = pl.DataFrame([(*key, value) for key, value in logs.items()], schema=["level", "other", "log"], orient="row")
    low, high = variance.effects(cells, "log", "level")
    # Against the mean over levels: y is 0.05 and 0.15 higher; mean 0.1, s = 0.0707, two levels at 97.5 %: t(0.9875, 1).
    half = scipy_stats.t.ppf(0.9875, 1) * 0.05
    assert (low.level, high.level) == ("x", "y")
    assert np.log1p([high.change.estimate, high.change.low, high.change.high]) == pytest.approx([0.1, 0.1 - half, 0.1 + half])


def test_a_missing_cell_is_not_held_against_its_algorithm() -> None:
    # b takes one unit longer than a everywhere, and its slow cell is missing: its plain mean would be lower.
    keys = pl.DataFrame({"cc": ["a", "a", "b"], "delay": [1, 2, 1]})
    scores = variance.additive(keys, "cc")
    assert np.diff(scores.of(np.array([1.0, 9.0, 2.0]))) == pytest.approx([1.0])


def test_round_trips_are_recovered_and_a_single_delay_tells_nothing() -> None:
    names, rtt = ["a", "a", "b", "b"], np.array([0.01, 0.04, 0.01, 0.04])
    seconds = 0.25 + np.array([20, 20, 60, 60]) * rtt
    found = round_trips.fit(names, rtt, seconds)
    assert found is not None
    assert (found.constant_s, found.trips["a"], found.trips["b"]) == pytest.approx((0.25, 20, 60))
    fixed = round_trips.fit(["a"], [0.01], [0.45], constant_s=0.25)
    assert fixed is not None and fixed.trips["a"] == pytest.approx(20)
    assert round_trips.fit(["a", "b"], [0.01, 0.01], [0.4, 0.5]) is None


def test_blocks_are_resampled_where_there_are_enough_of_them() -> None:
    def resampled(blocks: int) -> fetch.Means:
        # Fetches of a block are alike: resampling fetches would claim far too much.
        rows = [{"run": block, "cc": "a", "fetch": at, "seconds": 1.0 + block} for block in range(blocks) for at in range(20)]
        return fetch.resampled(pl.DataFrame(rows), ["cc"])

    assert (resampled(4).kind, resampled(5).kind) == ("fetches", "blocks")
    # The mean of 5 values 1..5 has standard error sqrt(2)/sqrt(5) under the bootstrap; 1000 draws know it to about 2 %.
    assert resampled(5).draws_s.std() == pytest.approx(np.sqrt(2 / 5), rel=0.1)
    assert resampled(4).draws_s.std() < 0.2


@pytest.mark.parametrize("wanted", [[0.5] * 11, [0.0] * 4 + [1.0] * 4, [0.01, 0.02, 0.9, 0.91, 0.99], [0.3]])
def test_names_at_lines_ends_neither_overlap_nor_leave_the_panel(wanted: list[float]) -> None:
    placed = spread(wanted, 0.05)
    assert all(b - a >= 0.05 - 1e-9 for a, b in pairwise(placed))
    assert placed[0] >= 0 and placed[-1] <= 1


# --- findings -----------------------------------------------------------------------------------------------------------


def test_the_published_means_support_what_was_claimed_of_them() -> None:
    means = testbed.resampled_means(testbed.scenario_b())
    ranking = findings.ranking(means)
    verdicts = [findings.receiver(means, "p"), findings.fastest(ranking, "p"), findings.slowest(ranking, "p")]
    assert [verdict.answer for verdict in verdicts if verdict] == ["yes", "yes", "yes"]
    assert set(ranking.order()[:2]) == {"bic", "yeah"}


def test_verdicts_on_speed_flip_when_the_algorithms_change_places() -> None:
    exchanged = {"bic": "lp", "lp": "bic", "yeah": "reno", "reno": "yeah"}
    table = testbed.scenario_b().with_columns(pl.col("server_cc").replace(exchanged))
    ranking = findings.ranking(testbed.resampled_means(table))
    verdicts = [findings.fastest(ranking, "p"), findings.slowest(ranking, "p")]
    assert [verdict.answer for verdict in verdicts if verdict] == ["no", "no"]


def test_algorithms_that_are_alike_share_ranks_and_none_is_fastest() -> None:
    ranking = findings.ranking(_means({(5.0, name, "bic"): 0.5 for name in ("bic", "cubic", "lp", "yeah")}))
    assert {name: rank.estimate for name, rank in ranking.ranks().items()} == dict.fromkeys(ranking.names, 2.5)
    verdict = findings.fastest(ranking, "p")
    assert verdict is not None and verdict.answer == "no"


def test_places_within_the_noise_cannot_be_distinguished() -> None:
    keys = pl.DataFrame({"delay_ms": [5.0] * 3, "server_cc": ["bic", "cubic", "lp"], "client_cc": ["bic"] * 3})
    mean = np.array([1.0, 1.01, 1.02])
    draws = mean + np.random.default_rng(1).normal(0, 0.1, (500, 3))
    ranking = findings.ranking(fetch.Means(keys, mean, draws, np.full(3, 40), "fetches"))
    verdict = findings.fastest(ranking, "p")
    assert verdict is not None and verdict.answer == "cannot distinguish"


def test_a_receiver_that_slows_down_is_found() -> None:
    servers = [f"s{at}" for at in range(8)]
    wobble = np.random.default_rng(2).normal(1, 0.005, (8, 3))

    def answer(slow: float) -> str:
        times = {(5.0, server, client): (1 + at) * wobble[at, column] * (slow if client == "lp" else 1.0)
                 for at, server in enumerate(servers) for column, client in enumerate(("bic", "cubic", "lp"))}  # fmt: skip
        verdict = findings.receiver(_means(times), "p")
        assert verdict is not None
        return verdict.answer

    assert answer(1.0) == "yes"
    assert answer(1.3) == "no"


def _slopes(slope: float) -> fetch.Means:
    """Algorithms whose log times at each of two delays are `slope` apart."""
    return _means(
        {(delay, name, "bic"): delay * np.exp(slope * at) for delay in (5.0, 10.0) for at, name in enumerate(("a", "b", "c", "d"))}
    )


def test_the_share_of_the_cache_is_what_vanishes_of_the_variance() -> None:
    found = findings.attribution(_slopes(0.2), _slopes(0.1))
    assert found is not None and found.share is not None
    # Variances go with the square of the slope: 1 - 0.1^2 / 0.2^2.
    assert found.share.estimate == pytest.approx(0.75)
    assert (found.spread_on, found.spread_off) == pytest.approx((np.exp(0.6), np.exp(0.3)))
    assert "accounts for 75%" in found.sentence and "mostly what earlier connections left behind" in found.sentence


@pytest.mark.parametrize(("on", "off", "says"), [
    (0.2, 0.19, "the ranking is mostly congestion control"),
    (0.1, 0.2, "explains none of the ranking"),
    (0.01, 0.0, "neither congestion control nor an inherited threshold"),
])  # fmt: skip
def test_the_answer_follows_the_numbers(on: float, off: float, says: str) -> None:
    found = findings.attribution(_slopes(on), _slopes(off))
    assert found is not None and says in found.sentence


def test_one_algorithm_has_no_ranking_to_explain() -> None:
    one = _means({(5.0, "bic", "bic"): 1.0, (10.0, "bic", "bic"): 2.0})
    assert findings.attribution(one, one) is None


# --- whole reports ------------------------------------------------------------------------------------------------------


def _written(made: Report, directory: Path) -> str:
    """The page's words, after checking its files."""
    page = made.write(directory).read_text()
    assert not re.search(r"""(?:src|href)=["'](?!#|data:|tables/|figures/)""", page)
    for section in made.sections:
        for plot in section.plots:
            assert (directory / f"figures/{plot.name}.png").stat().st_size > 1000
        for grid in section.grids:
            assert pl.read_csv(directory / f"tables/{grid.name}.csv", infer_schema_length=None).height > 0
    words = re.sub(r"<[^>]*>", " ", re.sub(r"(?s)<(script|style|svg).*?</\1>", "", page))
    assert not {"nan", "inf", "null"} & {word.strip("+-().,;:%") for word in words.lower().split()}
    return words


def test_a_matrix_that_repeats_the_published_one_confirms_it(tmp_path: Path) -> None:
    def times(row: Row) -> list[float]:
        base = _published(row) if row["arm"] == "cache" else 0.4
        return list(base * _noise(row, 4))

    made = cc_matrix.build(dataset(tmp_path / "d", "linux-cc-matrix", MATRIX, times))
    on, off = _answers(made, "cache on"), _answers(made, "cache off")
    assert on["bic and yeah are fastest of 5"] == "yes"
    assert off["bic and yeah are fastest of 5"] != "yes"
    agreement = _grid(made, "agreement").row(by_predicate=(pl.col("source") == "cache on") & (pl.col("delay") == "all"), named=True)
    # 2 % of noise over 8 fetches of 20 cells.
    assert agreement["bias"] == pytest.approx(1, abs=0.01)
    assert agreement["rms_log_ratio"] < 0.02
    assert "mostly what earlier connections left behind" in made.summary[0]
    # 8 fetches per cell: 2 blocks of 4.
    cells = _grid(made, "cells")
    assert set(cells["n"]) == {8} and set(cells["published_n"]) == {40}


def test_the_same_matrix_with_algorithms_exchanged_refutes_it(tmp_path: Path) -> None:
    def times(row: Row) -> list[float]:
        slower = 1.4 if row["receiver_cc"] == "lp" else 1.0
        return list(slower * _published(row, {"bic": "lp", "lp": "bic"}) * _noise(row, 4))

    made = cc_matrix.build(dataset(tmp_path / "d", "linux-cc-matrix", MATRIX, times))
    answers = _answers(made, "cache on")
    assert answers["bic and yeah are fastest of 5"] == "no"
    assert answers["lp and reno are slowest of 5"] == "no"
    assert answers["The receiver's algorithm does not matter"] == "no"
    assert "mostly congestion control" in made.summary[0] or "no part in it" in made.summary[0] or "explains none" in made.summary[0]


@pytest.mark.long
def test_a_torn_matrix_is_reported_with_what_it_lacks(tmp_path: Path) -> None:
    def times(row: Row) -> list[float] | None:
        if row["cc"] == "kernel:lp" and row["arm"] == "cache":
            return None
        made = list(_published(row) * _noise(row, 4))
        return [*made[:3], float("nan")] if row["cc"] == "kernel:bic" else made

    made = report(dataset(tmp_path / "d", "linux-cc-matrix", MATRIX, times, done=lambda row: row["run"] % 7 != 0))
    words = _written(made, tmp_path / "r")
    missing = _grid(made, "missing")
    # 80 runs, of which 12 were not done; of the 8 of lp with the cache the rest failed; one fetch lost in each run of bic.
    assert missing["not_done"].sum() == 12
    lp = missing.filter(pl.col("server_cc") == "lp", pl.col("arm") == "cache")
    assert lp["failed"].sum() + lp["not_done"].sum() == 8
    assert "What is missing" in words and "the guest died" in words


def test_the_smallest_short_form_makes_no_claims_it_cannot_hold(tmp_path: Path) -> None:
    axes = {"delay": ["10 ms"], "cc": ["bic", "lp"], "receiver_cc": ["bic"]}
    made = report(dataset(tmp_path / "d", "linux-cc-matrix", axes, lambda row: [_published(row)], repeat=1, fetches=1))
    _written(made, tmp_path / "r")
    answers = _answers(made, "cache on")
    assert answers["bic is fastest of 2"] == answers["lp is slowest of 2"] == "cannot distinguish"


def test_algorithms_and_delays_that_were_not_published_are_shown_all_the_same(tmp_path: Path) -> None:
    axes = {"delay": ["7 ms"], "cc": ["bbr", "reno"], "receiver_cc": ["reno", "cubic"]}
    made = report(dataset(tmp_path / "d", "linux-cc-matrix", axes, lambda row: list(0.5 * _noise(row, 3)), repeat=1))
    words = _written(made, tmp_path / "r")
    assert "bbr" in words
    assert "Agreement with the published means" not in words


def test_a_study_without_the_axes_is_told_which_it_lacks(tmp_path: Path) -> None:
    made = dataset(tmp_path / "d", "linux-cc-matrix", {"delay": ["5 ms"], "cc": ["bic"]}, lambda _: [1.0])
    with pytest.raises(DatasetError, match="has no factor `receiver_cc`") as caught:
        report(made)
    assert "this kind of report needs the axes delay, cc, receiver_cc" in str(caught.value)


# --- the fit ------------------------------------------------------------------------------------------------------------

FIT = {
    "queue": ["4 packets", "8 packets"],
    "loss": [0, 0.01],
    "delay": ["5 ms", "10 ms", "20 ms"],
    "cc": ["bic", "cubic", "lp", "reno", "yeah"],
}
TARGET = {(row["delay_ms"], row["server_cc"]): float(row["published_s"]) for row in cc_fit.published_means().to_dicts()}


def _target(row: Row) -> float:
    return TARGET[round(row["delay_value"] * 1000, 3), row["cc"]]


def test_the_fit_finds_the_setting_that_made_the_data(tmp_path: Path) -> None:
    def times(row: Row) -> list[float]:
        true = row["arm"] == "cache" and row["queue_value"] == 8 and row["loss_value"] == 0
        return [_target(row) * (1.5 if true else 3.0)] * 2

    made = report(dataset(tmp_path / "d", "linux-cc-fit", FIT, times, repeat=1, fetches=2))
    best = _grid(made, "settings").row(0, named=True)
    assert (best["arm"], best["queue_packets"], best["loss"]) == ("cache", 8.0, 0.0)
    # Everything 1.5 times as long: the residual is all bias. Times are stored in whole nanoseconds.
    assert (best["residual"], best["factor"], best["bias"]) == pytest.approx((np.log(1.5), 1.5, 1.5), abs=1e-6)
    assert best["shape"] == pytest.approx(0, abs=1e-6)
    assert best["residual_10_ms"] == pytest.approx(np.log(1.5), abs=1e-6)
    assert best["spearman"] == pytest.approx(1)
    # A bias of 1.5 (0.405) is worse than one time per delay, which leaves about 0.36 over these algorithms: it must be said.
    reference = cc_fit.references(pl.DataFrame([(*key, value, 0.01) for key, value in TARGET.items() if key[1] in FIT["cc"]],
                                               schema=["delay_ms", "server_cc", "published_s", "error"], orient="row"))  # fmt: skip
    assert reference.per_delay < np.log(1.5) < reference.one_time
    assert any("poor: one time per delay" in line for line in made.summary)
    _written(made, tmp_path / "r")


def test_a_perfect_fit_is_called_good_and_one_that_holds_at_one_delay_only_is_not(tmp_path: Path) -> None:
    def perfect(row: Row) -> list[float]:
        return [_target(row) * (1.0 if row["queue_value"] == 4 else 2.0)]

    def lucky(row: Row) -> list[float]:
        # Each setting is right at one delay, and wrong at the others.
        right = {"4 packets0": 0.005, "4 packets0.01": 0.010, "8 packets0": 0.020}.get(f"{row['queue']}{row['loss']}")
        return [_target(row) * (1.0 if right == row["delay_value"] else 2.0)]

    good = report(dataset(tmp_path / "a", "linux-cc-fit", FIT, perfect, repeat=1, fetches=1))
    assert any("good: near the noise" in line for line in good.summary)
    overfit = report(dataset(tmp_path / "b", "linux-cc-fit", FIT, lucky, repeat=1, fetches=1))
    first = _grid(overfit, "settings").row(0, named=True)
    assert first["residual"] == pytest.approx(np.sqrt(2 / 3) * np.log(2), abs=1e-6)
    # Whatever the other delays choose was right at one of them: at the delay left out it is off by two.
    assert set(_grid(overfit, "cross_check")["residual_left_out"].round(4)) == {round(float(np.log(2)), 4)}


def test_a_setting_that_lacks_cells_does_not_compete(tmp_path: Path) -> None:
    def times(row: Row) -> list[float] | None:
        if row["queue_value"] == 4 and row["loss_value"] == 0:
            return None if row["cc"] == "lp" else [_target(row)]
        return [_target(row) * 1.2]

    made = report(dataset(tmp_path / "d", "linux-cc-fit", FIT, times, repeat=1, fetches=1))
    settings = _grid(made, "settings")
    assert settings["complete"].to_list() == [True] * 6 + [False] * 2
    assert settings.row(0, named=True)["bias"] == pytest.approx(1.2, abs=1e-6)


# --- guest resources ----------------------------------------------------------------------------------------------------

GUEST = {"cpus": [1, 2, 3], "memory": ["2 GB", "4 GB", "6 GB"], "delay": ["5 ms", "10 ms", "20 ms"]}


def _guest(directory: Path, memory: float, boots: float) -> Report:
    def times(row: Row) -> list[float] | None:
        if row["arm"] == "virtual" and row["cpus_value"] > 1:
            return None
        slower = memory if row["memory"] == "2 GB" else 1.0
        boot = np.exp(np.random.default_rng(row["run"] + 1000).normal(0, boots)) if row["arm"] == "real" else 1.0
        return list(100 * row["delay_value"] * slower * boot * _noise(row, 4))

    return report(dataset(directory, "linux-guest-resources", GUEST, times, arms=("virtual", "real"), repeat=3))


def test_memory_without_effect_is_told_from_memory_that_matters(tmp_path: Path) -> None:
    claims = "The guest's memory has no clear effect", "The guest's number of processors has no clear effect"
    without, with_effect = _guest(tmp_path / "a", 1.0, 0.02), _guest(tmp_path / "b", 1.5, 0.02)
    assert [_answers(without, "real time")[claim] for claim in claims] == ["yes", "yes"]
    assert [_answers(with_effect, "real time")[claim] for claim in claims] == ["no", "yes"]
    assert _answers(with_effect, "virtual time") == {claims[0]: "no"}
    assert _answers(_guest(tmp_path / "c", 1.0, 0.6), "real time")[claims[0]] != "yes"
    words = _written(without, tmp_path / "r")
    assert "only memory can be varied" in words
    cells = _grid(without, "cells")
    assert cells.filter(arm="real").height == 27 and cells.filter(arm="virtual").height == 9
    assert cells["published_mean_s"].null_count() == 0


def test_the_spread_between_boots_is_a_variance_component() -> None:
    # One cell, two boots of two fetches, log times 0, 2 and 4, 6: mean squares 16 between and 2 within, so (16 - 2) / 2 between boots.
    rows = [{"delay_ms": 5.0, "cpus": 1.0, "memory_gb": 2.0, "run": run, "seconds": float(np.exp(log))}
            for run, logs in enumerate(((0, 2), (4, 6))) for log in logs]  # fmt: skip
    found = guest_resources.between_boots(pl.DataFrame(rows))
    assert (found.boots, found.between, found.within) == (2, pytest.approx(np.sqrt(7)), pytest.approx(np.sqrt(2)))
    assert found.p == pytest.approx(scipy_stats.f.sf(8, 1, 2))
    assert guest_resources.between_boots(pl.DataFrame(rows[:2])).boots == 0
