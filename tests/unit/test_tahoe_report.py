"""The findings of the Tahoe/Reno study against outcomes made by hand, and lists of variables and draws that the study needs."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from sawtooth import _core
from sawtooth.errors import StudyError
from sawtooth.plan import make_plan
from sawtooth.report import tahoe
from sawtooth.report import tahoe_findings as findings
from sawtooth.report.document import Verdict
from sawtooth.report.tahoe_findings import Case, Outcome
from sawtooth.study import Study

SIZES = (2000, 8000, 32000, 64000)
STUDY = """
[vars]
n = 2
known = ["1 s", "2 * 1 s"]
[draws]
starts = { distribution = "uniform", low = "0 s", high = "0.1 s", count = 3 }
[scenario]
duration = "5 s"
links.l = { rate = "1 Mbit/s", delay = "10 ms" }
flows = [{ path = ["l"], count = "n", start = "starts[i] + known[i]" }]
"""


def outcome(goodput: list[list[float]], starts: list[list[float]] | None = None) -> Outcome:
    values = np.array(goodput)
    return Outcome(values, np.array(starts) if starts else np.tile(np.arange(values.shape[1]) / 100, (values.shape[0], 1)))


def outcomes(value: object, replicates: int = 1, flows: int = 1) -> dict[Case, Outcome]:
    """All cases; `value` of a case and replicate gives each flow's goodput."""
    assert callable(value)
    return {
        case: outcome([[value(case, replicate)] * flows for replicate in range(replicates)])
        for case in (Case(flows, *sizes, arm) for *sizes, arm in product(SIZES, SIZES, (128, 256, 512), ("tahoe", "reno")))
    }


def answers(made: dict[Case, Outcome]) -> dict[str, Verdict]:
    return {verdict.claim: verdict for verdict in findings.verdicts(made, findings.levels_of(made))}


def as_claimed(case: Case, replicate: int) -> float:
    """Goodput that agrees with every claim about one flow."""
    small = case.window == 2000
    ahead = "reno" if case.window <= case.queue else "tahoe"
    return (1000 - case.segment if small else 5000 + case.segment) + (0 if small else 50 * (case.arm == ahead)) + 0.1 * (replicate % 3)


@pytest.mark.parametrize("replicates", [1, 6])
def test_outcomes_as_claimed_confirm_every_claim_about_one_flow(replicates: int) -> None:
    found = answers(outcomes(as_claimed, replicates))
    refuted = {claim for claim, verdict in found.items() if verdict.answer != "yes"}
    # A window of 2000 is never larger than the queue here, so all eight claims can hold.
    assert refuted == set()
    assert len(found) == 8


def test_a_single_contrary_case_refutes_a_claim_about_every_case_and_is_named() -> None:
    def value(case: Case, replicate: int) -> float:
        odd = (case.window, case.queue, case.segment, case.arm) == (64000, 8000, 512, "tahoe")
        return 1.0 if odd else as_claimed(case, replicate)

    found = answers(outcomes(value))
    verdict = found["With window > queue Tahoe carries more than Reno, in every case (one flow)"]
    # Windows above queues: 3 of 8000 .. 64000 over 2000, 2 over 8000, 1 over 32000, each with 3 segments.
    assert verdict.answer == "no"
    assert verdict.numbers.startswith("holds in 17 of 18 comparisons, is contradicted in 1")
    assert "window 64000, queue 8000, segment 512" in verdict.numbers
    assert found["With large windows, goodput by segment size is 128 < 256 < 512 (one flow)"].answer == "no"


def test_a_difference_inside_its_interval_is_not_decided() -> None:
    generator = np.random.default_rng(1)
    made = outcomes(lambda case, _: as_claimed(case, 0) + generator.normal(0, 1e5), 10)
    assert (
        answers(made)["With window > queue Tahoe carries more than Reno, on average over the cases (one flow)"].answer
        == "cannot distinguish"
    )


