"""Rows of a table taken together: what the lows and highs of a run's rows of an item come to.

Which rows belong together is the same for every measure of a table, and to tell it by texts takes longer than all else: it is found with the first measure, and kept.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sawtooth.measures import functions

_MOST_KEPT = 4_000_000
"""Rows of which it is kept where they belong, 32 MB."""


@dataclass(frozen=True)
class Groups:
    """Which rows of a table belong together.

    Attributes:
        keys: one row per group: run, item, `by`.
        rows: one row per row of the table: `group`, the number of the row of `keys`, and `group_run`, the run that the row was of.

    """

    keys: pl.DataFrame
    rows: pl.DataFrame

    @classmethod
    def of(cls, keys: pl.DataFrame, first: pl.Series, rows: pl.Series) -> Groups | None:
        """By the number of each group's first row, and how many it has; None if they do not stand one after the other."""
        length = rows.to_numpy()
        if not np.array_equal(first.to_numpy(), np.cumsum(length) - length):
            return None
        number = np.repeat(np.arange(keys.height, dtype=np.uint32), length)
        return cls(keys, pl.DataFrame({"group": number, "group_run": np.repeat(keys["run"].to_numpy(), length)}))


class Together:
    """Takes the rows of a dataset's tables together."""

    def __init__(self) -> None:
        self._groups: dict[tuple[object, ...], Groups] = {}

    def whole(self, rows: pl.LazyFrame, how: str, by: Sequence[str], key: tuple[object, ...]) -> pl.DataFrame:
        """As `taken_together`, of all rows of a table in their order, of which each has to be known.

        Args:
            rows: with run, item, `by`, low and high.
            how: the function.
            by: columns that tell values apart.
            key: the same for the same rows with the same items and `by`.

        """
        known = self._groups.get(key)
        if known is not None:
            beside = pl.concat([rows, known.rows.lazy()], how="horizontal")
            same = pl.col("run").eq_missing(pl.col("group_run")).all()
            # If something was stored meanwhile rows are not where they were, or are more or fewer.
            with contextlib.suppress(pl.exceptions.ShapeError):
                made = beside.group_by("group", maintain_order=True).agg(*_low_and_high(how, many=False), same.alias("same")).collect()
                if made.height == known.keys.height and made["same"].all():
                    return _numbers(known.keys.hstack(made.select("low", "high")))
        asked = (*_low_and_high(how, many=False), pl.col("at").first().alias("first"), pl.len().alias("rows"))
        made = rows.with_row_index("at").group_by("run", "item", *by, maintain_order=True).agg(*asked).collect()
        self._keep(key, Groups.of(made.drop("low", "high", "first", "rows"), made["first"], made["rows"]))
        return _numbers(made.drop("first", "rows"))

    def _keep(self, key: tuple[object, ...], groups: Groups | None) -> None:
        if groups is None or groups.rows.height > _MOST_KEPT:
            return
        if sum(each.rows.height for each in self._groups.values()) + groups.rows.height > _MOST_KEPT:
            self._groups.clear()
        self._groups[key] = groups


def taken_together(rows: pl.LazyFrame, how: str, by: Sequence[str], *, many: bool, share: float | None = None) -> pl.DataFrame:
    """One row per run, item and `by`: what the lows and highs of its rows are together; null if one of them is not known.

    Args:
        rows: with run, item, `by`, low and high.
        how: the function.
        by: columns that tell values apart.
        many: whether rows are events or samples, of which those count that are known.
        share: of the function, if it has one.

    """
    return _numbers(rows.group_by("run", "item", *by, maintain_order=True).agg(*_low_and_high(how, many=many, share=share)).collect())


def chosen(rows: pl.LazyFrame, by: Sequence[str], *, largest: bool) -> pl.DataFrame:
    """One row per run, item and `by`: low and high of the row whose `chosen_by` is least, or largest; null if one of those is not known."""
    made = rows.group_by("run", "item", *by, maintain_order=True).agg(
        pl.when(pl.col("chosen_by").is_not_null().all()).then(
            pl.col(name).sort_by("chosen_by", descending=largest, maintain_order=True).first()
        ).alias(name) for name in ("low", "high")
    )  # fmt: skip
    return made.collect()


def _low_and_high(how: str, *, many: bool, share: float | None = None) -> list[pl.Expr]:
    found = functions.aggregate("mean" if how == "each" else how, share)
    assert found is not None
    low, high = pl.col("low"), pl.col("high")
    whole = pl.lit(True) if many else low.is_not_null().all() & high.is_not_null().all()
    if not found.grows:
        whole &= (low == high).all()
    return [
        pl.when(whole).then(found.made(low)).cast(pl.Float64).alias("low"),
        pl.when(whole).then(found.made(high)).cast(pl.Float64).alias("high"),
    ]


def _numbers(made: pl.DataFrame) -> pl.DataFrame:
    """Infinity less infinity and the like are no number."""
    return made.with_columns(pl.when(pl.col(name).is_not_nan()).then(pl.col(name)).alias(name) for name in ("low", "high"))
