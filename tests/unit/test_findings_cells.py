"""Evidence of single cells whose runs are alike, or nearly: verdicts agree with their numbers, and equal evidence has equal answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import polars as pl
import pytest

from sawtooth.findings import compare
from sawtooth.findings.data import Data
from sawtooth.findings.spec import FindingSpec
from sawtooth.findings.verdict import Claimed, Evidence, answer_of
from sawtooth.measures import Measure
from sawtooth.questions import Choice

TIED = [20.55] * 9 + [20.29]
"""Milliseconds, as percentiles of a histogram are."""


@dataclass(frozen=True)
class _Measure:
    """What a finding asks of a measure."""

    unit: str
    range: tuple[float, float] = (-math.inf, math.inf)

    def within(self, _flows: str) -> tuple[float, float]:
        return self.range


class Runs(Data):
    """One cell whose replicates have these values, and those of the other side."""

    def __init__(self, first: list[float], second: list[float], options: dict[str, Any]) -> None:
        self.spec = FindingSpec("c", "", "above", options={"other": Choice(arms=("b",)), **options})
        self.measure = cast(Measure, _Measure("ns"))
        self.cells = []
        self.runs = pl.DataFrame({"arm": ["a"], "replicate": [0]})
        self.spoken = pl.DataFrame({"runs": [len(first)]})
        self.frame, self.there = (
            pl.DataFrame({"replicate": range(len(values)), "low": values, "high": values}).with_columns(pl.col("low", "high") * 1e6)
            for values in (first, second)
        )

    def side(self, choice: Choice) -> pl.DataFrame:
        assert choice.arms == ("b",)
        return self.there

    def apart(self, other: Choice) -> list[tuple[str, pl.DataFrame]]:
        assert other.arms == ("b",)
        return [("", self.there)]


def of(first: list[float], second: list[float], within: str | None = None, *, below: bool = False, equal: bool = False) -> Evidence:
    """What runs, in milliseconds, show of `above`, or of `within` 5 % of the other side."""
    options: dict[str, Any] = {"times": 1.0, "below": below, "equal": equal, "relative": 0.05}
    made = Runs(first, second, options)
    return (compare.weigh_within(made) if within else compare.weigh(made))[0]


def test_ten_of_ten_runs_on_one_side_are_told_by_signs_and_no_difference_is_claimed_to_be_seen() -> None:
    found = of(TIED, [15.1] * 10)
    assert found.shows(0.95)
    assert not found.denies(0.95)
    assert found.words.endswith(
        "all 10 runs are above: sign test, p = 0.002, of the direction of a typical run, not of how large the mean is"
    )
    assert found.doubt == ""
    other = of([15.1] * 10, TIED)
    assert other.denies(0.95)
    assert "all 10 runs are below: sign test" in other.words


def test_signs_are_told_only_at_levels_that_they_reach() -> None:
    found = of(TIED, [15.1] * 10)
    assert [found.shows(1 - 0.05 / claims) for claims in (10, 25, 26)] == [True, True, False]
    assert answer_of(Claimed("c", [found] * 30), 0.05) == "yes"
    assert answer_of(Claimed("c", [found]), 0.05 / 30) == "cannot distinguish"


def test_an_unbounded_interval_claims_no_difference_that_would_be_seen() -> None:
    found = of(TIED, [20.4] * 10)
    assert not found.shows(0.95)
    assert not found.denies(0.95)
    assert found.doubt == "of 10 runs 9 are above it, 1 below; their spread does not say what would decide"
    assert "does not suffice" in found.words


def test_at_least_takes_runs_that_are_equal_and_at_most_says_not_above() -> None:
    found = of([15.1] * 9 + [15.2], [15.1] * 10, equal=True)
    assert found.shows(0.95)
    assert "all 10 runs are not below: sign test" in found.words


@pytest.mark.parametrize("runs", [[33.0] * 10, [33.0] * 9 + [60.0], list(np.linspace(30, 40, 10))], ids=["alike", "tied", "varied"])
@pytest.mark.parametrize(("ratio", "shown"), [(1.0, True), (1.02, True), (1.06, False)])
def test_runs_that_are_equal_are_within_a_margin_however_they_vary(runs: list[float], ratio: float, *, shown: bool) -> None:
    found = of([ratio * value for value in runs], runs, "5 %")
    assert found.shows(0.999) is shown
    assert found.denies(0.999) is not shown
    assert found.doubt == ""


def test_what_is_shown_about_a_bound_is_nothing_that_the_measure_cannot_be() -> None:
    index = [0.999, 1.0, 0.98, 0.995]
    made = Runs(index, index, {"below": False, "other": None, "bound": 0.9})
    made.frame = pl.DataFrame({"replicate": range(4), "low": index, "high": index})
    made.measure = cast(Measure, _Measure("", (0.0, 1.0)))
    (found,) = compare.weigh(made)
    assert found.interval is not None
    assert found.interval.high == pytest.approx(0.1)
    assert 0.05 < found.interval.low < found.interval.estimate
    assert found.shows(0.95)


def bounded(low: list[float], high: list[float], options: dict[str, Any]) -> Evidence:
    """What runs that are known between two ends show of `within` a margin of 1 ms of the other side, or of a bound."""
    made = Runs(low, [1.1, 1.2, 1.0, 1.1][: len(low)], {"times": 1.0, "absolute": 1e6, **options})
    made.frame = made.frame.with_columns(high=pl.Series(high) * 1e6)
    made.measure = cast(Measure, _Measure("ns"))
    (found,) = compare.weigh_within(made)
    return found


@pytest.mark.parametrize("options", [{}, {"other": None, "bound": 1e6}, {"relative": 0.05}], ids=["another side", "a quantity", "a share"])
def test_runs_that_did_not_finish_may_show_that_it_is_not_within_and_never_that_it_is(options: dict[str, Any]) -> None:
    far = bounded([4.2, 4.3, 4.1, 4.2], [4.2, math.inf, 4.1, math.inf], options)
    assert (far.shows(0.95), far.denies(0.95)) == (False, True)
    near = bounded([1.1, 1.2, 1.0, 1.1], [1.1, 1.2, 1.0, math.inf], options)
    assert (near.shows(0.95), near.denies(0.95)) == (False, False)
    assert near.interval is not None
    assert near.interval.high == math.inf


def test_what_is_at_most_so_much_is_no_zero() -> None:
    found = bounded([0.0] * 4, [5.0] * 4, {"other": None, "bound": 0.0})
    assert (found.shows(0.95), found.denies(0.95)) == (False, False)
    inside = bounded([0.0] * 4, [0.5] * 4, {"other": None, "bound": 0.0})
    assert inside.denies(0.95) is False