def test_stances_treat_ties_by_the_claim() -> None:
    tie = findings.means_of(np.array([2.0, 2.0, 2.0]), np.array([2.0, 2.0, 2.0]), paired=True)
    assert findings.stance(tie, 1, strict=False) == "for"
    assert findings.stance(tie, 1, strict=True) == "against"
    single = findings.means_of(np.array([2.0]), np.array([2.0]), paired=True)
    assert findings.stance(single, 1, strict=False) == "for"
    assert findings.stance(single, 1, strict=True) == "against"


def test_flows_are_put_in_order_of_their_start() -> None:
    made = outcome([[10.0, 20.0, 30.0]], [[0.2, 0.3, 0.1]])
    assert made.in_order().tolist() == [[30.0, 10.0, 20.0]]
    # Sample deviation of 10, 20, 30: sqrt((100 + 0 + 100) / 2) = 10. Jain: 60^2 / (3 * 1400) = 6/7.
    assert made.deviation.tolist() == [10.0]
    assert made.jain[0] == pytest.approx(6 / 7)


def test_the_earliest_starter_always_winning_refutes_that_it_does_not() -> None:
    winner = {Case(2, 2000, 2000, 128, arm): outcome([[5.0, 1.0], [6.0, 2.0]]) for arm in ("tahoe", "reno")}
    claim = "The flow that starts first does not always get the most"
    assert answers(winner)[claim].answer == "no"
    loser = winner | {Case(2, 2000, 2000, 128, "reno"): outcome([[1.0, 5.0], [6.0, 2.0]])}
    assert answers(loser)[claim].answer == "yes"
    assert "in 3 of 4 runs" in answers(loser)[claim].numbers


def test_the_peers_table_has_every_case_and_agrees_with_its_own_index() -> None:
    peer = tahoe.peer_outcomes()
    assert len(peer) == 192
    table = {
        (row["n"], row["q_bytes"], row["win_bytes"], row["seg"], row["variant"][3:].lower()): row for row in tahoe.peer_table().to_dicts()
    }
    for case, made in peer.items():
        row = table[case.flows, case.queue, case.window, case.segment, case.arm]
        # Printed with five decimals, from shares printed with six figures.
        assert made.jain[0] == pytest.approx(row["jain"], abs=2e-5)
        assert made.goodput.sum() * 8 / 1000 == pytest.approx(row["goodput_kbps_total"], rel=1e-4)


# --- lists --------------------------------------------------------------------------------------------------------------


def test_a_draw_with_a_count_is_a_list_of_independent_values() -> None:
    plan = make_plan(Study.parse(STUDY + '[arms]\na = {}\nb = { "vars.n" = 1 }\n', Path("s.toml")))
    first, second = (run.draws for run in plan.runs)
    assert first == second
    assert set(first) == {"starts[1]", "starts[2]", "starts[3]"}
    assert len(set(first.values())) == 3
    assert all(0 <= value < 0.1 for value in first.values())
    assert "draw_starts[3]" in plan.table().columns


def test_items_of_lists_are_numbered_from_one() -> None:
    assert _core.evaluate("a[2] - a[1]", {"a": ["1 s", "3 s"]}) == (2.0, "time")


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ("known[3]", "`known` has 2 items, so there is no `known[3]`"),
        ("known[0]", "the items of a list are numbered 1, 2, ..."),
        ("known[1.5]", "the items of a list are numbered 1, 2, ..."),
        ("known[1", "this bracket is not closed"),
        ("known", "`known` is a list of 2; say which, as in `known[1]`"),
        ("n[1] * 1 s", "`n` is not a list"),
    ],
)
def test_a_wrong_index_is_told_with_its_place(start: str, message: str) -> None:
    study = Study.parse(STUDY.replace("starts[i] + known[i]", start), Path("s.toml"))
    with pytest.raises(StudyError) as caught:
        make_plan(study)
    assert caught.value.message == message
    assert caught.value.place is not None
    assert caught.value.place.line == 10
