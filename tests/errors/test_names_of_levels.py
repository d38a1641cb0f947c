"""Levels are named as they are shown: numbers as numbers, tables by their name; and the error says how."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.errors import StudyError
from sawtooth.plan import make_plan
from sawtooth.presentation import presentation
from sawtooth.study import Study

STUDY = """\
[scenario]
duration = "1 s"
sample = "100 ms"
links.l = { rate = "10 Mbit/s", delay = "5 ms" }
flows = [{ name = "call", path = ["l"] }, { name = "load", path = ["l"], count = 1 }]
[sweep]
"links.l.queue" = [{ name = "drop_tail", limit = "9 packets" }, { name = "drop_tail", limit = "50 packets" }, { name = "codel" }]
"flows[1].count" = [0, 1, 2]
[[figures]]
name = "g"
"""
LEVELS = f'{STUDY}metric = "total_goodput_bps"\nx = "count"\npanels = "queue"\nwhere = {{ WHERE }}\n'
DIFFERENCE = f'{STUDY}kind = "difference"\nmetric = "total_goodput_bps"\nx = "queue"\nalong = "count"\nto = VALUE\n'
UNDER_LOAD = f'{STUDY}kind = "latency_under_load"\nmetric = "series.srtt_ns"\nof = "call"\nx = "count"\npanels = "queue"\nbase = VALUE\n'
SHOWN = "drop_tail (limit = 9 packets), drop_tail (limit = 50 packets), codel"


def planned(text: str) -> Study:
    return make_plan(Study.parse(text, Path("s.toml"))).study


@pytest.mark.parametrize(
    ("where", "factor", "level"),
    [
        ('queue = "codel"', "queue", '{"name": "codel"}'),
        ('queue = "drop_tail (limit = 9 packets)"', "queue", '{"name": "drop_tail", "limit": "9 packets"}'),
        ('queue = { limit = "9 packets", name = "drop_tail" }', "queue", '{"name": "drop_tail", "limit": "9 packets"}'),
        ("count = 0", "count", "0"),
        ('count = "0"', "count", "0"),
    ],
)
def test_a_level_is_found_by_what_it_is_called(where: str, factor: str, level: str) -> None:
    (figure,) = presentation(planned(LEVELS.replace("WHERE", where))).figures
    assert figure.choice.where == {factor: (level,)}


def test_a_number_is_a_level_that_others_are_held_against() -> None:
    (difference,) = presentation(planned(DIFFERENCE.replace("VALUE", "0"))).figures
    (under_load,) = presentation(planned(UNDER_LOAD.replace("VALUE", "0"))).figures
    assert difference.options["to"] == under_load.options["base"] == "0"


@pytest.mark.parametrize(
    ("text", "message", "hint", "blamed"),
    [
        (LEVELS.replace("WHERE", 'queue = "drop_tail"'), "`queue` has 2 levels called `drop_tail`", 'name one as it is shown: "drop_tail (limit = 9 packets)", "drop_tail (limit = 50 packets)"', '"drop_tail"'),
        (LEVELS.replace("WHERE", 'queue = ["codel", "red"]'), "`queue` has no level `red`", f"it has {SHOWN}", '"red"'),
        (LEVELS.replace("WHERE", 'queue = "< 5 ms"'), "`queue` has levels that are no quantities, such as `drop_tail (limit = 9 packets)`", f"name the levels: {SHOWN}", '"< 5 ms"'),
        (DIFFERENCE.replace("VALUE", "7"), "`count` has no level `7`", "it has 0, 1, 2", "7"),
        (UNDER_LOAD.replace("VALUE", "7"), "`7` is no time", 'a level, or a time such as "5 ms"; known here: 0, 1, 2', "7"),
        (UNDER_LOAD.replace("VALUE", "true"), "a quantity was expected, found true", 'a level, or a time such as "5 ms"; known here: 0, 1, 2', "true"),
    ],
)  # fmt: skip
def test_what_is_no_level_is_told_with_those_that_are(text: str, message: str, hint: str, blamed: str) -> None:
    with pytest.raises(StudyError) as caught:
        planned(text)
    error, place = caught.value, caught.value.place
    assert (error.message, error.hint) == (message, hint)
    assert place is not None and place.text[place.column - 1 : place.end_column - 1] == blamed
