"""How the work of a plan is shared out: batches by the plan alone, shares by the workers, and what becomes of a schedule."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sawtooth
from sawtooth import _core
from sawtooth.plan import make_plan
from sawtooth.sharing import Ends, cut, replay, shares
from sawtooth.study import Study
from tests.conftest import STUDY

AMOUNTS = st.lists(st.floats(1e3, 1e8), min_size=1, max_size=60)


@given(AMOUNTS, st.floats(1e4, 1e9), st.integers(1, 10))
def test_a_list_is_cut_into_consecutive_pieces_of_at_most_so_much(amounts: list[float], most: float, number: int) -> None:
    pieces = cut(amounts, most, number)
    assert [at for piece in pieces for at in piece] == list(range(len(amounts)))
    assert all(1 <= len(piece) <= number for piece in pieces)
    assert all(len(piece) == 1 or sum(amounts[at] for at in piece) <= most * (1 + 1e-9) for piece in pieces)


@given(st.lists(AMOUNTS, min_size=1, max_size=6), st.integers(1, 64))
def test_shares_have_every_run_of_every_batch_once_and_a_batch_is_done_before_the_next(batches: list[list[float]], workers: int) -> None:
    numbered = dict(enumerate(batches, 3))
    found = shares(numbered, workers)
    order = list(dict.fromkeys(share.batch for share in found))
    assert [share.batch for share in found] == sorted((share.batch for share in found), key=order.index)
    assert all(
        [at for share in found if share.batch == batch for at in share.runs] == list(range(len(numbered[batch]))) for batch in numbered
    )
    if workers == 1:
        assert len(found) == len(batches)


@given(st.lists(st.tuples(AMOUNTS, st.integers(1, 9)), min_size=1, max_size=8))
def test_batches_of_the_first_replicates_come_early_and_never_before_one_whose_runs_take_more_than_twice_as_long(
    given_batches: list[tuple[list[float], int]],
) -> None:
    batches = {number: amounts for number, (amounts, _) in enumerate(given_batches)}
    rounds = {number: first for number, (_, first) in enumerate(given_batches)}
    order = [share.batch for share in shares(batches, 1, rounds)]
    for at, number in enumerate(order):
        for later in order[at + 1 :]:
            longest, other = max(batches[number]), max(batches[later])
            assert other <= 2 * longest
            assert rounds[number] <= rounds[later] or other < longest


def test_all_arms_of_all_cells_are_begun_before_one_of_them_is_done(tmp_path: Path) -> None:
    path = tmp_path / "long.toml"
    path.write_text(STUDY.replace("repeat = 2", "repeat = 80", 1))
    plan = make_plan(Study.load(path))
    # As large as a batch is of runs that take a hundred times as long.
    pieces = cut(plan.work, 10 * max(plan.work))
    rounds = {number: min(plan.runs[at].replicate for at in piece) for number, piece in enumerate(pieces)}
    work = {number: [plan.work[at] for at in piece] for number, piece in enumerate(pieces)}
    seen = [{(plan.runs[at].cell, plan.runs[at].arm) for at in pieces[share.batch]} for share in shares(work, 1, rounds)]
    whole = {(run.cell, run.arm) for run in plan.runs}
    assert set().union(*seen[: len(seen) // 2]) == whole
    # In the order of their numbers they would not be.
    assert set().union(*({(plan.runs[at].cell, plan.runs[at].arm) for at in piece} for piece in pieces[: len(seen) // 2])) < whole


def test_a_schedule_that_is_replayed_gives_each_worker_the_next_as_soon_as_it_can() -> None:
    assert replay([3.0, 2.0, 2.0, 1.0], 2) == Ends(4.0, 4.0, 4.0)
    assert replay([1.0, 1.0, 4.0], 2) == Ends(1.0, 5.0, 3.0)
    assert replay([1.0, 1.0, 4.0], 2).spread == pytest.approx(0.8)
    assert replay([], 3) == Ends(0.0, 0.0, 0.0) and replay([], 3).spread == 0


@pytest.mark.parametrize("workers", [2, 8, 64])
@pytest.mark.parametrize("factor", [1.0, 5.0])
def test_workers_end_together_though_runs_are_unequal_and_take_up_to_a_few_times_less_than_expected(workers: int, factor: float) -> None:
    drawn = random.Random(f"{workers} {factor}")
    batches = {number: [10 ** drawn.uniform(4, 6.5) for _ in range(300)] for number in range(40)}
    took = {number: [amount / drawn.uniform(1, factor) for amount in batch] for number, batch in batches.items()}
    ends = replay([sum(took[share.batch][at] for at in share.runs) for share in shares(batches, workers)], workers)
    assert ends.spread < 0.05
    assert ends.last < 1.05 * ends.mean


def test_batches_do_not_depend_on_workers_and_several_do_the_runs_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sawtooth.backends import sim

    seen: list[int] = []
    honest = sim.run_share

    def counted(
        scenarios: list[str], seeds: list[int], stop: _core.StopRequest, captures: list[_core.CaptureRequest]
    ) -> _core.Outcomes | None:
        seen.append(len(seeds))
        return honest(scenarios, seeds, stop, captures)

    monkeypatch.setattr(sim, "run_share", counted)
    monkeypatch.setattr("sawtooth.sharing._LEAST_WORK", 1.0)
    path = tmp_path / "pair.toml"
    path.write_text(STUDY)
    plan = make_plan(Study.load(path))
    assert len(plan.batches) == 1
    one, two = (sawtooth.run(path, tmp_path / str(jobs), jobs=jobs) for jobs in (1, 2))
    assert seen[0] == len(plan.runs) and len(seen) == 1 + len(plan.runs)
    assert one.digest == two.digest
