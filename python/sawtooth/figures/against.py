"""Which values of two measures stand against each other: those of one item, or what a run has one of against every item of the other.

The delay of a call against the goodput of all flows together is a point per run of the call: a side with one item per run is of the whole run as
far as the other side goes. With several items on both sides and none in common nothing says which belongs to which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from sawtooth.measures import Measure, Samples
from sawtooth.measures.blocks import block
from sawtooth.measures.computed import TOGETHER
from sawtooth.questions import Choice
from sawtooth.study.written import text_of

_MOST = 4
"""So many items are told."""


class ApartError(Exception):
    """Two measures have several items each and none in common."""

    def __init__(self, first: tuple[str, Sequence[str]], second: tuple[str, Sequence[str]]) -> None:
        (mine, my_items), (other, other_items) = first, second
        super().__init__(f"`{mine}` is of {_some(my_items)}, `{other}` is of {_some(other_items)}: none is of both")
        one = text_of(min(my_items, other_items, key=len)[0])
        self.hint = (
            f"choose one of a side, such as of = {one}, or name it in the measure, such as items.{one}.COLUMN, "
            "or take the flows together, such as total_goodput_bps"
        )


def of_side(choice: Choice, frame: pl.DataFrame) -> Choice:
    """A choice as it is of one side: of the items that the side has, or of all if it has none of those that were chosen."""
    there = {*frame["item"], *frame.select(block(pl.col("item")))["item"]}
    return replace(choice, of=tuple(item for item in choice.of if item in there))


def paired(
    mine: pl.DataFrame, other: pl.DataFrame, run: Sequence[str], by: Sequence[str], measures: tuple[Measure | Samples, Measure]
) -> pl.DataFrame:
    """Every row of `mine` with what `other` has beside it; `item` is that of the side that has several.

    Args:
        mine: with `run`, item, and columns of `by`, if it has them.
        other: the same, and the columns that are wanted, by names that `mine` has not.
        run: the columns that tell runs apart.
        by: columns that tell rows apart besides the item.
        measures: of both sides, for the error.

    Raises:
        ApartError: if nothing says which values belong together.

    """
    keys = [*run, *(name for name in by if name in mine.columns and name in other.columns and name not in run)]
    if mine.is_empty() or other.is_empty() or set(mine["item"]) & set(other["item"]):
        return mine.join(other, on=[*keys, "item"], how="left", maintain_order="left")
    if _single(other, run) and not (_single(mine, run) and set(mine["item"]) == {TOGETHER}):
        return mine.join(other.drop("item"), on=keys, how="left", maintain_order="left")
    if _single(mine, run):
        return mine.drop("item").join(other, on=keys, how="left", maintain_order="left")
    first, second = ((measure.name, list(dict.fromkeys(frame["item"]))) for measure, frame in zip(measures, (mine, other), strict=True))
    raise ApartError(first, second)


def _single(frame: pl.DataFrame, run: Sequence[str]) -> bool:
    return frame.select(*run, "item").unique().height == frame.select(*run).unique().height


def _some(items: Sequence[str]) -> str:
    return ", ".join(items[:_MOST]) + (", ..." if len(items) > _MOST else "")
