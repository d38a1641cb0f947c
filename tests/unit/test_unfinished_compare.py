"""`compare` of what did not finish: a row says that it has bounds only if it has, and what has no least value has no ratio."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.analysis import Dataset
from sawtooth.errors import DatasetError
from sawtooth.report.compare import Question, compare
from tests.unit.unfinished_runs import ALL, NONE, SOME, made


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return made(tmp_path_factory.mktemp("one"), ALL, SOME)


def notes(dataset: Dataset, metric: str = "completion_ns") -> str:
    return "; ".join(compare(dataset.directory, [], Question((metric,))).notes)


def test_a_row_of_which_one_side_finished_has_bounds(one: Dataset) -> None:
    assert "in 1 of 1 rows runs did not finish; each counts as the least that it may be, and the row has bounds" in notes(one)


def test_where_neither_side_finished_no_bounds_are_claimed(tmp_path: Path) -> None:
    assert "each counts as the least that it may be, and no row has a bound" in notes(made(tmp_path, SOME, NONE))


def test_what_is_less_the_longer_it_takes_has_no_ratio(one: Dataset) -> None:
    with pytest.raises(DatasetError) as caught:
        notes(one, "4 s - completion_ns")
    assert caught.value.message == "`4 s - completion_ns` of f has no least value in 4 of 6 runs (cell 1, b / a), which did not finish"
    assert caught.value.hint == "turn its sign round, so that those are at least so much"


def test_what_is_divided_by_a_time_that_did_not_end_is_at_most_so_much(tmp_path: Path) -> None:
    (row,) = compare(made(tmp_path, ALL, NONE).directory, [], Question(("1 s / completion_ns",))).rows
    assert (row.bound, row.first.kind) == ("at most", "at most: 6 of 6 runs did not finish")
    assert 0 < row.first.estimate < row.second.estimate
    assert 0 < row.ratio.estimate < 1
    assert (row.ratio.low, row.verdict) == (float("-inf"), "differ")
