from __future__ import annotations

import io
import json
import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from rich.console import Console
from scipy import stats as scipy_stats

import sawtooth
from sawtooth import measures, stats
from sawtooth.errors import SawtoothError
from sawtooth.metrics import agreement, sides
from sawtooth.metrics.agreement import Comparison
from sawtooth.plan import Run, make_plan
from sawtooth.plots import paired
from sawtooth.recognise import level
from sawtooth.report import compare as side_by_side
from sawtooth.report import compare_page, compare_rows
from sawtooth.report.compare import Question
from sawtooth.results.dataset import Dataset
from sawtooth.results.head import RUNS, Head
from sawtooth.results.parts import as_parquet
from sawtooth.study import Study

A = [10.0, 12.5, 9.0, 14.0, 11.0, 13.0]
B = [9.5, 11.0, 9.2, 12.0, 10.5, 12.5]
C = [20.0, 18.0, 22.5, 19.0]

# --- the tests' arithmetic ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["low", "high"])
def test_the_ends_of_a_paired_ratio_interval_are_where_the_paired_t_test_rejects(end: str) -> None:
    interval = stats.ratio_interval(stats.means_of_pairs(A, B))
    assert interval.estimate == pytest.approx(np.mean(A) / np.mean(B))
    contrast = np.array(A) - getattr(interval, end) * np.array(B)
    # Fieller's interval is the inversion of this test, so only rounding is left.
    assert scipy_stats.ttest_1samp(contrast, 0).pvalue == pytest.approx(0.05, abs=1e-9)


def test_the_ends_of_an_unpaired_ratio_interval_are_where_welchs_test_rejects() -> None:
    interval = stats.ratio_interval(stats.means_of_groups(A, C))
    for end in (interval.low, interval.high):
        p = scipy_stats.ttest_ind(A, end * np.array(C), equal_var=False).pvalue
        # The degrees of freedom are those at the estimate, Welch's those at the end.
        assert p == pytest.approx(0.05, abs=0.005)


def test_a_ratio_to_an_exact_number_is_the_t_interval_divided_by_it() -> None:
    interval, mean = stats.ratio_interval(stats.means_against(A, 8.0)), stats.mean_interval(A)
    assert (interval.low, interval.high) == pytest.approx((mean.low / 8, mean.high / 8))


def test_equivalence_is_the_larger_of_two_one_sided_t_tests() -> None:
    a, b = np.array(A), np.array(B)
    low, high = 1 / 1.2, 1.2
    expected = max(
        scipy_stats.ttest_1samp(a - high * b, 0, alternative="less").pvalue,
        scipy_stats.ttest_1samp(a - low * b, 0, alternative="greater").pvalue,
    )
    assert stats.equivalence(stats.means_of_pairs(A, B), 0.2)[0] == pytest.approx(expected)
    unpaired = max(
        scipy_stats.ttest_ind(a, high * b, equal_var=False, alternative="less").pvalue,
        scipy_stats.ttest_ind(a, low * b, equal_var=False, alternative="greater").pvalue,
    )
    assert stats.equivalence(stats.means_of_groups(A, B), 0.2)[0] == pytest.approx(unpaired)


def test_a_difference_beyond_the_tolerance_is_a_doubled_one_sided_test() -> None:
    p = scipy_stats.ttest_ind(A, np.array(C) / 1.05, equal_var=False, alternative="less").pvalue
    assert stats.equivalence(stats.means_of_groups(A, C), 0.05)[1] == pytest.approx(2 * p)


def test_exchanging_the_sides_changes_no_p_value() -> None:
    for make, other in ((stats.means_of_pairs, B), (stats.means_of_groups, C)):
        assert stats.equivalence(make(A, other), 0.1) == pytest.approx(stats.equivalence(make(other, A), 0.1))


def test_without_variation_the_ratio_alone_decides() -> None:
    def decide(a: float, b: float) -> tuple[float, float]:
        return stats.equivalence(stats.means_of_pairs([a] * 3, [b] * 3), 0.05)

    assert decide(104, 100) == (0.0, 1.0)
    assert decide(106, 100) == (1.0, 0.0)
    assert decide(0, 0) == (0.0, 1.0)
    assert decide(1, 0) == (1.0, 0.0)


def test_a_mean_that_cannot_be_told_from_zero_has_no_finite_ratio() -> None:
    assert math.isinf(stats.ratio_interval(stats.means_of_groups(A, [-1.0, 3.0, 0.5])).high)
    assert stats.ratio_interval(stats.means_of_pairs([0.0, 0.0], [0.0, 0.0])).kind == "second mean is 0: no ratio"


def test_ratio_intervals_cover_and_equivalence_keeps_its_level() -> None:
    generator = np.random.default_rng(1)
    trials, covered, wrong = 4000, 0, 0
    for _ in range(trials):
        common = generator.normal(10, 1, 6)
        a, b = 1.05 * common + generator.normal(0, 0.1, 6), common + generator.normal(0, 0.1, 6)
        means = stats.means_of_pairs(a, b)
        covered += not stats.ratio_interval(means).excludes(1.05)
        wrong += stats.equivalence(means, 0.05)[0] < 0.05
    # Three standard deviations of a binomial share of 0.95, or 0.05, in 4,000 trials are 0.010. At the limit both are exact.
    assert covered / trials == pytest.approx(0.95, abs=0.011)
    assert wrong / trials == pytest.approx(0.05, abs=0.011)


# --- datasets whose numbers are known -----------------------------------------------------------------------------------

Numbers = Callable[[Run, int], "float | None"]


@pytest.fixture
def make(study_file: Path, tmp_path: Path) -> Callable[..., Dataset]:
    """Datasets of the study `pair` whose completion times are given instead of simulated."""

    def made(
        name: str,
        completion: Numbers,
        options: tuple[str, ...] = ("repeat=4",),
        skip: Callable[[Run], bool] = lambda _: False,
        **columns: Any,
    ) -> Dataset:
        plan = make_plan(Study.load(study_file, options=options))
        dataset = Dataset.create(tmp_path / name, plan)
        rows: list[dict[str, Any]] = []
        status: list[tuple[int, str, str]] = []
        for run in plan.runs:
            if skip(run):
                continue
            status.append((run.index, "ok", ""))
            flows = int(json.loads(run.scenario)["vars"]["N"])
            rows += [
                {"run": run.index, "flow": f"flow[{i}]", "cc": "reno", "completion_ns": completion(run, i), "goodput_bps": 1e6, **columns}
                for i in range(1, flows + 1)
            ]
        schema = {"run": pl.UInt32, "flow": pl.String, "cc": pl.String, "completion_ns": pl.Int64, "goodput_bps": pl.Float64}
        dataset.write_batch(
            0,
            {"flows": pl.DataFrame(rows, schema={**dict.fromkeys(columns, pl.Float64), **schema})},
            pl.DataFrame(status, {"run": pl.UInt32, "status": pl.String, "message": pl.String}, orient="row"),
        )
        return dataset

    return made


