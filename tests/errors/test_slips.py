"""Slips of a new user: marks at the beginning of a file, letters of two signs, empty texts, names of which there are none or many."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import sawtooth
from sawtooth.errors import StudyError
from sawtooth.hints import did_you_mean
from sawtooth.plan import make_plan
from sawtooth.study import Study

STUDY = """\
name = "s"
[scenario]
duration = "1 s"
links.l = { rate = "2 Mbit/s", delay = "5 ms", LINK }
flows = [{ path = ["l"] }]
"""
FILES = {
    "a trace": ("trace", "1\n2\n10\n"),
    "a table of changes": ("changes", "at,rate\n0.5 s,1 Mbit/s\n"),
}


@pytest.mark.parametrize("case", FILES)
def test_a_mark_of_the_order_of_bytes_is_no_part_of_a_file(case: str, tmp_path: Path) -> None:
    key, content = FILES[case]
    (tmp_path / "s.toml").write_text(
        STUDY.replace("LINK", f'{key} = {{ file = "f" }}').replace('rate = "2 Mbit/s", ', "" if key == "trace" else 'rate = "2 Mbit/s", ')
    )
    scenarios: list[str] = []
    for encoding in ("utf-8", "utf-8-sig"):
        (tmp_path / "f").write_text(content, encoding=encoding)
        scenarios.append(make_plan(Study.load(tmp_path / "s.toml")).runs[0].scenario)
    assert scenarios[0] == scenarios[1]


def test_a_name_of_letters_of_two_signs_is_told_with_those_of_one() -> None:
    assert Study.parse(STUDY.replace('"s"', '"über"').replace(", LINK", ""), Path("s.toml")).name == "über"
    with pytest.raises(StudyError) as caught:
        Study.parse(STUDY.replace('"s"', '"u\u0308ber"').replace(", LINK", ""), Path("s.toml"))
    assert str(caught.value.hint).endswith("the marks of `über` are letters of their own here: write each letter as one")


def test_a_hint_lists_names_that_there_are_and_not_too_many() -> None:
    assert did_you_mean("x", []) == did_you_mean("x", [""]) == "there are none here"
    assert did_you_mean("x", ["a", ""]) == "known here: a"
    assert did_you_mean("x", [f"n{at}" for at in range(40)]).endswith(", n29 and 10 more")


def test_a_hint_suggests_only_what_is_a_slip_away() -> None:
    assert did_you_mean("unit", ["low", "high", "count"]) == "known here: low, high, count"
    for slip, meant in {"cubik": "cubic", "hstpc": "hstcp", "duraton": "duration", "goodput": "goodput_bps", "rtt": "srtt"}.items():
        assert did_you_mean(slip, ["bic", meant]) == f"did you mean `{meant}`?"


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ("", StudyError, "an empty text is neither a scenario nor the path of a study"),
        ("\ud800", TypeError, "takes the path of a study file, found"),
        ({1: {}}, StudyError, r"the keys of a scenario are texts, found 1$"),
    ],
)
def test_what_is_no_scenario_is_told(given: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as caught:
        sawtooth.simulate(given)
    assert re.search(words, str(caught.value), re.MULTILINE), caught.value
