"""Hints for a name that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_MOST_KNOWN = 30
"""Names that a hint lists."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint that names the nearest of `known`, or all of them."""
    known = [each for each in known if each]
    near = [each for each in difflib.get_close_matches(name, known, 3, 0.6) if _edits(name, each) <= max(len(name), len(each)) / 2]
    if near or not known:
        return f"did you mean `{near[0]}`?" if near else "there are none here"
    more = f" and {len(known) - _MOST_KNOWN} more" if len(known) > _MOST_KNOWN else ""
    return f"known here: {', '.join(known[:_MOST_KNOWN])}{more}"


def _edits(one: str, other: str) -> int:
    """Letters to be put in, left out or changed: words such as `unit` and `count` have letters in common in their order, and are no slips of each other."""
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        before, row[0] = row[0], at
        for to, its in enumerate(other, 1):
            before, row[to] = row[to], min(row[to] + 1, row[to - 1] + 1, before + (letter != its))
    return row[-1]