def noise(run: Run) -> float:
    """A number that depends on the replicate alone, as common random numbers do."""
    return (0.0, 3e8, 5e8, 1e8)[run.replicate - 1]


def plain(run: Run, _: int) -> float:
    return 1e9 + noise(run)


def compared(a: Dataset, b: Dataset | None, **asked: Any) -> Comparison:
    return side_by_side.compare(a.directory, [b.directory] if b else [], Question(**asked))


def test_replicates_with_the_same_seeds_are_compared_in_pairs(make: Callable[..., Dataset]) -> None:
    a, b = make("a", lambda run, _: 1.02 * plain(run, 1)), make("b", plain)
    rows = compared(a, b).rows
    assert len(rows) == 8
    for row in rows:
        assert row.paired
        assert (row.first.estimate, row.second.estimate) == pytest.approx((1.02 * 1.225e9, 1.225e9))
        assert row.ratio.estimate == pytest.approx(1.02)
        # Noise that both sides share leaves the ratio exact, but for the square root of the rounding of a variance, 1e-8.
        assert row.ratio.high - row.ratio.low < 1e-7
        assert row.first.high - row.first.low > 1e8
        assert row.verdict == "agree"


def test_other_seeds_are_compared_as_independent(make: Callable[..., Dataset]) -> None:
    a, b = make("a", plain), make("b", plain, ("repeat=4", "seed=8"))
    comparison = compared(a, b)
    assert {(row.paired, row.verdict) for row in comparison.rows} == {(False, "not decided")}
    assert "another seed: 7 on a, 8 on b" in comparison.notes


def test_what_is_beyond_the_tolerance_differs_and_holm_counts_the_rows(make: Callable[..., Dataset]) -> None:
    def slower(run: Run, _: int) -> float:
        return plain(run, 1) * (1.3 if run.cell == 2 else 1.0) + (run.replicate * 1e6)

    comparison = compared(make("a", slower), make("b", plain))
    verdicts = {(row.cell, row.arm): row.verdict for row in comparison.rows}
    assert {cell for (cell, _), verdict in verdicts.items() if verdict == "differ"} == {2}
    assert {verdict for (cell, _), verdict in verdicts.items() if cell != 2} == {"agree"}
    row = comparison.rows[0]
    seconds = np.array([plain(run, 1) for run in map(_replicate, range(1, 5))])
    times = seconds + np.arange(1, 5) * 1e6
    raw = max(
        scipy_stats.ttest_1samp(times - 1.05 * seconds, 0, alternative="less").pvalue,
        scipy_stats.ttest_1samp(times - seconds / 1.05, 0, alternative="greater").pvalue,
    )
    # All six rows that agree have this p-value: the first of them is adjusted for all eight, and so are the others.
    assert row.p_within == pytest.approx(8 * raw, rel=1e-6)


@pytest.mark.parametrize(("p", "verdict"), [(0.049, "agree"), (0.051, "not decided")])
def test_both_tests_are_at_five_per_cent(make: Callable[..., Dataset], tmp_path: Path, p: float, verdict: str) -> None:
    seconds = np.array([1.0, 1.3, 1.5, 1.1])
    # Half of what is so many standard errors above the mean: the upper limit, a ratio of 2, is rejected with just p.
    value = float(seconds.mean() + scipy_stats.t.isf(p, 3) * seconds.std(ddof=1) / 2) / 2
    table = published(tmp_path / "known.csv", f"cell,mean_s\n2,{value:.12f}\n")
    asked = Question(("completion_ns",), tolerance=1.0, published=side_by_side.published("mean_s"), arm="sack")
    (row,) = side_by_side.compare(make("a", plain).directory, [table], asked).rows
    assert row.p_within == pytest.approx(p, rel=1e-6)
    assert row.verdict == verdict


def test_where_nothing_varies_on_either_side_a_verdict_says_that_it_is_exact(make: Callable[..., Dataset]) -> None:
    comparison = compared(make("a", lambda *_: 1.02e9), make("b", lambda *_: 1e9))
    assert {(row.verdict, row.why, row.p_within, row.p_beyond) for row in comparison.rows} == {("agree", "no variation: exact", 0.0, 1.0)}
    varied = compared(make("c", lambda *_: 1.02e9), make("d", lambda run, _: 1e9 + 1e6 * run.replicate))
    assert {row.why for row in varied.rows} == {""}


def _replicate(number: int) -> Run:
    return Run(0, "", 1, "", number, 0, str, {}, {}, 1.0)


def test_one_replicate_decides_nothing(make: Callable[..., Dataset]) -> None:
    comparison = compared(make("a", plain, ("repeat=1",)), make("b", plain, ("repeat=1",)))
    assert {(row.verdict, row.why, row.p_within) for row in comparison.rows} == {("not decided", "n = 1", None)}
    assert any("nothing can be tested; 8 of those ratios lie within" in line for line in side_by_side.summary(comparison))


def test_flows_of_a_block_are_averaged_summed_or_kept(make: Callable[..., Dataset]) -> None:
    a, b = make("a", lambda run, i: i * plain(run, 1)), make("b", plain)

    def ratios(how: str) -> dict[tuple[int, str], float]:
        return {(row.cell, row.item): round(row.ratio.estimate, 6) for row in compared(a, b, how=how).rows}

    # Odd cells have one flow, even ones two: (1 + 2) / 2, and (1 + 2) / (1 + 1).
    assert ratios("mean") == ratios("sum") == {(1, "flow"): 1.0, (2, "flow"): 1.5, (3, "flow"): 1.0, (4, "flow"): 1.5}
    assert ratios("each")[2, "flow[2]"] == 2.0


