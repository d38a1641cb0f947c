"""What a measure is in every run of a dataset: one row per finished run and item, with the least and the most that it may be.

They are the same where it was measured. Where a run ended before it was there, such as the completion of a transfer that did not complete, the
least is what it had come to and the most is infinite: it is not left out, and nothing else takes its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np
import polars as pl

from sawtooth.design import held
from sawtooth.errors import DatasetError
from sawtooth.measures import functions, tables
from sawtooth.measures.blocks import block
from sawtooth.measures.computed import COMPUTED, TOGETHER
from sawtooth.measures.functions import ELEMENTWISE
from sawtooth.measures.parts import PARTS
from sawtooth.measures.resolve import (
    Column,
    Combined,
    Computed,
    Constant,
    Elsewhere,
    Pooled,
    Referred,
    RowTerm,
    Stored,
    Term,
    unit_of,
)
from sawtooth.measures.rows import Rows
from sawtooth.measures.tables import MESSAGES, SHAPES, WINDOWS
from sawtooth.measures.together import Together, chosen, taken_together
from sawtooth.measures.whole import MADE
from sawtooth.tables import factors_of, goodput_of_one_span

if TYPE_CHECKING:
    from sawtooth.measures import Measure
    from sawtooth.results.dataset import Dataset


class Reference(Protocol):
    """Published numbers, of which a measure may ask what they are in each run's cell."""

    def match(self, plan: pl.DataFrame, column: str) -> pl.DataFrame:
        """A frame run (and item, if its rows are of items), value."""
        ...


@dataclass(frozen=True)
class View:
    """How rows of tables become values.

    Attributes:
        flows: how the flows of a block are taken together: `mean`, `sum`, `max`, `min`, or `each` is by itself.
        rows: which rows count.
        by: columns that tell values apart, besides run and item.

    """

    flows: str = "mean"
    rows: Rows = field(default_factory=Rows)
    by: Sequence[str] = ()


@dataclass(frozen=True)
class Asked:
    """A measure, and how it is made of rows."""

    measure: Measure
    view: View = field(default_factory=View)


_MOST_KEPT = 2_000_000
"""Rows of terms that are kept, about 100 MB."""
_MOST_OBSERVED = 4_000_000
"""Rows of measures that are kept, a few hundred MB: those that were asked for last."""


def factors(dataset: Dataset) -> list[str]:
    """The names of a dataset's factors."""
    return factors_of(dataset.runs)


def observe(dataset: Dataset, asked: Asked, references: Mapping[str, Reference] | None = None) -> pl.DataFrame:
    """One row per finished run and item: run, cell, factors, arm, replicate, seed, item, `by`, low, high, value.

    An item is a link's direction, a flow, the flows of one block of the scenario (`flow[1]`, `flow[2]`, ... are `flow`), or `flows`: all of them
    together. low and high are in the measure's unit, null where the run does not tell it; value is null also where they differ.

    Raises:
        DatasetError: if the dataset has not what it needs.

    """
    return Evaluator(dataset, references or {}).observe(asked)


