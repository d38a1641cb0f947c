"""Where curves stand beside a level that they share, on the page as in the files that are taken along from it: drawn by two programs, decided by one."""

from __future__ import annotations

from collections.abc import Sequence

WIDEST = 0.4
"""Of the way from one level to the next, what all curves of a level take together: more is left free than they take, so that a point is of the level that it stands at."""
_STEP = 0.12
"""From a curve to the next, if there is room."""
_JOINED = 0.035
"""The same where points are joined: a shift that can be seen looks like a slope, and curves that are the same look like others."""


def dodge(at: int, of: int, *, joined: bool = False, step: float = _STEP) -> float:
    """How far a curve stands beside the level, so that intervals do not hide each other, and none looks as if it were the next level's.

    Args:
        at: its number.
        of: how many there are.
        joined: whether its points are joined.
        step: from one to the next, if there is room.

    """
    return (at - (of - 1) / 2) * min(_JOINED if joined else step, WIDEST / max(of - 1, 1))


def numbers_first(levels: Sequence[str]) -> bool:
    """Whether levels have an order, in which points are joined: each begins with a number."""
    return all(level[:1].isdigit() or (level[:1] == "-" and level[1:2].isdigit()) for level in levels)