def unfinished(cells: dict[int, set[int]]) -> Numbers:
    """As `plain`, but of these cells these replicates do not finish."""
    return lambda run, i: None if run.replicate in cells.get(run.cell, set()) else plain(run, i)


def test_a_cell_with_an_unfinished_run_keeps_its_metric_and_is_marked(make: Callable[..., Dataset]) -> None:
    a, b = make("a", unfinished({1: {2}}), lifetime_ns=3e9), make("b", plain, lifetime_ns=3e9)
    for names in ((), ("completion_ns",)):
        comparison = compared(a, b, arm="sack", metrics=names)
        assert {(row.cell, row.metric.name) for row in comparison.rows} == {(cell, "completion_ns") for cell in (1, 2, 3, 4)}
        row = comparison.rows[0]
        assert (row.cell, row.unfinished, row.bound) == (1, (1, 0), "at least")
        # The run counts as the 3 s that it had lasted.
        assert row.first.estimate == pytest.approx((1 + 3 + 1.5 + 1.1) / 4 * 1e9)
        assert row.first.high == math.inf and row.first.kind == "at least: 1 of 4 runs did not finish"
        assert row.ratio.estimate == pytest.approx((1 + 3 + 1.5 + 1.1) / (1 + 1.3 + 1.5 + 1.1))
        assert (row.verdict, row.why, row.ratio.high) == ("not decided", "1 and 0 runs unfinished", math.inf)
        assert [row.bound for row in comparison.rows[1:]] == ["", "", ""]
        assert comparison.notes == [
            "completion_ns: in 1 of 4 rows runs did not finish; each counts as the least that it may be, and the row has bounds"
        ]
        assert "≥ 1.65" in text_of(comparison)


def text_of(comparison: Comparison) -> str:
    console = Console(width=400, file=io.StringIO())
    console.print(side_by_side.table(comparison))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_bounds_decide_what_they_can(make: Callable[..., Dataset]) -> None:
    every = {1, 2, 3, 4}
    a = make("a", unfinished({1: every, 2: {1}, 3: every}), lifetime_ns=9e9)
    b = make("b", unfinished({2: every, 3: every}), lifetime_ns=9e9)
    rows = {row.cell: row for row in compared(a, b, arm="sack").rows}
    # None of ours finished in 9 s, all of theirs did in 1.5 s.
    assert (rows[1].verdict, rows[1].bound, rows[1].unfinished) == ("differ", "at least", (4, 0))
    # Theirs has no upper bound, and neither has ours: nothing bounds the ratio.
    for cell in (2, 3):
        assert (rows[cell].verdict, rows[cell].bound, rows[cell].p_within) == ("not decided", "unbounded", None)
    assert rows[4].verdict == "agree"
    found = {row.cell: row for row in compared(b, a, arm="sack").rows}
    assert (found[1].verdict, found[1].bound) == ("differ", "at most")
    assert "of 2 rows runs of both sides did not finish" in "\n".join(side_by_side.summary(compared(a, b, arm="sack")))


def test_transfers_are_compared_by_completion_and_other_flows_by_goodput_in_all_cells(make: Callable[..., Dataset]) -> None:
    never, again = (make(name, lambda *_: None, lifetime_ns=3e9) for name in ("never", "again"))
    assert {row.metric.name for row in compared(never, again).rows} == {"goodput_bps"}
    # One that completed anywhere, on any side, is a transfer.
    once_there = make("once", lambda run, i: plain(run, i) if run.cell == 4 else None, lifetime_ns=3e9)
    assert {row.metric.name for row in compared(never, once_there).rows} == {"completion_ns"}


def test_of_many_arms_all_pairs_are_told_together(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        'repeat = 2\n[draws]\nstart = { distribution = "uniform", low = "0", high = "100" }\n[scenario]\nduration = "2 s"\n'
        'links.l = { rate = "10 Mbit/s", delay = "5 ms" }\nflows = [{ path = ["l"], start = "start * 1 ms" }]\n'
        '[arms]\na = { cc = "reno" }\nb = { cc = "cubic" }\nc = { cc = "bic" }\nd = { cc = "htcp" }\n'
    )
    dataset = sawtooth.run(tmp_path / "s.toml", tmp_path / "out")
    comparison = side_by_side.compare(dataset.directory, [], Question())
    assert [row.arm for row in comparison.rows] == ["b / a", "c / a", "d / a", "c / b", "d / b", "d / c"]
    told = side_by_side.summary(comparison)
    assert [line.partition(":")[0] for line in told] == ["goodput_bps"] * 3
    page = compare_page.page(comparison, dataset.directory, [], Question())
    assert [plot.name for section in page.sections for plot in section.plots] == [
        "goodput_bps_sides",
        "goodput_bps_against",
        "goodput_bps_ratios",
    ]
    assert not any("the first arm" in line for line in [*told, *comparison.sides])


def test_what_was_not_recorded_is_told_with_what_it_needs(study_file: Path, tmp_path: Path) -> None:
    ran = sawtooth.run(study_file, tmp_path / "ran").directory
    expected = (
        'error: no run has `mean(series.cwnd_bytes)`: the table `series` needs sample = "100 ms"\n'
        "hint: results hold what the study records; `sawtooth list metric` says what else there is"
    )
    again = sawtooth.run(study_file, tmp_path / "again").directory
    for others in ([], [again]):
        with pytest.raises(SawtoothError) as raised:
            side_by_side.compare(ran, others, Question(("mean(series.cwnd_bytes)",)))
        assert str(raised.value) == expected


def test_results_of_another_epoch_are_noted(make: Callable[..., Dataset]) -> None:
    a, b = make("a", plain), make("b", plain)
    b.manifest["results_epoch"] = 1
    comparison = agreement.of_datasets([a, b], (), 0.05)
    assert any(note.startswith("another results epoch: ") and note.endswith(" on a, 1 on b") for note in comparison.notes)


def test_what_stands_behind_signs_is_said(make: Callable[..., Dataset]) -> None:
    comparison = compared(make("a", plain), make("b", lambda run, i: plain(run, i) * 1.1))
    assert " ± " in text_of(comparison)
    assert side_by_side.key(comparison) == ["±: half of the mean's 95 % t interval; 95 %: the ratio's Fieller interval"]
    # Of a table that has no such sign none is explained.
    assert side_by_side.key(comparison, columns=True) == ["low, high: of a mean its 95 % t interval, of a ratio Fieller's"]