class Evaluator:
    """Evaluates measures over one dataset; what several of them need is read once.

    One that is `coarse` tells of stored percentiles the least and the most that they may stand for.
    """

    def __init__(self, dataset: Dataset, references: Mapping[str, Reference], *, coarse: bool = False) -> None:
        self.dataset = dataset
        self.coarse = coarse
        self.references = references
        finished = dataset.status().filter(pl.col("status") == "ok").select("run")
        # Records without their status are of a batch that was interrupted.
        self.plan = dataset.runs.join(finished, on="run", how="semi").select("run", "cell", *factors(dataset), "arm", "replicate", "seed")
        self._windows: dict[int, pl.DataFrame] = {}
        self._terms: dict[tuple[Term, View], pl.DataFrame] = {}
        self._columns: dict[str, set[str]] = {}
        self._observed: dict[Asked, pl.DataFrame] = {}
        self._whole = Together().whole

    def observe(self, asked: Asked) -> pl.DataFrame:
        """As the function of this name; what was asked for once is kept."""
        found = self._observed.pop(asked, None)
        if found is None:
            found = self._observe(asked)
            left = _MOST_OBSERVED - found.height
            while self._observed and sum(frame.height for frame in self._observed.values()) > left:
                del self._observed[next(iter(self._observed))]
        self._observed[asked] = found
        return found

    def _observe(self, asked: Asked) -> pl.DataFrame:
        measure = asked.measure
        found = self.term(measure.term, asked.view)
        if "item" not in found.columns:
            found = found.with_columns(item=pl.lit(TOGETHER))
        factor = unit_of(measure.term).factor(unit_of(measure.term).natural)
        if factor != 1.0:
            found = found.with_columns(pl.col("low", "high") * factor)
        low, high = pl.col("low"), pl.col("high")
        found = found.with_columns(value=pl.when(low == high).then(low))
        keys = [name for name in asked.view.by if name in found.columns]
        columns = [*self.plan.columns, "item", *keys, "low", "high", "value"]
        made = self.plan.join(found, on="run", maintain_order="left").sort("run", "item", *keys, maintain_order=True).select(columns)
        return made.with_columns(_said(made, keys))

    @cached_property
    def flow_names(self) -> list[str]:
        """The names of all flows of all runs."""
        return self.dataset.flows().select(pl.col("flow").unique()).collect()["flow"].to_list()

    def samples(self, term: RowTerm, view: View) -> pl.DataFrame:
        """One row per row of the term's table: the plan's columns, item, `by`, t_ns if rows have a time, low, high in the natural unit.

        A sample of what was not there yet is none.
        """
        rows, by = self.rows(term.table, view)
        low, high = self.pair(term)
        factor, when = term.unit.factor(term.unit.natural), SHAPES[term.table].when
        rows = rows.with_columns(low=low.cast(pl.Float64) * factor, high=high.cast(pl.Float64) * factor)
        found = rows.select("run", "item", *by, *([pl.col(when).cast(pl.Int64).alias("t_ns")] if when else []), "low", "high").filter(
            pl.col("low").is_not_null()
        )
        if view.rows.warm_up == "mser-5":
            found = _without_transient(found.collect(), by).lazy()
        order = ["run", *(["t_ns"] if when else [])]
        made = self.plan.lazy().join(found, on="run").sort(*order, maintain_order=True).collect()
        return made.with_columns(_said(made, by))

    # --- terms: frames run, item if they have one, `by`, low, high

    def term(self, term: Term, view: View) -> pl.DataFrame:
        """What a term is in every run; worked out once, as figures and findings ask the same of the same runs."""
        if (term, view) not in self._terms:
            found = self._term(term, view)
            if sum(frame.height for frame in self._terms.values()) + found.height > _MOST_KEPT:
                self._terms.clear()
            self._terms[term, view] = found
        return self._terms[term, view]

    def _term(self, term: Term, view: View) -> pl.DataFrame:
        if isinstance(term, Constant):
            return self.plan.select("run", low=pl.lit(term.value), high=pl.lit(term.value))
        if isinstance(term, Pooled):
            return self.pooled(term, view)
        if isinstance(term, Stored):
            return self.stored(term, view)
        if isinstance(term, Computed):
            return self.computed(term, view)
        if isinstance(term, Elsewhere):
            return self.elsewhere(term, view)
        if isinstance(term, Referred):
            found = self.references[term.reference].match(self.plan, term.column)
            return found.select(pl.exclude("value", "error", "freedom"), low="value", high="value")
        return self.combined(term, view)

    def combined(self, term: Combined, view: View) -> pl.DataFrame:
        """What two terms, or a function of one, come to."""
        if len(term.arguments) == 1:
            found = self.term(term.arguments[0], view)
            low, high = _of_one(term.function, pl.col("low"), pl.col("high"))
            return found.with_columns(low=low, high=high)
        left, right = (self.term(argument, view) for argument in term.arguments)
        first, second = (unit_of(argument) for argument in term.arguments)
        if term.function in "+-" and first.scale != second.scale:
            right = right.with_columns(pl.col("low", "high") * second.factor(first))
        keys = [name for name in ("run", "item", *view.by) if name in left.columns and name in right.columns]
        joined = left.join(right, on=keys, suffix="_right", maintain_order="left")
        known = joined.select((pl.col("low") == pl.col("high")).all() & (pl.col("low_right") == pl.col("high_right")).all()).item()
        a, b = pl.col("low"), pl.col("low_right")
        # With nothing unfinished it is one number, and need not be worked out as bounds.
        low, high = functions.combined(term.function, (a, a if known else pl.col("high")), (b, b if known else pl.col("high_right")))
        dropped = [name for name in joined.columns if name.endswith("_right")]
        return joined.with_columns(low=low, high=high).drop(dropped)

    def elsewhere(self, term: Elsewhere, view: View) -> pl.DataFrame:
        """What a term is in another arm, or of another item."""
        found = self.term(term.of, view)
        if term.kind == "items":
            of_block = block(pl.col("item"))
            chosen = found.filter((pl.col("item") == term.name) | (of_block == term.name)) if "item" in found.columns else found
            if chosen.is_empty() and not found.is_empty():
                items = ", ".join(found["item"].unique(maintain_order=True).head(12))
                raise DatasetError(f"no run has an item `{term.name}`", f"there are {items}")
            if chosen.select(pl.struct("run", *(name for name in view.by if name in chosen.columns)).is_duplicated().any()).item():
                raise DatasetError(f"there are several items `{term.name}` in a run", 'take the flows of a block together: flows = "sum"')
            return chosen.drop("item") if "item" in chosen.columns else chosen
        keys = [name for name in ("cell", "replicate", "item", *view.by) if name in found.columns or name in ("cell", "replicate")]
        there = found.join(self.plan.filter(arm=term.name).select("run", "cell", "arm", "replicate"), on="run").select(
            *keys, "arm", "low", "high"
        )
        there = held(there, self.plan, (), self.dataset.runs).drop("arm")
        return self.plan.select("run", "cell", "replicate").join(there, on=["cell", "replicate"]).drop("cell", "replicate")

    def computed(self, term: Computed, view: View) -> pl.DataFrame:
        """A computed measure, the flows of a block taken together."""
        row = COMPUTED[term.name]
        found = MADE[term.name](self.dataset).with_columns(pl.col("value").cast(pl.Float64))
        if row.together:
            return found.select("run", low="value", high="value")
        rows = found.lazy().with_columns(low=pl.col("value"), high=pl.col("value"), item=_item("item", view.flows))
        return taken_together(rows, view.flows, (), many=False)

    def stored(self, term: Stored, view: View) -> pl.DataFrame:
        """A summary that a table has, the flows of a block taken together."""
        rows, by = self.rows(term.table, view)
        low, high = self.resolved(term.table, term.column, _with_unfinished(term))
        return self._together(rows.with_columns(low=low, high=high), term.table, view.flows, view, by)

    def pooled(self, term: Pooled, view: View) -> pl.DataFrame:
        """The rows of each run and item, taken together."""
        rows, by = self.rows(term.table, view)
        if (
            term.function is None
            and term.table == "flows"
            and view.flows == "sum"
            and {"delivered_bytes", "start_ns"} <= self._names("flows")
        ):
            # Rates over different times do not add up.
            rows = rows.with_columns(goodput_bps=goodput_of_one_span(within=["run", "item", *by]))
        low, high = self.pair(term.of)
        rows = rows.with_columns(low=low.cast(pl.Float64), high=high.cast(pl.Float64))
        shape = SHAPES[term.table]
        if view.rows.warm_up == "mser-5":
            rows = _without_transient(rows.collect(), by).lazy()
        if term.function is None:
            return self._together(rows, term.table, view.flows, view, by)
        if shape.many:
            # A sample of what was not there yet is none.
            rows = rows.filter(pl.col("low").is_not_null())
        if term.by is not None:
            least, most = self.pair(term.by)
            rows = rows.with_columns(chosen_by=pl.when(least == most).then(least.cast(pl.Float64)))
            if shape.many:
                rows = rows.filter(pl.col("chosen_by").is_not_null())
            return chosen(rows, by, largest=functions.CHOOSING[term.function][1])
        if shape.many or term.share is not None:
            return taken_together(rows, term.function, by, many=shape.many, share=term.share)
        return self._together(rows, term.table, term.function, view, by)

    def _together(self, rows: pl.LazyFrame, table: str, how: str, view: View, by: Sequence[str]) -> pl.DataFrame:
        """One row per run, item and `by`, of a table's rows of which each has to be known."""
        if SHAPES[table].many or view.rows != Rows():
            return taken_together(rows, how, by, many=False)
        return self._whole(rows, how, by, (table, view.flows == "each", *by))

    def resolved(self, table: str, column: str, bounds: tuple[pl.Expr, pl.Expr]) -> tuple[pl.Expr, pl.Expr]:
        """Bounds of a column's value: of a stored percentile, if it is asked for, those by its histogram; none beyond the extremes, which are exact."""
        if not tables.is_coarse(table, column):
            return bounds
        known = self._names(table)
        least, most = (pl.col(name).cast(pl.Float64) if name in known else None for name in tables.extremes(table, column))
        if not self.coarse and bounds[0] is bounds[1]:
            value = _between(bounds[0], least, most)
            return value, value
        spread = tables.RESOLUTION if self.coarse else 0.0
        low, high = bounds[0] * (1 - spread), bounds[1] * (1 + spread)
        return _between(low, least, most), _between(high, least, most)

    def _names(self, table: str) -> set[str]:
        """The columns that these results have of a table."""
        if table not in self._columns:
            self._columns[table] = set(self.dataset.table(table).collect_schema().names())
        return self._columns[table]

    # --- rows of tables

    def rows(self, table: str, view: View) -> tuple[pl.LazyFrame, list[str]]:
        """The rows of a table that count, with `item`; and the columns that tell values apart."""
        shape = SHAPES[table]
        if table == WINDOWS:
            rows = self.windows(view.rows.width_ns).lazy()
        elif table == MESSAGES:
            rows = self.messages.lazy()
        elif table == "transfers":
            ended = pl.col("start_ns") + pl.col("completion_ns").fill_null(0)
            # A run ends no earlier than anything in it.
            rows = self.dataset.table(table).join(self._flows_end(), on="run", how="left", maintain_order="left")
            rows = rows.with_columns(waited_ns=pl.max_horizontal(ended.max().over("run"), "flows_end") - pl.col("start_ns")).drop(
                "flows_end"
            )
        else:
            rows = self.dataset.table(table)
        name = pl.col("link") + " " + pl.col("direction") if shape.item == tables.LINK else pl.col(shape.item)
        rows = view.rows.chosen(rows.with_columns(item=name.cast(pl.String)), table)
        # Results of long ago may lack the column that tells how long something took that did not end.
        lacking = set(shape.unfinished.values()) - set(rows.collect_schema().names())
        rows = rows.with_columns(pl.lit(None, pl.Int64).alias(name) for name in lacking)
        rows = rows.with_columns(
            pl.col(column).rank("ordinal").over("run", block(pl.col("item"))).cast(pl.Int64).alias(name)
            for name, column in shape.orders.items() if name in view.by
        )  # fmt: skip
        rows = rows.with_columns(item=_item("item", view.flows))
        by = [name for name in view.by if name in tables.text_columns(table) or name in shape.keys or name in shape.orders]
        return rows, by

    def windows(self, width_ns: float | None = None) -> pl.DataFrame:
        """Throughput in windows of a second, or of another width, worked out once."""
        from sawtooth.measures import over_time

        width = over_time.WINDOW_NS if width_ns is None else round(width_ns)
        if width not in self._windows:
            found = over_time.windows(self.dataset, width)
            self._windows[width] = found.select("run", "flow", t_ns=pl.col("window") * width, throughput_bps="bps")
        return self._windows[width]

    @cached_property
    def messages(self) -> pl.DataFrame:
        """Messages between hosts and the parts of their times; of one that was not read to its end how long it had taken."""
        from sawtooth.measures import layers

        found = layers.messages(self.dataset.layers().collect()).join(
            self._flows_end().collect(), on="run", how="left", maintain_order="left"
        )
        read = pl.col("total_ns").is_not_null()
        parts = [pl.when(read).then(pl.col(part.column)).alias(part.column) for part in PARTS]
        # What carries the requests of a flow is of that flow.
        name = pl.col("flow").str.strip_suffix(".requests")
        waited = pl.max_horizontal("flows_end", "write") - pl.col("write")
        return found.select("run", name, "bytes", *parts, "total_ns", t_ns="write", waited_ns=waited)

    def _flows_end(self) -> pl.LazyFrame:
        """When the last flow of each run ended: run, flows_end."""
        return self.dataset.flows().group_by("run", maintain_order=True).agg(flows_end=(pl.col("start_ns") + pl.col("lifetime_ns")).max())

    def pair(self, term: RowTerm | Constant) -> tuple[pl.Expr, pl.Expr]:
        """The least and the most of a value of a row; the same expression where they cannot differ."""
        if isinstance(term, Constant):
            value = pl.lit(term.value)
            return value, value
        if isinstance(term, Column):
            summary = _summary(term)
            return self.resolved(term.table, term.name, _column(term) if summary is None else _with_unfinished(summary))
        if len(term.arguments) == 1:
            low, high = self.pair(term.arguments[0])
            if low is high and term.function != "negative":
                value = _of_one(term.function, low, low)[0]
                return value, value
            return _of_one(term.function, low, high)
        left, right = (self.pair(argument) for argument in term.arguments)
        first, second = (argument.unit for argument in term.arguments)
        if term.function in "+-" and first.scale != second.scale:
            factor = second.factor(first)
            low = right[0] * factor
            right = (low, low if right[0] is right[1] else right[1] * factor)
        return functions.combined(term.function, left, right)


