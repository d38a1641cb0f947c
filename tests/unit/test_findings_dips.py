"""`dipping` and `smooth`: a curve along a factor that has, or has not, a level far below what it is before and behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.errors import StudyError
from sawtooth.plan import make_plan
from sawtooth.presentation import presentation
from sawtooth.report.answers import Answers
from sawtooth.report.document import Verdict
from sawtooth.study import Study
from tests.unit.figure_runs import made

STUDY = """
repeat = REPEAT
[draws]
start = { distribution = "uniform", low = "0", high = "300" }
[scenario]
duration = "3 s"
links.l = { rate = "4 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "40 packets" } }
flows = [{ path = ["l"], start = "start * 1 ms" }]
[sweep]
"links.l.rate" = [RATES]
[[findings]]
claim = "c"
metric = "goodput_bps"
along = "rate"
FINDING
"""
DIP = '"5 Mbit/s", "1 Mbit/s", "4 Mbit/s"'
RISE = '"1 Mbit/s", "4 Mbit/s", "5 Mbit/s"'


def text(rates: str, finding: str, repeat: int = 5) -> str:
    return STUDY.replace("RATES", rates).replace("FINDING", finding).replace("REPEAT", str(repeat))


def verdict(folder: Path, rates: str, finding: str, repeat: int = 5) -> Verdict:
    (found,) = Answers(made(folder, text(rates, finding, repeat))).verdicts()
    return found


@pytest.mark.parametrize(("rates", "dipping", "smooth"), [(DIP, "yes", "no"), (RISE, "no", "yes")], ids=["a dip", "a rise"])
def test_a_dip_lies_between_higher_levels_and_a_rise_has_none(tmp_path: Path, rates: str, dipping: str, smooth: str) -> None:
    assert verdict(tmp_path / "a", rates, 'is = "dipping"\nshare = "50 %"').answer == dipping
    found = verdict(tmp_path / "b", rates, 'is = "smooth"\nshare = "50 %"')
    assert found.answer == smooth
    assert found.numbers.startswith(f"{int(rates == DIP)} of 3 levels of rate are below 50 % of what is around them; least ")


def test_the_share_decides_and_so_does_that_intervals_are_of_all_levels_together(tmp_path: Path) -> None:
    # 1 Mbit/s is a quarter of 4.
    assert verdict(tmp_path / "a", DIP, 'is = "dipping"\nshare = "10 %"').answer == "no"
    assert verdict(tmp_path / "b", DIP, 'is = "dipping"\nshare = "50 %"', repeat=1).answer == "cannot distinguish"
    # The share that the middle level has: neither is shown.
    (evidence,) = verdict(tmp_path / "c", DIP, 'is = "smooth"\nshare = "50 %"').evidence
    assert evidence.interval is not None
    assert evidence.interval.low <= evidence.interval.estimate <= evidence.interval.high
    assert evidence.limits == (0.5, float("inf"))


@pytest.mark.parametrize(
    ("rates", "finding", "message", "hint"),
    [
        ('"1 Mbit/s", "2 Mbit/s"', 'is = "smooth"\nshare = "50 %"', "`rate` has fewer than 3 levels", "a dip lies between two others"),
        (DIP, 'is = "smooth"', "`smooth` needs a share", 'such as share = "50 %"'),
        (DIP, 'is = "dipping"\nshare = "100 %"', "a dip is below its surroundings", 'a share below 100 %, such as share = "50 %"'),
    ],
    ids=["two levels", "no share", "all of it"],
)
def test_what_cannot_be_a_dip_is_said(tmp_path: Path, rates: str, finding: str, message: str, hint: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(text(rates, finding))
    with pytest.raises(StudyError) as raised:
        presentation(Study.load(path))
    assert (raised.value.message, raised.value.hint) == (message, hint)


def test_with_two_levels_left_nothing_is_told(tmp_path: Path) -> None:
    found = text(DIP, 'is = "smooth"\nshare = "50 %"\nwhere = { rate = ["5 Mbit/s", "1 Mbit/s"] }')
    (tmp_path / "s.toml").write_text(found)
    assert make_plan(Study.load(tmp_path / "s.toml")).runs
    (given,) = Answers(made(tmp_path / "a", found)).verdicts()
    assert given.answer == "cannot distinguish"
    assert given.numbers == "the runs have 2 levels of `rate`: a dip lies between two others"