def test_tests_of_censored_times_keep_their_level() -> None:
    generator = np.random.default_rng(3)
    trials, wrong = 4000, 0
    for _ in range(trials):
        # Of means 5 % apart, the first cut off so that about one in six does not finish.
        a, b = generator.normal(10.5, 1, 6), generator.normal(10, 1, 6)
        least = stats.means_of_groups(np.minimum(a, 11.5), b)
        wrong += stats.equivalence_of_bounds(least, None, 0.05)[1] < 0.05
        assert stats.equivalence_of_bounds(least, None, 0.05)[0] == 1.0
    assert wrong / trials < 0.05 / 2 + 0.008
    known = stats.means_of_groups(A, C)
    assert stats.equivalence_of_bounds(known, known, 0.05) == stats.equivalence(known, 0.05)


def test_of_three_sides_each_is_held_against_those_after_it(make: Callable[..., Dataset], tmp_path: Path) -> None:
    a, b, c = (make(name, lambda run, i, factor=factor: factor * plain(run, i)) for name, factor in (("a", 1), ("b", 1.01), ("c", 2)))
    paths = [b.directory, c.directory]
    comparison = side_by_side.compare(a.directory, paths, Question(arm="sack"))
    assert comparison.sides == ("a", "b", "c")
    verdicts = {row.sides: row.verdict for row in comparison.rows}
    assert verdicts == {("a", "b"): "agree", ("a", "c"): "differ", ("b", "c"): "differ"}
    assert len(comparison.rows) == 12
    # All 12 rows are adjusted together.
    alone = {row.cell: row.p_beyond for row in compared(a, c, arm="sack").rows}
    assert all(row.p_beyond >= alone[row.cell] for row in comparison.rows if row.sides == ("a", "c"))  # type: ignore[operator]
    assert "completion_ns, a / c: of 4 rows 0 agree" in "\n".join(side_by_side.summary(comparison))
    assert "a / b" in text_of(comparison)
    compare_page.page(comparison, a.directory, paths, Question(arm="sack")).write(tmp_path / "out")
    figures = {path.stem for path in (tmp_path / "out/figures").iterdir()}
    assert figures == {"completion_ns_sides"} | {
        f"completion_ns_{pair}_{kind}" for pair in ("a_over_b", "a_over_c", "b_over_c") for kind in ("against", "ratios")
    }
    assert "a against b against c: Who gets more?" in (tmp_path / "out/report.html").read_text()


def test_results_beside_themselves_are_refused_and_a_copy_is_told_as_one(make: Callable[..., Dataset]) -> None:
    a, b, other = make("a", plain), make("b", plain), make("c", lambda run, seed: 2 * plain(run, seed))
    for others in ([a.directory], [b.directory, a.directory]):
        with pytest.raises(SawtoothError) as refused:
            side_by_side.compare(a.directory, others, Question())
        assert str(refused.value) == (
            f"error: {a.directory} is named twice: whatever was measured agrees with itself, and nothing can be learnt of that\n"
            "hint: name each directory once; without a second one the arms of the first are compared"
        )
    same = "a and b hold the same records to the bit, as a copy does, or the same runs done again: nothing else can be learnt of their agreement"
    assert same in compared(a, b).notes
    assert not any("same records" in note for note in compared(a, other).notes)


def test_a_value_that_only_one_side_tells_is_listed(make: Callable[..., Dataset]) -> None:
    a, b = make("a", plain, stall_ns=None), make("b", plain, stall_ns=5.0)
    comparison = compared(a, b, metrics=("completion_ns", "stall_ns"))
    assert [(x.what, x.side, x.why, x.rows) for x in comparison.unmatched] == [("stall_ns of flow", "b", "a does not tell it", 8)]
    assert {row.metric.name for row in comparison.rows} == {"completion_ns"}


def test_a_value_that_the_other_side_or_neither_tells_is_listed(make: Callable[..., Dataset]) -> None:
    a, b, c = make("a", plain, stall_ns=5.0), make("b", plain, stall_ns=None), make("c", plain, stall_ns=None)
    for first, second, side, why in ((a, b, "a", "b does not tell it"), (b, c, "neither", "no run of either side tells it")):
        comparison = compared(first, second, metrics=("completion_ns", "stall_ns"))
        assert [(x.what, x.side, x.why, x.rows) for x in comparison.unmatched] == [("stall_ns of flow", side, why, 8)]


def test_what_ran_another_algorithm_is_noted(make: Callable[..., Dataset]) -> None:
    comparison = compared(make("a", plain, cc="cubic"), make("b", plain))
    assert [note for note in comparison.notes if " ran " in note] == ["flow ran cubic on a and reno on b in 8 cells"]


def test_directories_of_one_name_are_called_by_their_paths(make: Callable[..., Dataset], tmp_path: Path) -> None:
    comparison = compared(make("x/out", plain), make("y/out", plain))
    assert comparison.sides == (str(tmp_path / "x/out"), str(tmp_path / "y/out"))


def test_a_flow_that_a_cell_of_the_other_side_lacks_is_listed(make: Callable[..., Dataset]) -> None:
    a, b = make("a", plain), make("b", plain, ("repeat=4", "vars.N=[1]"))
    # A cell of two flows there, of which one has no records.
    head = Head.look(b.directory)
    head.write(str(head.owner), {RUNS: as_parquet(b.runs.with_columns(N=pl.lit("2")))})
    found = {(x.what, x.side, x.why, x.rows) for x in compared(a, b, how="each", arm="sack").unmatched}
    assert found == {
        ("N 1", "a", "b: not in the plan", 2),
        ("flow[2] in Tp 10 ms, N 2, sack", "a", "b: no such flow or link there", 1),
        ("flow[2] in Tp 40 ms, N 2, sack", "a", "b: no such flow or link there", 1),
    }


def test_cells_of_a_factor_that_only_one_side_sweeps_do_not_correspond(make: Callable[..., Dataset]) -> None:
    a, b = make("a", plain), make("b", plain)
    head = Head.look(b.directory)
    head.write(str(head.owner), {RUNS: as_parquet(b.runs.drop("N"))})
    for first, second in ((a, b), (b, a)):
        with pytest.raises(SawtoothError, match="a sweeps `N`, b does not"):
            compared(first, second)


