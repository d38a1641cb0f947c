"""What is said of a verdict agrees with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sawtooth.findings.verdict import Answer, Claimed, Evidence, decide
from sawtooth.report.behind import words
from sawtooth.stats.interval import Interval

ADJUSTED = "; of the former none does at the level that is adjusted for their number"


def cells(shown: float, denied: float) -> Claimed:
    """Six cells: one shows the claim up to a level of confidence, one the contrary, and the others nothing."""
    levels = [(shown, 0.0), (0.0, denied), *[(0.0, 0.0)] * 4]
    return Claimed("it is", [Evidence(str(at), yes.__ge__, no.__ge__, "0") for at, (yes, no) in enumerate(levels)])


@pytest.mark.parametrize(
    ("claim", "answer", "says"),
    [
        (cells(0.96, 0.9999), "no", True),
        (cells(0.94, 0.9999), "no", False),
        (cells(0.9999, 0.9999), "mixed", False),
        (cells(0.96, 0.96), "cannot distinguish", False),
    ],
)
def test_a_no_with_cells_that_show_the_claim_by_themselves_says_why_it_is_not_mixed(claim: Claimed, answer: Answer, says: bool) -> None:
    assert decide([claim]) == [answer]
    assert (ADJUSTED in words(claim, None, answer)) is says


def test_cells_that_are_counted_add_up() -> None:
    told = Interval(0.0, -1.0, 1.0, 10, "95% t interval")
    some = [replace(each, interval=told) for each in cells(0.96, 0.96).evidence]
    silent = [Evidence(str(at), (2.0).__le__, (2.0).__le__, "no run") for at in range(2)]
    counted = words(Claimed("it is", [*some, *silent]), None, "cannot distinguish")
    assert counted.startswith("1 of 8 cells show it, 1 the contrary, each by itself at 95 %, 4 neither, 2 cannot tell (")
