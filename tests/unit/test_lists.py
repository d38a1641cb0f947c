"""Lists of variables and draws: their items, numbered from 1, and what is said of wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth import _core
from sawtooth.errors import StudyError
from sawtooth.plan import make_plan
from sawtooth.study import Study

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