def test_backends_are_called_by_their_names_where_they_differ(make: Callable[..., Dataset], study_file: Path) -> None:
    text = study_file.read_text().replace('stack = "ns2"', 'stack = "linux"')
    for name, value in (("newreno", 2), ("sack", 3)):
        text = text.replace(f'"tcp.recovery" = "{name}"', f'"tcp.dup_thresh" = {value}')
    study_file.write_text(text)
    comparison = compared(make("a", plain), make("b", plain, ("repeat=4", "backend=uml")))
    assert comparison.sides == ("sim", "uml")


def test_cells_that_differ_in_where_an_algorithm_runs_stay_two(make: Callable[..., Dataset], tmp_path: Path) -> None:
    a = make("a", lambda run, _: run.cell * plain(run, 1))
    names = pl.col("cell").replace_strict({1: "reno", 2: "kernel:reno", 3: "cubic", 4: "bic"}, return_dtype=pl.String)
    head = Head.look(a.directory)
    head.write(str(head.owner), {RUNS: as_parquet(a.runs.with_columns(cc=names, cc_value=None, Tp=pl.lit("10 ms"), N=pl.lit("1")))})
    table = published(tmp_path / "known.csv", "cc,mean_s\nreno,1.0\n")
    asked = Question(("completion_ns",), published=side_by_side.published("mean_s"), arm="sack")
    rows = side_by_side.compare(a.directory, [table], asked).rows
    assert [(row.cell, row.factors["cc"], round(row.ratio.estimate, 9)) for row in rows] == [(1, "reno", 1.225), (2, "kernel:reno", 2.45)]


def test_of_one_arm_its_own_missing_cells_are_listed(make: Callable[..., Dataset]) -> None:
    a, b = make("a", plain), make("b", plain, skip=lambda run: run.cell == 4)
    comparison = compared(a, b, arm="sack")
    assert {row.arm for row in comparison.rows} == {"sack"}
    assert [(x.what, x.side, x.why, x.rows) for x in comparison.unmatched] == [
        ("Tp 40 ms, N 2, sack", "a", "b: none of 4 runs is done yet", 1)
    ]
    # Of another arm the cell was not planned: the plan that is asked is that of the arm.
    c = make("c", plain, ("repeat=4", "vars.N=[1]"))
    assert {x.why for x in compared(a, c, arm="sack").unmatched} == {"c: not in the plan"}


def test_what_an_arm_lacks_is_listed(make: Callable[..., Dataset]) -> None:
    comparison = compared(make("a", plain, skip=lambda run: run.cell == 4 and run.arm == "sack"), None)
    assert len(comparison.rows) == 3
    assert [(x.what, x.side, x.why) for x in comparison.unmatched] == [
        ("Tp 40 ms, N 2, sack / newreno", "newreno", "sack: none of 4 runs is done yet")
    ]


@pytest.mark.parametrize(("how", "two"), [("mean", 1.5e9), ("sum", 3e9), ("max", 2e9)])
def test_a_block_of_two_flows_has_their_mean_sum_or_largest(make: Callable[..., Dataset], how: str, two: float) -> None:
    found = sides.observe(make("a", lambda _, i: i * 1e9), measures.measure("completion_ns"), how)
    assert {(line["cell"], line["item"], line["value"]) for line in found.iter_rows(named=True)} == {
        (cell, "flow", two if cell in (2, 4) else 1e9) for cell in (1, 2, 3, 4)
    }


def test_cells_are_recognised_by_their_factors_and_missing_levels_are_listed(make: Callable[..., Dataset]) -> None:
    a = make("a", plain)
    b = make("b", plain, ("repeat=4", 'vars.Tp=["0.04 s", "80 ms"]'))
    comparison = compared(a, b)
    assert {row.factors["Tp"] for row in comparison.rows} == {"40 ms"}
    assert {(x.what, x.side, x.rows) for x in comparison.unmatched} == {("Tp 10 ms", "a", 4), ("Tp 80 ms", "b", 4)}


def test_an_unfinished_side_is_noted_and_its_missing_cells_listed(make: Callable[..., Dataset]) -> None:
    a, b = make("a", plain), make("b", plain, skip=lambda run: run.cell == 4 or (run.cell == 3 and run.replicate == 4))
    comparison = compared(a, b)
    assert "b: 22 of 32 runs are done" in comparison.notes
    assert {(x.what, x.why) for x in comparison.unmatched} == {
        ("Tp 40 ms, N 2, newreno", "b: none of 4 runs is done yet"),
        ("Tp 40 ms, N 2, sack", "b: none of 4 runs is done yet"),
    }
    assert {row.cell: row.ratio.n for row in comparison.rows} == {1: 4, 2: 4, 3: 3}


def test_the_arms_of_one_dataset_are_compared_with_each_other(make: Callable[..., Dataset]) -> None:
    a = make("a", lambda run, _: plain(run, 1) * (2 if run.arm == "sack" else 1))
    comparison = compared(a, None)
    assert comparison.sides == ("sack", "newreno")
    assert {(row.arm, round(row.ratio.estimate, 9), row.paired) for row in comparison.rows} == {("sack / newreno", 2.0, True)}


def test_levels_are_recognised_by_what_they_amount_to() -> None:
    assert level("10 ms") == level("0.01 s")
    assert level("10 packets") != level("10 B")
    assert level("kernel:cubic") == level("cubic")


def test_the_kernel_and_the_simulator_may_spell_an_algorithm_differently(make: Callable[..., Dataset]) -> None:
    a, b = make("a", plain), make("b", plain)
    for made, text in ((a, "kernel:reno"), (b, "reno")):
        head = Head.look(made.directory)
        head.write(str(head.owner), {RUNS: as_parquet(made.runs.with_columns(cc=pl.lit(text), cc_value=None))})
    assert len(compared(a, b).rows) == 8


# --- published numbers --------------------------------------------------------------------------------------------------


