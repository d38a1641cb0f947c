"""Which rows of its tables a measure counts: those with certain texts or numbers in their columns, of a part of the run, after a warm-up."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sawtooth.measures import tables
from sawtooth.measures.tables import SHAPES

SIGNS = ("<=", ">=", "<", ">")
MSER = "mser-5"


@dataclass(frozen=True)
class Condition:
    """What a column must be: one of `texts`, or a number that stands in the relation `sign` to `number`, in the column's own unit."""

    column: str
    texts: tuple[str, ...] = ()
    sign: str = "="
    number: float | None = None

    def expression(self) -> pl.Expr:
        """Whether a row has it."""
        column = pl.col(self.column)
        if self.number is None:
            return column.is_in(self.texts)
        number = pl.lit(self.number)
        value = column.cast(pl.Float64)
        return {"=": value == number, "<": value < number, "<=": value <= number, ">": value > number, ">=": value >= number}[self.sign]


@dataclass(frozen=True)
class Rows:
    """Rows of tables.

    Attributes:
        conditions: on their columns; one on a column that a table has not says nothing of that table.
        start_ns, end_ns: part of the run, from its start; of what has a time, what begins in it.
        warm_up: None, or `mser-5`: how the beginning is found that is left out. A fixed one is `start_ns`.
        start_share: the beginning that is left out, as a share of the time of a run's last sample.
        width_ns: of the windows in which throughput over time is taken; None for a second.

    """

    conditions: tuple[Condition, ...] = ()
    start_ns: float | None = None
    end_ns: float | None = None
    warm_up: str | None = None
    start_share: float | None = None
    width_ns: float | None = None

    @property
    def of_time(self) -> bool:
        """Whether only a part of the run counts."""
        return self.start_ns is not None or self.end_ns is not None or self.warm_up is not None or self.start_share is not None

    def chosen(self, rows: pl.LazyFrame, table: str) -> pl.LazyFrame:
        """Those of a table."""
        shape = SHAPES[table]
        if self.start_share is not None and shape.when is not None:
            rows = rows.filter(pl.col(shape.when) >= self.start_share * pl.col(shape.when).max().over("run"))
        for condition in self.conditions:
            if condition.column in tables.text_columns(table) or condition.column in tables.numeric_columns(table):
                rows = rows.filter(condition.expression())
        if shape.when is not None:
            if self.start_ns is not None:
                rows = rows.filter(pl.col(shape.when) >= self.start_ns)
            if self.end_ns is not None:
                rows = rows.filter(pl.col(shape.when) < self.end_ns)
            rows = rows.sort("run", "item", shape.when, maintain_order=True) if self.warm_up == MSER else rows
        return rows

    @property
    def words(self) -> str:
        """What captions say of it; empty if all rows count."""
        parts: list[str] = []
        if self.warm_up == MSER:
            parts.append("after the warm-up that MSER-5 finds")
        if self.width_ns is not None:
            parts.append(f"in windows of {self.width_ns / 1e6:g} ms")
        if self.start_share is not None:
            parts.append(f"without the first {100 * self.start_share:.3g} % of each run")
        if self.start_ns is not None and self.end_ns is None:
            parts.append(f"without the first {self.start_ns / 1e9:g} s")
        elif self.end_ns is not None:
            parts.append(f"from {(self.start_ns or 0.0) / 1e9:g} to {self.end_ns / 1e9:g} s")
        return ", ".join(parts)
