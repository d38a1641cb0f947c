"""Panels whose horizontal axis has levels, named as far as there is room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sawtooth.plots import facets, shifts, ticks
from sawtooth.plots.facets import Grid
from sawtooth.plots.style import extent

_MOST_NAMED, _FEW_NAMED = 24, 5
"""Levels that are all named on an axis, and about how many are where there are more."""
_LONGEST = 16
_ROOM = 7.0
"""Width in inches that the names of levels may need, in all panels beside each other, before some are left out or they are tilted."""


@dataclass(frozen=True)
class Along:
    """Panels along levels.

    Attributes:
        laid: the panels.
        ordered: whether levels have an order: each begins with a number.
        dense: whether there are so many in order that only some are named.
        places: of the levels on the axis: counted, or as far from each other as their numbers are.
        unit: that all levels have, which their names leave to the axis's label; empty if they have none in common.

    """

    laid: Grid
    ordered: bool
    dense: bool
    places: Sequence[float]
    named: Sequence[tuple[float, str]]
    tilted: bool
    unit: str

    def label(self, x: str, y: str) -> None:
        """Names the axes, once for each column and row; the horizontal one with the unit of its levels."""
        self.laid.label(ticks.label(x, self.unit), y)

    def name(self) -> None:
        """Names the levels, once all is drawn."""
        for axis in self.laid.axes:
            axis.set_xticks([at for at, _ in self.named], [text for _, text in self.named])
            if self.tilted:
                axis.tick_params(axis="x", labelrotation=60)
                for text in axis.get_xticklabels():
                    text.set_horizontalalignment("right")
                    text.set_rotation_mode("anchor")
            axis.set_xlim(-0.5, self.places[-1] + 0.5)


def along(
    titles: tuple[Sequence[str], Sequence[str]],
    levels: Sequence[str],
    *,
    each: float = 0.0,
    height: float = 2.5,
    dodged: bool = False,
    valued: bool = False,
    share_y: bool = True,
) -> Along:
    """Panels of all rows and columns, as wide as the names of levels need.

    Args:
        titles: of rows and columns.
        levels: along x.
        each: the least room of a level, in inches.
        height: of a panel, in inches.
        dodged: whether what stands at a level has no names of its own, and may be narrow where there are many panels.
        valued: whether levels that are numbers may stand as far from each other as these are.
        share_y: whether all panels have the same vertical axis.

    """
    ordered = shifts.numbers_first(levels)
    dense = is_dense(levels)
    names, unit = ticks.of_levels(levels)
    texts = [_broken(name) for name in names]

    def width_of(shown: Sequence[int]) -> float:
        return 0.09 * sum(min(max(len(part) for part in texts[at].split("\n")), 60) + 2 for at in shown)

    # From the end: of 1, 2, ... 100 the round ones.
    every = -(-len(levels) // _FEW_NAMED) if dense else 1
    shown = [at for at in range(len(levels)) if (at + 1) % every == 0 or at == 0]
    steps = [after - before for before, after in pairwise(ticks.amounts(levels))]
    if not dense and len(steps) > _FEW_NAMED and max(steps) - min(steps) < 1e-9 * max(steps):
        # Where numbers follow in equal steps, those that are not named are read off.
        least = next(every for every in range(1, len(levels)) if width_of(range(0, len(levels), every)) <= max(_ROOM / len(titles[1]), 2.6))
        shown = shown if least == 1 else _rounder(texts, (least, least + 1))
    places = _as_far(steps) if valued and len(steps) >= _FEW_NAMED - 1 else list(map(float, range(len(levels))))
    needed = max(2.6, width_of(shown))
    tilted = needed > _ROOM
    width = min(needed, max(4.5, 0.34 * len(shown))) if tilted else needed
    laid = facets.grid(
        *titles,
        width=max(width, min(each * len(levels) + 0.4, max(10.0 / len(titles[1]), 3.2 if dodged else 9.0))),
        height=height,
        share_y=share_y,
    )
    named = [(places[at], texts[at]) for at in shown]
    if places[-1] > len(places) - 1:
        # Steps are not all alike: a name that would touch the one before is left out.
        inch = (places[-1] + 1) / width
        named = [
            named[0],
            *(after for before, after in pairwise(named) if after[0] - before[0] > inch * (_wide(before[1]) + _wide(after[1])) / 2),
        ]
    return Along(laid, ordered, dense, places, named, tilted, unit)


def is_dense(levels: Sequence[str]) -> bool:
    """Whether levels have an order and are so many that only some are named."""
    return shifts.numbers_first(levels) and len(levels) > _MOST_NAMED


def _wide(text: str) -> float:
    """Width of a name with the room about it, in inches."""
    return extent(text, 9.0) + 0.04


def _rounder(texts: Sequence[str], every: Sequence[int]) -> list[int]:
    """Each so many of some numbers, beginning where they have the fewest digits."""
    choices = [list(range(start, len(texts), each)) for each in every for start in range(each)]
    return min(choices, key=lambda chosen: sum(len(texts[at].strip("0")) for at in chosen) / len(chosen))


def _as_far(steps: Sequence[float]) -> list[float]:
    """Places as far from each other as numbers are, if the steps between these are much alike; else counted."""
    found = [0.0]
    for step in steps:
        found.append(found[-1] + (step / min(steps) if min(steps) > 0 and max(steps) <= 2.01 * min(steps) else 1.0))
    return found


def _broken(level: str) -> str:
    """A level as an axis has room for it: a long one in two lines."""
    if len(level) <= _LONGEST or " " not in level:
        return level
    middle = min((at for at, letter in enumerate(level) if letter == " "), key=lambda at: abs(at - len(level) / 2))
    return f"{level[:middle]}\n{level[middle + 1 :]}"
