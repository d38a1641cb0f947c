"""Findings of every kind: what they decide, and how verdicts of several cells and of several findings come about."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sawtooth import stats
from sawtooth.errors import StudyError
from sawtooth.execute import execute
from sawtooth.findings.verdict import Answer, Claimed, Evidence, Wanted, answer_of, decide
from sawtooth.plan import make_plan
from sawtooth.plots import forest
from sawtooth.report.answers import Answers
from sawtooth.report.document import Verdict
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study

STUDY = """
repeat = 4
[draws]
start = { distribution = "uniform", low = "0", high = "300" }
[scenario]
duration = "6 s"
stack = "linux"
links.l = { rate = "4 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "40 packets" } }
[[scenario.flows]]
name = "f"
path = ["l"]
start = "start * 1 ms"
[[scenario.flows]]
name = "file"
path = ["l"]
start = "2 s"
source = { name = "bulk", size = "300 kB" }
[sweep]
"links.l.rate" = ["2 Mbit/s", "4 Mbit/s", "8 Mbit/s"]
[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }
short = { "links.l.queue.limit" = "5 packets" }
"""


def ran(folder: Path, text: str) -> Dataset:
    (folder / "s.toml").write_text(STUDY + text)
    plan = make_plan(Study.load(folder / "s.toml"))
    dataset = Dataset.create(folder / "out", plan)
    execute(plan, dataset)
    return dataset


CLAIMS: dict[str, tuple[str, Answer]] = {
    "within a margin of a quantity": ('metric = "goodput_bps"\nof = "f"\narm = "reno"\nis = "within"\nthan = "4 Mbit/s"\nmargin = "90 %"', "yes"),
    "far from a quantity": ('metric = "goodput_bps"\nof = "f"\narm = "reno"\nis = "within"\nthan = "1 Gbit/s"\nmargin = "10 Mbit/s"', "no"),
    "within a margin of itself at another level": (
        'metric = "goodput_bps"\nof = "f"\narm = "reno"\nwhere = { rate = "8 Mbit/s" }\nis = "within"\nthan = { where = { rate = "2 Mbit/s" } }\nmargin = "20 %"',
        "no",
    ),
    "rising": ('metric = "goodput_bps"\nof = "f"\nis = "rising"\nalong = "rate"\nstrata = true', "yes"),
    "falling": ('metric = "goodput_bps"\nof = "f"\nis = "falling"\nalong = "rate"\nstrata = true', "no"),
    "ranked": (
        'metric = "srtt_mean_ns"\nof = "f"\nwhere = { rate = "4 Mbit/s" }\nis = "ranked"\norder = ["cubic", "short"]', "yes",
    ),
    "ranked the other way": (
        'metric = "srtt_mean_ns"\nof = "f"\nwhere = { rate = "4 Mbit/s" }\nis = "ranked"\norder = ["short", "cubic"]', "no",
    ),
    "ranked levels": ('metric = "srtt_mean_ns"\nof = "f"\narm = "cubic"\nis = "ranked"\nalong = "rate"\norder = ["2 Mbit/s", "8 Mbit/s"]', "yes"),
    "places that several have together": (
        'metric = "srtt_mean_ns"\nof = "f"\nwhere = { rate = "4 Mbit/s" }\nis = "ranked"\norder = [["reno", "cubic"], "short"]', "yes",
    ),
    "places of several the other way": (
        'metric = "srtt_mean_ns"\nof = "f"\nwhere = { rate = "4 Mbit/s" }\nis = "ranked"\norder = ["short", ["reno", "cubic"]]', "no",
    ),
    "ranked on average": (
        'metric = "srtt_mean_ns"\nof = "f"\nis = "ranked"\norder = [["reno", "cubic"], "short"]\ncells = "on average"\nstatistic = "geometric mean"', "yes",
    ),
    "alike": ('metric = "min_rtt_ns"\nof = "f"\nwhere = { rate = "4 Mbit/s" }\nis = "alike"\nmargin = "5 %"', "yes"),
    "not alike": ('metric = "srtt_mean_ns"\nof = "f"\nwhere = { rate = "4 Mbit/s" }\nis = "alike"\nmargin = "5 %"', "no"),
    "alike along a factor, on average": ('metric = "goodput_bps"\nof = "f"\narm = "reno"\nis = "alike"\nalong = "rate"\nmargin = "200 %"', "yes"),
    "not alike along a factor": ('metric = "goodput_bps"\nof = "f"\nis = "alike"\nalong = "rate"\nmargin = "10 %"\ncells = "on average"', "no"),
    "crossing that is none": (
        'metric = "srtt_mean_ns"\nof = "f"\narm = "cubic"\nis = "crossing"\nalong = "rate"\nbetween = ["2 Mbit/s", "8 Mbit/s"]\nthan = { arm = "short" }', "no",
    ),
    "crossing a quantity": (
        'metric = "srtt_mean_ns"\nof = "f"\narm = "cubic"\nis = "crossing"\nalong = "rate"\nbetween = ["2 Mbit/s", "8 Mbit/s"]\nthan = "100 ms"', "yes",
    ),
    "any cell": ('metric = "goodput_bps"\nof = "f"\narm = "reno"\nis = "above"\nthan = "5 Mbit/s"\ncells = "any"', "yes"),
    "every cell": ('metric = "goodput_bps"\nof = "f"\narm = "reno"\nis = "above"\nthan = "5 Mbit/s"', "mixed"),
    "two of three cells": ('metric = "goodput_bps"\nof = "f"\narm = "reno"\nis = "above"\nthan = "5 Mbit/s"\ncells = "at least 2"', "no"),
    "a third of the cells": ('metric = "goodput_bps"\nof = "f"\narm = "reno"\nis = "above"\nthan = "5 Mbit/s"\ncells = "at least 33 %"', "yes"),
    "medians": ('metric = "goodput_bps"\nof = "f"\narm = "reno"\nstatistic = "geometric mean"\nis = "below"\nthan = "9 Mbit/s"', "yes"),
    "what did not finish is no less than a second": (
        'metric = "completion_ns"\nof = "f"\narm = "reno"\nis = "above"\nthan = "1 s"', "yes",
    ),
    "what did not finish is not known to be below a minute": ('metric = "completion_ns"\nof = "f"\narm = "reno"\nis = "below"\nthan = "60 s"', "cannot distinguish"),
}  # fmt: skip


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    text = "".join(f'[[findings]]\nclaim = "{claim}"\nname = "n{at}"\n{keys}\n' for at, (claim, (keys, _)) in enumerate(CLAIMS.items()))
    text += '[[findings]]\nclaim = "both"\nis = "all"\nfindings = ["n0", "n3"]\n[[findings]]\nclaim = "one of"\nis = "any"\nfindings = ["n1", "n3"]\n'
    text += '[[findings]]\nclaim = "not both"\nis = "all"\nfindings = ["n1", "n3"]\n'
    return {verdict.claim: verdict for verdict in Answers(ran(tmp_path_factory.mktemp("findings"), text)).verdicts()}


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_is_decided(claim: str, verdicts: dict[str, Verdict]) -> None:
    assert verdicts[claim].answer == CLAIMS[claim][1], verdicts[claim].numbers
    assert verdicts[claim].numbers


def test_a_claim_may_follow_from_others(verdicts: dict[str, Verdict]) -> None:
    assert [verdicts[name].answer for name in ("both", "one of", "not both")] == ["yes", "yes", "mixed"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('is = "within"\nthan = "1 Mbit/s"', "`within` needs a margin"),
        ('is = "within"\nthan = "1 Mbit/s"\nmargin = "5 ms"', "is no rate"),
        ('is = "rising"', "lacks `along`"),
        ('is = "rising"\nalong = "delay"', "`along` cannot be `delay`"),
        ('is = "above"\nthan = "1 Mbit/s"\nalong = "rate"', "has no `along`"),
        ('is = "crossing"\nalong = "rate"\nthan = "1 Mbit/s"', "between two levels"),
        ('is = "ranked"\norder = ["reno", "vegas"]', "there is no arm `vegas`"),
        ('is = "ranked"\norder = ["reno", ["cubic", "reno"]]', "one of the order is there twice"),
        ('is = "ranked"\norder = ["reno", []]', "a place of the order is empty"),
        ('is = "ranked"\norder = ["reno", ["cubic", "vegas"]]', "there is no arm `vegas`"),
        ('is = "alike"', "`alike` needs a margin"),
        ('is = "alike"\nalong = "rate"\nmargin = "0 %"', "a margin is above 0"),
        ('is = "alike"\nalong = "delay"\nmargin = "5 %"', "`along` cannot be `delay`"),
        ('is = "reproduced"\nreference = "paper.goodput"', "the study has no reference"),
        ('is = "above"\nthan = "1 Mbit/s"\ncells = "most"', "`cells` cannot be `most`"),
        ('is = "all"\nfindings = ["x"]', "has no `metric`"),
    ],
)
def test_a_claim_that_cannot_be_decided_is_told(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(f'{STUDY}[[findings]]\nclaim = "c"\nmetric = "goodput_bps"\nof = "f"\n{text}\n')
    with pytest.raises(StudyError) as caught:
        make_plan(Study.load(tmp_path / "s.toml"))
    assert message in caught.value.message


def evidence(shown: float = 0.0, denied: float = 0.0) -> Evidence:
    """Evidence that shows its claim, or the contrary, up to these confidences."""
    return Evidence("", lambda level: level <= shown, lambda level: level <= denied, "")


@pytest.mark.parametrize(
    ("cells", "wanted", "answer"),
    [
        ([evidence(0.96), evidence(0.96)], Wanted(), "yes"),
        ([evidence(0.96), evidence(0.94)], Wanted(), "cannot distinguish"),
        # Of two cells that were looked at, one that denies it at 96 % may be chance; at 98 % it is not.
        ([evidence(0.9), evidence(0, 0.96)], Wanted(), "cannot distinguish"),
        ([evidence(0.9), evidence(0, 0.98)], Wanted(), "no"),
        ([evidence(0.98), evidence(0, 0.98)], Wanted(), "mixed"),
        ([evidence(0.96), evidence()], Wanted(at_least=1), "cannot distinguish"),
        ([evidence(0.98), evidence()], Wanted(at_least=1), "yes"),
        ([evidence(0, 0.96), evidence(0, 0.96)], Wanted(at_least=1), "no"),
        ([evidence(0.976), evidence(0.976), evidence()], Wanted(at_least=2), "yes"),
        ([evidence(0.97), evidence(0.97), evidence()], Wanted(at_least=2), "cannot distinguish"),
        ([evidence(0.99), evidence(0, 0.976), evidence(0, 0.976)], Wanted(share=0.6), "no"),
    ],
)
def test_cells_are_put_together_without_errors_adding_up(cells: list[Evidence], wanted: Wanted, answer: Answer) -> None:
    assert answer_of(Claimed("c", cells, wanted), 0.05) == answer


def test_verdicts_of_a_study_are_adjusted_by_holm() -> None:
    claims = [Claimed("a", [evidence(0.985)]), Claimed("b", [evidence(0.976)]), Claimed("c", [evidence(0.94)])]
    # 1 - 0.05/3 = 0.983, then 1 - 0.05/2 = 0.975, then 0.95.
    assert decide(claims) == ["yes", "yes", "cannot distinguish"]
    assert decide(claims[1:]) == ["yes", "cannot distinguish"]
    assert decide([Claimed("a", [evidence(0.98)]), *claims[1:]]) == ["cannot distinguish"] * 3
    assert decide([Claimed("a", [evidence(0.96)])] * 3, together=False) == ["yes"] * 3
    assert decide([Claimed("nothing", ()), Claimed("a", [evidence(0.96)])]) == ["cannot distinguish", "yes"]


def test_of_claims_about_nothing_but_chance_at_most_one_in_twenty_studies_has_a_verdict() -> None:
    rng = np.random.default_rng(3)
    studies, wrong = 300, 0
    for _ in range(studies):
        claims: list[Claimed] = []
        for _ in range(4):
            data = rng.normal(0, 1, 8)
            made = {level: stats.mean_interval(data, level) for level in (1 - 0.05 / m for m in range(1, 5))}

            def shows(level: float, made: dict[float, stats.Interval] = made) -> bool:
                return made[min(made, key=lambda known: abs(known - level))].low > 0

            def denies(level: float, made: dict[float, stats.Interval] = made) -> bool:
                return made[min(made, key=lambda known: abs(known - level))].high < 0

            claims.append(Claimed("c", [Evidence("", shows, denies, "")]))
        wrong += any(answer != "cannot distinguish" for answer in decide(claims))
    # Expected at most 15; beyond 25 with a probability of 0.5 % (binomial).
    assert wrong <= 25


def test_each_step_of_a_ranking_or_a_crossing_is_drawn_and_told(tmp_path: Path) -> None:
    claims = [f'[[findings]]\nclaim = "`{name}`"\n{CLAIMS[name][0]}\n' for name in ("ranked", "ranked levels", "crossing a quantity")]
    verdicts = Answers(ran(tmp_path, "".join(claims))).verdicts()
    assert [[each.cell for each in verdict.weighed] for verdict in verdicts] == [
        ["cubic against short"], ["2 Mbit/s against 8 Mbit/s"], ["rate 2 Mbit/s", "rate 8 Mbit/s"],
    ]  # fmt: skip
    assert all(each.interval is not None for verdict in verdicts for each in verdict.weighed)
    (step,) = verdicts[0].facts()["evidence"][0]["steps"]
    assert step["interval"]["above"] == 0
    # A figure has no letters for code: what a page shows so is plain in it.
    written = [text.get_text() for text in forest.forest(verdicts).axes[0].texts]
    assert {"ranked levels", "2 Mbit/s against 8 Mbit/s", "rate 2 Mbit/s", "rate 8 Mbit/s"} <= set(written)


GRID = """
repeat = 6
[vars]
window = "8 kB"
queue = "8 kB"
[draws]
start = { distribution = "uniform", low = "0", high = "300" }
[scenario]
duration = "4 s"
tcp.window_limit = "window"
links.l = { rate = "4 Mbit/s", delay = "20 ms", queue = { name = "drop_tail", limit = "queue" } }
flows = [{ path = ["l"], name = "f", start = "start * 1 ms" }]
[sweep]
"vars.window" = ["4 kB", "8 kB", "64 kB"]
"vars.queue" = ["4 kB", "8 kB", "64 kB"]
[arms]
reno = { "tcp.recovery" = "reno" }
tahoe = { "tcp.recovery" = "tahoe" }
[[findings]]
claim = "fits, above"
metric = "goodput_bps"
arm = "reno"
where = { window = "<= queue" }
is = "above"
than = { arm = "tahoe" }
[[findings]]
claim = "tiny, at least"
metric = "goodput_bps"
arm = "reno"
where = { window = "< 8 kB", queue = "> 4 kB" }
is = "at least"
than = { arm = "tahoe" }
[[findings]]
claim = "tiny, at most"
metric = "goodput_bps"
arm = "reno"
where = { window = "< 8 kB", queue = "> 4 kB" }
is = "at most"
than = { arm = "tahoe" }
[[findings]]
claim = "small below each larger"
metric = "goodput_bps"
arm = "reno"
where = { window = "4 kB", queue = "64 kB" }
is = "below"
than = { where = { window = ["8 kB", "64 kB"] } }
[[findings]]
claim = "average"
metric = "goodput_bps"
arm = "reno"
where = { window = ["4 kB", "8 kB"], queue = "64 kB" }
is = "above"
than = "400 kbit/s"
cells = "on average"
[[findings]]
claim = "paired cell by cell"
metric = "goodput_bps"
arm = "reno"
where = { window = ["4 kB", "8 kB"] }
is = "at least"
than = { arm = "tahoe", times = 0.5 }
"""


@pytest.fixture(scope="module")
def grid_results(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("grid")
    (folder / "s.toml").write_text(GRID)
    plan = make_plan(Study.load(folder / "s.toml"))
    dataset = Dataset.create(folder / "out", plan)
    execute(plan, dataset)
    return dataset


@pytest.fixture(scope="module")
def grid(grid_results: Dataset) -> dict[str, Verdict]:
    return {verdict.claim: verdict for verdict in Answers(grid_results).verdicts()}


def test_cells_can_be_chosen_by_how_one_factor_compares_with_another(grid: dict[str, Verdict]) -> None:
    cells = [each.cell for each in grid["fits, above"].evidence]
    pairs = [("4 kB", "4 kB"), ("4 kB", "8 kB"), ("4 kB", "64 kB"), ("8 kB", "8 kB"), ("8 kB", "64 kB"), ("64 kB", "64 kB")]
    assert cells == [f"window {window}, queue {queue}" for window, queue in pairs]


def test_equal_runs_show_at_least_and_at_most_but_not_above(grid: dict[str, Verdict]) -> None:
    # Nothing is lost with a window below the queue and path, so that both arms do the same.
    for claim in ("tiny, at least", "tiny, at most"):
        assert grid[claim].answer == "yes"
        assert [each.cell for each in grid[claim].evidence] == ["queue 8 kB", "queue 64 kB"]
        assert all(each.interval is not None and each.interval.estimate == 0 for each in grid[claim].evidence)
    assert grid["fits, above"].answer != "yes"


def test_the_other_side_may_have_several_levels_each_by_itself(grid: dict[str, Verdict]) -> None:
    verdict = grid["small below each larger"]
    assert [each.cell for each in verdict.evidence] == ["against window 8 kB", "against window 64 kB"]
    assert verdict.answer == "yes"


def test_an_average_over_cells_is_of_each_replicate(grid: dict[str, Verdict], grid_results: Dataset) -> None:
    (evidence,) = grid["average"].evidence
    assert evidence.cell == "mean of 2 cells"
    assert evidence.interval is not None
    assert evidence.interval.n == 6
    runs = grid_results.runs.filter(pl.col("arm") == "reno", pl.col("queue") == "64 kB", pl.col("window") != "64 kB")
    goodput = (
        grid_results.flows()
        .collect()
        .join(runs.select("run", "replicate"), on="run")
        .group_by("replicate")
        .agg(pl.col("goodput_bps").mean())
    )
    expected = goodput["goodput_bps"].to_numpy()
    assert evidence.interval.estimate == pytest.approx(expected.mean() - 400e3)
    # The cells differ much more than replicates of their mean do.
    assert evidence.interval.high - evidence.interval.low < 10 * expected.std(ddof=1)


def test_both_sides_of_a_choice_of_levels_are_of_one_cell(grid: dict[str, Verdict]) -> None:
    assert all(each.interval is not None and each.interval.n == 6 for each in grid["paired cell by cell"].evidence)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ('{ window = "<= quue" }', "quue"),
        ('{ window = "> 1 GB" }', "`window` has no level > 1 GB"),
        ('{ window = "<= 5 ms" }', "not of the kind"),
    ],
)
def test_a_relation_that_no_cell_has_is_refused_with_its_place(where: str, message: str) -> None:
    text = GRID.replace('{ window = "<= queue" }', where)
    with pytest.raises(StudyError, match=r"s\.toml:") as caught:
        make_plan(Study.parse(text, Path("s.toml")))
    assert message in str(caught.value)


def test_what_is_no_comparison_has_no_average() -> None:
    text = GRID.replace('is = "above"\nthan = "400 kbit/s"\n', 'is = "rising"\nalong = "window"\n')
    with pytest.raises(StudyError, match="is not claimed of an average over cells"):
        make_plan(Study.parse(text, Path("s.toml")))
