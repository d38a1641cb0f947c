"""A study's text, and where in it each key and value is written."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sawtooth import _core
from sawtooth.errors import Place, StudyError, cut
from sawtooth.lines import lines
from sawtooth.study.paths import parent

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Document:
    """A study's text with the places of its keys and values."""

    name: str
    text: str
    spans: Mapping[str, tuple[int, int, int, int]]
    options: Sequence[str] = ()

    @functools.cached_property
    def lines(self) -> Sequence[str]:
        """The text's lines."""
        return lines(self.text)

    def place(self, path: str, *, key: bool = False, within: tuple[int, int] | None = None) -> Place | None:
        """Where `path` is written; of a path that is not written, where its nearest parent is.

        Args:
            path: a path in the file, or `--set N`.
            key: the key rather than the value.
            within: characters of a string value that are meant.

        """
        if path.startswith("--set "):
            option = self.options[int(_NUMBER.findall(path)[0])]
            start = option.index("=") + 2 if "=" in option else 1
            if key:
                return Place("--set", 1, 1, max(start - 1, 2), option)
            # Of what is within the value, such as an item of a list, no place is known.
            before = _before_content(option[start - 1 :]) if within and path.partition("[")[0] == path else None
            if within and before is not None:
                return Place("--set", 1, start + before + within[0], start + before + within[1], option)
            return Place("--set", 1, start, len(option) + 1, option)
        while True:
            span = self.spans.get(f"{path}#key") if key else self.spans.get(path)
            span = span or self.spans.get(f"{path}#key") or self.spans.get(path)
            if span is not None:
                line, column, end_line, end_column = span
                text = self.lines[line - 1]
                last = end_column if end_line == line else len(text) + 1
                before = _before_content(text[column - 1 : last - 1]) if within is not None and end_line == line else None
                if within is not None and before:
                    return Place(self.name, line, column + before + within[0], column + before + within[1], text)
                return Place(self.name, line, column, last, text)
            if not path:
                return None
            key, within = key and False, None
            path = parent(path)

    @property
    def start(self) -> Place:
        """Where the file begins: the place of what is not in it."""
        return Place(self.name, 1, 1, 2, self.lines[0])

    def error(self, message: str, path: str, hint: str | None = None, *, key: bool = False) -> StudyError:
        """An error about what is written at `path`."""
        return StudyError(message, self.place(path, key=key), hint)

    def exceeds(self, name: str, number: float, limit: float, what: str, path: str) -> StudyError:
        """An error about what exceeds the limit `name`, and how to raise it."""
        return self.error(f"{what}, and the limit is {limit:,.0f} {name}", path, _core.how_to_raise(name, float(min(number, 10**300))))


def shown(value: Any) -> str:
    """A value of a study as people write it, for a message; what is long is cut."""
    return cut(json.dumps(value, ensure_ascii=False))


def _before_content(written: str) -> int | None:
    """How many characters of a value are before what it says; None if that is not written as it is: with escapes, or as no text."""
    quote = re.match("\"\"\"|'''|[\"']|", written)
    assert quote
    if ("\\" in written and quote[0][:1] == '"') or written[:1] in ("[", "{", " "):
        return None
    return len(quote[0])