def _between(value: pl.Expr, least: pl.Expr | None, most: pl.Expr | None) -> pl.Expr:
    """A value no less than the least and no more than the most, where these are known; what has no bound keeps none."""
    if least is not None:
        value = pl.when(value < least).then(least).otherwise(value)
    if most is not None:
        value = pl.when(value.is_finite() & (value > most)).then(most).otherwise(value)
    return value


def _column(term: Column) -> tuple[pl.Expr, pl.Expr]:
    """A column's value, where it was measured."""
    raw = pl.col(term.name).cast(pl.Float64)
    sound = raw.is_not_null() & raw.is_finite()
    if f"{term.table}.{term.name}" in tables.MAY_BE_INFINITE:
        sound &= raw < tables.INFINITE
    bound = SHAPES[term.table].unfinished.get(term.name)
    if bound is None:
        value = pl.when(sound).then(raw)
        return value, value
    least = pl.col(bound).cast(pl.Float64)
    return (
        pl.when(sound).then(raw).otherwise(least),
        pl.when(sound).then(raw).when(least.is_not_null()).then(pl.lit(float("inf"))),
    )


def _of_one(function: str, low: pl.Expr, high: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    if function == "negative":
        return -high, -low
    row = ELEMENTWISE[function]
    return (
        pl.when(low > row.above).then(row.made(low)),
        pl.when(low > row.above).then(pl.when(high.is_infinite()).then(high).otherwise(row.made(high))),
    )


def _summary(column: Column) -> Stored | None:
    """What a column is a summary of, if that is of what may not have come to an end: `arrivals.completion_mean_ns` is `mean(arrivals.completion_ns)`."""
    if SHAPES[column.table].counted is None:
        return None
    found = (
        Stored(column.table, quantity, function, column.name, column.unit)
        for quantity, columns in tables.stored(column.table).items() for function, name in columns.items() if name == column.name
    )  # fmt: skip
    return next(found, None)


def _with_unfinished(term: Stored) -> tuple[pl.Expr, pl.Expr]:
    """A stored summary of what came to an end, as one of all that began, in which what did not end takes longest.

    The share q of all is the share q all/ended of those that ended, between two stored percentiles if it must be. A mean, and a share that reaches
    into what did not end, have no upper bound.
    """
    raw = pl.col(term.column).cast(pl.Float64)
    value = pl.when(raw.is_finite()).then(raw)
    counted = SHAPES[term.table].counted
    if counted is None:
        return value, value
    begun, ended = pl.col(counted.all).cast(pl.Float64), pl.col(counted.ended).cast(pl.Float64)
    infinite = pl.lit(float("inf"))
    nothing_ended = (begun > 0) & (ended == 0)
    share = functions.percentile(term.function)
    if share is None:
        least = pl.when(nothing_ended).then(pl.lit(0.0)).otherwise(value)
        return least, pl.when(begun > ended).then(infinite).otherwise(least)
    columns = tables.stored(term.table)[term.quantity]
    known = [
        (functions.percentile(how) or 1.0, column)
        for how, column in columns.items()
        if functions.percentile(how) is not None or how == "max"
    ]
    known = sorted(each for each in known if each[0] >= share)
    wanted = share * begun / ended
    # How many did not end is not known of what others measured: then the summary is of those that there are.
    found = pl.when((begun == ended) | begun.is_null() | ended.is_null()).then(value)
    for (below, first), (above, second) in pairwise(known):
        a, b = pl.col(first).cast(pl.Float64), pl.col(second).cast(pl.Float64)
        found = found.when(wanted <= above).then(a + (b - a) * (wanted - below) / (above - below))
    last = pl.col(known[-1][1]).cast(pl.Float64)
    low = pl.when(nothing_ended).then(pl.lit(0.0)).otherwise(found.otherwise(last))
    beyond = nothing_ended | ((begun > ended) & (wanted > 1.0))
    return low, pl.when(beyond).then(infinite).otherwise(low)


def _item(column: str, flows: str) -> pl.Expr:
    """The item that a row is of: with `each` every flow, else the block of its flows."""
    return pl.col(column) if flows == "each" else block(pl.col(column))


def _without_transient(rows: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Without the samples of each run and item that MSER-5 takes for its beginning."""
    kept = [group[truncation(group["low"].to_numpy()) :] for _, group in rows.group_by("run", "item", *by, maintain_order=True)]
    return pl.concat(kept) if kept else rows


def truncation(values: np.ndarray[tuple[int], np.dtype[np.float64]], batch: int = 5) -> int:
    """How many values at the beginning MSER-5 leaves out (White 1997; Franklin and White, "Stationarity tests and MSER-5", WSC 2008).

    Of the means of batches of five it is the number d that makes the squared standard error of the others least, S^2(d) / (n - d)^2, d at most
    half of n; in values. Of fewer than ten batches nothing is left out.

    Args:
        values: in order of time, shape (n,).
        batch: values per batch.

    """
    values = values[np.isfinite(values)]
    n = len(values) // batch
    if n < 10:
        return 0
    means = values[: n * batch].reshape(n, batch).mean(axis=1)
    # Sums over the rest from each d on, all at once.
    left = n - np.arange(n)
    rest, squares = np.cumsum(means[::-1])[::-1], np.cumsum(means[::-1] ** 2)[::-1]
    error = np.maximum(squares - rest**2 / left, 0.0) / left.astype(np.float64) ** 2
    return int(np.argmin(error[: n // 2 + 1])) * batch


def _said(frame: pl.DataFrame, names: Sequence[str]) -> list[pl.Expr]:
    """Numbers that tell rows apart as a reader wants them: a place in an order, else sizes, in kB and MB."""
    orders = {name for shape in SHAPES.values() for name in shape.orders}
    return [
        pl.col(name).cast(pl.String) if name in orders else pl.col(name).map_elements(_size, return_dtype=pl.String)
        for name in names if frame[name].dtype != pl.String
    ]  # fmt: skip


def _size(value: float) -> str:
    scales = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
    divisor, unit = next(((divisor, unit) for divisor, unit in scales if value >= divisor), (1.0, "B"))
    return f"{value / divisor:.4g} {unit}"