def published(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_published_numbers_are_converted_and_matched_by_factor(make: Callable[..., Dataset], tmp_path: Path) -> None:
    a = make("a", plain)
    table = published(tmp_path / "known.csv", "Tp_ms,N,arm,mean_s,ci_s\n10,1,sack,1.25,0.05\n40,2,sack,1.1,0.05\n99,2,sack,1.0,0.05\n")
    asked = Question(("completion_ns",), published=side_by_side.published("mean_s", ci="ci_s", n="10"))
    comparison = side_by_side.compare(a.directory, [table], asked)
    rows = {(row.factors["Tp"], row.factors["N"], row.arm): row for row in comparison.rows}
    assert set(rows) == {("10 ms", "1", "sack"), ("40 ms", "2", "sack")}
    row = rows["10 ms", "1", "sack"]
    data = np.array([1.0, 1.3, 1.5, 1.1])
    assert row.ratio.estimate == pytest.approx(data.mean() / 1.25)
    assert (row.second.low, row.second.high) == pytest.approx((1.2e9, 1.3e9))
    # Welch by hand: our squared standard error, theirs from the half-width and t of 9 degrees of freedom.
    ours, theirs = data.var(ddof=1) / 4, (0.05 / scipy_stats.t.ppf(0.975, 9)) ** 2
    freedom = (ours + theirs) ** 2 / (ours**2 / 3 + theirs**2 / 9)
    half = scipy_stats.t.ppf(0.975, freedom) * math.sqrt(ours + theirs)
    assert (row.difference.low, row.difference.high) == pytest.approx(
        ((data.mean() - 1.25 - half) * 1e9, (data.mean() - 1.25 + half) * 1e9)
    )
    # They say how far they can be trusted.
    assert comparison.notes == []
    only = {(x.what, x.side) for x in comparison.unmatched}
    assert ("Tp 99 ms, N 2, arm sack", "known") in only
    assert ("Tp 10 ms, N 1, newreno", "a") in only


def test_published_numbers_without_an_error_are_taken_as_exact_and_said_so(make: Callable[..., Dataset], tmp_path: Path) -> None:
    table = published(tmp_path / "known.csv", "experiment,mean_ms\n2,1000\n")
    columns = side_by_side.published("mean_ms", factors=["cell=experiment"])
    comparison = side_by_side.compare(make("a", plain).directory, [table], Question(("completion_ns",), published=columns, arm="sack"))
    (row,) = comparison.rows
    assert (row.cell, row.second.low, row.second.high, row.second.kind) == (2, 1e9, 1e9, "as published")
    assert comparison.notes == ["known.csv: taken as exact, because no column says how far the numbers can be trusted"]


def test_published_factors_are_recognised_in_another_unit_and_by_the_name_of_their_column(
    make: Callable[..., Dataset], tmp_path: Path
) -> None:
    table = published(tmp_path / "known.csv", "Tp_s,flows,arm,mean_s,ci_s\n0.04,2,sack,1.1,0.05\n")
    asked = Question(("completion_ns",), published=side_by_side.published("mean_s", ci="ci_s", factors=["N=flows"]))
    a = make("a", plain)
    (row,) = side_by_side.compare(a.directory, [table], asked).rows
    assert (row.cell, row.arm) == (4, "sack")
    # Without a number of observations the error of the mean is taken as known: its half-width is 1.96 standard errors.
    assert (row.second.low, row.second.high) == pytest.approx((1.05e9, 1.15e9))
    theirs = 0.05 / scipy_stats.norm.isf(0.025)
    ours = np.array([1.0, 1.3, 1.5, 1.1]).std(ddof=1) / 2
    freedom = (ours**2 + theirs**2) ** 2 / (ours**4 / 3)
    half = scipy_stats.t.ppf(0.975, freedom) * math.hypot(ours, theirs)
    assert row.difference.high == pytest.approx((1.225 - 1.1 + half) * 1e9)
    strange = Question(("completion_ns",), published=side_by_side.published("mean_s", factors=["flow=flows"]))
    with pytest.raises(SawtoothError, match="the study has no factor `flow`"):
        side_by_side.compare(a.directory, [table], strange)


def test_published_means_of_one_observation_or_of_an_unknown_deviation_are_not_tested(make: Callable[..., Dataset], tmp_path: Path) -> None:
    table = published(tmp_path / "known.csv", "cell,mean_s,sd_s,n\n1,1.1,0.2,1\n2,1.1,,9\n3,1.1,0.2,9\n4,1.1,0.2,2\n")
    asked = Question(("completion_ns",), published=side_by_side.published("mean_s", sd="sd_s", n="n"), arm="sack")
    rows = {row.cell: row for row in side_by_side.compare(make("a", plain).directory, [table], asked).rows}
    for cell, why in ((1, "n = 1"), (2, "no published spread")):
        assert (rows[cell].why, rows[cell].p_within, rows[cell].second.high, rows[cell].second.kind) == (
            why,
            None,
            math.inf,
            f"{why}: no interval",
        )
        assert rows[cell].second.low == -math.inf
    # 0.2 / sqrt(9), times t of 8 degrees of freedom.
    half = 0.2 / 3 * 2.3060041
    assert (rows[3].second.low, rows[3].second.high) == pytest.approx(((1.1 - half) * 1e9, (1.1 + half) * 1e9))
    assert rows[3].p_within is not None
    # Two observations are enough: t of one degree of freedom.
    assert rows[4].second.high == pytest.approx((1.1 + 0.2 / math.sqrt(2) * 12.7062047) * 1e9)
    many = Question(("completion_ns",), published=side_by_side.published("mean_s", sd="sd_s", n="many"), arm="sack")
    with pytest.raises(SawtoothError, match=r"`n` is a whole number or a column of .*known\.csv, found 'many'"):
        side_by_side.compare(tmp_path / "a", [table], many)


def test_published_numbers_of_no_unit_are_of_the_metric_s_and_may_be_nought(make: Callable[..., Dataset], tmp_path: Path) -> None:
    table = published(tmp_path / "known.csv", "cell,mean\n2,1.225e9\n3,0\n")
    asked = Question(("completion_ns",), published=side_by_side.published("mean"), arm="sack")
    rows = {row.cell: row.ratio for row in side_by_side.compare(make("a", plain).directory, [table], asked).rows}
    assert rows[2].estimate == pytest.approx(1)
    assert (rows[3].estimate, rows[3].kind) == (math.inf, "second mean is 0: no ratio")


def test_published_numbers_are_in_the_unit_that_is_said_or_that_their_column_ends_in(make: Callable[..., Dataset], tmp_path: Path) -> None:
    a = make("a", plain)

    def ratio(metric: str, column: str, value: str, unit: str | None = None) -> float:
        table = published(tmp_path / "known.csv", f"cell,{column}\n2,{value}\n")
        asked = Question((metric,), published=side_by_side.published(column, unit=unit), arm="sack")
        (row,) = side_by_side.compare(a.directory, [table], asked).rows
        return row.ratio.estimate

    for column, value in (("rate_Mbps", "1"), ("rate_mbps", "1"), ("rate_kbps", "1000"), ("rate_Kbps", "1000"), ("rate_kBps", "125")):
        assert ratio("goodput_bps", column, value) == pytest.approx(1), column
    assert ratio("completion_ns", "mean", "1225", "ms") == pytest.approx(1)
    assert ratio("completion_ns", "mean_msec", "1225") == pytest.approx(1)
    with pytest.raises(SawtoothError, match="unknown unit `parsec`"):
        ratio("completion_ns", "mean", "1225", "parsec")


def test_published_cells_that_one_side_does_not_tell_are_listed(make: Callable[..., Dataset], tmp_path: Path) -> None:
    table = published(tmp_path / "known.csv", "cell,mean_s\n1,\n2,1.1\n3,1.1\n9,1.1\n")
    a = make("a", lambda run, i: None if run.cell == 2 else plain(run, i))
    asked = Question(("completion_ns",), published=side_by_side.published("mean_s"), arm="sack")
    comparison = side_by_side.compare(a.directory, [table], asked)
    assert [row.cell for row in comparison.rows] == [3]
    assert sorted((x.what, x.side, x.why, x.rows) for x in comparison.unmatched) == [
        ("Tp 10 ms, N 1, sack", "a", "known has no number of it", 1),
        ("Tp 40 ms, N 2, sack", "a", "known has no number of it", 1),
        ("cell 9", "known", "a has no such run", 1),
        ("completion_ns of Tp 10 ms, N 2, sack", "known", "a does not tell it", 1),
    ]


# --- the page -----------------------------------------------------------------------------------------------------------


def test_the_page_has_its_figures_and_windows_are_drawn_as_steps(study_file: Path, tmp_path: Path) -> None:
    options = ["scenario.sample=100 ms", "repeat=3"]
    a = sawtooth.run(study_file, tmp_path / "a", options=options)
    b = sawtooth.run(study_file, tmp_path / "b", options=[*options, "tcp.limited_transmit=false"])
    asked = Question(cell=2, flow="flow[2]")
    comparison = side_by_side.compare(a.directory, [b.directory], asked)
    page = compare_page.page(comparison, a.directory, [b.directory], asked)
    page.write(tmp_path / "out")
    figures = {path.name for path in (tmp_path / "out/figures").iterdir()}
    assert {"goodput_bps_against.svg", "goodput_bps_against.png", "goodput_bps_ratios.png", "cwnd.png"} <= figures
    html = (tmp_path / "out/report.html").read_text()
    assert "a against b: Who gets more?" in html
    assert "Congestion window of flow[2] in cell 2 (Tp 10 ms, N 2), arm newreno, replicate 1" in html
    (window,) = [plot for section in page.sections for plot in section.plots if plot.name == "cwnd"]
    lines = window.figure.axes[0].get_lines()
    assert [line.get_drawstyle() for line in lines] == ["steps-post", "steps-post"]
    first = a.runs.filter((pl.col("cell") == 2) & (pl.col("arm") == "newreno") & (pl.col("replicate") == 1))["run"].item()
    sampled = a.series().filter((pl.col("run") == first) & (pl.col("flow") == "flow[2]")).collect()["cwnd_bytes"] / 1e3
    drawn = np.asarray(lines[0].get_ydata(), dtype=float)
    assert drawn == pytest.approx(sampled.to_numpy()[: len(drawn)])


def dots(count: int) -> list[paired.Dot]:
    def around(value: float) -> stats.Interval:
        return stats.Interval(value, value * 0.9, value * 1.1, 5, "")

    return [
        paired.Dot(f"10 Mbit/s, {at} ms, highspeed / newreno", f"{at % 9} ms", around(1 + at), around(2 + at), around((1 + at) / (2 + at)))
        for at in range(count)
    ]


@pytest.mark.parametrize("count", [1, 2, 12, 40])
def test_no_labels_of_the_figures_overlap(count: int) -> None:
    rows = dots(count)
    legend = paired.Legend("delay", [f"{n} ms" for n in range(9)])
    by_level = {"delay": {f"{n} ms": [dot for dot in rows if dot.group == f"{n} ms"] or rows for n in range(9)}, "arm": {"all": rows}}
    for made in (
        paired.ratios(rows, ("uml", "sim"), "completion", 0.05, legend),
        paired.identity(rows, ("uml", "sim"), "completion (s)", 0.05, legend),
        paired.ratios_by_level(by_level, ("uml", "sim"), "completion", 0.05),
    ):
        canvas = FigureCanvasAgg(made)
        canvas.draw()
        for axis in made.axes:
            for scale in (axis.xaxis, axis.yaxis):
                boxes = [
                    label.get_window_extent(canvas.get_renderer())
                    for label in scale.get_ticklabels()
                    if label.get_text() and label.get_visible()
                ]
                boxes = sorted(boxes, key=lambda box: (box.x0, box.y0)) if scale is axis.xaxis else sorted(boxes, key=lambda box: box.y0)
                assert not any(one.overlaps(other) for one, other in pairwise(boxes))
        for legend in made.legends:
            assert not any(legend.get_window_extent().overlaps(axis.get_window_extent()) for axis in made.axes)


def test_hundreds_of_rows_are_shown_by_factor_and_the_furthest_by_name(make: Callable[..., Dataset]) -> None:
    options = ("repeat=2", "vars.Tp=[" + ", ".join(f'"{at} ms"' for at in range(1, 31)) + "]")
    a, b = make("a", lambda run, _: plain(run, 1) * (1 + run.cell / 100), options), make("b", plain, options)
    asked = Question()
    comparison = side_by_side.compare(a.directory, [b.directory], asked)
    assert len(comparison.rows) == 120
    assert side_by_side.table(comparison).row_count == compare_rows.MOST_LINES
    plots = {
        plot.name: plot for section in compare_page.page(comparison, a.directory, [b.directory], asked).sections for plot in section.plots
    }
    assert "The 40 of 120 rows furthest from 1." in plots["completion_ns_ratios"].caption
    assert "completion_ns_by_factor" in plots


# --- mistakes -----------------------------------------------------------------------------------------------------------


def message(first: Path, second: Path, asked: Question) -> str:
    with pytest.raises(SawtoothError) as raised:
        side_by_side.compare(first, [second], asked)
    return str(raised.value)


def test_mistakes_say_what_where_and_what_to_do(make: Callable[..., Dataset], study_file: Path, tmp_path: Path) -> None:
    a, b = make("a", plain).directory, make("b", plain).directory
    other = tmp_path / "other.toml"
    other.write_text(study_file.read_text().replace('name = "pair"', 'name = "other"'))
    sawtooth.run(other, tmp_path / "o", short=True)
    apart = make("apart", plain, ("repeat=4", 'vars.Tp=["80 ms"]')).directory
    assert message(a, tmp_path / "o", Question()) == (
        f"error: {a} holds results of `pair`, {tmp_path / 'o'} of `other`\n"
        "hint: two datasets are compared cell by cell, so both must be of one study (its `name`)"
    )
    assert message(a, apart, Question()) == (
        "error: a and apart have no cell in common\nhint: Tp 10 ms: only a (apart: not in the plan); Tp 40 ms: only a (apart: not in the "
        "plan); Tp 80 ms: only apart (a: not in the plan)"
    )
    assert message(a, b, Question(("complet_ns",))) == "error: there is no measure `complet_ns`\nhint: did you mean `completion_ns`?"
    assert message(a, tmp_path / "none", Question()) == (
        f"error: {tmp_path / 'none'} is no results directory\nhint: `sawtooth run STUDY --out DIR` makes one"
    )
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"Tp\xff")
    known = side_by_side.published("mean_s")
    assert message(a, binary, Question(("completion_ns",), published=known)) == (
        f"error: {binary} is no text: byte 2 is not UTF-8\nhint: a CSV file is needed"
    )
    assert message(a, tmp_path / "none.csv", Question(("completion_ns",), published=known)) == (
        f"error: cannot read {tmp_path / 'none.csv'}: No such file or directory"
    )
    (b / "parts/batch-000000.sha256").unlink()
    assert message(a, b, Question()).startswith(
        "error: a and b have no cell in common\nhint: Tp 10 ms, N 1, newreno: only a (b: none of 4 runs is done yet)"
    )
    assert message(a, b, Question(arm="sak")) == f"error: {a} has no arm `sak`\nhint: did you mean `sack`?"


