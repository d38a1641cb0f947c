"""Panels whose horizontal axis has levels, named as far as there is room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sawtooth.plots import facets
from sawtooth.plots.facets import Grid

_MOST_NAMED, _FEW_NAMED = 24, 5
"""Levels that are all named on an axis, and about how many are where there are more."""
_LONGEST = 16


@dataclass(frozen=True)
class Along:
    """Panels along levels.

    Attributes:
        laid: the panels.
        ordered: whether levels have an order: each begins with a number.
        dense: whether there are so many in order that only some are named.

    """

    laid: Grid
    ordered: bool
    dense: bool
    levels: int
    named: Sequence[tuple[int, str]]
    tilted: bool

    def name(self) -> None:
        """Names the levels, once all is drawn."""
        for axis in self.laid.axes:
            axis.set_xticks([at for at, _ in self.named], [text for _, text in self.named])
            if self.tilted:
                axis.tick_params(axis="x", labelrotation=60)
                for text in axis.get_xticklabels():
                    text.set_horizontalalignment("right")
                    text.set_rotation_mode("anchor")
            axis.set_xlim(-0.5, self.levels - 0.5)


def along(
    titles: tuple[Sequence[str], Sequence[str]],
    levels: Sequence[str],
    *,
    each: float = 0.0,
    height: float = 2.5,
    dodged: bool = False,
    share_y: bool = True,
) -> Along:
    """Panels of all rows and columns, as wide as the names of levels need.

    Args:
        titles: of rows and columns.
        levels: along x.
        each: the least room of a level, in inches.
        height: of a panel, in inches.
        dodged: whether what stands at a level has no names of its own, and may be narrow where there are many panels.
        share_y: whether all panels have the same vertical axis.

    """
    ordered = facets.numbers_first(levels)
    dense = is_dense(levels)
    # From the end: of 1, 2, ... 100 the round ones.
    every = -(-len(levels) // _FEW_NAMED) if dense else 1
    shown = [at for at in range(len(levels)) if (at + 1) % every == 0 or at == 0]
    texts = [_broken(level) for level in levels]
    needed = max(2.6, 0.09 * sum(min(max(len(part) for part in texts[at].split("\n")), 60) + 2 for at in shown))
    tilted = needed > 7
    width = min(needed, max(4.5, 0.34 * len(shown))) if tilted else needed
    laid = facets.grid(
        *titles,
        width=max(width, min(each * len(levels) + 0.4, max(10.0 / len(titles[1]), 3.2 if dodged else 9.0))),
        height=height,
        share_y=share_y,
    )
    return Along(laid, ordered, dense, len(levels), [(at, texts[at]) for at in shown], tilted)


def is_dense(levels: Sequence[str]) -> bool:
    """Whether levels have an order and are so many that only some are named."""
    return facets.numbers_first(levels) and len(levels) > _MOST_NAMED


def _broken(level: str) -> str:
    """A level as an axis has room for it: a long one in two lines."""
    if len(level) <= _LONGEST or " " not in level:
        return level
    middle = min((at for at, letter in enumerate(level) if letter == " "), key=lambda at: abs(at - len(level) / 2))
    return f"{level[:middle]}\n{level[middle + 1 :]}"
