"""Verdicts on what did not finish: each side says `at least` by itself, a bound is told as one, and nothing is no number."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sawtooth.analysis import Dataset
from tests.unit.unfinished_runs import ALL, NONE, SOME, made


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Some runs of b do not finish."""
    return made(tmp_path_factory.mktemp("one"), ALL, SOME)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Some runs of a do not finish, and none of b."""
    return made(tmp_path_factory.mktemp("both"), SOME, NONE)


@pytest.fixture(scope="module")
def alike(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """No run finishes, and all are the same."""
    return made(tmp_path_factory.mktemp("alike"), NONE, NONE, alike=True)


def numbers(dataset: Dataset, metric: str = "completion_ns", **keys: object) -> str:
    """The numbers of the verdict on b, above a where nothing else is said."""
    asked = {"claim": "c", "metric": metric, "arm": "b", "is_": "above", "than": {"arm": "a"}, **keys}
    return dataset.finding(**asked).numbers


def test_a_difference_to_what_finished_is_a_bound_with_the_end_that_decides(one: Dataset) -> None:
    assert numbers(one) == (
        "at least 2.346 s (4 of 6 runs did not finish) against 1.721 s, difference at least +0.626 s (from +0.366 s, 95% t and log-scale interval; "
        "runs that did not finish have no upper bound)"
    )
    assert numbers(one, arm="a", is_="below", than={"arm": "b"}) == (
        "1.721 s against at least 2.346 s (4 of 6 runs did not finish), difference at most -0.626 s (up to -0.366 s, 95% t and log-scale interval; "
        "runs that did not finish have no lower bound)"
    )
    assert numbers(one, than="2 s") == (
        "at least 2.346 s (4 of 6 runs did not finish); from 2 s it is at least +0.346 s (from +0.0869 s, 95% t and log-scale interval; "
        "runs that did not finish have no upper bound)"
    )


@pytest.mark.parametrize(
    "keys",
    [
        {}, {"statistic": "median"}, {"statistic": "geometric mean"}, {"is_": "at least"}, {"is_": "within", "margin": "5 %"},
        {"is_": "within", "margin": "1 s"},
    ],
)  # fmt: skip
def test_of_two_sides_that_did_not_finish_both_say_at_least_and_the_difference_is_not_known(both: Dataset, keys: dict[str, object]) -> None:
    text = numbers(both, **keys)
    what = "median of the pairs' differences" if keys.get("statistic") == "median" else "difference"
    left, right = text.partition(f", {what}")[0].split(" against ")
    assert left.startswith("at least ")
    assert left.endswith(" (6 of 6 runs did not finish)")
    assert right.startswith("at least ")
    assert right.endswith(" (4 of 6 runs did not finish)")
    assert text.endswith(
        f"{what} not known (runs that did not finish leave no bound); 6 of 6 runs did not finish: longer ones would tell more"
    )


def test_within_shows_no_interval_of_bounds_as_one_of_the_difference(one: Dataset) -> None:
    text = numbers(one, is_="within", margin="1 s", than="2 s")
    assert "it is at least +0.346 s (from +0.0869" in text
    # The spread of bounds does not say what more runs would show.
    assert text.endswith("4 of 6 runs did not finish: longer ones would tell more")
    (evidence,) = one.finding(
        claim="c", metric="completion_ns", arm="b", is_="within", margin="1 s", than="2 s"
    ).facts()["evidence"]  # fmt: skip
    assert evidence["interval"]["high"] is None
    assert evidence["interval"]["method"] == "95% t and log-scale interval, of the least that it may be"


def test_runs_that_all_ended_at_the_same_bound_are_not_said_to_be_alike(alike: Dataset) -> None:
    assert "alike" not in numbers(alike)
    assert numbers(alike, than="2 s") == (
        "at least 3 s (6 of 6 runs did not finish); from 2 s it is at least +1 s (from +1 s; runs that did not finish have no upper bound)"
    )


def test_what_is_less_the_longer_it_takes_is_at_most_so_much(one: Dataset) -> None:
    text = numbers(one, "4 s - completion_ns")
    assert text.startswith("at most 1.654 s (4 of 6 runs did not finish) against 2.279 s, difference at most -0.626 s (up to -0.346 s, ")
    # A bound that is infinite leaves no slack to what is claimed to be at least as much.
    assert one.finding(claim="c", metric="4 s - completion_ns", arm="b", is_="at least", than={"arm": "a"}).answer == "no"
    assert "without a bound (4 of 6 runs did not finish) against" in numbers(one, "2 s - completion_ns", statistic="geometric mean")


def test_what_lies_between_two_bounds_says_both(one: Dataset) -> None:
    text = numbers(one, "1 + 1 s / completion_ns")
    assert " to " in text.partition(" (4 of 6 runs did not finish)")[0]
    assert "difference -" in text


def test_a_ratio_of_two_unfinished_times_is_above_0_and_no_run_is_left_out(both: Dataset) -> None:
    text = numbers(both, "completion_ns / arms.a.completion_ns", than=1)
    assert "6 of 6 runs did not finish" in text
    assert "do not tell" not in text


def test_a_median_of_runs_most_of_which_finished_is_no_bound(tmp_path: Path) -> None:
    few = made(tmp_path, ALL, "1180 kB")
    unfinished = few.flows(factors=True).filter(pl.col("completion_ns").is_null(), arm="b").collect().height
    assert 0 < unfinished < 3
    text = numbers(few, statistic="median", than="1 s")
    assert not text.startswith("at least")
    # The interval says which of its ends is not known, and the other one decides.
    assert " order-statistic interval" in text
    assert " it is at least" not in text
    turned = numbers(few, "4 s - completion_ns", statistic="median", than="1 s")
    assert not turned.startswith("at most")
    assert numbers(few, than="1 s").startswith("at least")
