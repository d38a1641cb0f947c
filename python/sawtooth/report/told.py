"""Evidence as a study's own analysis makes it: of a number with an interval, or of a fact that chance has no part in."""

from __future__ import annotations

import math
from collections.abc import Callable

from sawtooth.findings.verdict import Evidence
from sawtooth.stats import Interval


def held(
    of: Callable[[float], Interval], *, above: float = -math.inf, below: float = math.inf, unit: str = "", words: str = "", cell: str = ""
) -> Evidence:
    """That a number is between two limits.

    Args:
        of: its interval at a confidence, such as `lambda level: stats.mean_interval(values, level)`.
        above: the lower limit.
        below: the upper limit; at least one of them is finite.
        unit: of the number.
        words: what is said of it; by default the number with its interval of 95 %.
        cell: what it is of, if the claim is of several.

    """
    if not math.isfinite(above) and not math.isfinite(below):
        raise ValueError("a claim about a number needs a limit: above, below, or both")

    def shows(level: float) -> bool:
        found = of(level)
        return found.low > above and found.high < below

    def denies(level: float) -> bool:
        found = of(level)
        return found.high <= above or found.low >= below

    usual = of(0.95)
    return Evidence(cell, shows, denies, words or usual.words(unit=unit), usual, (above, below), unit)


def fact(holds: bool, words: str, *, cell: str = "") -> Evidence:
    """That something is the case, or not, such as how many published numbers came out again."""
    return Evidence(cell, lambda _: holds, lambda _: not holds, words, chance=False)