CSV_MISTAKES = {
    "no value named": (
        "Tp_ms,mean_s,median_s\n10,1,1\n",
        {},
        "error: which column of PATH is compared?\nhint: --value COLUMN says it; there are mean_s, median_s",
    ),
    "no such column": ("Tp_ms,mean_s\n10,1\n", {"value": "mean_ms"}, "error: PATH has no column `mean_ms`\nhint: did you mean `mean_s`?"),
    "no factor": (
        "delay,mean_s\n10,1\n",
        {"value": "mean_s"},
        "error: no column of PATH is a factor of the study\nhint: its columns are delay, mean_s; the study has cell, Tp, N, arm, item; "
        "`keys`, or `--factor NAME=COLUMN`, says which is which",
    ),
    "another kind of unit": (
        "Tp_ms,mean_bps\n10,1\n",
        {"value": "mean_bps"},
        "error: `mean_bps` of PATH is in bit/s, `completion_ns` in ns\nhint: --metric names ours, --value theirs, --unit the unit of theirs",
    ),
    "no number": (
        "# made by hand\nTp_ms,mean_s\n20,1\n# and this\n10,fast\n",
        {"value": "mean_s"},
        "error: PATH:5:4: `fast` in column `mean_s` is no number\nhint: leave it empty if it is not known",
    ),
    "two columns of one name": (
        "Tp_ms,mean_s, mean_s\n10,1,2\n",
        {"value": "mean_s"},
        "error: PATH:1:15: two columns are called `mean_s`\nhint: give each its own name",
    ),
    "a cell twice": (
        "Tp_ms,client,mean_s\n10,a,1\n10,b,2\n",
        {"value": "mean_s"},
        "error: PATH:3:6: 2 rows are of Tp 10 ms, the first in line 2\nhint: each cell needs one row; columns that are neither key nor value: client; `where` of a study's reference chooses rows by them",
    ),
    "a deviation without number": (
        "Tp_ms,mean_s,sd_s\n10,1,1\n",
        {"value": "mean_s", "sd": "sd_s"},
        "error: a standard deviation says how far a mean can be trusted only with its number of observations\nhint: say of how many by `n` (`--n`): a number, or a column",
    ),
    "no common cell": (
        "Tp,mean_s\n10,1\n",
        {"value": "mean_s"},
        "error: no cell of a is in known\nhint: the first of ours is Tp 10 ms, N 1; the first of theirs Tp 10; a column's name should end in its "
        "unit, as `delay_ms` does",
    ),
}


