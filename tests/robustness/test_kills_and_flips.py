"""The short forms of what `python -m tests.robustness.kills` and `... flips` do at length."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth import doctor
from tests.robustness import flips, kills


@pytest.mark.parametrize("count", [25, pytest.param(1000, marks=pytest.mark.long)])
def test_every_flipped_bit_is_named_and_healed(count: int, tmp_path: Path) -> None:
    outcome = flips.flip(count, 13, tmp_path)
    assert outcome.flips.total() == count
    assert outcome.silent == []


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("sweep", 4),
        *(
            pytest.param(kind, count, marks=pytest.mark.long)
            for kind, count in (("sweep", 60), ("two", 40), ("report", 40), ("guests", 10))
        ),
    ],
)
def test_whatever_is_killed_nothing_is_lost_or_twice_and_the_end_is_the_same(kind: str, count: int, tmp_path: Path) -> None:
    if kind == "guests" and not doctor.guest_finding().ok:
        pytest.skip(doctor.guest_finding().advice or "no guests")
    outcome = kills.Outcome()
    kills.KINDS[kind](outcome, count, 13, tmp_path)
    assert outcome.kills >= count
    assert outcome.ends > 0
    assert outcome.faults == []
