"""Findings about stored percentiles: what is within the resolution of these is not decided, whatever all runs say."""

from __future__ import annotations

from pathlib import Path

import pytest

import sawtooth
from sawtooth.execute import execute
from sawtooth.findings.resolution import WITHIN
from sawtooth.measures import Asked, Evaluator, measure, tables
from sawtooth.plan import make_plan
from sawtooth.report.answers import Answers
from sawtooth.report.document import Verdict
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study

STUDY = """
repeat = 6
[scenario]
duration = "2 s"
stack = "linux"
links.l = { rate = "10 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "40 packets" } }
[[scenario.flows]]
name = "call"
transport = "udp"
path = ["l"]
source = { name = "constant_rate", rate = "2 Mbit/s", size = "1200 B" }
[[scenario.flows]]
name = "other"
transport = "udp"
path = ["l"]
source = { name = "constant_rate", rate = "2.9 Mbit/s", size = "1400 B" }
[arms]
near = {}
far = { "links.l.delay" = "10.3 ms" }
[[references]]
name = "paper"
file = "paper.csv"
keys = { arm = "arm" }
columns = { fine = { unit = "ms", digits = 1 }, round = { unit = "ms", digits = 0 }, other = { unit = "ms", digits = 1 } }
"""
FIGURES = """
[[figures]]
name = "stored"
metric = "p95(datagrams.delay_ns) - 1 ms"
x = "arm"
of = "call"
[[figures]]
name = "exact"
metric = "mean(datagrams.delay_ns)"
x = "arm"
of = "call"
"""
PAPER = "arm,fine,round,other\nnear,11.9,12,14.0\n"
CLAIMS = {
    "near the bound": ('metric = "p95(datagrams.delay_ns)"\narm = "near"\nis = "above"\nthan = "11.82 ms"', "cannot distinguish"),
    "near the bound from the other side": ('metric = "datagrams.delay_p95_ns"\narm = "near"\nis = "below"\nthan = "11.9 ms"', "cannot distinguish"),
    "a sum of it": ('metric = "p95(datagrams.delay_ns) + 1 ms"\narm = "near"\nis = "above"\nthan = "12.82 ms"', "cannot distinguish"),
    "far from the bound": ('metric = "p95(datagrams.delay_ns)"\narm = "near"\nis = "above"\nthan = "11.6 ms"', "yes"),
    "two arms beyond a step": ('metric = "p95(datagrams.delay_ns)"\narm = "far"\nis = "above"\nthan = { arm = "near" }', "yes"),
    "within what is less than a step": ('metric = "p95(datagrams.delay_ns)"\narm = "near"\nis = "within"\nthan = "11.85 ms"\nmargin = "50 us"', "cannot distinguish"),
    "the digits that were published, finer than a step": ('metric = "p95(datagrams.delay_ns)"\narm = "near"\nis = "reproduced"\nreference = "paper.fine"', "cannot distinguish"),
    "the digits that were published, coarser than a step": ('metric = "p95(datagrams.delay_ns)"\narm = "near"\nis = "reproduced"\nreference = "paper.round"', "yes"),
    "other digits": ('metric = "p95(datagrams.delay_ns)"\narm = "near"\nis = "reproduced"\nreference = "paper.other"', "no"),
    "what was published within less than a step": (
        'metric = "p95(datagrams.delay_ns)"\narm = "near"\nis = "reproduced"\nreference = "paper.fine"\nby = "margin"\nmargin = "0.6 %"', "cannot distinguish",
    ),
    "what was published within more than a step": (
        'metric = "p95(datagrams.delay_ns)"\narm = "near"\nis = "reproduced"\nreference = "paper.fine"\nby = "margin"\nmargin = "3 %"', "yes",
    ),
    "a mean, which is exact": ('metric = "mean(datagrams.delay_ns)"\narm = "near"\nis = "above"\nthan = "11.11 ms"', "yes"),
}  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("resolution")
    text = FIGURES + "".join(f'[[findings]]\nclaim = "{claim}"\nof = "call"\n{keys}\n' for claim, (keys, _) in CLAIMS.items())
    (folder / "paper.csv").write_text(PAPER)
    (folder / "s.toml").write_text(STUDY + text)
    plan = make_plan(Study.load(folder / "s.toml"))
    dataset = Dataset.create(folder / "out", plan)
    execute(plan, dataset)
    return dataset


@pytest.fixture(scope="module")
def verdicts(results: Dataset) -> dict[str, Verdict]:
    return {verdict.claim: verdict for verdict in Answers(results).verdicts()}


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_difference_within_the_resolution_is_not_decided(claim: str, verdicts: dict[str, Verdict]) -> None:
    found = verdicts[claim]
    assert found.answer == CLAIMS[claim][1], found.numbers


def test_a_difference_that_all_runs_show_within_the_resolution_says_why_it_is_not_told(verdicts: dict[str, Verdict]) -> None:
    told = [WITHIN in verdicts[claim].numbers for claim in ("near the bound", "near the bound from the other side")]
    # Whichever side the stored value is on, that it is there is not told.
    assert told == [True, True]
    assert WITHIN not in verdicts["far from the bound"].numbers


def test_percentiles_of_stored_distributions_are_coarse_and_means_and_extremes_are_not() -> None:
    assert all(tables.is_coarse("datagrams", name) for name in ("delay_p50_ns", "delay_p95_ns", "delay_p999_ns"))
    assert not any(tables.is_coarse("datagrams", name) for name in ("delay_mean_ns", "delay_max_ns", "jitter_ns"))


def test_coarse_bounds_hold_what_is_stored(results: Dataset) -> None:
    answers = Answers(results)
    spec = answers.shown.findings[0]
    assert spec.measure is not None
    fine, coarse = (Evaluator(results, {}, coarse=each).observe(Asked(spec.measure, spec.view)) for each in (False, True))
    assert (coarse["low"] / fine["low"]).to_list() == pytest.approx([1 - 1 / 128] * fine.height)
    assert (coarse["high"] / fine["high"]).to_list() == pytest.approx([1 + 1 / 128] * fine.height)


def test_a_caption_says_how_well_percentiles_are_known(results: Dataset) -> None:
    notes = {plot.name: plot.caption for plot in Answers(results).plots()[0]}
    assert "within 0.8 % (1/128)" in notes["stored"]
    assert "1/128" not in notes["exact"]


def test_what_is_always_the_same_is_known_exactly(tmp_path: Path) -> None:
    alone = STUDY.split("[[references]]")[0].replace('name = "other"', 'name = "other"\nstart = "1.99 s"')
    (tmp_path / "s.toml").write_text(alone)
    dataset = sawtooth.run(tmp_path / "s.toml", tmp_path / "out")
    for how in (False, True):
        found = Evaluator(dataset, {}, coarse=how).observe(Asked(measure("p95(datagrams.delay_ns)"))).filter(item="call", arm="near")
        # No percentile is below the least or above the largest, which are stored exactly: 1,200 octets at 10 Mbit/s and 10 ms.
        assert set(found["low"]) == set(found["high"]) == {10.96e6}
