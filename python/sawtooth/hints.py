"""Hints for a name that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_MOST_KNOWN = 30
"""Names that a hint lists."""


_BEGINNING = 3
"""Letters from which on a beginning tells something."""
_MOST_BEGUN = 3
"""Names with a beginning in common that are told of instead of all."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint that names the nearest of `known`, or those that it is a beginning of or that begin it, or all of them."""
    known = [each for each in known if each]
    near = [each for each in difflib.get_close_matches(name, known, 3, 0.6) if _edits(name, each) <= _slips(name, each)]
    if not near:
        begun = [each for each in known if min(len(each), len(name)) >= _BEGINNING and (each.startswith(name) or name.startswith(each))]
        near = begun if len(begun) == 1 else []
        if 1 < len(begun) <= _MOST_BEGUN:
            return f"there is {', '.join(f'`{each}`' for each in begun)}"
    if near or not known:
        return f"did you mean `{near[0]}`?" if near else "there are none here"
    more = f" and {len(known) - _MOST_KNOWN} more" if len(known) > _MOST_KNOWN else ""
    return f"known here: {', '.join(known[:_MOST_KNOWN])}{more}"


def _slips(one: str, other: str) -> float:
    """How many letters may differ: half of the longer word, and of short words no more than they have."""
    return min(max(len(one), len(other)) / 2, max(min(len(one), len(other)) - 1, 1))


def _edits(one: str, other: str) -> int:
    """Letters to be put in, left out or changed: words such as `unit` and `count` have letters in common in their order, and are no slips of each other."""
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        before, row[0] = row[0], at
        for to, its in enumerate(other, 1):
            before, row[to] = row[to], min(row[to] + 1, row[to - 1] + 1, before + (letter != its))
    return row[-1]
