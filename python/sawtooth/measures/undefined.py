"""Why a run tells no value of a measure where an expression has none: a division by zero, or a logarithm of what is not above 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from sawtooth.measures.functions import ELEMENTWISE
from sawtooth.measures.resolve import Column, Combined, Computed, Constant, Elsewhere, Pooled, Referred, RowTerm, Rowwise, Stored, Term

if TYPE_CHECKING:
    from sawtooth.measures.evaluate import Asked, Evaluator

DIVISION, LOGARITHM = "division by zero", "logarithm of what is not above 0"
_ADVICE = {
    DIVISION: "turn the ratio round, show its parts by themselves, or choose runs in which the divisor is above 0",
    LOGARITHM: "choose runs in which it is above 0",
}


def explained(evaluator: Evaluator, asked: Asked, found: pl.DataFrame) -> pl.DataFrame:
    """Values of runs with a column `why`: of those that are not known the cause, where the expression is it; else null.

    Args:
        evaluator: of the runs.
        asked: the measure.
        found: some of what `observe` made of it.

    """
    found = found.with_columns(why=pl.lit(None, pl.String))
    if not found["low"].null_count():
        return found
    for cause, term in _undefined(asked.measure.term):
        low, high = pl.col("low"), pl.col("high")
        nothing = low <= 0 if cause == LOGARITHM else (low == 0) & (high == 0)
        frame = evaluator.term(term, asked.view).filter(nothing)
        keys = [name for name in ("run", "item") if name in frame.columns]
        text = f"{cause} (`{_name(term)}` is {'0 or less' if cause == LOGARITHM else '0'})"
        frame = frame.select(keys).unique().with_columns(pl.lit(text).alias("because"))
        found = found.join(frame, on=keys, how="left", maintain_order="left").with_columns(
            why=pl.coalesce("why", pl.when(low.is_null()).then("because"))
        )
        found = found.drop("because")
    return found


def words(found: pl.DataFrame) -> str:
    """What `explained` says of some runs, with how many of them; empty if it says nothing."""
    runs, known = found["run"].n_unique(), found.filter(pl.col("why").is_not_null())
    counted = known.group_by("why", maintain_order=True).agg(pl.col("run").n_unique()).iter_rows()
    return "; ".join(f"{cause} in {count} of {runs} runs ({which}" for why, count in counted for cause, _, which in [why.partition(" (")])


def advice(said: str) -> str:
    """What to do about what `words` says; empty of nothing."""
    return "; ".join(text for cause, text in _ADVICE.items() if cause in said)


def _undefined(term: Term | RowTerm | Constant) -> Iterator[tuple[str, Term]]:
    """What must not be 0, or must be above it, in a term, with what happens else."""
    if isinstance(term, Elsewhere):
        for cause, of in _undefined(term.of):
            yield cause, replace(term, of=of)
    elif isinstance(term, Pooled):
        for each in (term.of, term.by):
            yield from _undefined(each) if each is not None else ()
    elif isinstance(term, Combined | Rowwise):
        cause = DIVISION if term.function == "/" else LOGARITHM if term.function in ELEMENTWISE else ""
        last = term.arguments[-1]
        if cause and not isinstance(last, Constant):
            # Of rows it takes one for the value of the run not to be known.
            yield cause, Pooled(last, "min", None, last.unit) if isinstance(last, Column | Rowwise) else last
        for argument in term.arguments:
            yield from _undefined(argument)


def _name(term: Term | RowTerm | Constant) -> str:
    """A term as a user writes it."""
    if isinstance(term, Constant):
        return f"{term.value:g}"
    if isinstance(term, Column):
        return term.name if term.table == "flows" else f"{term.table}.{term.name}"
    if isinstance(term, Computed):
        return term.name
    if isinstance(term, Referred):
        return f"references.{term.reference}.{term.column}"
    if isinstance(term, Stored):
        return f"{term.function}({term.table}.{term.quantity})"
    if isinstance(term, Elsewhere):
        return f"{term.kind}.{term.name}.{_name(term.of)}"
    if isinstance(term, Pooled):
        return _name(term.of)
    parts = [_name(argument) for argument in term.arguments]
    return f" {term.function} ".join(parts) if len(parts) > 1 else f"{term.function}({parts[0]})"
