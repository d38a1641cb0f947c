"""Hints for a name that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_MOST_KNOWN = 30
"""Names that a hint lists."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint that names the nearest of `known`, or all of them."""
    known = [each for each in known if each]
    near = difflib.get_close_matches(name, known, 1, 0.6)
    if near or not known:
        return f"did you mean `{near[0]}`?" if near else "there are none here"
    more = f" and {len(known) - _MOST_KNOWN} more" if len(known) > _MOST_KNOWN else ""
    return f"known here: {', '.join(known[:_MOST_KNOWN])}{more}"
