"""Where ticks are and what they are called, on the page as in the files that are taken along from it: drawn by two programs, decided by one."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_MOST = 9
"""Ticks of an axis of values: so many have room in the lowest panel of the page and of a file."""
_ROUNDING = 1e-9
"""What differs by less, as a share of the largest value, is one value."""
_FEW = 2.0
"""Counts that are no further apart than this may have ticks between whole numbers, if they are means."""
_AMOUNT = re.compile(r"(-?\d+(?:\.\d+)?)(?: ([A-Za-zµ%][\w/%µ]*))?")
"""A level that is a number, with its unit if it has one."""


@dataclass(frozen=True)
class Ticks:
    """An axis of values.

    Attributes:
        low, high: where it begins and ends.
        places, names: of its ticks.
        broken: whether lengths on it say nothing although they could: it does not begin at 0.

    """

    low: float
    high: float
    places: Sequence[float]
    names: Sequence[str]
    broken: bool


def of_values(values: Sequence[float], scale: str, *, counts: bool = False) -> Ticks:
    """The axis that all of these are on; those that are not finite, or on a logarithmic one not above 0, have no place. One of nothing has no ticks.

    Of `counts` it has whole ticks, unless they are means of counts that differ by less.
    """
    ends = [value for value in values if math.isfinite(value) and (scale != "log" or value > 0)]
    if not ends:
        return Ticks(0.1 if scale == "log" else 0.0, 1.0, [], [], broken=False)
    if not any(ends):
        # Nothing has a size that would say how fine ticks are.
        return Ticks(0.0, 1.0, [0.0, 1.0], ["0", "1"], broken=False)
    whole = counts and (max(ends) - min(ends) >= _FEW or all(value == int(value) for value in ends))
    if scale == "log":
        low, high = min(ends) / 1.1, max(ends) * 1.1
        places = _logarithmic(low, high)
        if whole and any(place != int(place) for place in places):
            places = _whole(low, high)
            low, high = min(low, places[0]), max(high, places[-1])
        return Ticks(low, high, places, _names(places, each=True), broken=False)
    least, most = min(ends), max(ends)
    if most - least <= _ROUNDING * max(abs(least), abs(most)):
        # Nothing differs that would need the room that 0 takes.
        least, most = min(least, 0.0), max(most, 0.0)
    room = 0.06 * (most - least)
    # What cannot be below 0 is shown from 0 on, and what cannot be above up to it, unless that leaves no room for what differs.
    low = 0.0 if 0 <= least < 0.6 * most else least - room
    high = 0.0 if low < most == 0 else most + room
    step = _step(low, high, 1.0 if whole else 0.0)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    places = [float(f"{at * step:.12g}") for at in range(first, last + 1)]
    return Ticks(places[0], places[-1], places, _names(places), broken=places[0] > 0 or places[-1] < 0)


def _whole(low: float, high: float) -> list[float]:
    """Whole numbers around both ends, none of them 0, which a logarithmic axis has not."""
    step = _step(low, high, 1.0)
    places = [at * step for at in range(math.floor(low / step), math.ceil(high / step) + 1)]
    return [place for place in places if place > 0]


def _step(low: float, high: float, multiple: float = 0.0) -> float:
    """The least round step of which there are not too many, of both ends as far out as ticks go; a `multiple` of a number, unless that is 0."""
    rough = (high - low) / (_MOST - 1)
    ten = max(10.0 ** math.floor(math.log10(rough)), multiple)
    steps = (factor * ten for factor in (1.0, 2.0, 2.5, 5.0, 10.0, 20.0) if not multiple or factor * ten % multiple == 0)
    return next(step for step in steps if math.ceil(high / step - 1e-9) - math.floor(low / step + 1e-9) < _MOST)


def _logarithmic(low: float, high: float) -> list[float]:
    """Ticks as people read them, 20 50 100 200: as many as there is room for; of a short stretch those of a linear axis."""
    found = [[each for each in some if low <= each <= high] for some in _within_decades(low, high)]
    fitting = [some for some in found if 3 <= len(some) <= _MOST]
    if fitting:
        return max(fitting, key=len)
    if high < 10 * low:
        step = _step(low, high)
        return [float(f"{at * step:.12g}") for at in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    decades = found[-1]
    return decades[:: -(-len(decades) // _MOST)]


def _within_decades(low: float, high: float) -> Iterator[list[float]]:
    """Round numbers of all decades between two, the most of each decade first."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in (range(1, 10), (1, 2, 5), (1, 3), (1,)):
        yield [float(f"{factor}e{decade}") for decade in decades for factor in factors]


def _names(places: Sequence[float], *, each: bool = False) -> list[str]:
    """Numbers in words: all with as many decimals as one of them needs, or `each` with its own."""
    if any(place and not 1e-4 <= abs(place) < 1e9 for place in places):
        return [f"{place:.6g}" for place in places]
    decimals = [len(f"{abs(place):.9f}".rstrip("0").partition(".")[2]) for place in places]
    return [f"{place:,.{own if each else max(decimals)}f}" for place, own in zip(places, decimals, strict=True)]


def of_levels(levels: Sequence[str]) -> tuple[list[str], str]:
    """Levels as an axis names them, and the unit that all have and the axis's label says instead; empty if they have none in common."""
    found = [_AMOUNT.fullmatch(level) for level in levels]
    units = {each and each[2] for each in found}
    unit = next(iter(units)) if len(units) == 1 and len(levels) > 1 else None
    return [each[1] if each and unit else level for each, level in zip(found, levels, strict=True)], unit or ""


def amounts(levels: Sequence[str]) -> list[float]:
    """The numbers that levels of one unit are; none if they are no such."""
    found = [_AMOUNT.fullmatch(level) for level in levels]
    alike = None not in found and len({each and each[2] for each in found}) == 1
    return [float(each[1]) for each in found if each] if alike else []


def label(name: str, unit: str) -> str:
    """What an axis of levels is called, with the unit that their names leave to it."""
    known = f"{name[:-1]}, {unit})" if name.endswith(")") else f"{name} ({unit})"
    return known if unit else name
