"""What is wrong with a text that is no TOML, at the place where it began to be: a quote that is not closed is found out only on the next line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from sawtooth import _core
from sawtooth.errors import Place, StudyError
from sawtooth.lines import lines

_HINTS = {
    "duplicate key": "each key, and each [table], is there once: put both together, or leave one out",
    "a study has no use for a date": "write it in quotes if it is a name",
    "a study has no use for what is no finite number": "write a finite number, or leave it out",
    "missing opening quote": 'texts are in quotes: "..."',
    "key with no value": "a key and its value are written key = value",
    "invalid boolean": "write true or false",
    "invalid unquoted key": "write the key in quotes",
    "missing escaped value": "write \\\\ for a backslash, or the text in 'single quotes'",
    "invalid mantissa": "numbers are written 0.5, 2.0, 10",
    "invalid fraction": "numbers are written 0.5, 2.0, 10",
    "unexpected leading zero": "numbers are written 0.5, 2.0, 10",
    "cannot extend": "it has a value above: write that as a table, or leave one out",
}
_ELSE = 'lines are key = value; texts are in "quotes", lists in [brackets], tables in { braces } or below [name]'
_CLOSED = {"[": "]", "{": "}"}
_LONG = ('"""', "'''")
_TEXT = {'"': re.compile(r'"(?:[^"\\]|\\.)*"'), "'": re.compile(r"'[^']*'")}
# A line that begins something new, so that what was open before it was to be closed.
_BEGINS = re.compile(r"\s*(\[\[?[^\W\d][\w. -]*\]|[\w.\"'-]+\s*=)")
_CURLY = "\u201c\u201d\u201e\u2018\u2019"
"""Quotes as word processors have them."""


def error_of(error: _core.TomlError, text: str, name: str) -> StudyError:
    """The error about a text that cannot be read, with its place and what to do.

    Args:
        error: of the parser.
        text: what it read.
        name: of the file, for messages.

    """
    written = lines(text)
    line = written[error.line - 1]
    end = max(error.end_column if error.end_line == error.line else 0, error.column + 1)
    begins = _BEGINS.match(line) is not None
    quote, bracket = _open(written[: error.line], error.column)
    # No list goes on with a key or a heading; a table in braces may lack a comma as well.
    left = quote or (bracket if bracket is not None and bracket[2] == "[" and begins and bracket[0] < error.line - 1 else None)
    if left is not None:
        row, column, sign = left
        place = Place(name, row + 1, column + 1, column + 1 + len(sign), written[row])
        return StudyError(f"this {sign} is not closed", place, f"add {_CLOSED.get(sign, sign)} where what it begins ends")
    hint = error.hint or next((said for begin, said in _HINTS.items() if error.message.startswith(begin)), _ELSE)
    message, found = error.message, line[error.column - 1 : end - 1].strip()
    if message.startswith(("missing comma", "unclosed")) and bracket is not None:
        comma = "a comma, or " if message.startswith("missing") else ""
        hint = f"add {comma}{_CLOSED[bracket[2]]} for the {bracket[2]} of line {bracket[0] + 1}"
    elif message.startswith("string values must be quoted"):
        told = f'a text, and a number with a unit, is in quotes: "{found.strip(_CURLY)}"'
        message, hint = ("this value is in no quotes", told) if found else ("a value was expected", "write what it is after the =")
    return StudyError(message, Place(name, error.line, error.column, end, line), hint)


Mark: TypeAlias = tuple[int, int, str]
"""A line and a column, from 0, and the sign that is there."""


def _open(written: Sequence[str], last: int) -> tuple[Mark | None, Mark | None]:
    """The first quote that is not closed, and the innermost bracket that is open; of the last line, what is before a column counts."""
    brackets: list[Mark] = []
    within: Mark | None = None
    for row, line in enumerate(written):
        end = last - 1 if row == len(written) - 1 else len(line)
        at = 0
        while at < end:
            sign, three = line[at], line[at : at + 3]
            if within is not None:
                opened = within
                closes = three == opened[2]
                within = None if closes else opened
                at += 3 if closes else 2 if sign == "\\" and opened[2] == '"""' else 1
            elif sign == "#":
                break
            elif three in _LONG:
                within, at = (row, at, three), at + 3
            elif sign in _TEXT:
                closed = _TEXT[sign].match(line, at)
                if closed is None:
                    return (row, at, sign), None
                at = closed.end()
            else:
                if sign in _CLOSED:
                    brackets.append((row, at, sign))
                elif sign in _CLOSED.values() and brackets:
                    brackets.pop()
                at += 1
    return within, brackets[-1] if brackets else None
