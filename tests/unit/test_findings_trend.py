"""Trends of what some runs did not finish: a run that took longer than all that did has its rank, and nothing is guessed of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.report.answers import Answers
from sawtooth.report.document import Verdict
from tests.unit.figure_runs import made

STUDY = """
repeat = 5
[draws]
start = { distribution = "uniform", low = "0", high = "300" }
[scenario]
duration = "6 s"
stack = "linux"
links.l = { rate = "4 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "40 packets" } }
flows = [{ path = ["l"], name = "file", start = "start * 1 ms", source = { name = "bulk", size = "300 kB" } }]
[sweep]
"links.l.rate" = [RATES]
[[findings]]
claim = "c"
metric = "completion_ns"
is = "falling"
along = "rate"
"""


def verdict(folder: Path, rates: str) -> Verdict:
    (found,) = Answers(made(folder, STUDY.replace("RATES", rates))).verdicts()
    return found


def test_one_level_that_did_not_finish_has_its_rank(tmp_path: Path) -> None:
    found = verdict(tmp_path, '"0.2 Mbit/s", "1 Mbit/s", "4 Mbit/s"')
    assert found.answer == "yes"
    assert "within 5 strata -1.00" in found.numbers
    assert "do not count" not in found.numbers


@pytest.mark.parametrize("more", ["", ', "4 Mbit/s", "8 Mbit/s"'], ids=["none finished", "some finished"])
def test_of_two_levels_that_did_not_finish_the_order_is_not_known(tmp_path: Path, more: str) -> None:
    found = verdict(tmp_path, f'"0.1 Mbit/s", "0.2 Mbit/s"{more}')
    assert found.answer == "cannot distinguish"
    assert found.numbers == "in each of 5 strata runs did not finish, so that their order is not known"