@pytest.mark.parametrize(("text", "columns", "expected"), CSV_MISTAKES.values(), ids=CSV_MISTAKES.keys())
def test_mistakes_in_a_table_of_published_numbers(
    text: str, columns: dict[str, str], expected: str, make: Callable[..., Dataset], tmp_path: Path
) -> None:
    table = published(tmp_path / "known.csv", text)
    asked = Question(("completion_ns",), published=side_by_side.published(columns.get("value"), sd=columns.get("sd")))
    assert message(make("a", plain).directory, table, asked) == expected.replace("PATH", str(table))


def test_tolerances_may_be_percentages() -> None:
    assert side_by_side.tolerance("5 %") == side_by_side.tolerance("0.05") == side_by_side.tolerance("5%")
    with pytest.raises(SawtoothError, match="is no tolerance"):
        side_by_side.tolerance("five")


def test_where_the_other_side_may_be_0_the_difference_is_told_in_its_unit_and_no_ratio(make: Callable[..., Dataset]) -> None:
    small = (0, 3e8, 0, 1e8)
    made = compared(make("a", lambda run, _: 3 * small[run.replicate - 1] + 2e8), make("b", lambda run, _: small[run.replicate - 1]))
    (row, *_) = made.rows
    assert row.second.low < 0 < row.second.high
    told = f"{row.difference.estimate / 1e6:.4g} ({row.difference.low / 1e6:.4g} to {row.difference.high / 1e6:,.4g}) ms"
    lines = side_by_side.summary(made)
    (line,) = [line for line in lines if "may be 0" in line]
    assert told in line
    assert not any("furthest from 1" in each for each in lines)
    text = text_of(made)
    assert told in text
    assert "difference: first less second with its 95 % interval" in " ".join(side_by_side.key(made))
