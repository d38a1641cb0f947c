"""Evidence as a study's own analysis makes it: of a number with an interval, or of a fact that chance has no part in."""

from __future__ import annotations

import math
from collections.abc import Callable

from sawtooth.findings.verdict import Evidence
from sawtooth.scales import p_value
from sawtooth.stats import Interval, Trend


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


def rising(found: Trend, *, falling: bool = False, cell: str = "") -> Evidence:
    """That a trend goes up, or down: by its p, as `stats.trend` finds it.

    Args:
        found: the trend.
        falling: whether it is claimed to go down.
        cell: what it is of, if the claim is of several.

    """
    way = -found.rho if falling else found.rho
    words = f"rank correlation within {found.strata} strata {found.rho:+.2f}, {p_value(found.p)} ({found.method})"
    limits = (-math.inf, 0.0) if falling else (0.0, math.inf)
    shown = Interval(found.rho, found.low, found.high, found.n, found.method)

    def shows(level: float) -> bool:
        return way > 0 and found.p <= 1 - level

    def denies(level: float) -> bool:
        return way < 0 and found.p <= 1 - level

    return Evidence(cell, shows, denies, words, shown, limits, brief=f"rank correlation {found.rho:+.2f}", quantity="rank correlation")
