"""A text that is no TOML is blamed where it began to be none, and the error says what to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.errors import StudyError
from sawtooth.study import Study

# The text, the line and what of it is blamed, the message and the hint.
CASES = {
    "a quote": ('a = "x\nb = 1\n', 1, '"', 'this " is not closed', 'add " where what it begins ends'),
    "a quote in a list": ('a = ["x]\nb = "y"\n', 1, '"', 'this " is not closed', 'add " where what it begins ends'),
    "a quote in a table": ("a = { b = 'x }\nc = 1\n", 1, "'", "this ' is not closed", "add ' where what it begins ends"),
    "a quote of a key": ('"vars.x = 3\nb = 1\n', 1, '"', 'this " is not closed', 'add " where what it begins ends'),
    "a quote behind another": ('a = "x # \\" y"\nb = "z # w\nc = 1\n', 2, '"', 'this " is not closed', 'add " where what it begins ends'),
    "three quotes": ('a = """x\ny\n', 1, '"""', 'this """ is not closed', 'add """ where what it begins ends'),
    "a list before a key": ('a = [\n  "x",\n  "y"\nb = 1\n', 1, "[", "this [ is not closed", "add ] where what it begins ends"),
    "a list before a heading": ('a = ["x",\n[scenario]\nb = 1\n', 1, "[", "this [ is not closed", "add ] where what it begins ends"),
    "a comma of a list": ("a = [\n[1, 2]\n[3, 4]\n]\n", 3, "[", "missing comma between array elements, expected `,`", "add a comma, or ] for the [ of line 1"),
    "a comma of a table": ("a = {\nb = 1\nc = 2\n}\n", 3, "c", "missing comma between key-value pairs, expected `,`", "add a comma, or } for the { of line 1"),
    "no quotes": ("a = 10 ms\n", 1, "10 ms", "this value is in no quotes", 'a text, and a number with a unit, is in quotes: "10 ms"'),
    "quotes of a word processor": ("a = \u201cx\u201d\n", 1, "\u201cx\u201d", "this value is in no quotes", 'a text, and a number with a unit, is in quotes: "x"'),
    "a quote that is not opened": ('a = x"\n', 1, "x", 'missing opening quote, expected `"`', 'texts are in quotes: "..."'),
    "a key twice": ("a = 1\na = 2\n", 2, "a", "duplicate key", "each key, and each [table], is there once: put both together, or leave one out"),
    "a date": ("a = 2020-01-01\n", 1, "2020-01-01", "a study has no use for a date", "write it in quotes if it is a name"),
    "what has no =": ("a: 1\n", 1, "1", "key with no value, expected `=`", "a key and its value are written key = value"),
    "what is no line": ('a = "x" "y"\n', 1, '"', "unexpected key or value, expected newline, `#`", 'lines are key = value; texts are in "quotes", lists in [brackets], tables in { braces } or below [name]'),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.replace(" ", "_"))
def test_what_is_no_toml_is_told_where_it_begins(case: str) -> None:
    text, line, blamed, message, hint = CASES[case]
    with pytest.raises(StudyError) as caught:
        Study.parse(text, Path("s.toml"))
    error, place = caught.value, caught.value.place
    assert (error.message, error.hint) == (message, hint)
    assert place is not None and place.line == line
    assert f"{place.text} "[place.column - 1 : place.end_column - 1] == blamed
