"""Names that hold quotes can be named: in expressions, where cells and items are chosen, and in what hints say."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import sawtooth
from sawtooth.design import MixedError, advice
from sawtooth.figures.against import ApartError
from sawtooth.measures.expression import ExpressionError, Name, parse

STUDY = """\
name = "quotes"
repeat = 2
[draws]
S = { distribution = "uniform", low = "0 ms", high = "300 ms" }
[scenario]
duration = "1 s"
links.'l"x' = { rate = "10 Mbit/s", delay = "10 ms" }
links.'m"x' = { rate = "10 Mbit/s", delay = "10 ms" }
flows = [{ name = 'f"g', path = ['l"x', 'm"x'], start = "S" }, { name = "h'i", path = ['l"x'], start = "S" }]
[sweep]
'links.l"x.rate' = ["5 Mbit/s", "10 Mbit/s"]
'links.m"x.rate' = ["5 Mbit/s", "10 Mbit/s"]
[arms]
'a"b' = { cc = "reno" }
"c'd\\"" = { cc = "cubic" }
"""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('arms."BBR v1".x', "BBR v1"), ("""arms.'a"b'.x""", 'a"b'), (r'arms."a\"b".x', 'a"b'), (r"""arms.'c\'d"'.x""", "c'd\""),
        (r'arms."a\\".x', "a\\"), (r'arms."C:\new".x', r"C:\new"),
    ],
)  # fmt: skip
def test_a_quote_in_a_quoted_name_is_escaped(text: str, name: str) -> None:
    found = parse(text)
    assert isinstance(found, Name)
    assert found.parts == ("arms", name, "x")


def test_a_name_whose_quote_is_not_closed_is_refused() -> None:
    with pytest.raises(ExpressionError, match='`"` is no part of an expression'):
        parse(r'arms."a\".x')


def test_measures_figures_and_findings_choose_them(tmp_path: Path) -> None:
    dataset = sawtooth.run(STUDY, tmp_path / "out")
    measured = dataset.measure(r"""goodput_bps / arms.'c\'d"'.goodput_bps""", of='f"g', arm='a"b', where={'links.l"x.rate': "5 Mbit/s"})
    assert measured.height == 4
    assert set(measured["item"]) == {'f"g'} and set(measured["arm"]) == {'a"b'} and set(measured['links.l"x.rate']) == {"5 Mbit/s"}
    found = dataset.finding(
        claim="c",
        metric=r'goodput_bps / items."f\"g".goodput_bps',
        of='f"g',
        arm='a"b',
        where={'links.m"x.rate': "5 Mbit/s"},
        is_="above",
        than=0.5,
    )
    assert found.answer == "yes"
    drawn = dataset.figure(metric="goodput_bps", x='links.l"x.rate', curves='links.m"x.rate', panels="arm", of="h'i")
    assert drawn.numbers is not None and drawn.numbers['links.l"x.rate'].n_unique() == 2
    assert set(dataset.compare(of='f"g').numbers["item"]) == {'f"g'}


def test_a_level_that_is_not_there_has_its_place_whatever_the_factor_is_called(tmp_path: Path) -> None:
    dataset = sawtooth.run(STUDY, tmp_path / "out")
    with pytest.raises(sawtooth.StudyError) as raised:
        dataset.measure("goodput_bps", where={'links.l"x.rate': "6 Mbit/s"})
    place = raised.value.place
    assert place is not None
    assert place.text[place.column - 1 : place.end_column - 1] == '"6 Mbit/s"'


def test_hints_can_be_written_into_a_study_as_they_are() -> None:
    said = advice(MixedError({'l"x': ['a "level"', "b"], "item": ['f"g', "h"]}), ["curves"])
    first, _, second = said.partition("; add ")
    for part in (*first.removeprefix("add ").split(", or "), second):
        tomllib.loads(part)
    assert second == r'of = "f\"g"'
    hint = ApartError(("a", ['f"g', "longer"]), ("b", ["links", "others"])).hint
    assert r'of = "f\"g"' in hint and r'items."f\"g".COLUMN' in hint
